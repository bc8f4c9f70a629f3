"""What policies declare: patterns, sets, values, params, with what a pattern and a statement have of their own."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.syntax import tree
from vigil_lsp.completing.offer import Offer, calling
from vigil_lsp.completing.place import MOST_TOKENS
from vigil_lsp.edits import touching
from vigil_lsp.using import using

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.diagnostics import Edit
    from vigil_lang.semantics.modules import Declaration, Module
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.completing.scene import Scene

Shape: TypeAlias = Literal["pattern", "set", "number", "text", "bool", "value"]
"""What a declaration stands for; `value` where that cannot be said."""

_DEEPEST = 12


def patterns(scene: Scene, group: int = 12, *, imports: bool = True) -> Iterator[Offer]:
    """Patterns in scope, then those of modules that could be imported."""
    yield from _declared(scene, frozenset({"pattern"}), group, imports=imports)


def sets(scene: Scene, group: int = 12) -> Iterator[Offer]:
    """Sets that were given a name, and params that are sets."""
    yield from parameters(scene)
    yield from _declared(scene, frozenset({"set"}), group)


def single(scene: Scene, *shapes: Shape, group: int = 16) -> Iterator[Offer]:
    """Values that were given a name, and params; of one of the shapes, or of any."""
    wanted: frozenset[Shape] = frozenset(shapes) or frozenset({"number", "text", "bool"})
    yield from _declared(scene, wanted | {"value"}, group)


def _declared(scene: Scene, shapes: frozenset[Shape], group: int, *, imports: bool = True) -> Iterator[Offer]:
    module = scene.module
    here = _item_name(scene)
    for name in module.names():
        found = module.find(name)
        if found is None or name == here:
            continue
        home, declaration = found
        if shape_of(declaration, home) in shapes:
            origin = "" if home is module else module.imported[name][2].module.text
            yield offered(declaration, group + (home is not module), origin)
    if imports:
        yield from _importable(scene, shapes)


def _importable(scene: Scene, shapes: frozenset[Shape]) -> Iterator[Offer]:
    known = frozenset(scene.module.names())
    for other in scene.importable():
        for declaration in other.declared:
            name = declaration.name.text
            if name not in known and shape_of(declaration, None) in shapes:
                adds = using(scene.reading, other.name, name)
                if not touching(adds.span, (scene.place.span,)):
                    yield offered(declaration, 44 if other.name.startswith(".") else 45, other.name, adds)


def imported(scene: Scene) -> Iterator[Offer]:
    """Names after `use module:`."""
    module = next((one for one in scene.importable() if one.name == scene.slot.subject), None)
    for declaration in module.declared if module is not None else ():
        name = declaration.name.text
        if name not in scene.slot.used:
            about = ("import", scene.slot.subject, name)
            yield replace(offered(declaration, 10), snippet="", about=about, ends=(",",))


def offered(declaration: Declaration, group: int, origin: str = "", adds: Edit | None = None) -> Offer:
    """A declaration as an offer. `origin` is the module it comes from, `adds` what imports it."""
    name = declaration.name.text
    match declaration:
        case tree.Pattern():
            terms = [term.text for term in declaration.params]
            kind, snippet = Kind.Function, calling(name, terms) if terms else ""
            detail = f"({', '.join(terms)})" if terms else ""
        case tree.Let():
            kind, snippet, detail = Kind.Constant, "", "a set" if isinstance(declaration.value, tree.SetUnion) else ""
        case tree.Param():
            kind, snippet, detail = Kind.Property, "", f"param: {declaration.type}"
    detail = f"{detail} {first_line(declaration.doc)}".strip()
    about = ("name", name) if adds is None else ("import", origin, name)
    return Offer(name, kind, name, group, detail, snippet, origin=origin, about=about, adds=adds)


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


def variables(scene: Scene, group: int = 10) -> Iterator[Offer]:
    """Parameters of the pattern that is written, and variables that stand elsewhere in the item."""
    yield from parameters(scene, group)
    hidden = set(_parameters(scene))
    for name in _variables(scene):
        if name not in hidden:
            yield Offer(name, Kind.Variable, name, group, "variable")


def parameters(scene: Scene, group: int = 10) -> Iterator[Offer]:
    """Parameters of the pattern that is written."""
    for name in _parameters(scene):
        yield Offer(name, Kind.TypeParameter, name, group, "parameter")


def _item_name(scene: Scene) -> str:
    """The name of the declaration that is being written, which cannot speak of itself."""
    texts = [token.text for token in scene.place.before]
    return next((name for head, name in pairwise(texts) if head in ("let", "param", "pattern")), "")


def _parameters(scene: Scene) -> list[str]:
    """The parameters of the pattern that is being written."""
    tokens = scene.place.before
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


def _variables(scene: Scene) -> list[str]:
    """The undeclared names that the item, without what is being written, compares arguments with."""
    module, place = scene.module, scene.place
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
    if before not in ("=", "contains") or _text(tokens, at + 1) == "(":
        return False
    return subject not in ("action", "status", ")", "") and head not in ("let", "pattern", "param", "set", ":")


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""
