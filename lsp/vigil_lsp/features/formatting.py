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
    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Edit
    from vigil_lang.syntax.leaves import Spelling
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer all three."""

    def written(uri: str) -> Reading | None:
        return workspace.reading(uri) if workspace.is_written(uri) else None

    def spelling(uri: str) -> Spelling:
        return workspace.project(uri).settings.fmt.spelling

    def still(reading: Reading, edits: list[Edit]) -> list[types.TextEdit] | None:
        """The edits, unless the text changed meanwhile: an editor that formats on saving asks again."""
        return to_protocol(edits, reading.text) or None if workspace.is_current(reading) else None

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def document(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        reading = written(params.text_document.uri)
        if reading is None:
            return None
        return still(reading, await asyncio.to_thread(layout.whole, reading.source, spelling(reading.uri)))

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def part(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        reading = written(params.text_document.uri)
        if reading is None:
            return None
        span = reading.text.span(params.range)
        return still(reading, await asyncio.to_thread(layout.part, reading, span, spelling(reading.uri)))

    @server.feature(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, types.DocumentOnTypeFormattingOptions("\n", ("}", ")")))
    def typed(params: types.DocumentOnTypeFormattingParams) -> list[types.TextEdit] | None:
        reading = written(params.text_document.uri)
        if reading is None or params.ch not in ("\n", "}", ")"):
            return None
        offset = reading.text.offset(params.position)
        return to_protocol(layout.indented(reading, offset, params.ch), reading.text) or None
