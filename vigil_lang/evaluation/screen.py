"""An evaluation for people: the tables, what disagrees with its label and why, and what counts for no figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.human import hanging
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.evaluation.tables import (
    command,
    disagreed,
    headline,
    kind_of,
    method,
    omitted,
    sheets,
    witnessed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from vigil_lang.evaluation.evaluate import Disagreement, Evaluation
    from vigil_lang.evaluation.tables import Intervals, Sheet

_GAP = "  "
_NAME = 16
"""Columns of a name that stay where a table is too wide."""


def print_evaluation(
    evaluation: Evaluation, console: Console, *, intervals: Intervals, times: bool, statements: bool
) -> None:
    """All of an evaluation, laid out for the width of the console."""
    head = Text(f"{visible(evaluation.corpus.name)}  ", "bold")
    for line in hanging(console, head, headline(evaluation)):
        console.print(line)
    for sheet in sheets(evaluation, intervals=intervals, times=times, statements=statements):
        console.print()
        for line in _sheet(sheet, console):
            console.print(line)
    console.print()
    for line in hanging(console, Text(), method(evaluation), "dim"):
        console.print(line)
    if evaluation.disagreements:
        console.print()
        console.print(Text(disagreed(evaluation), "bold"))
    for found in evaluation.disagreements:
        console.print()
        for line in _disagreement(found, console):
            console.print(line)
    for told, some, more in omitted(evaluation):
        console.print()
        for line in hanging(console, Text(), told, "bold"):
            console.print(line)
        for each in some:
            for line in hanging(console, Text("  "), each):
                console.print(line)
        if more > 0:
            console.print(Text(f"  and {more:,} more: --format json has all", "dim"))


def _sheet(sheet: Sheet, console: Console) -> Iterator[Text]:
    names = [visible(row[0]) for row in sheet.rows]
    widths = [max(len(row[at]) for row in (sheet.heads, *sheet.rows)) for at in range(1, len(sheet.heads))]
    left = console.width - sum(widths) - len(_GAP) * len(widths)
    longest = max(map(len, (*names, sheet.heads[0])))
    column = min(longest, max(left, _NAME))
    if sheet.title:
        yield Text(visible(sheet.title), "bold")
    yield Text(_line(sheet.heads[0].ljust(column), sheet.heads[1:], widths), "dim")
    first_sum = len(sheet.rows) - sheet.sums
    for at, (name, row) in enumerate(zip(names, sheet.rows, strict=True)):
        style = "bold" if at >= first_sum else ""
        yield Text(_line(middle(name, column).ljust(column), row[1:], widths), style)
    if sheet.note:
        yield from hanging(console, Text(), sheet.note, "dim")


def _line(name: str, cells: tuple[str, ...], widths: list[int]) -> str:
    return _GAP.join([name, *(text.rjust(width) for text, width in zip(cells, widths, strict=True))]).rstrip()


def _disagreement(found: Disagreement, console: Console) -> Iterator[Text]:
    """Paths and commands stay on one line, to be copied."""
    yield Text.assemble((kind_of(found), "yellow" if found.label == "benign" else "red"), f" in {visible(found.group)}")
    yield Text(f"  {shown_path(found.run)}", "bold")
    for line in witnessed(found):
        yield from hanging(console, Text("    "), line)
    if told := command(found):
        yield Text(f"  $ {told}", "dim")
