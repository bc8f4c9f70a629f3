"""The server: one connection to one client, and what is known of the client's documents."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from vigil_lang.diagnostics import InputError
from vigil_lang.semantics.modules import MAX_BYTES
from vigil_lang.version import __version__
from vigil_lsp import features
from vigil_lsp.diagnosis import Diagnosis
from vigil_lsp.evidence import Evidence
from vigil_lsp.files import Document, Files, possible
from vigil_lsp.obligations import Obligations
from vigil_lsp.project import Project, Projects
from vigil_lsp.protocol import VigilProtocol
from vigil_lsp.reading import Reading, Readings
from vigil_lsp.structured import converter
from vigil_lsp.text import UTF16

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lsprotocol import types

    from vigil_lsp.findings import Findings
    from vigil_lsp.recordings.client import Recordings
    from vigil_lsp.recordings.results import Known

_LOG = logging.getLogger(__name__)

_LIVING = 2.0
"""Seconds between two looks at whether the client's process is there."""


class VigilServer(LanguageServer):
    """The state that features share. All of it belongs to the event loop."""

    protocol: VigilProtocol

    def __init__(self) -> None:
        super().__init__("vigil", __version__, protocol_cls=VigilProtocol, converter_factory=converter, max_workers=2)
        self.files = Files()
        self.projects = Projects()
        self.readings = Readings(self.files)
        self.diagnosis = Diagnosis(self)
        self.evidence = Evidence(self)
        self.obligations = Obligations(self)
        self.document_watchers: list[Callable[[Document], None]] = []
        """Who is told of every document that was opened, changed or closed."""
        self._watch: asyncio.Task[None] | None = None

    # --- life ---

    def begin(self, params: types.InitializeParams) -> None:
        """Take up what the client says of itself."""
        self.files.encoding = self.workspace.position_encoding or UTF16
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders and (root := params.root_uri or params.root_path) is not None:
            folders = [root]
        self.set_folders(folders)
        self.diagnosis.begin()
        if params.process_id is not None and sys.platform != "win32":
            self._watch = asyncio.get_running_loop().create_task(self._end_with(params.process_id))

    def set_folders(self, uris: Iterable[str]) -> None:
        """The folders of the workspace, as URIs or, from older clients, paths."""
        paths = (self.files.path(uri) if "://" in uri else uri for uri in uris)
        self.projects.folders = [Path(os.path.normpath(path)) for path in paths if path and possible(path)]
        self.projects.forget()

    async def end(self) -> None:
        """End what runs beside the event loop."""
        if self._watch is not None and self._watch is not asyncio.current_task():
            self._watch.cancel()
        await self.evidence.end()
        await self.diagnosis.end()
        self.thread_pool.shutdown(wait=False)

    async def _end_with(self, process: int) -> None:
        """End when the client's process has ended without a word."""
        while True:
            await asyncio.sleep(_LIVING)
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                await self.end()
                os._exit(1)
            except OSError:  # it is there, and somebody else's
                continue

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong here; who asked has been answered, and what was refused on purpose is no fault."""
        if not isinstance(error, JsonRpcException) or error.code == JsonRpcInternalError.CODE:
            _LOG.error("%s: %s\n%s", getattr(source, "__name__", source), error, getattr(error, "data", "") or "")

    def supports(self, capability: str) -> bool:
        """Whether the client says that it can do something (`workspace.inlay_hint.refresh_support`)."""
        return bool(get_capability(self.client_capabilities, capability, default=False))

    # --- what is known ---

    def document(self, uri: str) -> Document | None:
        """The open document of a URI."""
        return self.files.document(uri)

    def path(self, uri: str) -> str | None:
        """The path of a URI as findings and readings have it; None for what is neither a file nor open."""
        document = self.files.document(uri)
        return document.path if document is not None else self.files.path(uri)

    def project(self, uri: str) -> Project:
        """The project that a document belongs to."""
        return self.project_of(self.files.path(uri))

    def project_of(self, path: str | None) -> Project:
        """The project that a file belongs to; of what is no file, that of the first workspace folder."""
        return self.projects.of(None if path is None or path.startswith("<") else path)

    def reading(self, uri: str) -> Reading | None:
        """The policy of a URI as it is now; None where there is none, or it cannot be read."""
        document = self.files.document(uri)
        path = self.path(uri)
        is_policy = document.is_policy if document is not None else path is not None and path.endswith(".vgl")
        return self.reading_of(path) if path is not None and is_policy else None

    def reading_of(self, path: str) -> Reading | None:
        """The policy of a path as it is now; None where it cannot be read."""
        try:
            source = self.files.source(path, MAX_BYTES)
        except InputError:
            return None
        return self.readings.of(source, self.project_of(path).settings.params)

    def policies(self, uri: str, naming: Iterable[str] = ("",)) -> list[Reading]:
        """The policies and tests of the workspace, of a document's own project, and those that are open.

        A configuration makes a folder a project of its own, but modules in it are used from the folders above, too.
        With `naming` only those in whose text one of some words stands: to read a policy takes far longer.
        """
        paths = dict.fromkeys(self.projects.around(self.files.path(uri)))
        paths |= dict.fromkeys(document.path for document in self.files.documents if document.is_policy)
        named = [path for path in paths if any(word in self._text_of(path) for word in naming)]
        return [reading for path in named if (reading := self.reading_of(path)) is not None]

    def _text_of(self, path: str) -> str:
        try:
            return self.files.source(path, MAX_BYTES).text
        except InputError:
            return ""

    def findings(self, uri: str) -> Findings | None:
        """The findings of an open policy, as far as they are known; None where it is none."""
        document = self.files.document(uri)
        return self.diagnosis.known(document.path) if document is not None else None

    @property
    def recordings(self) -> Recordings:
        """The process that knows the runs."""
        return self.evidence.recordings

    def known(self, uri: str) -> Known | None:
        """What the runs say of a policy; None where none are named, or nothing is known yet."""
        path = self.path(uri)
        return self.evidence.known(path) if path is not None else None

    # --- what happens ---

    def changed(self, uri: str) -> None:
        """A document was opened, or its text is another one."""
        document = self.files.document(uri)
        if document is not None:
            if document.is_policy:
                self.diagnosis.changed(document.path)
            self._tell(document)

    def closed(self, uri: str, document: Document) -> None:
        """A document is no longer open."""
        self.readings.forget(document.path)
        self.diagnosis.closed(uri, document.path)
        self._tell(document)

    def _tell(self, document: Document) -> None:
        self.evidence.document_changed(document)
        for look in self.document_watchers:
            look(document)

    def refresh(self) -> None:
        """Something beside the open texts changed: files, configuration, runs."""
        self.projects.forget()
        self.diagnosis.schedule_all()
        self.evidence.refresh()


def server() -> VigilServer:
    """A server with everything that is in `features`: each module there registers the methods it answers."""
    made = VigilServer()
    for module in iter_modules(features.__path__):
        import_module(f"{features.__name__}.{module.name}").register(made)
    return made
