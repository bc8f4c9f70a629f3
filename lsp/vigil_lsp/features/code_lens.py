"""`textDocument/codeLens`, and `codeLens/resolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.lenses import lenses_of, resolved

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.workspace import Workspace


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer both."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    def code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        reading = workspace.reading(params.text_document.uri)
        return None if reading is None else list(lenses_of(workspace, reading))

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(lens: types.CodeLens) -> types.CodeLens:
        return await resolved(workspace, lens, client.patience("workspace.code_lens.refresh_support"))
