"""What recorded runs say of the policies in the editor, kept up to date on both sides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.semantics.modules import TESTS, is_test_file
from vigil_lsp.recordings.client import Recordings
from vigil_lsp.recordings.messages import asked
from vigil_lsp.traces import Traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lsp.files import Document
    from vigil_lsp.recordings.messages import Asked, Progress
    from vigil_lsp.recordings.results import Known
    from vigil_lsp.server import VigilServer

_GATHERED = 0.05
"""Seconds in which news are gathered before the client is told to ask again."""


class Evidence:
    """One process with the runs of all projects in the workspace."""

    def __init__(self, server: VigilServer) -> None:
        self._server = server
        self._unopened: dict[str, Asked] | None = None
        self._telling: asyncio.TimerHandle | None = None
        self._bars: dict[str, _Bar] = {}
        self.watchers: list[Callable[[set[str]], None]] = []
        """Who is told which recordings were read anew."""
        self.traces = Traces(server)
        self.tested: dict[str, tuple[Diagnostic, ...]] = {}
        """The expectations that were not met when the tests of a file were run last, by its path."""
        self.recordings = Recordings(
            on_known=self._on_known, on_runs=self._on_runs, on_progress=self._on_progress, on_failure=self._on_failure
        )

    def known(self, path: str) -> Known | None:
        """What the runs say of a policy as it is now; None where none are named, or nothing is known yet."""
        reading = self._server.reading_of(path)
        if reading is None:
            return None
        return self.recordings.known(reading.source, [item.span for item in reading.file.items])

    def document_changed(self, document: Document) -> None:
        """A document was opened, changed or closed."""
        if document.is_policy:
            self._update()

    def refresh(self) -> None:
        """Files or configurations may have changed."""
        self._unopened = None
        self._update()
        self.recordings.refresh()
        self.traces.policies_changed()  # open recordings, too, may be others on disk

    async def end(self) -> None:
        """End the process."""
        if self._telling is not None:
            self._telling.cancel()
        await self.recordings.stop()

    def _update(self) -> None:
        """Say which policies there are: those that are open with their text, the others as they are on disk."""
        server = self._server
        if self._unopened is None:
            paths = [path for path in server.projects.paths() if not is_test_file(path)]
            self._unopened = {path: self._asked(path, None) for path in paths}
        opened = [document for document in server.files.documents if document.is_policy and document.on_disk]
        current = {document.path: self._asked(document.path, document.text.content) for document in opened}
        for path, tests in current.items():
            policy = current.get(path.removesuffix(TESTS) + ".vgl") if is_test_file(path) else None
            if policy is not None:  # a comment in it may name runs of its own
                current[path] = replace(tests, basis=policy.basis)
        self.recordings.update((self._unopened | current).values())

    def _asked(self, path: str, text: str | None) -> Asked:
        project = self._server.project_of(path)
        workspace = next((folder for folder in self._server.projects.folders if folder in Path(path).parents), None)
        limit = str(workspace or project.root)
        return asked(path, text, project.settings, str(project.root), limit, shown=text is not None)

    # --- news ---

    def _on_known(self, path: str) -> None:
        self._server.diagnosis.runs_changed(path)
        self.traces.policies_changed()
        self._tell()

    def _on_runs(self, files: set[str]) -> None:
        for look in self.watchers:
            look(files)
        self._tell()

    def _tell(self) -> None:
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(_GATHERED, self._told)

    def _told(self) -> None:
        """Have the client ask again for what it shows of the runs."""
        self._telling = None
        server = self._server
        if server.supports("workspace.code_lens.refresh_support"):
            server.workspace_code_lens_refresh(None)
        if server.supports("workspace.inlay_hint.refresh_support"):
            server.workspace_inlay_hint_refresh(None)

    def _on_progress(self, progress: Progress) -> None:
        if not self._server.supports("window.work_done_progress"):
            return
        bar = self._bars.get(progress.title)
        if bar is None:
            if progress.done:
                return
            bar = self._bars[progress.title] = _Bar(self._server, progress.title)
        bar.show(progress)
        if progress.done:
            del self._bars[progress.title]

    def _on_failure(self, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))


class _Bar:
    """A progress bar of the client's. What happens before the client has made it is shown when it has."""

    _count = 0

    def __init__(self, server: VigilServer, title: str) -> None:
        _Bar._count += 1
        self._progress = server.work_done_progress
        self._token = f"vigil-{_Bar._count}"
        self._title = title
        self._made = False
        self._last: Progress | None = None
        self._progress.create(self._token, self._begin)

    def show(self, progress: Progress) -> None:
        """Show how far it is."""
        self._last = progress
        if not self._made:
            return
        if progress.done:
            self._progress.end(self._token, types.WorkDoneProgressEnd(message=progress.message or None))
        else:
            value = types.WorkDoneProgressReport(message=progress.message or None, percentage=progress.percentage)
            self._progress.report(self._token, value)

    def _begin(self, _: object) -> None:
        self._made = True
        self._progress.begin(self._token, types.WorkDoneProgressBegin(self._title, percentage=0))
        if self._last is not None:
            self.show(self._last)
