"""`textDocument/didOpen`, `didChange` and `didClose`: while a document is open, its text is the editor's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.diagnosis import Diagnosis
    from vigil_lsp.open_recordings import OpenRecordings
    from vigil_lsp.project_diagnostics import ProjectDiagnostics
    from vigil_lsp.run_updates import RunUpdates
    from vigil_lsp.workspace import Workspace


def register(
    server: LanguageServer,
    workspace: Workspace,
    diagnosis: Diagnosis,
    updates: RunUpdates,
    opened: OpenRecordings,
    project_diagnostics: ProjectDiagnostics,
) -> None:
    """Take over what the editor says of its documents, and pass on which of them changed."""

    def changed(uri: str) -> None:
        document = workspace.document(uri)
        if document is not None:
            if document.is_judged:
                diagnosis.changed(document.path)
            updates.document_changed(document)
            opened.document_changed(document)
            project_diagnostics.document_changed(document)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        workspace.files.open(params.text_document)
        changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        try:
            workspace.files.change(params)
        except LookupError as error:
            message = f"{params.text_document.uri} is not open"
            raise JsonRpcException(message, types.ErrorCodes.InvalidParams) from error
        changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        document = workspace.files.close(params.text_document.uri)
        if document is not None:
            workspace.readings.forget(document.path)
            diagnosis.closed(params.text_document.uri, document.path)
            updates.document_changed(document)
            opened.document_changed(document)
            project_diagnostics.document_changed(document)
