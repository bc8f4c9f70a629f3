"""What stands at an offset: the token, the nodes of the tree around it, and the item, whole or broken."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from vigil_lang.base.node import Node
from vigil_lang.diagnostics import Span
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import COMMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.syntax.scan import Token, TokenList

_span_start = attrgetter("span.start")
_WORDS = frozenset({"word", "string", "regex", "number", "unclosed"})


@dataclass(frozen=True, slots=True)
class Stretch:
    """The text of one item, up to where the next begins: documentation, annotations, and what trails it.

    `item` is its tree, None where it did not parse or is the `policy` line. `tokens` are its tokens, comments included.
    """

    span: Span
    tokens: tuple[Token, ...]
    item: tree.Item | None

    def before(self, offset: int) -> list[Token]:
        """The tokens that begin before an offset, without comments: the last may be the word that is being typed."""
        return [token for token in self.tokens if token.start < offset and token.kind not in COMMENTS]


def children(node: Node) -> Iterator[Any]:
    """The direct children of a node of the tree, in text order. Comments are no children of a file."""
    if isinstance(node, tree.File):
        yield from node.annotations
        if node.name is not None:
            yield node.name
        yield from node.items
        return
    found: list[Any] = []
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, tuple) and not isinstance(value, Span):
            found += [child for child in value if isinstance(child, Node)]
        elif isinstance(value, Node):
            found.append(value)
    found.sort(key=_span_start)
    yield from found


def walk(node: Node) -> Iterator[Any]:
    """A node and everything below it, in text order; a node comes before its children."""
    pending: list[Any] = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += reversed(list(children(current)))


def path_at(file: tree.File, offset: int) -> list[Any]:
    """The nodes around an offset, the outermost first: item, form, expression, …; empty outside every item.

    A node also holds the offset just behind it; of two that touch there, the one that begins there is taken.
    """
    path: list[Any] = []
    node: Node | None = file
    while node is not None:
        node = _child_at(node, offset)
        if node is not None:
            path.append(node)
    return path


def _child_at(node: Node, offset: int) -> Any | None:
    if isinstance(node, tree.File) and node.items and offset >= node.items[0].span.start:
        at = bisect_right(node.items, offset, key=_span_start) - 1  # a file has many items, all else has few children
        return node.items[at] if offset <= node.items[at].span.end else None
    found = None
    for child in children(node):
        if child.span.start <= offset <= child.span.end:
            found = child
    return found


def item_at(file: tree.File, offset: int) -> tree.Item | None:
    """The item an offset stands in, annotations included; None between items and where one did not parse."""
    path = path_at(file, offset)
    return path[0] if path and isinstance(path[0], tree.Item) else None


def token_index(tokens: TokenList, offset: int) -> int | None:
    """The index of the token an offset stands in, or just behind; between two, of the word rather than the mark."""
    at = tokens.first_from(offset + 1) - 1
    if at < 0 or offset > tokens[at].end:
        return None
    before = at - 1
    touches = tokens[at].start == offset and before >= 0 and tokens[before].end == offset
    if touches and tokens[before].kind in _WORDS and tokens[at].kind not in _WORDS:
        return before
    return at


def token_at(tokens: TokenList, offset: int) -> Token | None:
    """The token an offset stands in, or just behind; None in white space."""
    at = token_index(tokens, offset)
    return None if at is None else tokens[at]


def tokens_in(tokens: TokenList, span: Span) -> list[Token]:
    """The tokens that begin in a span."""
    return tokens[tokens.first_from(span.start) : tokens.first_from(span.end)]


def token_behind(tokens: TokenList, offset: int) -> Token | None:
    """The first token that begins at an offset or behind it, a comment too."""
    at = tokens.first_from(offset)
    return tokens[at] if at < len(tokens) else None


def documented(item: tree.Item, tokens: TokenList, text: str) -> Span:
    """The span of an item with the documentation above it."""
    if item.doc is None:
        return item.span
    at = tokens.first_from(item.span.start)
    start = item.span.start
    while at > 0 and tokens[at - 1].kind in COMMENTS:
        at -= 1
        if at > 0 and "\n" not in text[tokens[at - 1].end : tokens[at].start]:
            break  # it ends a line of what stands before
        if tokens[at].kind == "doc":
            start = tokens[at].start
    return Span(start, item.span.end)


def stretch_at(file: tree.File, tokens: TokenList, offset: int) -> Stretch | None:
    """The item that an offset belongs to, also behind its end; None before the first."""
    text = file.source.text
    near = bisect_right(file.items, offset, key=_span_start)
    # The item before, the one after, which begins with its documentation, and the one that ends it.
    items = file.items[max(near - 1, 0) : near + 2]
    starts: list[tuple[int, tree.Item | None]] = [(documented(item, tokens, text).start, item) for item in items]
    starts += [(span.start, None) for span in file.broken]
    if file.name is not None:
        starts.append((header(file, tokens).start, None))
    starts.sort(key=itemgetter(0))
    at = bisect_right(starts, offset, key=itemgetter(0)) - 1
    if at < 0:
        return None
    start, item = starts[at]
    end = starts[at + 1][0] if at + 1 < len(starts) else len(text)
    span = Span(start, end)
    return Stretch(span, tuple(tokens_in(tokens, span)), item)


def header(file: tree.File, tokens: TokenList) -> Span:
    """The span of the `policy` line with its annotations; empty at 0 where there is none."""
    if file.name is None:
        return Span(0, 0)
    if file.annotations:
        return file.annotations[0].span.to(file.name.span)
    before = (token for token in reversed(tokens[: tokens.first_from(file.name.span.start)]) if token.kind == "word")
    return Span(next(before).start, file.name.span.end)
