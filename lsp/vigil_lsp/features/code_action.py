"""`textDocument/codeAction` and `codeAction/resolve`: fixes, proved changes of form, and what takes a whole file.

What takes long (all fixes at once, a file of tests) is offered without its edits and worked out when it is chosen.
While a cursor only moves (`Automatic`), nothing is offered that has to be proved first.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from vigil_lang.diagnostics import InputError
from vigil_lang.diagnostics.visible import visible
from vigil_lang.project.configuration import loaded_from
from vigil_lang.semantics.text_patterns import quote
from vigil_lsp.actions import cite_source, convert, extract, fixes, imports, inline, test_file
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.client import PATIENCE
from vigil_lsp.completing.project_index import ProjectIndex
from vigil_lsp.edits import to_protocol
from vigil_lsp.findings import to_protocol as finding_to_protocol
from vigil_lsp.lenses import ALL_TESTS, TEST, lenses_of, resolved
from vigil_lsp.symbols import path_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.completing.project_index import ProjectIndex
    from vigil_lsp.diagnosis import Diagnosis
    from vigil_lsp.files import Document
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

FIX_ALL = "source.fixAll.vigil"
TESTS = "source.tests.vigil"
_KINDS = (
    types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorExtract, types.CodeActionKind.RefactorInline,
    types.CodeActionKind.RefactorRewrite, types.CodeActionKind.SourceOrganizeImports, FIX_ALL, TESTS,
)  # fmt: skip
_PATIENCE = 0.5
"""Seconds in which the linter may catch up with the text before fixes are offered without it."""

_DOCUMENTS = 20
"""Documents beside a policy that are looked at for what it may cite."""


def register(
    server: LanguageServer, workspace: Workspace, client: Client, diagnosis: Diagnosis, index: ProjectIndex
) -> None:
    """Answer both."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([getattr(kind, "value", kind) for kind in _KINDS], resolve_provider=True),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        uri, context = params.text_document.uri, params.context
        document = workspace.document(uri)
        literals = client.supports("text_document.code_action.code_action_literal_support")
        if literals and document is not None and document.is_configuration:
            return _in_configuration(client, document, params) or None
        if not literals or workspace.reading(uri) is None or not workspace.is_written(uri):
            return None  # these are edits: older clients know commands only, and what is only looked at stays
        wanted = [str(getattr(kind, "value", kind)) for kind in context.only or ()]
        moves = context.trigger_kind == types.CodeActionTriggerKind.Automatic
        if not moves and _asked("quickfix", wanted):
            await _caught_up(workspace, diagnosis, uri)
        reading = workspace.reading(uri)
        if reading is None:
            return None
        place = _place(workspace, reading, params.range)
        proposals = await _proposals(workspace, index, place, wanted, proving=not moves or bool(wanted))
        if not workspace.is_current(reading):
            return None  # the text went on, and what was found is about an older one
        found = [_to_protocol(workspace, client, reading, proposal, context.diagnostics) for proposal in proposals]
        if workspace.document(uri) is not None:
            found += await _whole_file(workspace, client, reading, wanted)
        if not client.shows_lenses and not wanted:
            found += [one async for one in _of_lenses(workspace, reading, params.range)]
        return found or None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        uri = data.get("uri") if isinstance(data, dict) else None
        reading = workspace.reading(uri) if isinstance(uri, str) else None
        if reading is None or not isinstance(uri, str):
            return action
        match data.get("action"):
            case "fix all":
                action.edit = await _all_fixed(workspace, client, reading)
            case "tests":
                action.edit = await _tested(workspace, reading)
        return action


async def _caught_up(workspace: Workspace, diagnosis: Diagnosis, uri: str) -> None:
    """Wait a moment for the findings of the current text."""
    path = workspace.path(uri)
    if path is not None and workspace.document(uri) is not None:
        try:
            await asyncio.wait_for(diagnosis.complete_findings(path), _PATIENCE)
        except TimeoutError:
            return


def _asked(kind: str, wanted: list[str]) -> bool:
    """Whether a client wants a kind of action: asking for a kind includes its subkinds."""
    return not wanted or any(not one or kind == one or kind.startswith(f"{one}.") for one in wanted)


# --- what is proposed ---


