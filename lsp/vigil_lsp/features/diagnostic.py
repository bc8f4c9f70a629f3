"""`textDocument/diagnostic` and `workspace/diagnostic`: findings for clients that ask for them."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.findings import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.diagnosis import Diagnosis
    from vigil_lsp.workspace import Workspace

_OPTIONS = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="vigil")


def register(server: LanguageServer, workspace: Workspace, diagnosis: Diagnosis) -> None:
    """Answer both."""

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, _OPTIONS)
    async def document(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        path = workspace.path(params.text_document.uri)
        findings = await diagnosis.complete_findings(path) if path is not None else None
        found = diagnosis.to_protocol(findings) if findings is not None else []
        result = _identity(found)
        if result == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=result)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def everything(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        before = {one.uri: one.value for one in params.previous_result_ids}
        reports: list[types.WorkspaceDocumentDiagnosticReport] = []
        paths = dict.fromkeys(workspace.projects.paths())
        paths |= dict.fromkeys(one.path for one in workspace.files.documents if one.is_judged and one.on_disk)
        for path in paths:
            uri = workspace.files.uri(path)
            document = workspace.document(uri)
            findings = await (
                diagnosis.findings_of_unopened(path) if document is None else diagnosis.complete_findings(path)
            )
            if findings is not None:
                version = document.version if document is not None else None
                reports.append(_report(uri, version, diagnosis.to_protocol(findings), before.pop(uri, None)))
        # What was reported before and is no more.
        reports += [_report(uri, None, [], None) for uri in before if workspace.document(uri) is None]
        return types.WorkspaceDiagnosticReport(reports)


def _report(
    uri: str, version: int | None, found: Sequence[types.Diagnostic], before: str | None
) -> types.WorkspaceDocumentDiagnosticReport:
    result = _identity(found)
    if result == before:
        return types.WorkspaceUnchangedDocumentDiagnosticReport(uri, result, version)
    return types.WorkspaceFullDocumentDiagnosticReport(uri, found, version, result_id=result)


def _identity(found: Sequence[types.Diagnostic]) -> str:
    """The same for the same findings in the same places."""
    return blake2b(repr([as_json(one) for one in found]).encode(), digest_size=12).hexdigest()
