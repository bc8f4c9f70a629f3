"""A verdict as lines for other programs: `run.jsonl:12:e5: R3 message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.verdict.verdict import Verdict


def lines(verdict: Verdict, places: Mapping[int, int]) -> Iterator[str]:
    """One line an offence; none for a run that is safe. `places` has the lines of events, by index, that are known.

    The run's label stands behind the line: editors look for `file:line:`.
    """
    run = verdict.trace.run
    file = run.path if run.label is None else run.path.removesuffix(f"#{run.label}")
    for statement, offence in verdict.offences():
        line, label = places.get(offence.index), "" if run.label is None else f"#{visible(run.label)}:"
        where = shown_path(run.path) + ":" if line is None else f"{shown_path(file)}:{line}:{label}"
        yield f"{where}{visible(offence.event)}: {visible(statement.name)} {visible(offence.message)}"
