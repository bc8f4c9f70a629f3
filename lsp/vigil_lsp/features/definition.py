"""`textDocument/definition`: from a name to what declares it, and from a quotation to where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Source, Span
from vigil_lang.syntax import tree
from vigil_lsp.cursor import item_at, path_at
from vigil_lsp.names import around
from vigil_lsp.open_recordings import is_recording
from vigil_lsp.quotations import passage, quotations, recording, text_of
from vigil_lsp.recording_features import definition_at

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lang.documents.library import Library
    from vigil_lsp.client import Client
    from vigil_lsp.names import Names
    from vigil_lsp.open_recordings import OpenRecordings
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Definition:
    """A place: `span` is what to show, `name` what to select in it, and `origin` the text that leads there."""

    origin: Span
    source: Source
    span: Span
    name: Span


def definitions(names: Names, reading: Reading, offset: int, library: Library) -> list[Definition]:
    """What declares the name at an offset, or what the text there names or quotes."""
    found: list[Definition] = []
    for mention in names.at(reading.source.path, offset):
        for place in names.declarations(mention.symbol):
            module = names.module(place.source.path)
            item = None if module is None else item_at(module.file, place.span.start)
            whole = mention.symbol.kind in ("pattern", "let", "param", "statement", "rule")
            span = item.span if item is not None and whole else place.span
            found.append(Definition(mention.span, place.source, span, place.span))
    return list(dict.fromkeys(found)) or _named(reading, offset, library)


def _named(reading: Reading, offset: int, library: Library) -> list[Definition]:
    for quotation in quotations(reading.file):
        for span in quotation.spans:
            if span.start <= offset <= span.end:
                found = passage(library, reading.source.path, quotation)
                return [] if found is None else [Definition(span, found[0], found[1], found[1])]
    match path_at(reading.file, offset)[-2:]:
        case [tree.RunFile(name), _]:
            written = text_of(name)
            path = None if written is None else recording(reading.source.path, written)
            if path is not None:
                start = Span(0, 0)
                return [Definition(name.span, Source(path, ""), start, start)]
    return []


def register(server: LanguageServer, workspace: Workspace, client: Client, opened: OpenRecordings) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location] | list[types.LocationLink] | None:
        uri = params.text_document.uri
        document = workspace.document(uri)
        if document is not None and is_recording(document):
            return definition_at(opened, document, params.position)
        seen = around(workspace, uri)
        if seen is None:
            return None
        reading, names = seen
        documents = workspace.project(uri).plan.documents
        found = definitions(names, reading, reading.text.offset(params.position), documents)
        if client.supports("text_document.definition.link_support"):
            return [_link(workspace, reading, one) for one in found]
        files = workspace.files
        return [types.Location(files.uri(one.source.path), files.text(one.source).range(one.name)) for one in found]


def _link(workspace: Workspace, reading: Reading, found: Definition) -> types.LocationLink:
    text = workspace.files.text(found.source)
    return types.LocationLink(
        target_uri=workspace.files.uri(found.source.path),
        target_range=text.range(found.span),
        target_selection_range=text.range(found.name),
        origin_selection_range=reading.text.range(found.origin),
    )
