"""Diagnostics of files that are no policies: configurations, and documents with uncited obligations (VGL706)."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.documents.coverage import uncited
from vigil_lang.documents.library import Library
from vigil_lang.lint.baseline import compare
from vigil_lang.project.configuration import loaded_from
from vigil_lang.semantics.modules import is_test_file
from vigil_lsp.findings import moved, to_protocol
from vigil_lsp.path_mentions import configured_paths
from vigil_lsp.recordings.run_sources import absolute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lsprotocol import types

    from vigil_lang.diagnostics import Source, Span
    from vigil_lsp.client import Client
    from vigil_lsp.files import Document
    from vigil_lsp.project import Project
    from vigil_lsp.workspace import Workspace

    Cites = Sequence[tuple[str, tuple[tuple[str, str], ...]]]

_GATHERED = 0.1
"""Seconds in which the changes of a configuration are gathered."""


class ProjectDiagnostics:
    """Publishes what is wrong with files that no editor asks diagnostics for."""

    def __init__(self, workspace: Workspace, client: Client) -> None:
        self._workspace, self._client = workspace, client
        self._configurations: set[str] = set()
        self._whole: dict[str, Sequence[Diagnostic]] = {}
        """What was wrong with a configuration when it was TOML last."""
        self._documents: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._due: asyncio.TimerHandle | None = None

    def update(self) -> None:
        """Check configurations and policies as they are now."""
        self.runs_loaded()
        projects = self._workspace.projects.all()
        wanting = [project for project in projects if project.settings.lint.obligations]
        if not wanting and not self._documents:
            return
        if self._task is not None:
            self._task.cancel()
        work = [(project, self._cites(project)) for project in wanting]
        self._task = asyncio.get_running_loop().create_task(self._check_obligations(work))

    def runs_loaded(self) -> None:
        """Check configurations alone: which of the runs they name can be read has changed."""
        findings = [
            (project.configuration, finding)
            for project in self._workspace.projects.all()
            if project.configuration is not None
            for finding in self._of_configuration(project, project.configuration)
        ]
        self._configurations = self._publish(findings, self._configurations)

    def document_changed(self, document: Document) -> None:
        """A document was opened, changed or closed: say what is wrong with a configuration as it is written now."""
        if document.is_configuration and self._due is None:
            self._workspace.project_of(document.path)
            self._due = asyncio.get_running_loop().call_later(_GATHERED, self._look_again)

    def _look_again(self) -> None:
        self._due = None
        self.runs_loaded()

    def end(self) -> None:
        """Look at nothing more."""
        if self._due is not None:
            self._due.cancel()

    def _of_configuration(self, project: Project, path: str) -> Sequence[Diagnostic]:
        """What is wrong with a configuration. While it is no TOML, as somebody types, what was wrong before stays."""
        written = self._written(project, path)
        with suppress(InputError):
            source = self._workspace.files.source(path)
            try:
                named = list(configured_paths(source))
            except InputError:
                return (*written, *moved(self._whole.get(path, ()), source, kept=True))
            here = (replace(finding, source=source) for finding in written)
            written = self._whole[path] = (*here, *self._unread(project, source, named))
        return written

    def _written(self, project: Project, path: str) -> Sequence[Diagnostic]:
        """What is wrong with a configuration, in the text that the editor has of it; what counts is that on disk."""
        document = self._workspace.files.open_at(path)
        if document is None:
            return project.loaded.findings
        loaded = loaded_from(document.text.content, Path(path), project.root)
        return loaded.findings if loaded is not None else ()

    def _unread(self, project: Project, source: Source, named: Sequence[tuple[str, str, Span]]) -> Iterator[Diagnostic]:
        """What cannot be read of what a configuration names, where it names it now; what counts is what is on disk."""
        lost = self._workspace.recordings.unread(str(project.root))
        unread = {named_at: ("VGL001", message) for named_at, message in lost.items()}
        if project.baseline is not None:
            try:
                compare((), (), project.baseline)
            except InputError as error:
                found = error.diagnostics[0]
                unread["lint.baseline", project.baseline] = found.code, f"the baseline cannot be read: {found.message}"
        folder = str(Path(source.path).parent)
        for setting, path, span in named if unread else ():
            code, message = unread.get((setting, absolute(folder, path)), ("", ""))
            if code:
                yield Diagnostic.of(code, message.replace(f"{folder}{os.sep}", ""), source, span, severity="warning")

    def _publish(self, findings: Iterable[tuple[str, Diagnostic]], before: set[str]) -> set[str]:
        """Show findings by path in place of those that were shown `before`; the URIs that have some now."""
        files = self._workspace.files
        found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in before}
        for path, finding in findings:
            found.setdefault(files.uri(path), []).append(to_protocol(finding, files.text(finding.source), files))
        for uri, diagnostics in found.items():
            self._client.publish(uri, diagnostics)
        return {uri for uri, diagnostics in found.items() if diagnostics}

    def _cites(self, project: Project) -> Cites:
        paths = [path for path in project.found if not is_test_file(path)]
        policies = [reading.policy for path in paths if (reading := self._workspace.reading_of(path)) is not None]
        return [
            (one.path, tuple(dict.fromkeys(c for s in one.statements for c in s.metadata.cites))) for one in policies
        ]

    async def _check_obligations(self, work: list[tuple[Project, Cites]]) -> None:
        findings = []
        for project, cites in work:
            missing = (await asyncio.to_thread(uncited, cites, Library()))[0]
            for finding in project.plan.selection.applied(missing, ""):
                findings.append((os.path.normpath(finding.source.path), finding))
        self._documents = self._publish(findings, self._documents)
