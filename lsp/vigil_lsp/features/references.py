"""`textDocument/references`: every place of the project that names what stands at the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.names import everywhere

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.names import Names, Occurrence
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace


def references(names: Names, reading: Reading, offset: int, *, declarations: bool) -> list[Occurrence]:
    """The places that name what is named at an offset, with those that declare it where they are wanted."""
    found: dict[Occurrence, None] = {}
    for symbol in dict.fromkeys(mention.symbol for mention in names.at(reading.source.path, offset)):
        found |= dict.fromkeys(names.occurrences(symbol))
    return [place for place in found if declarations or place.role != "declaration"]


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def find(params: types.ReferenceParams) -> list[types.Location] | None:
        seen = everywhere(workspace, params.text_document.uri, params.position)
        if seen is None:
            return None
        reading, names = seen
        offset = reading.text.offset(params.position)
        found = references(names, reading, offset, declarations=params.context.include_declaration)
        files = workspace.files
        return [types.Location(files.uri(one.source.path), files.text(one.source).range(one.span)) for one in found]
