"""A run in progress: calls become events, and a monitor says what they break, before and after they are made."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from vigil_lang.abstraction.run import Abstraction, Options
from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import TooCostly
from vigil_lang.enforce.run_state import RunState, groups_of, hasher, read, written
from vigil_lang.engines.explanation import Explainer, Wording, remedy, required
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Breach, Rule, Unjudged
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.engines.wording import span_of
from vigil_lang.semantics import core
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Call, Result, Start
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from vigil_lang.enforce.run_state import Hashed
    from vigil_lang.engines.interface import Owed
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.metadata import Reaction
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace.record import Message
    from vigil_lang.verdict import Offence

Decision: TypeAlias = "Reaction | Literal['pass']"
"""What is to be done about a pending call."""

MOST_UNSURE = 32
"""So many steps of a call that may fail unnoticed are judged as if they succeed, after those before them may not have;
the rest is judged as if it might not."""

DECISIONS: tuple[Decision, ...] = ("block", "hold", "warn", "pass")
"""The strongest first."""


class Broken(Frozen, frozen=True):
    """A statement that is violated for certain, and the event at fault; `policy` is the path of its policy.

    `remedy` is what would have had to happen before for the event to be allowed, None where nothing would do. The
    near misses of `offence` are looked for when the run is over; until then there are none.
    """

    policy: str
    statement: Statement
    offence: Offence
    remedy: str | None = None

    @property
    def reaction(self) -> Reaction:
        """What the statement asks for (`@on_violation`)."""
        return self.statement.metadata.on_violation


class NotJudged(Frozen, frozen=True):
    """A statement that cannot be judged any more, and why."""

    policy: str
    statement: Statement
    why: str


class Obligation(Frozen, frozen=True):
    """Something that has been owed since an event, under these values of the variables.

    `left` is None where it may be met until the run ends; `message` says all of it in words.
    """

    policy: str
    statement: Statement
    event: str
    bindings: dict[str, str | None]
    left: core.Bound
    message: str


class Proposal(Frozen, frozen=True):
    """What a pending call would be, and break: its events, as they are before its result."""

    events: tuple[Event, ...]
    broken: tuple[Broken, ...] = ()
    unjudged: tuple[NotJudged, ...] = ()

    @property
    def decision(self) -> Decision:
        """The strongest reaction that a broken statement asks for; `block` where a statement cannot be judged."""
        asked = {"block"} if self.unjudged else {broken.reaction for broken in self.broken}
        return next((decision for decision in DECISIONS if decision in asked), "pass")

    def __bool__(self) -> bool:
        raise TypeError("a proposal is neither true nor false: ask for `proposal.decision`")


class RunOutcome(Frozen, frozen=True):
    """The result of a run that is over: the same statements and events at fault as in a verdict on its trace.

    `vacuous` has the names of the statements that nothing in the run put to the test.
    """

    trace: Trace
    broken: tuple[Broken, ...]
    unjudged: tuple[NotJudged, ...]
    vacuous: tuple[str, ...]

    @property
    def safe(self) -> bool:
        """Whether every statement was judged and none is violated."""
        return not self.broken and not self.unjudged


class PolicyMonitor:
    """All statements of some policies, in order, compiled once for any number of runs."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.policies = tuple(policies)
        self.statements = tuple((policy.path, one) for policy in self.policies for one in policy.statements)
        self.looks_back = tuple(_looks_back(one.requirement.theta) for _, one in self.statements)
        """Whether no later event changes what a statement says of one."""
        self.wordings = tuple(Wording(one) for _, one in self.statements)
        self.engine = MonitorEngine([Rule(one.name, one.requirement) for _, one in self.statements])

    def run(self, run: Run | None = None, options: Options | None = None) -> MonitoredRun:
        """A run that begins."""
        return MonitoredRun(self, run or Run("<memory>"), options or Options())

    def restore(self, state: bytes, options: Options | None = None) -> MonitoredRun:
        """The run that a snapshot was taken of. Under other policies its events are judged anew.

        `options` are not part of a snapshot; they are for later calls.

        Raises:
            ValueError: it is no snapshot.
        """
        try:
            found, past, hashed = read(state)
            restored = self.run(found.abstraction.run, options)
            restored.load(found, past, hashed)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise ValueError(f"`state` is no snapshot of a run: {error}") from error
        return restored

    @cached_property
    def digest(self) -> str:
        """What the engine's part of a snapshot depends on: the program, and the policies with their texts."""
        texts = [__version__, self.engine.digest, *(path for path, _ in self.statements)]
        texts += dict.fromkeys(one.source.text for _, one in self.statements)
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        return blake2b(b"".join(len(part).to_bytes(8) + part for part in parts), digest_size=16).hexdigest()


