"""`textDocument/foldingRange`: items, their longer parts, comments, and `use` lines that stand together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import CLOSING
from vigil_lsp.cursor import children

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.reading import Reading
    from vigil_lsp.text import Text
    from vigil_lsp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Fold:
    """A range of lines, from 0; folding hides all but the first."""

    start: int
    end: int
    kind: types.FoldingRangeKind | None = None


def folds(reading: Reading) -> list[Fold]:
    """What can be folded, by line; of what begins on one line, the longest."""
    text = reading.text
    found = [*_comments(reading), *_uses(reading), *_items(reading)]
    found += [fold for span in reading.file.broken for fold in _of(text, span)]
    longest: dict[int, Fold] = {}
    for fold in found:
        if fold.start not in longest or longest[fold.start].end < fold.end:
            longest[fold.start] = fold
    return [longest[line] for line in sorted(longest)]


def _line(text: Text, offset: int) -> int:
    return text.position(offset).line


def _of(text: Text, span: Span) -> Iterator[Fold]:
    """The fold of a span over several lines; a closing bracket on a line of its own stays visible."""
    start, end = _line(text, span.start), _line(text, span.end)
    if text.line(end).lstrip()[:1] in CLOSING:
        end -= 1
    if end > start:
        yield Fold(start, end)


def _items(reading: Reading) -> Iterator[Fold]:
    text = reading.text
    for item in reading.file.items:
        name = item.module if isinstance(item, tree.Use) else item.name
        yield from _of(text, Span(name.span.start, item.span.end))
        pending: list[Any] = [item]
        while pending:  # below what stands on one line nothing is longer
            inside = [node for node in children(pending.pop()) if _is_long(reading.source.text, node.span)]
            for node in inside:
                yield from _of(text, node.span)
            pending += inside


def _is_long(text: str, span: Span) -> bool:
    return any(mark in text[span.start : span.end] for mark in "\n\r")


def _comments(reading: Reading) -> Iterator[Fold]:
    """Comments on lines of their own, one below the other."""
    text, source = reading.text, reading.source.text
    lines = []
    for comment in reading.file.comments:
        line = _line(text, comment.span.start)
        if not source[text.line_start(line) : comment.span.start].strip(" \t\ufeff"):
            lines.append((line, line))
    yield from _joined(lines, types.FoldingRangeKind.Comment)


def _uses(reading: Reading) -> Iterator[Fold]:
    """`use` items with nothing between them but an empty line."""
    text = reading.text
    groups: list[list[tuple[int, int]]] = [[]]
    for item in reading.file.items:
        if isinstance(item, tree.Use):
            groups[-1].append((_line(text, item.span.start), _line(text, item.span.end)))
        elif groups[-1]:
            groups.append([])
    for group in groups:
        yield from _joined(group, types.FoldingRangeKind.Imports, gap=2)


def _joined(lines: Iterable[tuple[int, int]], kind: types.FoldingRangeKind, gap: int = 1) -> Iterator[Fold]:
    """Ranges of lines that follow each other closely, as one."""
    first = last = -10
    for start, end in lines:
        if start - last > gap:
            if last > first:
                yield Fold(first, last, kind)
            first = start
        last = end
    if last > first:
        yield Fold(first, last, kind)


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def ranges(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        reading = workspace.reading(params.text_document.uri)
        if reading is None:
            return None
        wanted = client.capabilities.text_document
        limit = wanted.folding_range.range_limit if wanted is not None and wanted.folding_range is not None else None
        return [types.FoldingRange(one.start, one.end, kind=one.kind) for one in folds(reading)[:limit]]
