"""`textDocument/rename` and `textDocument/prepareRename`, across the files of the project."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vigil_lsp.names import everywhere
from vigil_lsp.renaming import Refused, rename, target

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Edit
    from vigil_lsp.client import Client
    from vigil_lsp.names import Names
    from vigil_lsp.workspace import Workspace

_Change: TypeAlias = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer both; what is refused is an error that says why."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        seen = everywhere(workspace, params.text_document.uri, params.position)
        if seen is None or not workspace.is_written(params.text_document.uri):
            return None
        reading, names = seen
        try:
            found = target(names, reading, reading.text.offset(params.position))
        except Refused as why:
            raise _error(why) from None
        return types.PrepareRenamePlaceholder(reading.text.range(found.span), found.name)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def change(params: types.RenameParams) -> types.WorkspaceEdit | None:
        new = params.new_name
        seen = everywhere(workspace, params.text_document.uri, params.position, new)
        if seen is None or not workspace.is_written(params.text_document.uri):
            return None
        reading, names = seen
        offset = reading.text.offset(params.position)
        try:
            edits = await asyncio.to_thread(rename, names, reading, offset, new, workspace.files.snapshot())
        except Refused as why:
            raise _error(why) from None
        return _workspace_edit(workspace, client, names, edits)


def _error(why: Refused) -> JsonRpcException:
    message = str(why)
    return JsonRpcException(message[:1].upper() + message[1:], types.LSPErrorCodes.RequestFailed)


def _workspace_edit(
    workspace: Workspace, client: Client, names: Names, edits: dict[str, list[Edit]]
) -> types.WorkspaceEdit:
    """Edits by file, tied to the versions of open documents where the client can tell those apart.

    Raises:
        JsonRpcException: a text went on meanwhile.
    """
    changes: dict[str, list[types.TextEdit]] = {}
    for path, some in edits.items():
        module = names.module(path)
        assert module is not None  # it is where the places were found
        document = workspace.document(workspace.files.uri(path))
        if document is not None and document.source is not module.source:
            raise JsonRpcException("The text was changed meanwhile", types.LSPErrorCodes.ContentModified)
        text = workspace.files.text(module.source)
        changes[workspace.files.uri(path)] = [types.TextEdit(text.range(edit.span), edit.text) for edit in some]
    if not client.supports("workspace.workspace_edit.document_changes"):
        return types.WorkspaceEdit(changes=changes)
    documents: list[_Change] = []
    for uri, found in changes.items():
        document = workspace.document(uri)
        version = None if document is None else document.version
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri, version)
        documents.append(types.TextDocumentEdit(identifier, list(found)))
    return types.WorkspaceEdit(document_changes=documents)
