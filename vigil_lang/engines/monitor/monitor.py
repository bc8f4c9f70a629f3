"""Rules followed along a run: dispatch by action, calls in flight, what is proposed and what happened."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.interface import Ahead, Breach, Progress, Unjudged
from vigil_lang.engines.monitor.clauses import Irregular, Prepared
from vigil_lang.engines.monitor.leaves import REFUSALS, Now, why
from vigil_lang.engines.monitor.rules import Sliced
from vigil_lang.engines.monitor.unrolled import Unrolled
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.trace import Event
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence, Set

    from vigil_lang.engines.interface import Outcome, Owed, PrefixVerdict, Rule
    from vigil_lang.engines.monitor.leaves import Binding
    from vigil_lang.engines.monitor.rules import Judged, Part
    from vigil_lang.engines.monitor.tables import Table

RANKED: Final = 200_000
"""The most values whose order of appearance is remembered; later ones are ordered within their event only."""
CALLS: Final = 10_000
"""At least so many of the latest calls are remembered by their ids; one that comes again later counts anew."""
IDS: Final = 10_000
"""At least so many of the latest ids of events are remembered."""
_SHORT: Final = 40
_DISPATCHED: Final = 10_000
_NO_NEWS: Final = Progress()
_NOTHING_AHEAD: Final = Ahead()


class MonitorEngine:
    """Rules, ready to follow runs by."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.ranked = [_ranked(rule) for rule in self.rules]
        """Of each rule the views whose values variables have, too."""
        self._prepared = [_prepared(rule) for rule in self.rules]
        digest = blake2b(digest_size=16)
        for rule in self.rules:
            digest.update(rule.name.encode() + b"\0" + core.to_json(rule.requirement))
        self.digest = digest.hexdigest()

    def judged(self, place: int, rank: Callable[[Binding], tuple[int, ...]]) -> Judged:
        """A rule at the beginning of a run."""
        rule, prepared = self.rules[place], self._prepared[place]
        return Unrolled(rule, rank) if prepared is None else Sliced(rule, prepared, rank)

    def run(self) -> RunMonitor:
        """A monitor at the beginning of a run."""
        return RunMonitor(self)

    def restore(self, state: bytes) -> RunMonitor:
        """The monitor that a snapshot was taken of.

        Raises:
            ValueError: it is no snapshot, or one of other rules.
        """
        try:
            found = msgspec.json.decode(state)
            digest = found["rules"]
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise ValueError(f"this is no snapshot of a monitor: {error}") from None
        if digest != self.digest:
            raise ValueError("the snapshot is one of other rules")
        monitor = RunMonitor(self)
        try:
            monitor.load(found)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the snapshot is damaged: {error}") from None
        return monitor


def _prepared(rule: Rule) -> Prepared | None:
    """What of a rule is the same along every run; None for one that has to be unrolled."""
    try:
        prepared = Prepared(rule.requirement)
        Sliced(rule, prepared, lambda _: ())
    except Irregular:
        return None
    return prepared


def _ranked(rule: Rule) -> tuple[core.Reads, ...]:
    tests = [t for holds in core.conditions(rule.requirement.theta) for t in core.tests(holds.condition)]
    return tuple(dict.fromkeys(t.field for t in tests if isinstance(t, core.Equals) and t.field.views))


class Ranks:
    """The order of first appearance of the values of a run, and of the views that variables are compared with."""

    def __init__(self, fields: tuple[core.Reads, ...]) -> None:
        self._fields = fields
        self.known: dict[str, int] = {}

    def add(self, event: Event) -> None:
        """Take in the next event's values."""
        known = self.known
        if len(known) >= RANKED:
            return
        for found in event.args.values():
            for text in found:
                known.setdefault(text if len(text) <= _SHORT else _short(text), len(known))
        if event.output is not None:
            known.setdefault(_short(event.output), len(known))
        for field in self._fields:
            with suppress(TooCostly):  # a rule that reads this field of this event is not judged any more
                for text in texts(field, event):
                    known.setdefault(_short(text), len(known))

    def drop(self, count: int) -> None:
        """Forget all but the first so many values."""
        while len(self.known) > count:
            self.known.popitem()

    def of(self, binding: Binding) -> tuple[int, ...]:
        """A binding's place among bindings."""
        return tuple([-1 if v is None else self.known.get(_short(v), RANKED) for v in binding])


