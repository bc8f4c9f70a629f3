"""What each token of a policy is: by what its names refer to where it parsed, by its looks where it did not."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol.types import SemanticTokenModifiers, SemanticTokenTypes

from vigil_lang.base.node import Node
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import UNICODE
from vigil_lang.syntax.scan import COMMENTS, ITEM_WORDS
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.cursor import header

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.mentions import Mention
    from vigil_lsp.reading import Reading
    from vigil_lsp.text import Text

TYPES: Final = tuple(
    kind.value
    for kind in (
        SemanticTokenTypes.Keyword,
        SemanticTokenTypes.Function,
        SemanticTokenTypes.Method,
        SemanticTokenTypes.Class,
        SemanticTokenTypes.Type,
        SemanticTokenTypes.Parameter,
        SemanticTokenTypes.Variable,
        SemanticTokenTypes.Property,
        SemanticTokenTypes.EnumMember,
        SemanticTokenTypes.String,
        SemanticTokenTypes.Regexp,
        SemanticTokenTypes.Number,
        SemanticTokenTypes.Operator,
        SemanticTokenTypes.Comment,
        SemanticTokenTypes.Decorator,
        SemanticTokenTypes.Namespace,
        SemanticTokenTypes.Event,
    )
)
(
    KEYWORD, PATTERN, STATEMENT, ACTION, KIND, PARAMETER, VARIABLE, ARGUMENT, VALUE, STRING, REGEX, NUMBER, OPERATOR,
    COMMENT, ANNOTATION, MODULE, EVENT,
) = range(len(TYPES))  # fmt: skip

LEXICAL: Final = frozenset({KEYWORD, STRING, REGEX, NUMBER, OPERATOR, COMMENT, ANNOTATION})
"""What a grammar for highlighting knows by itself, and tells apart more finely than there are types."""

MODIFIERS: Final = tuple(
    one.value
    for one in (
        SemanticTokenModifiers.Declaration,
        SemanticTokenModifiers.Readonly,
        SemanticTokenModifiers.Documentation,
        SemanticTokenModifiers.DefaultLibrary,
    )
)
DECLARATION, READONLY, DOCUMENTATION, LIBRARY = (1 << bit for bit in range(len(MODIFIERS)))

_OF_SYMBOL = {
    "pattern": (PATTERN, 0),
    "let": (VARIABLE, READONLY),
    "param": (VARIABLE, READONLY),
    "statement": (STATEMENT, 0),
    "rule": (STATEMENT, 0),
    "variable": (VARIABLE, 0),
    "parameter": (PARAMETER, 0),
    "module": (MODULE, 0),
    "event": (EVENT, 0),
}
_OF_TOKEN = {"comment": COMMENT, "doc": COMMENT, "string": STRING, "unclosed": STRING, "regex": REGEX, "number": NUMBER}
_MARKS = frozenset({*UNICODE.values(), "◇-", "◇+", "=", "!=", "~", "!~", "<", "<=", ">", ">=", "|", "->"})
# Words that are keywords wherever they stand in text that does not parse; others may well be names there.
_SURE = frozenset(
    {*ITEM_WORDS, *FORMS, "always", "earlier", "later", "not", "and", "or", "implies", "in", "has", "contains"}
    | {"after", "where", "action", "status", "true", "false", "expect"}
)
_TESTS = frozenset({"=", "!=", "~", "!~", "<", "<=", ">", ">=", "in", "contains", "≠", "∼", "≁", "≤", "≥", "∈", "∉"})
_AROUND = frozenset("(),")
_LINE_END = re.compile(r"[^\r\n]+")


class ClassifiedToken(NamedTuple):
    """What stands between two offsets: a type and modifiers, by their places in `TYPES` and (as bits) `MODIFIERS`."""

    start: int
    end: int
    kind: int
    modifiers: int


def classified(reading: Reading, mentions: Sequence[Mention], names: Container[str] = ()) -> list[ClassifiedToken]:
    """Every token that is more than a bracket, in text order; `names` are further names of kinds."""
    claims = sorted(_claims(reading, mentions, names))
    file, tokens = reading.file, reading.tokens
    whole = [header(file, tokens), *(item.span for item in file.items)]
    found: list[ClassifiedToken] = []
    at, inside = 0, 0
    before = after = ""
    for index, token in enumerate(tokens):
        _, text, start, end = token
        while inside < len(whole) and whole[inside].end <= start:
            inside += 1
        while at < len(claims) and claims[at].start < start:
            at += 1
        parsed = inside < len(whole) and whole[inside].start <= start
        if at < len(claims) and claims[at].start == start and claims[at].end == end:
            found.append(claims[at])
        else:
            if not parsed:
                after = tokens[index + 1].text if index + 1 < len(tokens) else ""
            rest = _plain(token, before, after, reading.module, parsed=parsed)
            if parsed and before == ":" and inside and isinstance(file.items[inside - 1], tree.Param):
                rest = KIND, 0  # `param rate: number`
            if at < len(claims) and claims[at].start < end:
                found += _filled(token, None if token.kind == "word" else rest, claims, at)
            elif rest is not None:
                found.append(ClassifiedToken(start, end, *rest))
        if token.kind not in COMMENTS:
            before = text
    return found


def _filled(
    token: Token, rest: tuple[int, int] | None, claims: list[ClassifiedToken], at: int
) -> Iterator[ClassifiedToken]:
    """A token that may hold claims, with what it is itself around them."""
    start, last = token.start, -1
    while at < len(claims) and claims[at].end <= token.end:
        claim = claims[at]
        at += 1
        if claim.start <= last:
            continue
        if rest is not None and claim.start > start:
            yield ClassifiedToken(start, claim.start, *rest)
        yield claim
        start, last = claim.end, claim.start
    if rest is not None and token.end > start:
        yield ClassifiedToken(start, token.end, *rest)


def _plain(token: Token, before: str, after: str, module: Module, *, parsed: bool) -> tuple[int, int] | None:
    """What a token is by itself, `before` and `after` others; None where that is nothing worth a colour."""
    kind, text = token.kind, token.text
    if kind in _OF_TOKEN:
        return _OF_TOKEN[kind], DOCUMENTATION if kind == "doc" else 0
    if kind == "symbol":
        if text == "@":
            return ANNOTATION, 0
        return (OPERATOR, 0) if text in _MARKS else None
    if parsed:
        return KEYWORD, 0
    if before == "@":
        return ANNOTATION, 0
    if before in ITEM_WORDS:
        judged = STATEMENT, DECLARATION
        named = {"pattern": (PATTERN, DECLARATION), "statement": judged, "rule": judged}
        return named.get(before, (MODULE if before in ("use", "policy") else VARIABLE, DECLARATION))
    if text in _SURE:
        return KEYWORD, 0
    if (declared := module.find(text)) is not None:
        return (PATTERN, 0) if isinstance(declared[1], tree.Pattern) else (VARIABLE, READONLY)
    if after == "(":
        return (KIND if text in vocabulary().kinds else ACTION), 0
    if after in _TESTS:
        return ARGUMENT, 0
    return (VARIABLE, 0) if before == "=" or (before in _AROUND and after in _AROUND) else None


# --- what the tree says ---


def _claims(reading: Reading, mentions: Sequence[Mention], names: Container[str]) -> Iterator[ClassifiedToken]:
    kinds = vocabulary().kinds
    file = reading.file
    of_tree = {span.start: (span.end, kind) for span, kind in _of_tree(file)}
    taken: set[int] = set()
    for mention in mentions:
        kind = _OF_SYMBOL.get(mention.symbol.kind)
        span = mention.span
        if kind is None or span.start in taken or span.start == span.end:
            continue
        if kind[0] == EVENT and of_tree.get(span.start) == (span.end, ACTION):
            continue  # an event without a name of its own is where its action stands
        taken.add(span.start)
        modifiers = kind[1] | (DECLARATION if mention.role == "declaration" else 0)
        if modifiers & DECLARATION == 0 and kind[0] != EVENT and is_shipped(mention.symbol.path):
            modifiers |= LIBRARY
        yield ClassifiedToken(*span, kind[0], modifiers)
    if file.name is not None and file.name.span.start not in taken:
        yield ClassifiedToken(*file.name.span, MODULE, DECLARATION)
    text = file.source.text
    for start, (end, kind_of) in of_tree.items():
        if start not in taken:
            if kind_of == ACTION and ((name := text[start:end].strip('"')) in kinds or name in names):
                kind_of = KIND
            given = kind_of == ARGUMENT and text.startswith(CONTEXT, start)
            yield ClassifiedToken(start, end, kind_of, LIBRARY if given else 0)


def _of_tree(file: tree.File) -> Iterator[tuple[Span, int]]:
    """Arguments, actions, values and annotations: names that refer to no declaration."""
    pending: list[Any] = [*file.annotations, *file.items]
    while pending:
        node = pending.pop()
        own = _OWN.get(type(node))
        if own is not None:
            for name, kind in own:
                named = node if name == "" else getattr(node, name)
                for one in named if type(named) is tuple else (named,):
                    if one is not None:
                        yield one.span, kind
        elif type(node) is tree.Field:
            if node.kind == "argument":
                yield node.name_span, ARGUMENT
        elif type(node) is tree.ActionIn:
            for part in node.names.parts:
                for element in part.elements if type(part) is tree.SetLiteral else ():
                    if type(element) is tree.Name or type(element) is tree.String:
                        yield element.span, ACTION
                if type(part) is tree.Name:
                    yield part.span, VARIABLE
        for name in _below(node.__class__):
            value = getattr(node, name)
            if type(value) is tuple:
                pending += value
            elif isinstance(value, Node):
                pending.append(value)


# Nodes that name something, by the field that does (empty: the node itself), and what that is.
_OWN: dict[Any, tuple[tuple[str, int], ...]] = {
    tree.Name: (("", VALUE),),
    tree.Bound: (("", NUMBER),),
    tree.Apply: (("name", ACTION),),
    tree.View: (("name", PATTERN),),
    tree.Violates: (("name", STATEMENT),),
    tree.Rule: (("record", ARGUMENT), ("relaxes", STATEMENT)),
    tree.ActionIs: (("name", ACTION),),
    tree.Annotation: (("name", ANNOTATION),),
    tree.Use: (("module", MODULE),),
    tree.Event: (("id", EVENT), ("action", ACTION), ("kinds", ACTION)),
    tree.Argument: (("name", ARGUMENT),),
    tree.Expectation: (("statements", STATEMENT), ("events", EVENT)),
    tree.Binding: (("name", VARIABLE),),
}
_LEAVES = frozenset({tree.Name, tree.Bound, tree.ActionIn, tree.ActionIs})


@cache
def _below(kind: Any) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes, but for what `_OWN` speaks of."""
    if kind in _LEAVES:
        return ()
    named = {name for name, _ in _OWN.get(kind, ())} | {"span", "doc"}
    return tuple(name for name in getattr(kind, "__struct_fields__", ()) if name not in named)


