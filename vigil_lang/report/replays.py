"""Replays as lines, as JUnit XML and as Markdown: the same whenever they are made, so without times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.report.content import Case, Problem, Suite
from vigil_lang.report.junit import junit_xml
from vigil_lang.report.markdown import cell
from vigil_lang.report.paths import Places
from vigil_lang.report.recording import Sought, file_of, lines_of_events
from vigil_lang.report.replay_screen import WORDS, rows, totals
from vigil_lang.verdict.concise import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.enforce.replay_figures import Figures
    from vigil_lang.enforce.replayed import Changed, Decision, Replayed
    from vigil_lang.trace import Run

_LINES_SHOWN = 20
_ROWS = 1_000


def lines(found: Replayed) -> Iterator[str]:
    """`run.jsonl:12:e5: hold R3 message` for each statement that disturbs a call; then what is violated and owed."""
    events = [_event(decision) for decision in found.disturbed]
    events += [reason.event for reason in found.violated] + [owing.since for owing in found.owed]
    where = _places(found, events)
    for decision in found.disturbed:
        for reason in decision.reasons:
            name = found.statements[reason.statement].name
            yield f"{where[_event(decision)]}: {decision.decided} {visible(name)} {visible(reason.message)}"
    for reason in found.violated:
        name = visible(found.statements[reason.statement].name)
        yield f"{where[reason.event]}: violated {name} {visible(reason.message)}"
    for owing in found.owed:
        name = found.statements[owing.statement].name
        yield f"{where[owing.since]}: owed {visible(name)} {visible(owing.message)}"
    for at, why in found.unjudged:
        yield f"{shown_path(found.run.path)}: unjudged {visible(found.statements[at].name)} {visible(why)}"


def changed_lines(found: Changed) -> Iterator[str]:
    """`run.jsonl:12:e5: hold R3 (was pass)` for each call that is decided differently."""
    changed = [(decision, change) for change in found.decisions if (decision := change.now or change.before)]
    where = _places(found.now, [_event(decision) for decision, _ in changed])
    for decision, change in changed:
        now, was = _told(change.now, found.now), _told(change.before, found.before)
        yield f"{where[_event(decision)]}: {now} (was {was})"
    path = shown_path(found.now.run.path)
    for names, what in zip(found.violated, ("violated now", "violated no more"), strict=True):
        yield from (f"{path}: {what} {visible(name)}" for name in names)


def _places(found: Replayed, events: Sequence[str]) -> dict[str, str]:
    """Where events of a run stand, by their ids."""
    calls = {event: decision.call for decision in found.decisions for event in decision.events}
    numbers = lines_of_events(found.run, {event: Sought(event, calls.get(event, "")) for event in events})
    return {event: place(found.run, event, numbers.get(event)) for event in events}


class Replays:
    """What is kept of replays, one after the other, for formats that are one document."""

    def __init__(self) -> None:
        self._places = Places.now()
        self._suites: list[Suite] = []
        self._rows: list[str] = []
        self._more = 0
        self._broken: list[Diagnostic] = []

    def add(self, found: Replayed) -> None:
        """Take what is to be reported of a replay."""
        self._suite(found.run, [self._case(at, found) for at in range(len(found.statements))], found.summary)
        for decision in found.disturbed:
            names = ", ".join(cell(found.statements[reason.statement].name) for reason in decision.reasons)
            said = " ".join(cell(reason.message) for reason in decision.reasons)
            self._row(found.run, visible(_event(decision)), WORDS[decision.decided], names, said)
        for reason in found.violated:
            name = cell(found.statements[reason.statement].name)
            self._row(found.run, reason.event, "violated", name, cell(reason.message))
        for owing in found.owed:
            name = cell(found.statements[owing.statement].name)
            self._row(found.run, owing.since, "owed", name, cell(owing.message))

    def add_changed(self, found: Changed) -> None:
        """Take what is to be reported of the difference between two replays."""
        said = list(changed_lines(found))
        problem = Problem(f"{len(said)} differences", "\n".join(said[:_LINES_SHOWN]), "changed") if said else None
        self._suite(found.now.run, [Case("decisions", failure=problem)], found.now.summary)
        for change in found.decisions:
            decision = change.now or change.before
            assert decision is not None
            now, was = _told(change.now, found.now), _told(change.before, found.before)
            self._row(found.now.run, visible(_event(decision)), cell(now), cell(f"was {was}"), "")

    def broken(self, findings: Sequence[Diagnostic]) -> None:
        """Take what keeps a run from being replayed."""
        self._broken += findings
        for found in findings:
            path = self._places.in_root(found.source.path)
            problem = Problem(found.message, f"{found.code} {found.message}", "input")
            self._suites.append(Suite(path, [Case("readable", path, path, error=problem)], path))

    def junit(self) -> str:
        """A suite for each run, with a case for each statement: it fails where it disturbs a call or is violated."""
        return junit_xml(self._suites, "vigil replay")

    def markdown(self, figures: Figures, unused_labels: int = 0) -> str:
        """The sums, a table by statement, and a row for each call that is disturbed."""
        said = list(totals(figures, len(self._broken), unused_labels))
        parts = [f"### vigil replay: {said[0]}", "", *(f"- {line}" for line in said[1:])]
        table = rows(figures)
        if len(table) > 1:
            head, *body = table
            parts += ["", f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
            parts += [f"| {' | '.join((cell(name), *numbers))} |" for name, *numbers in body]
        if self._rows:
            parts += ["", "| Run | Call | What | Statement | Message |", "|---|---|---|---|---|", *self._rows]
        if self._more:
            parts += ["", f"and {self._more} more."]
        for found in self._broken:
            parts += ["", f"- not readable: {cell(self._places.in_root(found.source.path))} {cell(found.message)}"]
        return "\n".join(parts) + "\n"

    def _suite(self, run: Run, cases: list[Case], figures: Mapping[str, int]) -> None:
        file = file_of(run)
        path = self._places.in_root(file)
        self._suites.append(Suite(path + run.path[len(file) :], cases, path, figures))

    def _row(self, run: Run, event: str, what: str, statement: str, message: str) -> None:
        if len(self._rows) == _ROWS:
            self._more += 1
            return
        file = file_of(run)
        shown = self._places.in_root(file) + run.path[len(file) :]
        self._rows.append(f"| {cell(shown)} | {cell(event)} | {what} | {statement} | {message} |")

    def _case(self, at: int, found: Replayed) -> Case:
        statement = found.statements[at]
        told = [
            f"{decision.events[0] if decision.events else ''}: {WORDS[decision.decided]}: {reason.message}"
            for decision in found.disturbed
            for reason in decision.reasons
            if reason.statement == at
        ]
        told += [f"{reason.event}: violated: {reason.message}" for reason in found.violated if reason.statement == at]
        told += [f"cannot be judged: {why}" for place, why in found.unjudged if place == at]
        owed = "\n".join(f"owed: {owing.message}" for owing in found.owed if owing.statement == at)
        path = self._places.in_root(statement.policy)
        if not told:
            return Case(statement.name, path, path, statement.line, output=owed or None)
        shown = told[:_LINES_SHOWN] + [f"and {len(told) - _LINES_SHOWN} more"] * (len(told) > _LINES_SHOWN)
        problem = Problem(told[0], "\n".join(shown + ([owed] if owed else [])), statement.severity)
        return Case(statement.name, path, path, statement.line, failure=problem)


def _event(decision: Decision) -> str:
    return decision.events[0] if decision.events else ""


def _told(decision: Decision | None, of: Replayed) -> str:
    if decision is None:
        return "left out"
    names = ", ".join(visible(of.statements[reason.statement].name) for reason in decision.reasons)
    return f"{decision.decided} {names}".rstrip()
