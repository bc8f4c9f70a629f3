"""Which calls of recorded runs the policies would have stopped, and whether rightly.

`python -m tests.benchmarks.transparency POLICY… --runs RUN… [--quiet]`

Each call is proposed before it is made, after the calls that have ended by then: of calls in flight, and of those
behind them, nothing is told. A call counts as stopped rightly where the run as recorded breaks the statement, at
whatever event; where it does not, the call failed, or the monitor disturbs what it should let pass.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.abstraction.run import Abstraction
from vigil_lang.engines.indexed import IndexedEngine
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.ingest import read_records
from vigil_lang.semantics.policy import load_policy
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.record import Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Stopped:
    """A call that a gate would have stopped, or could not judge where `why` says so."""

    statement: str
    call: str
    tool: str
    rightly: bool
    failed: bool
    """Whether the call, as recorded, did not succeed: it is judged ahead as if it would."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point of a run: a call with the events proposed for it, or no call and what happened since."""

    events: tuple[Event, ...]
    call: str = ""
    tool: str = ""


def moments(run: Path) -> list[Moment]:
    """A recording call by call: each as it is proposed, and what has ended since."""
    abstraction, found = Abstraction(), []
    with run.open("rb") as stream:
        for record in read_records(stream, run.name):
            if isinstance(record, Call):
                found.append(Moment(abstraction.propose(record), record.key, record.name))
            abstraction.add(record)
            found.append(Moment(tuple(abstraction.ready())))
    found.append(Moment(tuple(abstraction.rest())))
    return found


def stopped(rules: Sequence[Rule], run: Sequence[Moment]) -> list[Stopped]:
    """The calls of a run that a gate would have stopped; each statement once a call."""
    monitor = MonitorEngine(rules).run()
    events: list[Event] = []
    found: list[tuple[int, Moment, str]] = []
    for moment in run:
        if moment.call:
            ahead = monitor.propose(moment.events)
            found += [(rule, moment, "") for rule in sorted({b.rule for b in ahead.breaches})]
            found += [(unjudged.rule, moment, unjudged.why) for unjudged in ahead.unjudged]
        elif moment.events:
            monitor.step(moment.events)
            events += moment.events
    named = sorted({rule for rule, *_ in found})
    outcomes = dict(zip(named, IndexedEngine().judge([rules[at] for at in named], [Trace(tuple(events))]), strict=True))
    failed = {event.call for event in events if event.status != "ok"}
    return [
        Stopped(rules[rule].name, at.call, at.tool, bool(outcomes[rule].violations), at.call in failed, why)
        for rule, at, why in found
    ]


def rules_of(policies: Iterable[Path]) -> list[Rule]:
    """The statements of policies, each with its file's name in front of its own."""
    return [
        Rule(f"{place.stem}: {statement.name}", statement.requirement)
        for place in policies
        for statement in load_policy(place).statements
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policies", nargs="+", type=Path)
    parser.add_argument("--runs", nargs="+", type=Path, required=True)
    parser.add_argument("--quiet", action="store_true", help="print totals only")
    options = parser.parse_args()
    rules = rules_of(options.policies)
    calls = disturbed = wrongly = 0
    for run in options.runs:
        lived = moments(run)
        found = stopped(rules, lived)
        calls += sum(bool(moment.call) for moment in lived)
        disturbed += bool(found)
        wrongly += any(not one.rightly and not one.failed for one in found)
        for one in () if options.quiet else found:
            mark = "rightly" if one.rightly else "the call failed" if one.failed else "WRONGLY"
            print(f"{run}  {one.statement}: {one.tool} {one.call}  {mark}  {one.why}")
    print(
        f"{len(rules)} statements, {len(options.runs)} runs, {calls} calls proposed: in {disturbed} runs a call would "
        f"have been stopped, in {wrongly} of them wrongly"
    )


if __name__ == "__main__":
    main()
