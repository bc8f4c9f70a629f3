"""The server: one connection to one client. This is the one place that says what each part is handed."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from vigil_lang.version import __version__
from vigil_lsp.client import Client
from vigil_lsp.completing.project_index import ProjectIndex
from vigil_lsp.converter import converter
from vigil_lsp.diagnosis import Diagnosis
from vigil_lsp.features import (
    call_hierarchy,
    code_action,
    code_lens,
    completion,
    definition,
    diagnostic,
    document_link,
    document_symbol,
    documents,
    folding,
    formatting,
    highlight,
    hover,
    inlay_hint,
    references,
    rename,
    rename_files,
    selection_range,
    semantic_tokens,
    signature_help,
    synchronization,
    testing,
    workspace_changes,
    workspace_symbol,
)
from vigil_lsp.open_recordings import OpenRecordings
from vigil_lsp.project_diagnostics import ProjectDiagnostics
from vigil_lsp.protocol import VigilProtocol
from vigil_lsp.run_updates import RunUpdates
from vigil_lsp.text import UTF16
from vigil_lsp.workspace import Workspace

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


_LOG = logging.getLogger(__name__)

_CLIENT_CHECK = 2.0
"""Seconds between two checks that the client's process is there."""

_AHEAD = 0.1
"""Seconds between two modules that are read before anybody asks for them."""


class VigilServer(LanguageServer):
    """Puts the parts together, starts and ends them. Features use it to register their methods, nothing else."""

    protocol: VigilProtocol

    def __init__(self) -> None:
        super().__init__("vigil", __version__, protocol_cls=VigilProtocol, converter_factory=converter, max_workers=2)
        self._vigil_workspace = workspace = Workspace()
        self._client = client = Client(self)
        self._diagnosis = diagnosis = Diagnosis(workspace, client)
        opened = OpenRecordings(workspace, client)
        self._project_diagnostics = project_diagnostics = ProjectDiagnostics(workspace, client)
        self._updates = updates = RunUpdates(workspace, client, diagnosis, opened, project_diagnostics)
        self._index = index = ProjectIndex(workspace)
        self._client_check: asyncio.Task[None] | None = None
        self._ahead: asyncio.TimerHandle | None = None

        @self.feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            self._begin(params)

        synchronization.register(self, workspace, diagnosis, updates, opened, project_diagnostics)
        workspace_changes.register(self, workspace, client, diagnosis, updates, project_diagnostics)
        call_hierarchy.register(self, workspace)
        code_action.register(self, workspace, client, diagnosis, index)
        code_lens.register(self, workspace, client)
        completion.register(self, workspace, client, index)
        definition.register(self, workspace, client, opened)
        diagnostic.register(self, workspace, diagnosis)
        document_link.register(self, workspace, client, opened)
        document_symbol.register(self, workspace, client)
        documents.register(self, workspace, client, diagnosis)
        folding.register(self, workspace, client)
        formatting.register(self, workspace)
        highlight.register(self, workspace)
        hover.register(self, workspace, client, opened)
        inlay_hint.register(self, workspace, client)
        references.register(self, workspace)
        rename.register(self, workspace, client)
        rename_files.register(self, workspace, client)
        selection_range.register(self, workspace)
        semantic_tokens.register(self, workspace, client)
        signature_help.register(self, workspace, client)
        testing.register(self, workspace)
        workspace_symbol.register(self, workspace)

    def _begin(self, params: types.InitializeParams) -> None:
        """Take up what the client says of itself, and start the thread that lints."""
        workspace = self._vigil_workspace
        self._client.take_options(params.initialization_options)
        workspace.files.encoding = self.workspace.position_encoding or UTF16
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders and (root := params.root_uri or params.root_path) is not None:
            folders = [root]
        workspace.set_folders(folders)
        self._diagnosis.begin()
        if get_capability(params.capabilities, "text_document.completion") is not None:
            self._ahead = asyncio.get_running_loop().call_later(_AHEAD, self._read_ahead)
        if params.process_id is not None and sys.platform != "win32":
            self._client_check = asyncio.get_running_loop().create_task(self._end_with(params.process_id))

    def _read_ahead(self) -> None:
        """Read what the first list of completions would wait for, a module at a time."""
        if self._index.read_ahead():
            self._ahead = asyncio.get_running_loop().call_later(_AHEAD, self._read_ahead)

    def answering(self) -> AbstractContextManager[None]:
        """While a message is answered, nothing computes beside it."""
        return self._diagnosis.paused()

    async def end(self) -> None:
        """End what runs beside the event loop."""
        if self._client_check is not None and self._client_check is not asyncio.current_task():
            self._client_check.cancel()
        if self._ahead is not None:
            self._ahead.cancel()
        self._project_diagnostics.end()
        await self._updates.end()
        await self._diagnosis.end()
        self.thread_pool.shutdown(wait=False)

    async def _end_with(self, process: int) -> None:
        """End when the client's process has ended without saying so."""
        while True:
            await asyncio.sleep(_CLIENT_CHECK)
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                await self.end()
                os._exit(1)
            except OSError:  # it is there, and somebody else's
                continue

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log internal errors; the client has been answered, and a request refused on purpose is no fault."""
        if not isinstance(error, JsonRpcException) or error.code == JsonRpcInternalError.CODE:
            _LOG.error("%s: %s\n%s", getattr(source, "__name__", source), error, getattr(error, "data", "") or "")
