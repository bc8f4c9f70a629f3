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
from vigil_lsp.actions import cite, convert, extract, fixes, imports, inline, testing
from vigil_lsp.actions.fix_all import mended
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.completing.gathering import Gathering
from vigil_lsp.edits import to_protocol
from vigil_lsp.findings import to_protocol as finding_to_protocol
from vigil_lsp.symbols import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lsp.reading import Reading
    from vigil_lsp.server import VigilServer

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


def register(server: VigilServer) -> None:
    """Answer both."""
    gathering = Gathering(server)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([getattr(kind, "value", kind) for kind in _KINDS], resolve_provider=True),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        uri, context = params.text_document.uri, params.context
        literals = server.supports("text_document.code_action.code_action_literal_support")
        if not literals or server.reading(uri) is None:
            return None  # older clients know commands only, and these are edits
        wanted = [str(getattr(kind, "value", kind)) for kind in context.only or ()]
        moves = context.trigger_kind == types.CodeActionTriggerKind.Automatic
        if not moves and _asked("quickfix", wanted):
            await _caught_up(server, uri)
        reading = server.reading(uri)
        if reading is None:
            return None
        place = _place(server, reading, params.range)
        proposals = await _proposals(server, gathering, place, wanted, proving=not moves or bool(wanted))
        if not _is_current(server, reading):
            return None  # the text went on, and what was found is about an older one
        found = [_to_protocol(server, reading, proposal, context.diagnostics) for proposal in proposals]
        if server.document(uri) is not None:
            found += await _whole_file(server, reading, wanted)
        return found or None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        uri = data.get("uri") if isinstance(data, dict) else None
        reading = server.reading(uri) if isinstance(uri, str) else None
        if reading is None or not isinstance(uri, str):
            return action
        match data.get("action"):
            case "fix all":
                action.edit = await _all_fixed(server, reading)
            case "tests":
                action.edit = await _tested(server, reading)
        return action


async def _caught_up(server: VigilServer, uri: str) -> None:
    """Wait a moment for the findings of the current text."""
    path = server.path(uri)
    if path is not None and server.document(uri) is not None:
        try:
            await asyncio.wait_for(server.diagnosis.complete(path), _PATIENCE)
        except TimeoutError:
            return


def _asked(kind: str, wanted: list[str]) -> bool:
    """Whether a kind is among those that a client wants: one that is wanted stands for its own kinds, too."""
    return not wanted or any(not one or kind == one or kind.startswith(f"{one}.") for one in wanted)


# --- what is proposed ---


async def _proposals(
    server: VigilServer, gathering: Gathering, place: Place, wanted: list[str], *, proving: bool
) -> list[Proposal]:
    """What is offered at a place, worked out beside the event loop: each proof reads the policy once more."""
    reading = place.reading
    project = server.project(reading.uri)
    missing = proving and _asked("quickfix", wanted) and imports.is_needed(place)
    modules = await _modules(gathering, reading) if missing else []
    if proving and (_asked("refactor.extract", wanted) or _asked("refactor.inline", wanted)):
        place = replace(place, users=_users(server, reading))

    def work() -> Iterator[Proposal]:
        if _asked("quickfix", wanted):
            yield from fixes.proposals(place)
            yield from imports.imported(place, modules)
        if not proving:
            return
        if _asked("refactor.rewrite", wanted):
            yield from convert.proposals(place)
            yield from cite.proposals(place, project.plan.documents, _documents(reading, project.root))
        if _asked("refactor.extract", wanted):
            yield from extract.proposals(place)
        if _asked("refactor.inline", wanted):
            yield from inline.proposals(place)
        if any(one.startswith("source") for one in wanted) and _asked("source.organizeImports", wanted):
            yield from imports.organized(place)

    return await asyncio.to_thread(lambda: list(work()))


def _place(server: VigilServer, reading: Reading, range_: types.Range) -> Place:
    project = server.project(reading.uri)
    known = server.findings(reading.uri)
    findings = known.diagnostics if known is not None and known.source is reading.source else ()
    findings = tuple(finding for finding in findings if finding.source is reading.source)
    return Place(reading, reading.text.span(range_), server.files.snapshot(), project.settings, findings)


async def _modules(gathering: Gathering, reading: Reading) -> list[tuple[str, frozenset[str]]]:
    """The modules that a policy may use, by the name it has for them, with what they declare."""
    found = gathering.importable(reading)
    while gathering.missed:  # it reads a few at a time
        await asyncio.sleep(0)
        found = gathering.importable(reading)
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


