"""`textDocument/hover`: what stands at a place, and what the runs say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.features.trace import hover_at, is_recording
from vigil_lsp.hovering.asked import Asked
from vigil_lsp.hovering.hover import told
from vigil_lsp.markup import plain
from vigil_lsp.names import around

if TYPE_CHECKING:
    from vigil_lsp.server import VigilServer


def register(server: VigilServer) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        document = server.document(uri)
        if document is not None and is_recording(document):
            return hover_at(server, document, params.position, markdown=_reads_markdown(server))
        found = around(server, uri)
        if found is None:
            return None
        reading, names = found
        project = server.project(uri)
        configuration = Path(project.configuration or "vigil.toml").name
        offset = reading.text.offset(params.position)
        said = told(Asked(reading, offset, names, server.known(uri), configuration, str(project.root)))
        if said is None:
            return None
        kind = types.MarkupKind.Markdown if _reads_markdown(server) else types.MarkupKind.PlainText
        text = said.markdown if kind == types.MarkupKind.Markdown else plain(said.markdown)
        return types.Hover(types.MarkupContent(kind, text), reading.text.range(said.span))


def _reads_markdown(server: VigilServer) -> bool:
    documents = server.client_capabilities.text_document
    hover = documents.hover if documents is not None else None
    formats = hover.content_format if hover is not None else None
    return formats is None or types.MarkupKind.Markdown in formats