# --- as the protocol has it ---


def encoded(text: Text, claims: Sequence[ClassifiedToken]) -> list[int]:
    """Five numbers for each claim: lines and units since the one before, its length, type and modifiers."""
    numbers: list[int] = []
    line = character = 0
    content, plain = text.content, text.content.isascii()
    starts = [text.line_start(number) for number in range(text.lines)]
    for start, end, kind, modifiers in claims:
        for piece in ((start, end),) if "\r" not in content[start:end] else _pieces(content, start, end):
            number = bisect_right(starts, piece[0]) - 1
            if plain:
                at, length = piece[0] - starts[number], piece[1] - piece[0]
            else:
                at = text.position(piece[0]).character
                length = text.position(piece[1]).character - at
            numbers += (number - line, at - character if number == line else at, length, kind, modifiers)
            line, character = number, at
    return numbers


def _pieces(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """What lies between two offsets, without the ends of lines: to the protocol, `\\r` alone is one."""
    return [found.span() for found in _LINE_END.finditer(content, start, end)]


def change(old: Sequence[int], new: Sequence[int]) -> tuple[int, int, list[int]] | None:
    """Where numbers differ: the first place, how many are replaced there and by what; None where they do not."""
    if old == new:
        return None
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    most -= start
    same = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    return start, len(old) - same - start, list(new[start : len(new) - same])
