"""`callHierarchy/*`: which statements and patterns apply a pattern, and which patterns they apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from lsprotocol import types

from vigil_lsp.cursor import item_at
from vigil_lsp.features.document_symbol import KINDS, policy_name
from vigil_lsp.names import Names, around, users
from vigil_lsp.symbols import Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.modules import Module
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

_Calls: TypeAlias = "dict[Symbol, list[tuple[Module, Span]]]"


def callable_at(names: Names, reading: Reading, offset: int) -> Symbol | None:
    """The pattern or statement that is named at an offset, or else whose item stands there."""
    found = [mention.symbol for mention in names.at(reading.source.path, offset)]
    return next((symbol for symbol in found if symbol.kind in ("pattern", "statement", "rule")), None)


def incoming(names: Names, symbol: Symbol) -> _Calls:
    """The statements and patterns that apply a pattern themselves, each with where."""
    return {
        owner: places
        for owner, applied in names.applied.items()
        if owner.kind in ("pattern", "statement", "rule")
        and (places := [(module, mention.span) for module, mention in applied if mention.symbol == symbol])
    }


def outgoing(names: Names, symbol: Symbol) -> _Calls:
    """The patterns that a statement or pattern applies itself, each with where."""
    found: _Calls = {}
    for module, mention in names.applied.get(symbol, ()):
        found.setdefault(mention.symbol, []).append((module, mention.span))
    return found


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer all three."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        uri = params.text_document.uri
        seen = around(workspace, uri)
        if seen is None:
            return None
        reading, names = seen
        symbol = callable_at(names, reading, reading.text.offset(params.position))
        item = None if symbol is None else _item(workspace, names, symbol, uri)
        return None if item is None else [item]

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    def callers(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        return [
            types.CallHierarchyIncomingCall(item, ranges) for item, ranges in _answer(workspace, params.item, incoming)
        ]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    def called(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        return [
            types.CallHierarchyOutgoingCall(item, ranges) for item, ranges in _answer(workspace, params.item, outgoing)
        ]


def _answer(
    workspace: Workspace, item: types.CallHierarchyItem, calls: Callable[[Names, Symbol], _Calls]
) -> Iterator[tuple[types.CallHierarchyItem, list[types.Range]]]:
    """The other ends of calls, with their places; none for an item that this server did not send."""
    data: Any = item.data
    match data:
        case {
            "kind": ("pattern" | "statement" | "rule") as kind,
            "name": str(name),
            "path": str(path),
            "from": str(uri),
        }:
            seen, symbol = around(workspace, uri), Symbol(kind, name, path)
            near = Names(()) if seen is None else seen[1]
            names = Names([*near.readings, *users(workspace, near, symbol)])
            for other, places in calls(names, symbol).items():
                found = _item(workspace, names, other, uri)
                if found is not None:
                    yield found, [workspace.files.text(module.source).range(span) for module, span in places]


def _item(workspace: Workspace, names: Names, symbol: Symbol, uri: str) -> types.CallHierarchyItem | None:
    """A pattern or statement as the client shows it; it sends `data` back, with the document it first asked for."""
    place = next(iter(names.declarations(symbol)), None)
    module = None if place is None else names.module(place.source.path)
    item = None if place is None or module is None else item_at(module.file, place.span.start)
    if place is None or module is None or item is None:
        return None
    text = workspace.files.text(place.source)
    return types.CallHierarchyItem(
        name=symbol.name,
        kind=KINDS[type(item)],
        uri=workspace.files.uri(place.source.path),
        range=text.range(item.span),
        selection_range=text.range(place.span),
        detail=policy_name(module.file),
        data={"kind": symbol.kind, "name": symbol.name, "path": symbol.path, "from": uri},
    )
