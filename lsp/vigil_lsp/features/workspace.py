"""The life of a session: `initialize`, and what changes beside the open documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.findings import to_protocol

if TYPE_CHECKING:
    from vigil_lsp.server import VigilServer

_WATCHED = ("**/*.vgl", "**/vigil.toml", "**/pyproject.toml", "**/*.jsonl", "**/*.json", "**/*.md")
"""Policies, configurations, runs and signatures, and the documents that policies cite."""

_OF_RUNS = (".jsonl", ".json")


def register(server: VigilServer) -> None:
    """Answer what a session begins with, and what happens to its folders and files."""
    told: set[str] = set()

    def tell() -> None:
        """Show what is wrong with configurations and documents, for which nobody asks, as they are no policies."""
        found = _of_configurations(server)
        for uri in told - found.keys():
            found[uri] = []
        for uri, diagnostics in found.items():
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
        told.clear()
        told.update(uri for uri, diagnostics in found.items() if diagnostics)
        server.obligations.look()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:  # noqa: ARG001 - there is nothing in them
        if _watches(server):
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("vigil.watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([registration]))
        tell()
        server.evidence.refresh()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        if all(event.uri.endswith(_OF_RUNS) for event in params.changes):
            server.evidence.recordings.refresh()  # an agent at work writes to its recording all the time
            return
        server.refresh()
        tell()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {server.files.path(folder.uri) for folder in params.event.removed}
        kept = [folder for folder in server.projects.folders if str(folder) not in gone]
        server.set_folders([*(str(folder) for folder in kept), *(folder.uri for folder in params.event.added)])
        server.refresh()
        tell()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:  # noqa: ARG001 - ours is in vigil.toml
        server.refresh()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        document = server.document(params.text_document.uri)
        # A configuration, a run, a document that is cited; or a sign of life from a client that watches no files.
        if document is not None and not (document.is_policy and _watches(server)):
            server.refresh()
            tell()


def _watches(server: VigilServer) -> bool:
    return server.supports("workspace.did_change_watched_files.dynamic_registration")


def _of_configurations(server: VigilServer) -> dict[str, list[types.Diagnostic]]:
    """The findings of each configuration that has some, by its URI."""
    found: dict[str, list[types.Diagnostic]] = {}
    for project in server.projects.all():
        for finding in project.loaded.findings if project.configuration is not None else ():
            text = server.files.text(finding.source)
            uri = server.files.uri(project.configuration or "")
            found.setdefault(uri, []).append(to_protocol(finding, text, server.files))
    return found
