"""Lenses: above each statement what the runs make of it, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.diagnostics.visible import visible
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax import tree
from vigil_lsp.quotations import test_name
from vigil_lsp.verdicts import in_words, waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.reading import Reading
    from vigil_lsp.recordings.results import RunResults, StatementResult
    from vigil_lsp.workspace import Workspace

SHOW, EXPLAIN, TEST = "vigil.showStatement", "vigil.explainStatement", "vigil.runTests"
ALL_TESTS = "run tests"
"""What the lens of a whole file says."""


def lenses(reading: Reading, tests: str | None, *, runs: bool) -> Iterator[types.CodeLens]:
    """The lenses of a policy or a file of tests. A lens with results is resolved when it is shown (`command_of`).

    `tests` is the URI of the file with its tests, None where there is none; `runs`: it is held against some. What is
    no file has none: the process that answers reads files.
    """
    if reading.source.path.startswith("<"):
        return
    if tests is not None:
        yield _lens(reading, _first(reading.file), types.Command(ALL_TESTS, TEST, None, [tests]))
    for item in reading.file.items:
        match item:
            case tree.TestCase(name) if tests is not None:
                yield _lens(reading, name.span, types.Command("run", TEST, None, [tests, test_name(name)]))
            case tree.Statement(name):
                if runs:
                    data = {"uri": reading.uri, "statement": name.text}
                    yield types.CodeLens(_place(reading, name.span), data=data)
                command = types.Command("explain", EXPLAIN, None, [reading.uri, name.text])
                yield _lens(reading, name.span, command)


def _lens(reading: Reading, span: Span, command: types.Command) -> types.CodeLens:
    return types.CodeLens(_place(reading, span), command)


def _place(reading: Reading, span: Span) -> types.Range:
    """From the beginning of the line to the end of a name: Neovim indents a lens as far as its range."""
    found = reading.text.range(span)
    return types.Range(types.Position(found.start.line, 0), found.end)


def _first(file: tree.File) -> Span:
    """Where a lens of the whole file is shown: at its name, or at the first item."""
    if file.name is not None:
        return file.name.span
    first = next(iter(file.items), None)
    if first is None:
        return Span(0, 0)
    return first.module.span if isinstance(first, tree.Use) else first.name.span


def command_of(uri: str, name: str, known: RunResults | None) -> types.Command:
    """What a lens with results says, and does when it is clicked."""
    result = known.statement(name) if known is not None else None
    if known is not None and result is not None and result.runs:
        return types.Command(summary(result, known), SHOW, None, [uri, name])
    return types.Command(waiting(known), "")


def summary(result: StatementResult, known: RunResults) -> str:
    """`violated in 2 of 14 runs · exercised in 9`; `holds in 1 of 2 runs, 1 unreadable · exercised in 1`."""
    exercised = f"exercised in {result.exercised}" if result.exercised else "never exercised"
    return f"{in_words(result, known)} · {exercised}"


def lenses_of(workspace: Workspace, reading: Reading) -> Iterator[types.CodeLens]:
    """The lenses of a policy as it is now."""
    path = reading.source.path
    runs = workspace.recordings.names_runs(path) and not is_test_file(path)
    tests = workspace.tests_beside(path)
    return lenses(reading, None if tests is None else workspace.files.uri(tests), runs=runs)


async def resolved(workspace: Workspace, lens: types.CodeLens, seconds: float) -> types.CodeLens:
    """A lens with what the runs make of its statement, waiting a while for what they make of it as it is now."""
    match lens.data:
        case {"uri": str(uri), "statement": str(name)} if lens.command is None:
            known = await workspace.current_results(uri, seconds)
            lens.command = command_of(uri, name, known)
            lens.command.title = visible(lens.command.title)
    return lens