def _short(text: str) -> str:
    """A text, or its digest where that is shorter."""
    if len(text) <= _SHORT:
        return text
    return "\0" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Concerned(NamedTuple):
    """What an event with certain names concerns."""

    parts: tuple[Part, ...]
    tables: tuple[tuple[int, Table], ...]
    deciding: tuple[Callable[[Now], list[Binding]], ...] | None
    """All that judges such an event ahead, where it does so at once; None where more has to be asked."""
    counts: bool
    """Whether an operator looks at the event itself, not only a condition that is made for what is ahead."""


def _as_proposed(event: Event) -> Event:
    """An event as it is judged before it happens: it will succeed, and nothing is known of its output."""
    return event if event.status == "ok" and event.output is None else replace(event, status="ok", output=None)


class RunMonitor:
    """Follows rules along one run."""

    def __init__(self, engine: MonitorEngine) -> None:
        self._engine = engine
        self._count = 0
        self._calls: dict[str, int] = {}
        self._called = 0
        self._ids: dict[str, None] = {}
        self._waiting: dict[str, list[Any]] = {}
        """Events from the first one in flight on, by id: [event, whether it has ended]."""
        self._ranks: dict[tuple[core.Reads, ...], Ranks] = {(): Ranks(())}
        self._judged: list[Judged | None] = [self._judged_by(place) for place in range(len(engine.rules))]
        self._unjudged: dict[int, str] = {}
        self._dispatch: dict[tuple[str, tuple[str, ...]], Concerned] = {}
        self._ending = [(i, j) for i, j in enumerate(self._judged) if j is not None and j.ends_with_calls]
        self._now = Now.nowhere()
        self._at: tuple[int, int, int | None] = (0, -1, None)
        """Where the last event that is judged stands."""

    def _judged_by(self, place: int) -> Judged:
        fields = self._engine.ranked[place]
        return self._engine.judged(place, self._ranks.setdefault(fields, Ranks(fields)).of)

    # --- what is asked --------------------------------------------------------------------------------------

    def propose(self, events: Sequence[Event], unsure: Set[str] = frozenset()) -> Ahead:
        """What would be if a call with these events succeeded; nothing remembers it.

        Events that are `unsure`, by their ids, are judged as they are: they need not succeed where the call does.
        """
        if len(events) == 1 and not self._waiting and not self._unjudged:
            (event,) = events
            concerned = self._dispatch.get((event.action, event.kinds))
            if (
                concerned is not None
                and concerned.deciding is not None
                and self._passes(event, concerned.deciding, concerned.counts)
            ):
                return _NOTHING_AHEAD
        over = {name: event for name, (event, is_over) in self._waiting.items() if is_over}
        in_flight = len(self._waiting) - len(over)
        known = {*over, *unsure}
        with self._tried([*over.values(), *events], ahead=True, after=in_flight, over=known) as found:
            pass
        if in_flight:
            with self._tried([*self._flying(), *events], ahead=True, over=known) as together:
                found = found | together
        if not found and not self._unjudged:
            return _NOTHING_AHEAD
        reasons = {rule: reason for (rule, _), reason in found.items() if isinstance(reason, str)}
        breaches = sorted([breach for breach in found.values() if isinstance(breach, Breach)], key=itemgetter(0))
        return Ahead(tuple(breaches), tuple([Unjudged(*pair) for pair in sorted((reasons | self._unjudged).items())]))

    def _passes(self, event: Event, deciding: tuple[Callable[[Now], list[Binding]], ...], counts: bool) -> bool:
        """Whether nothing is ahead, where each rule looks at the one event alone and at what it remembers."""
        now = self._now
        now.event, now.index, now.time = _as_proposed(event) if counts else event, self._count, event.time
        now.ordinal = self._called - 1 if event.action in MESSAGES else self._calls.get(event.call, self._called)
        now.ahead = True
        try:
            for ahead in deciding:
                if ahead(now):
                    return False
        except REFUSALS:
            return False
        finally:
            now.ahead = False
        return True

    def _flying(self) -> list[Event]:
        return [event for event, _ in self._waiting.values()]

    @contextmanager
    def _tried(
        self, events: Sequence[Event], *, ahead: bool, after: int = 0, over: Container[str] = ()
    ) -> Iterator[dict[tuple[int, int], Breach | str]]:
        """The state with some more events, until the block ends; `after` so many that are left out.

        Ahead, events are taken to succeed, but for those that are `over`, by their ids.

        What is found has breaches by rule and event, and under the event -1 why a rule cannot judge these events.
        """
        trail: list[Any] = []
        found: dict[tuple[int, int], Breach | str] = {}
        now, last, before = self._now, len(events) - 1, (self._count, self._called)
        now.trail, now.ahead = trail, ahead
        self._count += after
        added: list[str] = []
        try:
            for place, given in enumerate(events):
                now.ahead = is_open = ahead and given.id not in over
                event = _as_proposed(given) if is_open else given
                if event.call not in self._calls:
                    added.append(event.call)
                parts, tables, *_ = self._begin(event)
                for ranks in self._ranks.values():
                    trail.append((ranks.drop, (len(ranks.known),)))
                    ranks.add(event)
                for part in parts:
                    try:
                        for index in part.judged.judge(now, part, is_open):
                            self._note(part.rule, part.judged, index, found)
                    except REFUSALS as refusal:
                        found[part.rule, -1] = why(refusal)
                if place < last or not ahead:
                    for rule, table in tables:
                        try:
                            table.update(now)
                        except REFUSALS as refusal:
                            found[rule, -1] = why(refusal)
                    self._count += 1
            for rule, judged in self._ending if ahead and events else ():
                try:
                    for index in judged.end_call(now):
                        self._note(rule, judged, index, found)
                except REFUSALS as refusal:
                    found[rule, -1] = why(refusal)
            yield found
        finally:
            for undo, args in reversed(trail):
                undo(*args)
            now.trail, now.ahead = None, False
            self._count, self._called = before
            for call in added:
                self._calls.pop(call, None)

    @staticmethod
    def _note(rule: int, judged: Judged, index: int, found: dict[tuple[int, int], Breach | str]) -> None:
        name, binding = judged.violations.found[index]
        found[rule, index] = Breach(rule, index, name, binding)

    # --- what happened --------------------------------------------------------------------------------------

    def step(self, events: Sequence[Event], *, ended: bool = True) -> Progress:
        """Take in what happened: new events, and by their ids the ends of those in flight."""
        waiting = self._waiting
        for event in events:
            if event.id in waiting:
                if waiting[event.id][1]:
                    raise ValueError(f"the event {event.id!r} has ended already")
            elif event.id in self._ids:
                raise ValueError(f"the event {event.id!r} has been judged already")
        if len(events) > 1 and len({event.id for event in events}) < len(events):
            raise ValueError("two of the events have one id")
        if not waiting and ended:
            return self._settle(events)
        for event in events:
            waiting[event.id] = [event, ended]
        ready = []
        for name, (event, is_over) in list(waiting.items()):
            if not is_over:
                break
            ready.append(event)
            del waiting[name]
        return self._settle(ready)

    def _settle(self, events: Sequence[Event]) -> Progress:
        """Judge events that have ended; nothing undoes this."""
        now = self._now
        breaches: list[Breach] = []
        unjudged: list[Unjudged] = []
        for event in events:
            parts, tables, *_ = self._begin(event)
            for ranks in self._ranks.values():
                ranks.add(event)
            self._ids[event.id] = None
            if len(self._ids) > 2 * IDS:
                self._ids = dict.fromkeys(islice(self._ids, IDS, None))
            for part in parts:
                judged = part.judged
                if part.is_idle and judged.exercised:
                    self._dispatch.pop((event.action, event.kinds), None)
                    continue
                try:
                    for index in judged.judge(now, part, False):
                        name, binding = judged.violations.found[index]
                        breaches.append(Breach(part.rule, index, name, binding))
                except REFUSALS as refusal:
                    unjudged += self._give_up(part.rule, why(refusal))
            for rule, table in tables:
                try:
                    table.update(now)
                except REFUSALS as refusal:
                    unjudged += self._give_up(rule, why(refusal))
            self._count += 1
            self._at = now.index, now.ordinal, now.time
        if not breaches and not unjudged:
            return _NO_NEWS
        return Progress(tuple(breaches), tuple(unjudged))

    def _begin(self, event: Event) -> Concerned:
        """Make the next event the current one; gives what it concerns."""
        now = self._now
        now.event, now.index, now.time = event, self._count, event.time
        if event.action in MESSAGES:
            now.ordinal = self._called - 1
        else:
            ordinal = self._calls.get(event.call)
            if ordinal is None:
                ordinal = self._calls[event.call] = self._called
                self._called += 1
                if len(self._calls) > 2 * CALLS and now.trail is None:
                    self._calls = dict(islice(self._calls.items(), CALLS, None))
            now.ordinal = ordinal
        key = event.action, event.kinds
        found = self._dispatch.get(key)
        return self._dispatched(key) if found is None else found

    def _dispatched(self, key: tuple[str, tuple[str, ...]]) -> Concerned:
        if len(self._dispatch) >= _DISPATCHED:
            self._dispatch.clear()
        names = frozenset((key[0], *key[1]))
        judged = [(place, each) for place, each in enumerate(self._judged) if each is not None]
        parts = tuple([part for place, each in judged if (part := each.part(place, names)) is not None])
        tables = tuple(
            [
                (place, table)
                for place, each in judged
                for table in each.tables
                if table.told_by is None or not table.told_by.isdisjoint(names)
            ]
        )
        deciding = None
        if not self._ending and all(part.decides for part in parts):
            deciding = tuple([each.ahead for part in parts for each in part.beginning])
        counts = any(part.judged.counts for part in parts)
        found = self._dispatch[key] = Concerned(parts, tables, deciding, counts)
        return found

    def _give_up(self, rule: int, reason: str) -> list[Unjudged]:
        """A rule that cannot be judged any more remembers nothing."""
        if rule in self._unjudged:
            return []
        self._unjudged[rule] = reason
        self._leave(rule)
        return [Unjudged(rule, reason)]

    def _leave(self, rule: int) -> None:
        self._judged[rule] = None
        self._ending = [(place, judged) for place, judged in self._ending if place != rule]
        self._dispatch.clear()

    # --- what it says ---------------------------------------------------------------------------------------

    def verdicts(self) -> tuple[PrefixVerdict | None, ...]:
        """What each rule says of the events so far, None where it cannot judge them."""
        with self._tried(self._flying(), ahead=False) as found:
            lost = {rule for (rule, _), reason in found.items() if isinstance(reason, str)}
            verdicts: list[PrefixVerdict | None] = []
            for rule, judged in enumerate(self._judged):
                verdicts.append(None)
                if judged is not None and rule not in lost:
                    with suppress(*REFUSALS):
                        verdicts[-1] = judged.verdict()
            return tuple(verdicts)

    def pending(self) -> tuple[Owed, ...]:
        """What is owed, rule by rule, oldest first; nothing of a rule whose verdict is None."""
        found: list[Owed] = []
        with self._tried(self._flying(), ahead=False):
            now = self._now
            if not self._waiting:
                now.index, now.ordinal, now.time = self._at
            for rule, judged in enumerate(self._judged):
                if judged is not None:
                    with suppress(*REFUSALS):
                        found += judged.owed(now, rule)
        return tuple(found)

    def close(self) -> tuple[Outcome | Unjudged, ...]:
        """The run is over, calls in flight end as they are: what a batch engine says of it, rule by rule."""
        flying = self._flying()
        self._waiting.clear()
        self._settle(flying)
        return tuple([self._closed(rule, judged) for rule, judged in enumerate(self._judged)])

    def _closed(self, rule: int, judged: Judged | None) -> Outcome | Unjudged:
        if judged is None:
            return Unjudged(rule, self._unjudged[rule])
        try:
            return judged.close()
        except REFUSALS as refusal:
            return Unjudged(rule, why(refusal))

    def snapshot(self) -> bytes:
        """The whole state as JSON: equal states give equal bytes."""
        return msgspec.json.encode(
            {
                "rules": self._engine.digest,
                "count": self._count,
                "at": self._at,
                "calls": [self._called, list(self._calls.items())],
                "ids": list(self._ids),
                "waiting": list(self._waiting.values()),
                "ranks": [list(ranks.known) for ranks in self._ranks.values()],
                "unjudged": list(self._unjudged.items()),
                "judged": [None if judged is None else judged.state() for judged in self._judged],
            }
        )

    def load(self, state: Any) -> None:
        """Take over what a snapshot holds."""
        self._count, self._at = state["count"], tuple(state["at"])
        self._called, calls = state["calls"]
        self._calls = dict(calls)
        self._ids = dict.fromkeys(state["ids"])
        waiting = [(msgspec.convert(event, Event), ended) for event, ended in state["waiting"]]
        self._waiting = {event.id: [event, ended] for event, ended in waiting}
        for ranks, known in zip(self._ranks.values(), state["ranks"], strict=True):
            ranks.known = {text: place for place, text in enumerate(known)}
        self._unjudged = dict(state["unjudged"])
        for rule, of_it in enumerate(state["judged"]):
            judged = self._judged[rule]
            if of_it is None or judged is None:
                self._leave(rule)
            else:
                judged.load(of_it)