async def _proposals(
    workspace: Workspace, index: ProjectIndex, place: Place, wanted: list[str], *, proving: bool
) -> list[Proposal]:
    """What is offered at a place, worked out beside the event loop: each proof reads the policy once more."""
    reading = place.reading
    project = workspace.project(reading.uri)
    missing = proving and _asked("quickfix", wanted) and imports.is_needed(place)
    modules = await _modules(index, reading) if missing else []
    if proving and (_asked("refactor.extract", wanted) or _asked("refactor.inline", wanted)):
        place = replace(place, users=_users(workspace, reading))

    def work() -> Iterator[Proposal]:
        if _asked("quickfix", wanted):
            yield from fixes.proposals(place)
            yield from imports.imported(place, modules)
        if not proving:
            return
        if _asked("refactor.rewrite", wanted):
            yield from convert.proposals(place)
            yield from cite_source.proposals(place, project.plan.documents, _documents(reading, project.root))
        if _asked("refactor.extract", wanted):
            yield from extract.proposals(place)
        if _asked("refactor.inline", wanted):
            yield from inline.proposals(place)
        if any(one.startswith("source") for one in wanted) and _asked("source.organizeImports", wanted):
            yield from imports.organized(place)

    return await asyncio.to_thread(lambda: list(work()))


def _place(workspace: Workspace, reading: Reading, range_: types.Range) -> Place:
    project = workspace.project(reading.uri)
    known = workspace.findings_of(reading.uri)
    findings = known.diagnostics if known is not None and known.source is reading.source else ()
    findings = tuple(finding for finding in findings if finding.source is reading.source)
    return Place(reading, reading.text.span(range_), workspace.files.snapshot(), project.settings, findings)


async def _modules(index: ProjectIndex, reading: Reading) -> list[tuple[str, frozenset[str]]]:
    """The modules that a policy may use, by the name it has for them, with what they declare."""
    found = index.importable(reading)
    while index.missed:  # it reads a few at a time
        await asyncio.sleep(0)
        found = index.importable(reading)
    return [(module.name, frozenset(one.name.text for one in module.declared)) for module in found]


def _documents(reading: Reading, root: Path) -> list[str]:
    """The documents that a policy may cite, as it would name them: those it does, then those beside it and at the root.

    A policy names a document from its own folder, or else from that of the project.
    """
    found = [file for statement in reading.policy.statements for file, _ in statement.metadata.cites]
    for folder in dict.fromkeys((Path(reading.source.path).parent, root)):
        with suppress(OSError, ValueError):
            found += sorted(path.name for path in folder.glob("*.md") if path.is_file())[:_DOCUMENTS]
    return list(dict.fromkeys(found))


def _users(workspace: Workspace, reading: Reading) -> list[Reading]:
    """The policies that a policy is a module of."""
    path = path_of(reading.module)
    near = workspace.policies(reading.uri, (f".{Path(path).stem}",))
    return [one for one in near if any(path_of(module) == path for module in one.modules()[1:])]


async def _whole_file(
    workspace: Workspace, client: Client, reading: Reading, wanted: list[str]
) -> list[types.CodeAction]:
    """What is done to a file as a whole, without its edits where the client asks for them once it is chosen."""
    found: list[types.CodeAction] = []
    later = "edit" in _resolved_later(client)
    if any(one.startswith("source") for one in wanted) and _asked(FIX_ALL, wanted):
        data = {"uri": reading.uri, "action": "fix all"}
        action = types.CodeAction("Fix all that can be fixed safely", FIX_ALL, data=data)
        action.edit = None if later else await _all_fixed(workspace, client, reading)
        if later or action.edit is not None:
            found.append(action)
    creates = types.ResourceOperationKind.Create in client.resource_operations
    path = test_file.path_for(reading) if creates and _asked(TESTS, wanted) else None
    if path is not None and not workspace.files.is_file(path) and (later or TESTS in wanted):
        data = {"uri": reading.uri, "action": "tests"}
        action = types.CodeAction(f"Create test file `{path.name}`", TESTS, data=data)
        action.edit = None if later else await _tested(workspace, reading)
        found.append(action)
    return found


def _resolved_later(client: Client) -> Iterable[str]:
    """What the client can ask for once an action is chosen."""
    documents = client.capabilities.text_document
    actions = documents.code_action if documents is not None else None
    if actions is None or not actions.data_support or actions.resolve_support is None:
        return ()
    return actions.resolve_support.properties


