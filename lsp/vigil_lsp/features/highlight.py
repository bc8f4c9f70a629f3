"""`textDocument/documentHighlight`: the other places of a document that name the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.names import around

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Span
    from vigil_lsp.names import Names
    from vigil_lsp.reading import Reading
    from vigil_lsp.symbols import Role
    from vigil_lsp.workspace import Workspace


def highlights(names: Names, reading: Reading, offset: int) -> list[tuple[Span, Role]]:
    """The spans in a policy that name what is named at an offset, in text order."""
    path = reading.source.path
    same = {one for mention in names.at(path, offset) for one in names.same(mention.symbol)}
    return list(dict.fromkeys((m.span, m.role) for m in names.mentions(reading.module) if m.symbol in same))


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer it."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        seen = around(workspace, params.text_document.uri)
        if seen is None:
            return None
        reading, names = seen
        write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
        return [
            types.DocumentHighlight(reading.text.range(span), write if role == "declaration" else read)
            for span, role in highlights(names, reading, reading.text.offset(params.position))
        ]
