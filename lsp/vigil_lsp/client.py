"""The editor at the other end: what it supports, and what it is sent unasked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException

from vigil_lsp.markup import plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from pygls.lsp.server import LanguageServer
    from pygls.progress import Progress

PATIENCE = 0.3
"""Seconds that an answer waits for what runs say of the current text."""

_ONCE = 5.0
"""Seconds where the answer stays, for the editor cannot be told to ask again."""


class Client:
    """One editor. What it cannot do is not asked of it."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._options: object = None

    # --- what it supports ---

    def take_options(self, options: object) -> None:
        """What it asks for beyond the protocol (`initializationOptions`)."""
        self._options = options

    @property
    def wants_verdicts(self) -> bool:
        """Whether it asks to be sent the verdicts of statements, and draws them itself."""
        return isinstance(self._options, dict) and self._options.get("verdicts") is True

    @property
    def shows_lenses(self) -> bool:
        """Whether it shows code lenses at all."""
        documents = self.capabilities.text_document
        return documents is not None and documents.code_lens is not None

    @property
    def capabilities(self) -> types.ClientCapabilities:
        """What it said of itself."""
        return self._server.client_capabilities

    def supports(self, capability: str) -> bool:
        """Whether it says that it can do something (`workspace.inlay_hint.refresh_support`)."""
        return bool(get_capability(self.capabilities, capability, default=False))

    @property
    def pulls_diagnostics(self) -> bool:
        """Whether it asks for diagnostics, rather than being sent them."""
        return self.supports("text_document.diagnostic")

    @property
    def resource_operations(self) -> Sequence[types.ResourceOperationKind]:
        """What it can do to files as part of an edit."""
        workspace = self.capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        return (edits.resource_operations or ()) if edits is not None and edits.document_changes else ()

    def documentation(self, capability: str, markdown: str) -> types.MarkupContent | str:
        """Markdown where the capability lists it; else plain text, as a bare string for editors that list nothing."""
        formats = get_capability(self.capabilities, f"{capability}.documentation_format") or ()
        if types.MarkupKind.Markdown in formats:
            return types.MarkupContent(types.MarkupKind.Markdown, markdown)
        text = plain(markdown)
        return types.MarkupContent(types.MarkupKind.PlainText, text) if types.MarkupKind.PlainText in formats else text

    def patience(self, refresh: str) -> float:
        """Seconds that an answer waits, longer where the editor lacks a capability, `refresh`."""
        return PATIENCE if self.supports(refresh) else _ONCE

    # --- what it is sent ---

    def publish(self, uri: str, diagnostics: Sequence[types.Diagnostic], version: int | None = None) -> None:
        """Show the diagnostics of a document in place of those it had."""
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that is no part of the protocol, as JSON."""
        self._server.protocol.notify(method, params)

    def show_message(self, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show a message to the user."""
        self._server.window_show_message(types.ShowMessageParams(kind, message))

    async def show_document(self, uri: str) -> None:
        """Show a document to the user, where the editor can."""
        await self._ask(self._server.window_show_document_async(types.ShowDocumentParams(uri, take_focus=True)))

    async def refresh_document(self, uri: str) -> None:
        """Have the editor ask again for the text of a document that is not stored in a file."""
        params = types.TextDocumentContentRefreshParams(uri)
        await self._ask(self._server.workspace_text_document_content_refresh_async(params))

    async def _ask(self, answer: Awaitable[object]) -> None:
        with suppress(JsonRpcException):
            await answer

    def refresh_diagnostics(self) -> None:
        """Have an editor that asks for diagnostics ask again."""
        if self.pulls_diagnostics and self.supports("workspace.diagnostics.refresh_support"):
            self._server.workspace_diagnostic_refresh(None)

    def refresh_run_results(self) -> None:
        """Have the editor ask again for the lenses and hints, which show what the runs say."""
        if self.supports("workspace.code_lens.refresh_support"):
            self._server.workspace_code_lens_refresh(None)
        if self.supports("workspace.inlay_hint.refresh_support"):
            self._server.workspace_inlay_hint_refresh(None)

    @property
    def watches_files(self) -> bool:
        """Whether it can be asked to say which files change on disk."""
        return self.supports("workspace.did_change_watched_files.dynamic_registration")

    def watch_files(self, patterns: Sequence[str]) -> None:
        """Ask it to say when files change, where it can."""
        if self.watches_files:
            watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("vigil.watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self._server.client_register_capability(types.RegistrationParams([registration]))

    @property
    def progress(self) -> Progress | None:
        """Its progress bars; None where it shows none."""
        return self._server.work_done_progress if self.supports("window.work_done_progress") else None