async def _of_lenses(workspace: Workspace, reading: Reading, range_: types.Range) -> AsyncIterator[types.CodeAction]:
    """What the lenses of some lines do, for an editor that shows none."""
    for lens in [lens for lens in lenses_of(workspace, reading) if _on_lines(lens.range, range_)]:
        lens = await resolved(workspace, lens, PATIENCE)
        if lens.command is not None and lens.command.command:
            if lens.command.title != ALL_TESTS:
                name = str((lens.command.arguments or ("",))[-1])
                shown = visible(quote(name) if lens.command.command == TEST else name)
                lens.command.title = f"{shown}: {lens.command.title}"
            yield types.CodeAction(lens.command.title, command=lens.command)


def _on_lines(one: types.Range, other: types.Range) -> bool:
    return one.start.line <= other.end.line and other.start.line <= one.end.line


def _in_configuration(client: Client, document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The fixes of what is wrong with a configuration."""
    wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    loaded = loaded_from(document.text.content, Path(document.path), Path(document.path).parent)
    found = []
    for finding in loaded.findings if loaded is not None and _asked("quickfix", wanted) else ():
        place = document.text.range(finding.span)
        if finding.fix is not None and _on_lines(place, params.range):
            edits = to_protocol(finding.fix.edits, document.text)
            given = [one for one in params.context.diagnostics if one.code == finding.code and one.range == place]
            edit = _edit_of(document, client, edits)
            found.append(types.CodeAction(finding.fix.title, types.CodeActionKind.QuickFix, given or None, edit=edit))
    return found


# --- what takes long ---


async def _all_fixed(workspace: Workspace, client: Client, reading: Reading) -> types.WorkspaceEdit | None:
    known = workspace.run_results(reading.uri)
    plan = workspace.project(reading.uri).plan_with(
        known.signature if known is not None else None, workspace.files.snapshot()
    )
    edits = await asyncio.to_thread(fixes.all_fixed, reading.source, plan)
    if not edits or not workspace.is_current(reading):
        return None
    return _workspace_edit(workspace, client, reading, to_protocol(edits, reading.text))


async def _tested(workspace: Workspace, reading: Reading) -> types.WorkspaceEdit | None:
    path = test_file.path_for(reading)
    if path is None:
        return None
    try:
        text = await asyncio.to_thread(test_file.text_for, reading)
    except InputError:
        return None
    uri = workspace.files.uri(str(path))
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    document = types.OptionalVersionedTextDocumentIdentifier(uri, None)
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)),
            types.TextDocumentEdit(document, [types.TextEdit(start, text)]),
        ]
    )


# --- as the protocol has it ---


def _to_protocol(
    workspace: Workspace, client: Client, reading: Reading, proposal: Proposal, given: Iterable[types.Diagnostic]
) -> types.CodeAction:
    finding = proposal.finding
    edits: list[Any] = to_protocol(proposal.edits, reading.text)
    if proposal.selected and client.supports("workspace.workspace_edit.snippet_edit_support"):
        before, _, after = edits[-1].new_text.rpartition(proposal.selected)
        snippet = f"{_plain(before)}${{1:{_plain(proposal.selected)}}}{_plain(after)}"
        edits[-1] = types.SnippetTextEdit(edits[-1].range, types.StringValue(snippet))
    return types.CodeAction(
        title=proposal.title,
        kind=proposal.kind,
        diagnostics=None if finding is None else _same(workspace, reading, proposal, given) or None,
        is_preferred=True if proposal.preferred else None,
        edit=_workspace_edit(workspace, client, reading, edits),
    )


def _same(
    workspace: Workspace, reading: Reading, proposal: Proposal, given: Iterable[types.Diagnostic]
) -> list[types.Diagnostic]:
    """The client's diagnostics that are the finding."""
    if proposal.finding is None:
        return []
    own = finding_to_protocol(proposal.finding, reading.text, workspace.files, related=False)
    return [one for one in given if one.code == own.code and one.range == own.range]


def _plain(text: str) -> str:
    """A text in a snippet, where some characters mean something."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _workspace_edit(workspace: Workspace, client: Client, reading: Reading, edits: list[Any]) -> types.WorkspaceEdit:
    document = workspace.document(reading.uri)
    return types.WorkspaceEdit(changes={reading.uri: edits}) if document is None else _edit_of(document, client, edits)


def _edit_of(document: Document, client: Client, edits: list[Any]) -> types.WorkspaceEdit:
    if client.supports("workspace.workspace_edit.document_changes"):
        version = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(version, edits)])
    return types.WorkspaceEdit(changes={document.uri: edits})