def _users(server: VigilServer, reading: Reading) -> list[Reading]:
    """The policies that a policy is a module of."""
    path = path_of(reading.module)
    near = server.policies(reading.uri, (f".{Path(path).stem}",))
    return [one for one in near if any(path_of(module) == path for module in one.modules()[1:])]


async def _whole_file(server: VigilServer, reading: Reading, wanted: list[str]) -> list[types.CodeAction]:
    """What is done to a file as a whole, without its edits where the client asks for them once it is chosen."""
    found: list[types.CodeAction] = []
    later = "edit" in _resolved_later(server)
    if any(one.startswith("source") for one in wanted) and _asked(FIX_ALL, wanted):
        data = {"uri": reading.uri, "action": "fix all"}
        action = types.CodeAction("Fix all that can be fixed safely", FIX_ALL, data=data)
        action.edit = None if later else await _all_fixed(server, reading)
        if later or action.edit is not None:
            found.append(action)
    creates = types.ResourceOperationKind.Create in _operations(server)
    path = testing.path_for(reading) if creates and _asked(TESTS, wanted) else None
    if path is not None and not server.files.is_file(path) and (later or TESTS in wanted):
        data = {"uri": reading.uri, "action": "tests"}
        action = types.CodeAction(f"Create test file `{path.name}`", TESTS, data=data)
        action.edit = None if later else await _tested(server, reading)
        found.append(action)
    return found


def _resolved_later(server: VigilServer) -> Iterable[str]:
    """What the client can ask for once an action is chosen."""
    documents = server.client_capabilities.text_document
    actions = documents.code_action if documents is not None else None
    if actions is None or not actions.data_support or actions.resolve_support is None:
        return ()
    return actions.resolve_support.properties


def _operations(server: VigilServer) -> Iterable[types.ResourceOperationKind]:
    workspace = server.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    if edits is None or not edits.document_changes:
        return ()
    return edits.resource_operations or ()


# --- what takes long ---


async def _all_fixed(server: VigilServer, reading: Reading) -> types.WorkspaceEdit | None:
    known = server.known(reading.uri)
    plan = server.project(reading.uri).plan_with(
        known.signature if known is not None else None, server.files.snapshot()
    )
    edits = await asyncio.to_thread(mended, reading.source, plan)
    if not edits or not _is_current(server, reading):
        return None
    return _workspace_edit(server, reading, to_protocol(edits, reading.text))


async def _tested(server: VigilServer, reading: Reading) -> types.WorkspaceEdit | None:
    path = testing.path_for(reading)
    if path is None:
        return None
    try:
        text = await asyncio.to_thread(testing.text_for, reading)
    except InputError:
        return None
    uri = server.files.uri(str(path))
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    document = types.OptionalVersionedTextDocumentIdentifier(uri, None)
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)),
            types.TextDocumentEdit(document, [types.TextEdit(start, text)]),
        ]
    )


def _is_current(server: VigilServer, reading: Reading) -> bool:
    now = server.reading(reading.uri)
    return now is not None and now.source is reading.source


# --- as the protocol has it ---


def _to_protocol(
    server: VigilServer, reading: Reading, proposal: Proposal, given: Iterable[types.Diagnostic]
) -> types.CodeAction:
    finding = proposal.finding
    edits: list[Any] = to_protocol(proposal.edits, reading.text)
    if proposal.selected and server.supports("workspace.workspace_edit.snippet_edit_support"):
        before, _, after = edits[-1].new_text.rpartition(proposal.selected)
        snippet = f"{_plain(before)}${{1:{_plain(proposal.selected)}}}{_plain(after)}"
        edits[-1] = types.SnippetTextEdit(edits[-1].range, types.StringValue(snippet))
    return types.CodeAction(
        title=proposal.title,
        kind=proposal.kind,
        diagnostics=None if finding is None else _same(server, reading, proposal, given) or None,
        is_preferred=True if proposal.preferred else None,
        edit=_workspace_edit(server, reading, edits),
    )


def _same(
    server: VigilServer, reading: Reading, proposal: Proposal, given: Iterable[types.Diagnostic]
) -> list[types.Diagnostic]:
    """The client's diagnostics that are the finding."""
    if proposal.finding is None:
        return []
    own = finding_to_protocol(proposal.finding, reading.text, server.files, related=False)
    return [one for one in given if one.code == own.code and one.range == own.range]


def _plain(text: str) -> str:
    """A text in a snippet, where some characters mean something."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _workspace_edit(server: VigilServer, reading: Reading, edits: list[Any]) -> types.WorkspaceEdit:
    document = server.document(reading.uri)
    if document is not None and server.supports("workspace.workspace_edit.document_changes"):
        version = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(version, edits)])
    return types.WorkspaceEdit(changes={reading.uri: edits})
