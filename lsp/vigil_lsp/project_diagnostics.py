"""Diagnostics of files that are no policies: configurations, and documents with uncited obligations (VGL706)."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.documents.coverage import uncited
from vigil_lang.documents.library import Library
from vigil_lang.project.configuration import loaded_from
from vigil_lang.project.positions import locate
from vigil_lang.semantics.modules import is_test_file
from vigil_lsp.findings import to_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lsprotocol import types

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
            for finding in (
                *self._written(project, project.configuration),
                *self._unread(project, project.configuration),
            )
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

    def _written(self, project: Project, path: str) -> Sequence[Diagnostic]:
        """What is wrong with a configuration, in the text that the editor has of it; what counts is that on disk."""
        document = self._workspace.files.open_at(path)
        if document is None:
            return project.loaded.findings
        loaded = loaded_from(document.text.content, Path(path), project.root)
        return loaded.findings if loaded is not None else ()

    def _unread(self, project: Project, path: str) -> Iterator[Diagnostic]:
        """What is wrong with the runs and signatures that a configuration names, where it names them."""
        unread = self._workspace.recordings.unread(str(project.root))
        if not unread:
            return
        with suppress(InputError, ValueError, KeyError):
            source = self._workspace.files.source(path)
            place = locate(source.text)
            for name in ("tool", "vigil") if path.endswith("pyproject.toml") else ():
                place = place.members[name]
            for (setting, at), message in unread.items():
                named = place.members[setting]
                span = named.items[at].value if at < len(named.items) else named.value
                yield Diagnostic.of("VGL001", message, source, span, severity="warning")

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
