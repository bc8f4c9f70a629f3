"""`textDocument/formatting`, of a document, of a range and while typing.

Every edit comes with a proof that the policy says the same; where there is none nothing is changed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp import layout
from vigil_lsp.edits import to_protocol

if TYPE_CHECKING:
    from vigil_lang.syntax.leaves import Spelling
    from vigil_lsp.server import VigilServer


def register(server: VigilServer) -> None:
    """Answer all three."""

    def spelling(uri: str) -> Spelling:
        return server.project(uri).settings.fmt.spelling

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def document(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        reading = server.reading(params.text_document.uri)
        if reading is None:
            return None
        edits = await asyncio.to_thread(layout.whole, reading.source, spelling(reading.uri))
        now = server.reading(params.text_document.uri)
        if now is None or now.source is not reading.source:
            return None  # the text went on; whoever formats on saving asks again
        return to_protocol(edits, reading.text) or None

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    def part(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        reading = server.reading(params.text_document.uri)
        if reading is None:
            return None
        span = reading.text.span(params.range)
        return to_protocol(layout.part(reading, span, spelling(reading.uri)), reading.text) or None

    @server.feature(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, types.DocumentOnTypeFormattingOptions("\n", ("}", ")")))
    def typed(params: types.DocumentOnTypeFormattingParams) -> list[types.TextEdit] | None:
        reading = server.reading(params.text_document.uri)
        if reading is None or params.ch not in ("\n", "}", ")"):
            return None
        offset = reading.text.offset(params.position)
        return to_protocol(layout.indented(reading, offset, params.ch), reading.text) or None
