"""`textDocument/hover`: what stands at a place, and what the runs say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.client import PATIENCE
from vigil_lsp.configuring import toml_hover
from vigil_lsp.configuring.project_names import names_of
from vigil_lsp.configuring.toml_place import has_schema
from vigil_lsp.hovering.hover import hover_text
from vigil_lsp.hovering.target import HoverTarget
from vigil_lsp.markup import plain
from vigil_lsp.names import around
from vigil_lsp.open_recordings import is_recording
from vigil_lsp.recording_features import hover_at

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.files import Document
    from vigil_lsp.open_recordings import OpenRecordings
    from vigil_lsp.workspace import Workspace


def register(server: LanguageServer, workspace: Workspace, client: Client, opened: OpenRecordings) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        document = workspace.document(uri)
        if document is not None and is_recording(document):
            return hover_at(opened, document, params.position, markdown=_reads_markdown(client))
        if document is not None and document.is_configuration:
            return _of_configuration(workspace, client, document, params.position)
        known = await workspace.current_results(uri, PATIENCE)
        found = around(workspace, uri)
        if found is None:
            return None
        reading, names = found
        project = workspace.project(uri)
        configuration = Path(project.configuration or "vigil.toml").name
        offset = reading.text.offset(params.position)
        said = hover_text(HoverTarget(reading, offset, names, known, configuration, str(project.root)))
        if said is None:
            return None
        return types.Hover(_content(client, said.markdown), reading.text.range(said.span))


def _of_configuration(
    workspace: Workspace, client: Client, document: Document, position: types.Position
) -> types.Hover | None:
    text = document.text
    names = names_of(workspace, document.path)
    found = toml_hover.hover_at(text.content, text.offset(position), names, schema=has_schema(text.content))
    return None if found is None else types.Hover(_content(client, found[0]), text.range(found[1]))


def _content(client: Client, markdown: str) -> types.MarkupContent:
    kind = types.MarkupKind.Markdown if _reads_markdown(client) else types.MarkupKind.PlainText
    return types.MarkupContent(kind, markdown if kind == types.MarkupKind.Markdown else plain(markdown))


def _reads_markdown(client: Client) -> bool:
    documents = client.capabilities.text_document
    hover = documents.hover if documents is not None else None
    formats = hover.content_format if hover is not None else None
    return formats is None or types.MarkupKind.Markdown in formats
