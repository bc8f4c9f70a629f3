"""What changes beside the text of open documents: folders, configurations, and files on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.diagnosis import Diagnosis
    from vigil_lsp.project_diagnostics import ProjectDiagnostics
    from vigil_lsp.run_updates import RunUpdates
    from vigil_lsp.workspace import Workspace

_WATCHED = ("**/*.vgl", "**/vigil.toml", "**/pyproject.toml", "**/*.jsonl", "**/*.json", "**/*.md")
"""Policies, configurations, runs and signatures, and the documents that policies cite."""

_RUN_FILES = (".jsonl", ".json")


def register(
    server: LanguageServer,
    workspace: Workspace,
    client: Client,
    diagnosis: Diagnosis,
    updates: RunUpdates,
    project_diagnostics: ProjectDiagnostics,
) -> None:
    """Read again what may have changed."""

    def refresh() -> None:
        workspace.projects.forget()
        diagnosis.schedule_all()
        updates.refresh()

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:  # noqa: ARG001 - it is empty
        client.watch_files(_WATCHED)
        project_diagnostics.update()
        updates.refresh()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        if all(event.uri.endswith(_RUN_FILES) for event in params.changes):
            workspace.recordings.refresh()  # an agent at work writes to its recording all the time
            return
        refresh()
        project_diagnostics.update()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {workspace.files.path(folder.uri) for folder in params.event.removed}
        kept = [str(folder) for folder in workspace.projects.folders if str(folder) not in gone]
        workspace.set_folders([*kept, *(folder.uri for folder in params.event.added)])
        refresh()
        project_diagnostics.update()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:  # noqa: ARG001 - ours is in vigil.toml
        refresh()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        document = workspace.document(params.text_document.uri)
        # A client that watches files says so itself when a policy is saved; of other files nothing else is known.
        if document is not None and not (document.is_policy and client.watches_files):
            refresh()
            project_diagnostics.update()
