"""How a scan looks to a person: the table, the trend, the witnesses, the plans."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.corpus.documents import headline, many, share
from vigil_lang.corpus.figures import day_text
from vigil_lang.diagnostics.human import STYLES
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.corpus.batch import Source
    from vigil_lang.corpus.figures import Figures, Row
    from vigil_lang.corpus.scanning import Engine, Scan
    from vigil_lang.engines.interface import Rule
    from vigil_lang.semantics.policy import Policy

_NAME = 32
_GROUPS = 14
_BAR = 30


@contextmanager
def progress(total: int) -> Iterator[Callable[[int], None]]:
    """Something to tell how much is done, of so many (0: nobody knows); shown on standard error, and only where a
    person watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    columns = (TaskProgressColumn(), BarColumn(_BAR), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total or None)
        yield lambda done: bar.update(task, completed=done)


def print_scan(found: Figures, console: Console) -> None:
    """The headline, a line for each statement, and the runs by group."""
    console.print(Text(headline(found), "bold"))
    console.print()
    column = min(_NAME, max([len("statement"), *(len(visible(row.name)) for row in found.rows)]))
    head = (
        f"  {'statement':<{column}}  {'violated':>9}  {'share':>7}  {'events':>9}  {'vacuous':>9}  {'first':<10}  last"
    )
    console.print(Text(head.rstrip(), "dim"))
    for row in found.rows:
        console.print(_line(row, found, column))
    broken = [row for row in found.rows if row.violated]
    if broken and len(found.groups) > 1:
        console.print()
        for line in _trend(found, broken, console.width):
            console.print(line)


def _line(row: Row, found: Figures, column: int) -> Text:
    name = visible(row.name)
    name = name if len(name) <= column else name[: column - 1] + "…"
    first, last = ("" if t is None else day_text(t) for t in (row.first, row.last))
    mark, style = ("✗", STYLES[row.severity]) if row.violated else ("✓", "green")
    if row.vacuous == found.runs and not row.violated:
        mark, style = "○", "dim"
    line = Text.assemble(
        (f"{mark} ", style),
        (f"{name:<{column}}", "bold" if row.violated else ""),
        f"  {row.violated:>9,}  {share(row.violated, found.runs):>7}  {row.events:>9,}  {row.vacuous:>9,}"
        f"  {first:<10}  {last}",
    )
    if row.known:
        line.append(f"  {row.new:,} new")
    if row.unjudged:
        line.append(f"  {many(row.unjudged, 'run')} not judged", "bold red")
    line.rstrip()
    return line


def _trend(found: Figures, broken: Sequence[Row], width: int) -> Iterator[Text]:
    """The last groups, one a line: their runs, and a column for each violated statement while there is room."""
    groups = list(found.groups.items())[-_GROUPS:]
    column = min(28, max(len(found.by), *(len(visible(group)) for group, _ in groups)))
    room = width - column - 14
    shown: list[tuple[Row, int]] = []
    for row in broken:
        wide = max(5, min(16, len(visible(row.name))))
        if room < wide + 2:
            break
        room -= wide + 2
        shown.append((row, wide))
    names = "".join(f"  {visible(row.name)[:wide]:>{wide}}" for row, wide in shown)
    yield Text(f"  {visible(found.by)[:column]:<{column}}  {'runs':>8}{names}", "dim")
    for group, runs in groups:
        counts = "".join(f"  {row.groups.get(group, 0) or '·':>{wide}}" for row, wide in shown)
        yield Text(f"  {visible(group)[:column]:<{column}}  {runs:>8,}{counts}")
    hidden = len(found.groups) - len(groups)
    rest = [f"{many(hidden, 'group')} before these"] if hidden else []
    rest += (
        [f"{many(len(broken) - len(shown), 'statement')} for which there is no room"]
        if len(shown) < len(broken)
        else []
    )
    if rest:
        yield Text(f"  and {', '.join(rest)}: --format html shows all", "dim")


def print_witnesses(result: Scan, source: Source, policies: Sequence[Policy], number: int, console: Console) -> None:
    """Of each violated statement the first so many runs, read back and explained as `vigil verify` does."""
    from msgspec.structs import replace

    from vigil_lang.cli.judging import judge
    from vigil_lang.verdict.human import violation

    chosen = [(policy, statement) for policy in policies for statement in policy.statements]
    lines = {row["run"]: row for row in result.runs.iter_rows(named=True)} if result.offences.height else {}
    for at, (policy, statement) in enumerate(chosen):
        runs = result.offences.filter(result.offences["rule"] == at)["run"].unique(maintain_order=True).head(number)
        for run in runs:
            trace = source.trace(lines[run])
            verdict = judge([replace(policy, statements=(statement,))], trace)
            console.print()
            console.print(Text(visible(lines[run]["path"]), "bold"))
            for line in violation(verdict.statements[0], trace, console, 1):
                console.print(line)


def plans(rules: Sequence[Rule], engine: Engine, width: int) -> Iterator[Text]:
    """How each rule would be worked out: its plan, or why each run is judged by itself."""
    from vigil_lang.corpus.scanning import planned
    from vigil_lang.engines.columnar.listing import listed

    compiled = planned(rules, engine)
    whole = sum(one.plan is not None for one in compiled)
    yield Text(f"{whole} of {many(len(compiled), 'statement')} over columns, by {engine}", "bold")
    for one in compiled:
        yield Text()
        if one.plan is None:
            yield Text.assemble((visible(one.rule.name), "bold"), f"  run by run: {one.why}")
            continue
        yield Text.assemble((visible(one.rule.name), "bold"), "  over columns")
        for line in listed(one.plan):
            text = Text("    " + visible(line))
            text.truncate(width, overflow="ellipsis")
            yield text
        if one.plan.ordered:
            told = ", ".join(sorted(one.plan.ordered))
            yield Text(f"    runs whose {told} are out of order are judged by themselves", "dim")


def queries(rules: Sequence[Rule], dialect: str) -> str:
    """The tables and queries of rules in a dialect of SQL; why there is none, as a comment."""
    from vigil_lang.corpus.scanning import planned
    from vigil_lang.engines.columnar.sql import Leaves, violations

    compiled = planned(rules, "duckdb")
    leaves = Leaves.of([one.plan for one in compiled if one.plan is not None])
    lines = list(leaves.definitions(dialect))
    for one in compiled:
        name = ascii(one.rule.name)[1:-1]
        lines.append(f"\n-- {name}" if one.plan is not None else f"\n-- {name} has no query: {one.why}")
        if one.plan is not None:
            lines.append(violations(one.plan, leaves) + ";")
    return "\n".join(lines) + "\n"
