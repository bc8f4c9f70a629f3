"""What policies declare: patterns, sets, values, params, with what a pattern and a statement have of their own."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from lsprotocol.types import CompletionItemKind as Kind
from msgspec.structs import replace

from vigil_lang.syntax import tree
from vigil_lsp.completing.candidate import Candidate, calling
from vigil_lsp.completing.place import MOST_TOKENS
from vigil_lsp.edits import touching
from vigil_lsp.import_edit import ImportEdits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.diagnostics import Edit
    from vigil_lang.semantics.modules import Declaration, Module
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.completing.context import CompletionContext

Shape: TypeAlias = Literal["pattern", "set", "number", "text", "bool", "value"]
"""What a declaration stands for; `value` where that cannot be said."""

_DEEPEST = 12
_COMPARING = frozenset({"=", "contains", "<", "<=", "≤", ">", ">=", "≥"})


def patterns(context: CompletionContext, group: int = 12, *, imports: bool = True) -> Iterator[Candidate]:
    """Patterns in scope, then those of modules that could be imported."""
    yield from _declared(context, frozenset({"pattern"}), group, imports=imports)


def sets(context: CompletionContext, group: int = 12) -> Iterator[Candidate]:
    """Sets that were given a name, and params that are sets."""
    yield from parameters(context)
    yield from _declared(context, frozenset({"set"}), group)


def single(context: CompletionContext, *shapes: Shape, group: int = 16) -> Iterator[Candidate]:
    """Values that were given a name, and params; of one of the shapes, or of any."""
    wanted: frozenset[Shape] = frozenset(shapes) or frozenset({"number", "text", "bool"})
    yield from _declared(context, wanted | {"value"}, group)


def _declared(
    context: CompletionContext, shapes: frozenset[Shape], group: int, *, imports: bool = True
) -> Iterator[Candidate]:
    module = context.module
    here = _item_name(context)
    for name in module.names():
        found = module.find(name)
        if found is None or name == here:
            continue
        home, declaration = found
        if shape_of(declaration, home) in shapes:
            origin = "" if home is module else module.imported[name][2].module.text
            yield candidate_of(declaration, group + (home is not module), origin)
    if imports:
        yield from _importable(context, shapes)


def _importable(context: CompletionContext, shapes: frozenset[Shape]) -> Iterator[Candidate]:
    known, edits = frozenset(context.module.names()), ImportEdits(context.reading)
    for other in context.importable():
        for declaration in other.declared:
            name = declaration.name.text
            if name not in known and shape_of(declaration, None) in shapes:
                adds = edits.of(other.name, name)
                if not touching(adds.span, (context.place.span,)):
                    yield candidate_of(declaration, 44 if other.name.startswith(".") else 45, other.name, adds)


def imported(context: CompletionContext) -> Iterator[Candidate]:
    """Names after `use module:`."""
    module = next((one for one in context.importable() if one.name == context.slot.subject), None)
    for declaration in module.declared if module is not None else ():
        name = declaration.name.text
        if name not in context.slot.used:
            about = ("import", context.slot.subject, name)
            yield replace(candidate_of(declaration, 10), snippet="", about=about, ends=(",",))


def candidate_of(declaration: Declaration, group: int, origin: str = "", adds: Edit | None = None) -> Candidate:
    """A declaration as an candidate. `origin` is the module it comes from, `adds` what imports it."""
    name = declaration.name.text
    match declaration:
        case tree.Pattern():
            terms = tuple([term.text for term in declaration.params])
            kind, snippet = Kind.Function, calling(name, terms) if terms else ""
            detail = f"({', '.join(terms)})" if terms else ""
        case tree.Let():
            kind, snippet, detail = Kind.Constant, "", ""
            if isinstance(declaration.value, tree.SetUnion | tree.Regex):
                detail = "a set" if isinstance(declaration.value, tree.SetUnion) else "a regular expression"
        case tree.Param():
            kind, snippet, detail = Kind.Property, "", f"param: {declaration.type}"
    detail = f"{detail} {first_line(declaration.doc)}".strip()
    about = ("name", name) if adds is None else ("import", origin, name)
    return Candidate(name, kind, name, group, detail, snippet, origin=origin, about=about, adds=adds)


def shape_of(declaration: Declaration, module: Module | None, depth: int = _DEEPEST) -> Shape:
    """What a declaration stands for; `module` is where it was written, None where its names are not known."""
    match declaration:
        case tree.Pattern():
            return "pattern"
        case tree.Param(type=kind):
            return kind
        case tree.Let(value=tree.SetUnion((tree.Name(other),))):
            found = module.find(other) if module is not None and depth > 0 else None
            return "value" if found is None else shape_of(found[1], found[0], depth - 1)
        case tree.Let(value=tree.SetUnion()):
            return "set"
        case tree.Let(value=tree.Number()):
            return "number"
        case tree.Let(value=tree.Boolean()):
            return "bool"
    return "text"


def first_line(doc: str | None) -> str:
    """The beginning of a documentation, to stand beside a name."""
    line = (doc or "").strip().partition("\n")[0]
    return line if len(line) <= 80 else f"{line[:79]}…"


# --- names of one item -------------------------------------------------------------------------------------


def variables(context: CompletionContext, group: int = 10) -> Iterator[Candidate]:
    """Parameters of the pattern that is written, and variables that stand elsewhere in the item."""
    yield from parameters(context, group)
    hidden = set(_parameters(context))
    for name in _variables(context):
        if name not in hidden:
            yield Candidate(name, Kind.Variable, name, group, "variable")


def parameters(context: CompletionContext, group: int = 10) -> Iterator[Candidate]:
    """Parameters of the pattern that is written."""
    for name in _parameters(context):
        yield Candidate(name, Kind.TypeParameter, name, group, "parameter")


def _item_name(context: CompletionContext) -> str:
    """The name of the declaration that is being written, which cannot speak of itself."""
    texts = [token.text for token in context.place.before]
    return next((name for head, name in pairwise(texts) if head in ("let", "param", "pattern")), "")


def _parameters(context: CompletionContext) -> list[str]:
    """The parameters of the pattern that is being written."""
    tokens = context.place.before
    head = next((at for at, token in enumerate(tokens) if token.text in ("pattern", "statement", "test")), None)
    if head is None or tokens[head].text != "pattern" or head + 2 >= len(tokens) or tokens[head + 2].text != "(":
        return []
    found: list[str] = []
    for token in tokens[head + 3 :]:
        if token.text == ")":
            return found
        if token.kind == "word":
            found.append(token.text)
    return []


def _variables(context: CompletionContext) -> list[str]:
    """The undeclared names that the item, without what is being written, compares arguments with."""
    module, place = context.module, context.place
    found: dict[str, None] = {}
    tokens = [token for token in place.stretch[:MOST_TOKENS] if token.kind not in ("doc", "comment")]
    brackets: list[bool] = []  # those that are open, and whether a pattern is called by them
    for at, token in enumerate(tokens):
        if token.text == "(":
            declared = module.find(_text(tokens, at - 1))
            brackets.append(declared is not None and isinstance(declared[1], tree.Pattern))
        elif token.text == ")" and brackets:
            brackets.pop()
        if token.kind != "word" or token.start == place.start or token.text in ("true", "false"):
            continue
        is_term = bool(brackets) and brackets[-1] and _text(tokens, at - 1) in ("(", ",")
        is_term = is_term and _text(tokens, at + 1) in (",", ")")
        if (is_term or _is_compared(tokens, at)) and module.find(token.text) is None:
            found[token.text] = None
    return list(found)


def _is_compared(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word stands where a field is compared with a variable."""
    head, subject, before = (_text(tokens, at - back) for back in (3, 2, 1))
    if before not in _COMPARING or _text(tokens, at + 1) == "(":
        return False
    if subject == ")":  # of a view, not of a pattern's parameters
        return _text(tokens, at - 6) == ":"
    if head == ":" and _text(tokens, at - 5) == "param":
        return False
    return subject not in ("action", "status", "") and head not in ("let", "pattern", "param", "set")


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""
