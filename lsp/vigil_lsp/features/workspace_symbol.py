"""`workspace/symbol`: declarations of the workspace and the standard library, by a part of a name."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.semantics.modules import is_shipped, standard_modules, standard_path
from vigil_lang.syntax import tree
from vigil_lsp.features.document_symbol import KINDS, Entry, outline, policy_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

MAX_FOUND = 500
"""Names that one answer has; who wants others writes more of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A declaration, with the policy that it is in and how well it fits what was asked, the best first."""

    rank: tuple[int, int]
    entry: Entry
    reading: Reading


def matching(query: str, readings: Iterable[Reading]) -> list[Found]:
    """The declarations whose names have the characters of a query in order, whatever their case; those closest first.

    The standard library's come after the user's own.
    """
    found = (one for reading in readings for one in _in(reading, query.casefold().replace(" ", "")))
    return nsmallest(MAX_FOUND, found, key=lambda one: (one.rank, one.entry.name, one.reading.source.path))


def _in(reading: Reading, query: str) -> Iterator[Found]:
    shipped = is_shipped(reading.source.path)
    for entry in outline(reading):
        if entry.kind != KINDS[tree.Use]:
            fit = _fit(query, entry.name.casefold())
            if fit is not None:
                yield Found((fit, shipped), entry, reading)


def _fit(query: str, name: str) -> int | None:
    """How far a name is from a query: the same, begins so, has it in it, has its characters; None when it has not."""
    if query == name:
        return 0
    if query in name:
        return 1 if name.startswith(query) else 2
    rest = iter(name.replace(" ", ""))
    return 3 if all(character in rest for character in query) else None


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer it."""

    @server.feature(types.WORKSPACE_SYMBOL)
    def symbols(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        found = matching(params.query, _everything(workspace))
        return [
            types.SymbolInformation(
                location=types.Location(one.reading.uri, one.reading.text.range(one.entry.span)),
                name=one.entry.name,
                kind=one.entry.kind,
                container_name=_container(one.reading),
            )
            for one in found
        ]


def _everything(workspace: Workspace) -> Iterator[Reading]:
    paths = dict.fromkeys(path for project in workspace.projects.all() for path in project.found)
    paths |= dict.fromkeys(document.path for document in workspace.files.documents if document.is_judged)
    paths |= dict.fromkeys(str(standard_path(name)) for name in standard_modules())
    for path in paths:
        reading = workspace.reading_of(path)
        if reading is not None:
            yield reading


def _container(reading: Reading) -> str:
    name = policy_name(reading.file)
    return f"{name} (standard library)" if is_shipped(reading.source.path) else name
