"""A verdict as lines for other programs: `run.jsonl:12:e5: R3 message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.trace import Run
    from vigil_lang.verdict.verdict import Verdict


def lines(verdict: Verdict, places: Mapping[int, int]) -> Iterator[str]:
    """One line an offence; none for a run that is safe. `places` has the lines of events, by index, that are known."""
    run = verdict.trace.run
    for statement, offence in verdict.offences():
        where = place(run, offence.event, places.get(offence.index))
        yield f"{where}: {visible(statement.name)} {visible(offence.message)}"


def place(run: Run, event: str, line: int | None) -> str:
    """Where an event stands: `run.jsonl:12:e5`, or `run.jsonl:e5` where its line is not known.

    The run's label stands behind the line: editors look for `file:line:`.
    """
    if line is None:
        return f"{shown_path(run.path)}:{visible(event)}"
    file = run.path if run.label is None else run.path.removesuffix(f"#{run.label}")
    label = "" if run.label is None else f"#{visible(run.label)}:"
    return f"{shown_path(file)}:{line}:{label}{visible(event)}"
