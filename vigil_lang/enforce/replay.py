"""A recorded run judged as if online: each call when it was issued, by nothing but what was known then."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import structs

from vigil_lang.abstraction.calls import Unnameable
from vigil_lang.abstraction.run import Abstraction, Options
from vigil_lang.diagnostics import Diagnostic, Source, TooCostly
from vigil_lang.enforce.blocked import in_words
from vigil_lang.enforce.replayed import Decision, Owing, Reason, Replayed, ReplayedStatement
from vigil_lang.engines.wording import span_of
from vigil_lang.runs import unnameable
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.event import MESSAGES
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.unseen import calls_seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.abstraction.run import Survey
    from vigil_lang.enforce.run import Broken, MonitoredRun, Obligation, PolicyMonitor, Proposal
    from vigil_lang.trace.record import Record
    from vigil_lang.verdict import SolverAnswer

MOST_WORK: Final = 4_000_000
"""Events that are judged anew, and obligations that are looked at again, in one run; more for a large one:"""
WORK_PER_RECORD: Final = 200

_SAID = {
    "block": "This call was blocked and not made.",
    "hold": "This call waits until a person has approved it.",
    "warn": "This call was made, but it breaks a rule.",
}


class Certifier(Protocol):
    """Has a solver confirm violations."""

    def breach(self, broken: Broken, trace: Trace, without: Trace | None) -> SolverAnswer | None:
        """The answer on a violation by a pending call, the last of the trace; None where it needs calls in flight.

        `without` is the trace without calls in flight, None where there are none.
        """

    def end(self, trace: Trace) -> tuple[SolverAnswer, ...]:
        """The answers on all statements on the whole run; none where only violations are confirmed."""


def replay(
    monitor: PolicyMonitor,
    survey: Survey,
    records: Sequence[Record],
    options: Options,
    *,
    as_if_blocked: bool = False,
    certifier: Certifier | None = None,
) -> Replayed:
    """Judge a recorded run call by call. `survey` is of the same records.

    A blocked call goes on as it was recorded; with `as_if_blocked` it is left out, and with it what a sub-agent did
    that it started.

    Raises:
        InputError: VGL601 for a call whose arguments cannot be named; VGL003, it takes more than the run warrants.
    """
    if any(isinstance(record, Call) for record in records):
        _warm_up()
    replaying = _Replaying(monitor, survey, options, len(records), certifier, as_if_blocked=as_if_blocked)
    for step in _steps(records):
        replaying.take(step)
    return replaying.finished()


@cache
def _warm_up() -> None:
    """Load what the first call of a process needs: it is not part of the time that a decision takes."""
    Abstraction().propose(Call("", "Bash", {"command": "ls"}))


def _steps(records: Iterable[Record]) -> Iterator[Record | list[Event]]:
    """The records, with the events of one call that follow one another together; a message is none of them."""
    together: list[Event] = []
    for record in records:
        if together and not (isinstance(record, Event) and _are_one(together[0], record)):
            yield together
            together = []
        if isinstance(record, Event):
            together.append(record)
        else:
            yield record
    if together:
        yield together


def _are_one(first: Event, other: Event) -> bool:
    return first.call == other.call and MESSAGES.isdisjoint((first.action, other.action))


@dataclass(slots=True)
class _Work:
    """What was spent on a run beside its calls, and what may be."""

    path: str
    most: int
    spent: int = 0

    def spend(self, steps: int) -> None:
        """Take so many steps.

        Raises:
            TooCostly: VGL003, they are too many.
        """
        self.spent += steps
        if self.spent > self.most:
            message = f"the run cannot be replayed: it takes more than {self.most:,} steps"
            help_text = "judge fewer statements at a time (`--statement`)"
            raise TooCostly([Diagnostic.of("VGL003", message, Source(self.path, ""), help=help_text)])


class _Replaying:
    """One run in the middle of its replay."""

    def __init__(
        self,
        monitor: PolicyMonitor,
        survey: Survey,
        options: Options,
        records: int,
        certifier: Certifier | None,
        *,
        as_if_blocked: bool,
    ) -> None:
        self._monitor = monitor
        self._survey = survey
        self._certifier = certifier
        self._as_if_blocked = as_if_blocked
        self._run: MonitoredRun = monitor.run(Run(survey.run.path), options)
        self._bounds = Abstraction(options)
        self._places = {id(statement): at for at, (_, statement) in enumerate(monitor.statements)}
        self._decisions: list[Decision] = []
        self._owed: set[tuple[int, int, tuple[str | None, ...]]] = set()
        self._proposed: Call | None = None
        """The latest call, while it is not known whether it begins."""
        self._begun: set[str] = set()
        self._results: Counter[str] = Counter()
        self._left_out: set[str] = set()
        """Calls that are no part of the run: blocked, or started by a sub-agent of one that was."""
        self._work = _Work(survey.run.path, max(MOST_WORK, WORK_PER_RECORD * records))

    def take(self, step: Record | list[Event]) -> None:
        """Go on to the next record, or to the next events of one call."""
        if isinstance(step, Result):
            self._end(step)
            return
        self._begin()
        match step:
            case Start():
                self._run.learn(step.run)
            case Call():
                self._propose(step)
            case Message() if step.parent not in self._left_out:
                self._run.say(step)
            case list():
                self._take_events(step)

    def finished(self) -> Replayed:
        """The run is over."""
        self._begin()
        owed = tuple(map(self._owing, self._run.pending()))
        outcome = self._run.close()
        return Replayed(
            run=self._survey.finished_run,
            statements=tuple(
                ReplayedStatement(
                    path,
                    statement.name,
                    statement.metadata.severity,
                    statement.metadata.on_violation,
                    statement.source.position(statement.span.start)[0],
                )
                for path, statement in self._monitor.statements
            ),
            decisions=tuple(self._decisions),
            violated=tuple(self._each_once(outcome.broken)),
            owed=owed,
            unjudged=tuple((self._places[id(each.statement)], each.why) for each in outcome.unjudged),
            solver=() if self._certifier is None else self._certifier.end(outcome.trace),
            events=max(len(outcome.trace), len(self._decisions)),
            seen=calls_seen(outcome.trace),
        )

    # --- calls ---

    def _propose(self, call: Call) -> None:
        if call.parent is not None and call.parent in self._left_out:
            self._left_out.add(call.key)
            return
        decided = self._decide(call, call.key, call.time, executed=call.key not in self._survey.dropped)
        if decided == "block" and self._as_if_blocked:
            self._left_out.add(call.key)
            self._run.refuse(call)
        else:
            self._proposed = call

    def _begin(self) -> None:
        """The latest call was made: something came after it, and not that it was refused."""
        if self._proposed is not None:
            call, self._proposed = self._proposed, None
            self._begun.add(call.key)
            self._run.begin(call)

    def _end(self, result: Result) -> None:
        self._results[result.key] += 1
        if self._results[result.key] < self._survey.results[result.key]:
            return  # the last one counts
        proposed = self._proposed
        if proposed is not None and proposed.key == result.key and not result.executed:
            self._proposed = None
            self._run.refuse(proposed)
            return
        self._begin()
        if result.key in self._begun:
            self._begun.discard(result.key)
            if not result.executed:
                self._work.spend(len(self._run.trace))
            self._run.end(result)

    def _take_events(self, recorded: list[Event]) -> None:
        """The events of one call, or a message, in Vigil's own format: how they end is known at once."""
        for event in recorded:
            self._bounds.add(event)
        events = tuple(self._bounds.ready())
        first = events[0]
        parent = first.extra.get("parent")
        if isinstance(parent, str) and parent in self._left_out:
            self._left_out.add(first.call)
            return
        if first.action not in MESSAGES:
            pending = [structs.replace(event, status="unknown", output=None) for event in events]
            decided = self._decide(pending, first.call, first.time)
            if decided == "block" and self._as_if_blocked:
                self._left_out.add(first.call)
                return
        self._run.begin(events)
        self._run.end(events)

    # --- decisions ---

    def _decide(self, call: Call | Sequence[Event], key: str, time: int | None, *, executed: bool = True) -> str:
        owed = tuple(self._newly_owed())
        start = perf_counter_ns()
        try:
            proposal = self._run.propose(call)
        except Unnameable as error:
            raise unnameable(error, self._survey.run.path) from error
        microseconds = (perf_counter_ns() - start) // 1_000
        reasons = tuple(self._reasons(proposal))
        self._decisions.append(
            Decision(
                call=key,
                events=tuple(event.id for event in proposal.events),
                decided=proposal.decision,
                reasons=reasons,
                owed=owed,
                told=told(proposal),
                shown=proposal.events[0] if reasons else None,
                executed=executed,
                time=time,
                microseconds=microseconds,
            )
        )
        return proposal.decision

    def _reasons(self, proposal: Proposal) -> Iterator[Reason]:
        for doubt in proposal.unjudged:
            event = proposal.events[0].id if proposal.events else ""
            message = f"it cannot be judged: {doubt.why}"
            yield Reason(self._places[id(doubt.statement)], event, {}, message, unjudged=True)
        answers = self._answers(proposal)
        for reason in self._each_once(proposal.broken):
            yield replace(reason, solver=answers.get(reason.statement))

    def _answers(self, proposal: Proposal) -> dict[int, SolverAnswer]:
        """What the solver says of the first event at fault of each statement."""
        answers: dict[int, SolverAnswer] = {}
        if self._certifier is None or not proposal.broken:
            return answers
        made = tuple(structs.replace(event, status="ok", output=None) for event in proposal.events)
        before = self._run.trace
        trace = Trace((*before.events, *made), before.run)
        over = tuple(event for event in before.events if event.call not in self._begun)
        without = None if len(over) == len(before) else Trace((*over, *made), before.run)
        seen: set[int] = set()
        for broken in proposal.broken:
            at = self._places[id(broken.statement)]
            if at not in seen:
                seen.add(at)
                answer = self._certifier.breach(broken, trace, without)
                if answer is not None:
                    answers[at] = answer
        return answers

    def _each_once(self, found: Iterable[Broken]) -> Iterator[Reason]:
        """Each statement with the first event at fault."""
        first: dict[int, Reason] = {}
        for broken in found:
            at, offence = self._places[id(broken.statement)], broken.offence
            first.setdefault(at, Reason(at, offence.event, offence.bindings, offence.message))
        return iter(first.values())

    def _newly_owed(self) -> Iterator[Owing]:
        """What has come to be owed since the last decision."""
        pending = self._run.owed()
        self._work.spend(len(pending))
        before, self._owed = self._owed, {(each.rule, each.event, each.binding) for each in pending}
        for each in pending:
            if (each.rule, each.event, each.binding) not in before:
                yield self._owing(self._run.obligation(each))

    def _owing(self, owed: Obligation) -> Owing:
        left = None if owed.left is None else span_of(owed.left)
        return Owing(self._places[id(owed.statement)], owed.event, owed.bindings, owed.message, left)


# --- what the agent is told ---------------------------------------------------------------------------------


def told(proposal: Proposal) -> str:
    """What the agent is told of its call, in one paragraph; empty where the call passes."""
    if proposal.decision == "pass":
        return ""
    parts = [_SAID[proposal.decision]]
    parts += [f"{doubt.statement.name} cannot be judged: {doubt.why}." for doubt in proposal.unjudged]
    heard: set[int] = set()
    for broken in proposal.broken:
        if id(broken.statement) not in heard:
            heard.add(id(broken.statement))
            parts.append(f"{in_words(broken)}.")
    return " ".join(parts)
