"""Diagnostics of files that are no policies: configurations, and documents with uncited obligations (VGL706)."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from vigil_lang.documents.coverage import uncited
from vigil_lang.documents.library import Library
from vigil_lang.semantics.modules import is_test_file
from vigil_lsp.findings import to_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lsprotocol import types

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lsp.client import Client
    from vigil_lsp.project import Project
    from vigil_lsp.workspace import Workspace

    Cites = Sequence[tuple[str, tuple[tuple[str, str], ...]]]


class ProjectDiagnostics:
    """Publishes what is wrong with files that no editor asks diagnostics for."""

    def __init__(self, workspace: Workspace, client: Client) -> None:
        self._workspace, self._client = workspace, client
        self._configurations: set[str] = set()
        self._documents: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def update(self) -> None:
        """Check configurations and policies as they are now."""
        projects = self._workspace.projects.all()
        findings = [
            (project.configuration, finding)
            for project in projects
            if project.configuration is not None
            for finding in project.loaded.findings
        ]
        self._configurations = self._publish(findings, self._configurations)
        wanting = [project for project in projects if project.settings.lint.obligations]
        if not wanting and not self._documents:
            return
        if self._task is not None:
            self._task.cancel()
        work = [(project, self._cites(project)) for project in wanting]
        self._task = asyncio.get_running_loop().create_task(self._check_obligations(work))

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