class MonitoredRun:
    """One run while it happens.

    A call is proposed, then begun where it is made, then ended by its result; calls may be in flight together. A call
    that is not begun leaves nothing. In place of calls a run may have events as they will be judged, not both. After a
    failure to take something in no statement is judged: every proposal is to be blocked.
    """

    def __init__(self, monitor: PolicyMonitor, run: Run, options: Options) -> None:
        self._of = monitor
        self._monitor = monitor.engine.run()
        self._abstraction = Abstraction(options)
        self._abstraction.add(Start(run))
        self._order: dict[str | int, tuple[str, ...]] = {}
        """The ids of the events of each call by its key, and of each message by a number, in the run's order."""
        self._groups: dict[str | int, tuple[Event, ...]] = {}
        """The events by the same keys; those of `_past` only once they were needed."""
        self._past = bytearray()
        """The events of calls that are over, in the order in which they ended, as a snapshot has them."""
        self._hashed = hasher()
        self._is_past_read = True
        self._over: dict[str | int, None] = {}
        """The keys of the calls that are over and not in `_past`, in the order in which they ended."""
        self._in_flight: dict[str | int, None] = {}
        """The keys of the calls that have not ended, in the order in which they began."""
        self._ids: dict[str, str | int] = {}
        """The key that each event is found by."""
        self._found: dict[tuple[int, str], Broken] = {}
        """The violations that are certain, by the place of the statement and the event."""
        self._unjudged: dict[int, str] = {}
        self._is_closed = False
        self._takes: type[Call | Event] | None = None
        self._lost: str | None = None
        self.length = 1
        """How many things have happened; proposals are none."""
        self.reports_results = False
        """Whether calls are known to have results; until then a message says that those in flight are over."""

    # --- before a call ---

    def propose(self, call: Call | Sequence[Event]) -> Proposal:
        """What a call would break if it were made now and succeeded; nothing remembers it.

        Raises:
            Unnameable: its arguments are nested too deeply.
            ValueError: the run is closed; an event has an id that is taken; calls and events are mixed.
        """
        self._check(Call if isinstance(call, Call) else Event)
        events = self._abstraction.propose(call) if isinstance(call, Call) else self.numbered(call)
        unsure = self._abstraction.unsure() if isinstance(call, Call) else frozenset()
        ahead = self._monitor.propose(events)
        own = {event.id for event in events}
        # What calls in flight break by themselves was decided when they were proposed.
        breaches = [each for each in ahead.breaches if each.id in own or not self._of.looks_back[each.rule]]
        if unsure:
            found = {(each.rule, each.id) for each in breaches}
            breaches += [each for each in self._unguarded(events, unsure) if (each.rule, each.id) not in found]
        broken: tuple[Broken, ...] = ()
        if breaches:
            as_made = tuple(replace(event, status="ok", output=None) for event in events)
            broken = tuple(self._broken(breach, as_made) for breach in breaches)
        return Proposal(events, broken, self._doubts(self._unjudged | dict(ahead.unjudged)))

    def _unguarded(self, events: Sequence[Event], unsure: Set[str]) -> Iterator[Breach]:
        """What the steps of a call would break if those before them need not have succeeded.

        That a step itself may fail unnoticed is not held against it.
        """
        later = [event.id for event in events if event.id in unsure][1:]
        own = {event.id for event in events} - unsure | {*later[MOST_UNSURE:]}
        yield from (each for each in self._monitor.propose(events, unsure).breaches if each.id in own)
        for step in later[:MOST_UNSURE]:
            others = self._monitor.propose(events, unsure - {step}).breaches
            yield from (each for each in others if each.id == step)

    # --- what happens ---

    def begin(self, call: Call | Sequence[Event]) -> tuple[Broken, ...]:
        """A call is made and in flight; gives the violations that are certain by that.

        Raises:
            Unnameable: its arguments are nested too deeply.
            ValueError: the run is closed; another call has its key or its ids; calls and events are mixed.
        """
        self._check(Call if isinstance(call, Call) else Event)
        if isinstance(call, Call):
            if call.key in self._order:
                raise ValueError(f"the call {call.key} has begun already")
            self._takes = Call
            with self._taking_in():
                return self._begin(call.key, self._abstraction.follow(call))
        events = self.numbered(call)
        if not events:
            raise ValueError("a call has one event or more")
        self._takes = Event
        with self._taking_in():
            return self._begin(events[0].id, events)

    def end(self, result: Result | Sequence[Event]) -> tuple[Broken, ...]:
        """The result of a call, or its events with their statuses and outputs; gives what is newly violated.

        A call that was not executed after all is no part of the run.

        Raises:
            ValueError: the run is closed; no such call was begun; its result is known already.
        """
        self._check(Call if isinstance(result, Result) else Event)
        key = result.key if isinstance(result, Result) else self._ids.get(result[0].id, "") if result else ""
        ids = self._order.get(key)
        if ids is None:
            raise ValueError("no such call was begun")
        if isinstance(result, Result):
            if not self._abstraction.waits_for(result.key):
                raise ValueError(f"the call {key} has ended already")
            self.reports_results = True
            with self._taking_in():
                return self._end(key, self._abstraction.follow(result))
        if key not in self._in_flight:
            raise ValueError(f"the call {key} has ended already")
        if ids != tuple(event.id for event in result):
            raise ValueError("a call ends with the events that it began with")
        self.reports_results = True
        with self._taking_in():
            return self._end(key, tuple(result))

    def deny(self, key: str) -> None:
        """A call is not made: nothing of it is part of the run, also where it was begun."""
        if self._abstraction.waits_for(key):
            self.end(Result(key, executed=False))
        elif key in self._in_flight:
            with self._taking_in():
                self._end(key, ())

    def refuse(self, call: Call) -> None:
        """A call is not made and not begun either; those that follow it are numbered as if it had been.

        Raises:
            Unnameable: its arguments are nested too deeply.
            ValueError: the run is closed; calls and events are mixed.
        """
        self._check(Call)
        with self._taking_in():
            self._abstraction.follow(call)
            self._abstraction.follow(Result(call.key, executed=False))

    def learn(self, run: Run) -> None:
        """More is known of the run, such as the folder that it started in."""
        with self._taking_in():
            self._abstraction.follow(Start(run))

    def say(self, message: Message) -> tuple[Broken, ...]:
        """The user or the agent says something; where no call ever had a result, those in flight end as they are.

        Raises:
            ValueError: the run is closed.
        """
        self._check(None)
        with self._taking_in():
            found: list[Broken] = []
            if not self.reports_results:
                for key in tuple(self._in_flight):
                    found += self._end(key, self._groups[key])
            (event,) = self.numbered(self._abstraction.follow(message))
            self._keep(self.length, (event,))
            self._over[self.length] = None
            return (*found, *self._progress((event,), ended=True))

    # --- what it comes to ---

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The violations that are certain by now, in the order in which they came to be."""
        return tuple(self._found.values())

    @property
    def unjudged(self) -> tuple[NotJudged, ...]:
        """The statements that cannot be judged any more."""
        return self._doubts(self._unjudged)

    @property
    def trace(self) -> Trace:
        """The run so far, calls in flight as they are."""
        return Trace(self._events(), self._abstraction.finished_run)

    def pending(self) -> tuple[Obligation, ...]:
        """What is owed, statement by statement, oldest first."""
        return tuple(map(self.obligation, self.owed()))

    def owed(self) -> tuple[Owed, ...]:
        """What `pending` puts in words, as the engine has it."""
        return self._monitor.pending()

    def close(self) -> RunOutcome:
        """The run is over; calls in flight end as they are.

        Raises:
            ValueError: the run is closed.
        """
        self._check(None)
        self._is_closed = True
        trace, words = self.trace, _Words(self._of, self._events())
        broken: list[Broken] = []
        doubts, vacuous = dict(self._unjudged), []
        for at, outcome in enumerate(self._monitor.close()):
            if isinstance(outcome, Unjudged):
                doubts.setdefault(at, outcome.why)
            if isinstance(outcome, Unjudged) or at in doubts:
                broken += [found for (rule, _), found in self._found.items() if rule == at]
                continue
            for place, binding in outcome.violations:
                broken.append(words.broken(Breach(at, place, trace.events[place].id, binding)))
            if not outcome.exercised:
                vacuous.append(outcome.rule.name)
        return RunOutcome(trace, tuple(broken), self._doubts(doubts), tuple(vacuous))

    def lose_track(self, why: str) -> None:
        """What happened is not known: from here on no statement can be judged."""
        self._lost = why
        self._unjudged |= dict.fromkeys(range(len(self._of.statements)), why)

    def is_in_flight(self, events: Sequence[Event]) -> bool:
        """Whether these are the events of a call that has not ended."""
        return bool(events) and self._ids.get(events[0].id) in self._in_flight

    def numbered(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Events, those without an id numbered by their place in the run.

        Raises:
            ValueError: an id is that of another event.
        """
        found: dict[str, Event] = {}
        for given in events:
            place = f"e{len(self._ids) + len(found) + 1}"
            event = given if given.id else replace(given, id=place, call=given.call or place)
            if event.id in self._ids or event.id in found:
                raise ValueError(f"the id {event.id} is that of another event")
            found[event.id] = event
        return tuple(found.values())

    def snapshot(self) -> bytes:
        """The run as it is, for `PolicyMonitor.restore`: what its later calls need, and its events so far.

        Raises:
            ValueError: the run is closed.
        """
        self._check(None)
        ended = b"".join([written([key, self._groups[key]]) + b"\n" for key in self._over])
        self._over.clear()
        self._past += ended
        self._hashed.update(ended)
        state = RunState(
            self._of.digest,
            msgspec.Raw(self._monitor.snapshot()),
            self._abstraction.state(),
            list(self._order.items()),
            [(key, self._groups[key]) for key in self._in_flight],
            [(rule, found.offence, found.remedy) for (rule, _), found in self._found.items()],
            self._unjudged,
            self._lost,
            None if self._takes is None else "calls" if self._takes is Call else "events",
            self.length,
            self.reports_results,
        )
        return state.stored(self._past, self._hashed)

    def load(self, state: RunState, past: bytes, hashed: Hashed) -> None:
        """Take over what a snapshot holds, in place of what is here.

        Raises:
            ValueError, LookupError, TypeError, AttributeError: it is none.
        """
        self._abstraction.load(state.abstraction)
        self._past, self._hashed, self._is_past_read, self._over = bytearray(past), hashed, False, {}
        self._order, self._groups = dict(state.order), dict(state.in_flight)
        self._in_flight = dict.fromkeys(self._groups)
        self._ids = {name: key for key, ids in self._order.items() for name in ids}
        if any(self._order[key] != tuple(event.id for event in group) for key, group in state.in_flight):
            raise ValueError("a call in flight has other events")
        if len(self._order) - len(self._in_flight) != past.count(b"\n"):
            raise ValueError("a call has no events")
        self._takes = None if state.takes is None else Call if state.takes == "calls" else Event
        self.length, self.reports_results = state.length, state.reports_results
        if state.policies == self._of.digest:
            self._monitor = self._of.engine.restore(bytes(state.engine))
            for rule, offence, found_remedy in state.found:
                broken = Broken(*self._of.statements[rule], offence, found_remedy)
                self._found[rule, offence.event] = broken
            self._unjudged = state.unjudged
        else:
            self._judge_anew()
        if state.lost is not None:
            self.lose_track(state.lost)

    # --- events ---

    @contextmanager
    def _taking_in(self) -> Iterator[None]:
        """Count what happened. If it fails in here, nobody knows what happened, and nothing is judged any more."""
        try:
            self.length += 1
            yield
        except BaseException as error:
            self.lose_track(f"what happened could not be taken in ({type(error).__name__})")
            raise

    def _check(self, takes: type[Call | Event] | None) -> None:
        if self._is_closed:
            raise ValueError("the run is closed")
        if takes is not None and self._takes not in (None, takes):
            raise ValueError("a run has calls or events, not both")

    def _begin(self, key: str, events: tuple[Event, ...]) -> tuple[Broken, ...]:
        self._keep(key, events)
        self._in_flight[key] = None
        return self._progress(events, ended=False)

    def _end(self, key: str | int, events: tuple[Event, ...]) -> tuple[Broken, ...]:
        in_flight = key in self._in_flight
        self._in_flight.pop(key, None)
        if events and in_flight:
            self._groups[key] = events
            self._over[key] = None
            return self._progress(events, ended=True)
        # It was not executed, or was taken to be over: the monitor has to forget what it was told.
        self._read_past()
        self._over = dict.fromkeys(name for name, _ in groups_of(self._past)) | self._over
        self._past.clear()
        self._hashed = hasher()
        if events:
            self._groups[key] = events
            self._over.setdefault(key)
        else:
            del self._groups[key]
            self._over.pop(key, None)
            for name in self._order.pop(key):
                del self._ids[name]
        before = self._judge_anew()
        return tuple(broken for known, broken in self._found.items() if known not in before)

    def _judge_anew(self) -> dict[tuple[int, str], Broken]:
        """Let a monitor of its own follow all that is known to have happened; gives what was found before."""
        self._read_past()
        self._monitor = self._of.engine.run()
        before, self._found = self._found, {}
        for key in self._order:
            self._progress(self._groups[key], ended=key not in self._in_flight, before=before)
        return before

    def _keep(self, key: str | int, events: tuple[Event, ...]) -> None:
        self._groups[key] = events
        self._order[key] = tuple([event.id for event in events])
        self._ids |= dict.fromkeys(self._order[key], key)

    def _events(self) -> tuple[Event, ...]:
        self._read_past()
        return tuple(event for key in self._order for event in self._groups[key])

    def _read_past(self) -> None:
        """Have the events of all calls at hand, those that a snapshot brought as well.

        Raises:
            ValueError: what it brought is damaged.
        """
        if self._is_past_read:
            return
        self._is_past_read = True
        past = dict(groups_of(self._past))
        if past.keys() | self._groups.keys() != self._order.keys():
            raise ValueError("the snapshot has other calls than it names")
        self._groups = past | self._groups

    # --- what is found ---

    def _progress(
        self, events: Sequence[Event], *, ended: bool, before: dict[tuple[int, str], Broken] | None = None
    ) -> tuple[Broken, ...]:
        """Let the monitor go on; `before` has violations that are worded already."""
        progress = self._monitor.step(events, ended=ended)
        self._unjudged |= dict(progress.unjudged)
        worded = before or {}
        new = [breach for breach in progress.breaches if (breach.rule, breach.id) not in self._found]
        for each in new:
            key = each.rule, each.id
            self._found[key] = worded.get(key) or self._broken(each)
        return tuple(self._found[each.rule, each.id] for each in new)

    def _broken(self, breach: Breach, proposed: tuple[Event, ...] = ()) -> Broken:
        """A statement that is violated, worded without the run: a call is not to cost more the longer the run is."""
        rule, place, name, binding = breach
        path, statement = self._of.statements[rule]
        wording = self._of.wordings[rule]
        key = self._ids.get(name)
        if key is not None and key not in self._groups:
            self._read_past()
        event = next(event for event in (proposed if key is None else self._groups[key]) if event.id == name)
        after = (*self._events(), *proposed)[place + 1 :] if wording.names_events else ()
        return Broken(path, statement, wording.offence(place, event, binding, after), remedy(statement, binding))

    def _doubts(self, why: dict[int, str]) -> tuple[NotJudged, ...]:
        return tuple(NotJudged(*self._of.statements[at], why[at]) for at in sorted(why))

    def obligation(self, owed: Owed) -> Obligation:
        """One of what is `owed`, in words."""
        path, statement = self._of.statements[owed.rule]
        bindings = dict(zip(statement.requirement.variables, owed.binding, strict=True))
        until = "before the run ends" if owed.left is None else f"within {span_of(owed.left)}"
        message = f"{required(statement, owed.binding)} is owed since `{owed.id}`, {until}"
        return Obligation(path, statement, owed.id, bindings, owed.left, message)


def _looks_back(theta: core.Theta) -> bool:
    ahead = core.Later | core.Until | core.Clear | core.Last
    return not any(isinstance(body, ahead) for body in core.bodies(theta))


class _Words:
    """Violations on a run in words, as a verdict on it has them."""

    def __init__(self, of: PolicyMonitor, events: tuple[Event, ...]) -> None:
        self._of = of
        self._trace = Trace(events)
        self._index = RunIndex(self._trace)
        self._explainers: dict[int, Explainer] = {}

    def broken(self, breach: Breach) -> Broken:
        """A statement that is violated, with what is wrong; the plainest words where others would cost too much."""
        rule, _, event, binding = breach
        path, statement = self._of.statements[rule]
        at = self._trace.index_of[event]
        try:
            if rule not in self._explainers:
                judgement = Judgement(statement.requirement, self._index, name=statement.name)
                self._explainers[rule] = Explainer(statement, judgement)
            offence = self._explainers[rule].offence(at, binding)
        except TooCostly:
            event_at, after = self._trace.events[at], self._trace.events[at + 1 :]
            offence = self._of.wordings[rule].offence(at, event_at, binding, after)
        return Broken(path, statement, offence, remedy(statement, binding))
