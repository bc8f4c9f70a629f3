"""`textDocument/documentLink`: modules after `use`, documents that are quoted, and recordings that tests run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.syntax import tree
from vigil_lsp.open_recordings import is_recording
from vigil_lsp.quotations import passage, quotations, recording, text_of
from vigil_lsp.recording_features import links_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lang.documents.library import Library
    from vigil_lsp.client import Client
    from vigil_lsp.open_recordings import OpenRecordings
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Link:
    """A span that leads to a file, and to a line of it, from 1."""

    span: Span
    path: str
    line: int | None = None


def links(reading: Reading, library: Library) -> Iterator[Link]:
    """The links of a policy; what names no file that is there is none."""
    for use, used in reading.module.uses:
        yield Link(use.module.span, used.source.path)
    for quotation in quotations(reading.file):
        found = passage(library, reading.source.path, quotation)
        if found is not None:
            source, span = found
            yield Link(_inside(reading, quotation.spans[0]), source.path, source.position(span.start)[0])
    for item in reading.file.items:
        for clause in item.clauses if isinstance(item, tree.TestCase) else ():
            if isinstance(clause, tree.RunFile) and (name := text_of(clause.path)) is not None:
                path = recording(reading.source.path, name)
                if path is not None:
                    yield Link(_inside(reading, clause.path.span), path)


def _inside(reading: Reading, span: Span) -> Span:
    """A span without the quotation marks at its ends."""
    return Span(span.start + 1, span.end - 1) if reading.source.text[span.start] == '"' else span


def register(server: LanguageServer, workspace: Workspace, client: Client, opened: OpenRecordings) -> None:
    """Answer it. Documents are remembered, so every link has its target at once."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def find(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        uri = params.text_document.uri
        document = workspace.document(uri)
        if document is not None and is_recording(document):
            return await links_in(
                opened, document, tooltips=client.supports("text_document.document_link.tooltip_support")
            )
        reading = workspace.reading(uri)
        if reading is None:
            return None
        found = links(reading, workspace.project(uri).plan.documents)
        return [types.DocumentLink(reading.text.range(link.span), target=_target(workspace, link)) for link in found]


def _target(workspace: Workspace, link: Link) -> str:
    uri = workspace.files.uri(link.path)
    return uri if link.line is None else f"{uri}#L{link.line}"
