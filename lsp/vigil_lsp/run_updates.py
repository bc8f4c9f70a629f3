"""What recorded runs say of the policies in the editor, kept up to date on both sides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.semantics.modules import TESTS, is_test_file
from vigil_lsp.recordings.run_sources import tracked_policy
from vigil_lsp.verdicts import Verdicts

if TYPE_CHECKING:
    from pygls.progress import Progress as Progress_

    from vigil_lsp.client import Client
    from vigil_lsp.diagnosis import Diagnosis
    from vigil_lsp.files import Document
    from vigil_lsp.open_recordings import OpenRecordings
    from vigil_lsp.project_diagnostics import ProjectDiagnostics
    from vigil_lsp.recordings.messages import Progress
    from vigil_lsp.recordings.run_sources import TrackedPolicy
    from vigil_lsp.workspace import Workspace

_GATHERED = 0.05
"""Seconds in which changes are gathered before the client is told to ask again."""


class RunUpdates:
    """One process with the runs of all projects in the workspace."""

    def __init__(
        self,
        workspace: Workspace,
        client: Client,
        diagnosis: Diagnosis,
        opened: OpenRecordings,
        project_diagnostics: ProjectDiagnostics,
    ) -> None:
        self._project_diagnostics = project_diagnostics
        self._workspace, self._client, self._diagnosis, self._opened = workspace, client, diagnosis, opened
        self._verdicts = Verdicts(workspace, client)
        self._unopened: dict[str, TrackedPolicy] | None = None
        self._due: asyncio.TimerHandle | None = None
        self._bars: dict[str, _ProgressBar] = {}
        recordings = workspace.recordings
        recordings.on_results, recordings.on_loaded = self._on_results, self._on_loaded
        recordings.on_progress, recordings.on_failure = self._on_progress, self._on_failure

    def document_changed(self, document: Document) -> None:
        """A document was opened, changed or closed."""
        if document.is_configuration:
            self._update()  # which tools there are is asked of the runs
        if document.is_policy:
            self._update()
            self._verdicts.document_changed(document.path)
            self._verdicts.send(self._workspace.recordings.users(document.path))

    def refresh(self) -> None:
        """Files or configurations may have changed."""
        self._unopened = None
        self._update()
        self._verdicts.send(document.path for document in self._workspace.files.documents)
        self._workspace.recordings.refresh()
        self._opened.policies_changed()  # open recordings, too, may be others on disk

    async def end(self) -> None:
        """End the process."""
        if self._due is not None:
            self._due.cancel()
        self._opened.end()
        await self._workspace.recordings.stop()

    def _update(self) -> None:
        """Say which policies there are: those that are open with their text, the others as they are on disk."""
        workspace = self._workspace
        if self._unopened is None:
            paths = [path for path in workspace.projects.paths() if not is_test_file(path)]
            self._unopened = {path: self._tracked(path, None) for path in paths}
        opened = [document for document in workspace.files.documents if document.is_policy and document.on_disk]
        current = {document.path: self._tracked(document.path, document.text.content) for document in opened}
        for path, tests in current.items():
            policy = current.get(path.removesuffix(TESTS) + ".vgl") if is_test_file(path) else None
            if policy is not None:  # a comment in it may name runs of its own
                current[path] = replace(tests, sources=policy.sources)
        asked = any(document.is_configuration for document in workspace.files.documents)
        workspace.recordings.update((self._unopened | current).values(), asked=asked)

    def _tracked(self, path: str, text: str | None) -> TrackedPolicy:
        project = self._workspace.project_of(path)
        above = next((folder for folder in self._workspace.projects.folders if folder in Path(path).parents), None)
        limit = str(above or project.root)
        return tracked_policy(path, text, project.settings, str(project.root), limit, shown=text is not None)

    # --- what the process says ---

    def _on_results(self, path: str) -> None:
        self._diagnosis.runs_changed(path)
        self._opened.policies_changed()
        self._verdicts.send([path])
        self._refresh_soon()

    def _on_loaded(self, files: set[str]) -> None:
        self._opened.runs_changed(files)
        self._project_diagnostics.runs_loaded()
        self._refresh_soon()

    def _refresh_soon(self) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(_GATHERED, self._refresh_client)

    def _refresh_client(self) -> None:
        self._due = None
        self._client.refresh_run_results()

    def _on_progress(self, progress: Progress) -> None:
        progress_bars = self._client.progress
        if progress_bars is None:
            return
        bar = self._bars.get(progress.title)
        if bar is None:
            if progress.done:
                return
            bar = self._bars[progress.title] = _ProgressBar(progress_bars, progress.title)
        bar.show(progress)
        if progress.done:
            del self._bars[progress.title]

    def _on_failure(self, message: str) -> None:
        self._client.show_message(message, types.MessageType.Error)
        paths = [document.path for document in self._workspace.files.documents]
        for path in paths:
            self._diagnosis.runs_changed(path)
        self._verdicts.send(paths)
        self._opened.policies_changed()
        self._refresh_soon()


class _ProgressBar:
    """A progress bar of the client's. What happens before the client has made it is shown when it has."""

    _count = 0

    def __init__(self, progress: Progress_, title: str) -> None:
        _ProgressBar._count += 1
        self._progress = progress
        self._token = f"vigil-{_ProgressBar._count}"
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
