"""`textDocument/selectionRange`: from the word at the cursor outwards to the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.syntax.scan import COMMENTS
from vigil_lsp.cursor import documented, item_at, path_at, stretch_at, token_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace


def selections(reading: Reading, offset: int) -> list[Span]:
    """What can be selected around an offset, each span larger than the one before it: the last is the whole text."""
    found: list[Span] = []
    for span in _around(reading, offset):
        inside = span.start <= offset <= span.end
        if inside and (not found or (span != found[-1] and span.holds(found[-1]))):
            found.append(span)
    return found


def _around(reading: Reading, offset: int) -> Iterator[Span]:
    file, tokens, text = reading.file, reading.tokens, reading.source.text
    token = token_at(tokens, offset)
    if token is not None:
        if token.kind in ("string", "regex") and token.start < offset < token.end:
            yield Span(token.start + 1, token.start + token.text.rindex(token.text[0]))
        yield token.span
    for node in reversed(path_at(file, offset)):
        yield node.span
    item = item_at(file, offset)
    if item is not None:
        yield documented(item, tokens, text)
    elif (stretch := stretch_at(file, tokens, offset)) is not None:
        code = [token for token in stretch.tokens if token.kind not in COMMENTS]
        if code:
            yield Span(code[0].start, code[-1].end)
            yield Span(stretch.tokens[0].start, stretch.tokens[-1].end)
    yield Span(0, len(text))


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def select(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        reading = workspace.reading(params.text_document.uri)
        if reading is None:
            return None
        return [_nested(reading, reading.text.offset(position)) for position in params.positions]


def _nested(reading: Reading, offset: int) -> types.SelectionRange:
    *inner, whole = selections(reading, offset)
    found = types.SelectionRange(reading.text.range(whole))
    for span in reversed(inner):
        found = types.SelectionRange(reading.text.range(span), found)
    return found
