"""What documents ask for and no policy cites (VGL706), shown in the documents where a project wants that."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.documents.coverage import uncited
from vigil_lang.documents.library import Library
from vigil_lang.semantics.modules import is_test_file
from vigil_lsp.findings import to_protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lsp.project import Project
    from vigil_lsp.server import VigilServer

    Cites = Sequence[tuple[str, tuple[tuple[str, str], ...]]]


class Obligations:
    """Looks through all policies of the projects that ask for it; nobody asks for findings of documents."""

    def __init__(self, server: VigilServer) -> None:
        self._server = server
        self._shown: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Look again, as the policies are now."""
        projects = [project for project in self._server.projects.all() if project.settings.lint.obligations]
        if not projects and not self._shown:
            return
        if self._task is not None:
            self._task.cancel()
        work = [(project, self._cites(project)) for project in projects]
        self._task = asyncio.get_running_loop().create_task(self._show(work))

    def _cites(self, project: Project) -> Cites:
        paths = [path for path in project.found if not is_test_file(path)]
        policies = [reading.policy for path in paths if (reading := self._server.reading_of(path)) is not None]
        return [
            (one.path, tuple(dict.fromkeys(c for s in one.statements for c in s.metadata.cites))) for one in policies
        ]

    async def _show(self, work: list[tuple[Project, Cites]]) -> None:
        found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in self._shown}
        for project, cites in work:
            findings = await asyncio.to_thread(_uncited, cites)
            for finding in project.plan.selection.applied(findings, ""):
                text = self._server.files.text(finding.source)
                uri = self._server.files.uri(os.path.normpath(finding.source.path))
                found.setdefault(uri, []).append(to_protocol(finding, text, self._server.files))
        for uri, diagnostics in found.items():
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
        self._shown = {uri for uri, diagnostics in found.items() if diagnostics}


def _uncited(cites: Cites) -> list[Diagnostic]:
    return uncited(cites, Library())[0]
