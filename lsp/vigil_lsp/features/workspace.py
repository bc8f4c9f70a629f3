"""The life of a session: `initialize`, and what changes beside the open documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.findings import to_protocol

if TYPE_CHECKING:
    from vigil_lsp.server import VigilServer

_WATCHED = ("**/*.vgl", "**/vigil.toml", "**/pyproject.toml", "**/*.jsonl", "**/*.json", "**/*.md")
"""Policies, configurations, runs and signatures, and the documents that policies cite."""


def register(server: VigilServer) -> None:
    """Answer what a session begins with, and what happens to its folders and files."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:  # noqa: ARG001 - there is nothing in them
        if server.supports("workspace.did_change_watched_files.dynamic_registration"):
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("vigil.watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([registration]))
        _tell_of_configurations(server)
        server.evidence.refresh()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:  # noqa: ARG001 - all is looked at again, cheaply
        server.refresh()
        _tell_of_configurations(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {server.files.path(folder.uri) for folder in params.event.removed}
        kept = [folder for folder in server.projects.folders if str(folder) not in gone]
        server.set_folders([*(str(folder) for folder in kept), *(folder.uri for folder in params.event.added)])
        server.refresh()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:  # noqa: ARG001 - ours is in vigil.toml
        server.refresh()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        document = server.document(params.text_document.uri)
        if document is not None and not document.is_policy:  # a configuration, a run, or a document that is cited
            server.refresh()
            _tell_of_configurations(server)


def _tell_of_configurations(server: VigilServer) -> None:
    """Show what is wrong with configurations, where that is: nobody asks for them as they are no policies."""
    for project in server.projects.all():
        path = project.configuration
        if path is not None:
            sources = {finding.source.text: finding.source for finding in project.loaded.findings}
            found = [
                to_protocol(finding, server.files.text(source), server.files)
                for source in sources.values()
                for finding in project.loaded.findings
                if finding.source is source
            ]
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(server.files.uri(path), found))
