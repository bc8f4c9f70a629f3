"""Rules of any shape, judged event by event and binding by binding: what cannot be sliced by value.

Each event's Θ(e, x̄) is unrolled along the run until it is true or false whatever comes. What became certain of a body
is kept, what is open goes on from where it stopped, and an event is asked about only under the bindings that it can
violate the rule under. All the events are kept, so it is for short runs; beyond its limit the rule is not judged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec

from vigil_lang.engines.functions import compiled
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Outcome, Owed
from vigil_lang.engines.monitor.clauses import Irregular, clauses, folded, foreseen, merged
from vigil_lang.engines.monitor.leaves import CannotJudge, Leaf, Now, most_of, projection, spreading
from vigil_lang.engines.monitor.rules import Part, Violations
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import as_event, texts
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.event import MESSAGES
from vigil_lang.trace.values import number, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vigil_lang.engines.interface import PrefixVerdict, Rule
    from vigil_lang.engines.monitor.clauses import Clause
    from vigil_lang.engines.monitor.leaves import Binding, Key
    from vigil_lang.engines.monitor.tables import Table

MOST_EVENTS: Final = 1_000
MOST_STEPS: Final = 2_000_000
MOST_KEPT: Final = 100_000
"""Events of a run, looks at a part of the rule at an event, and what is kept of them (some hundred bytes each), beyond
which it is not judged."""


class Unrolled:
    """A rule along one run, with the run."""

    ends_with_calls = False
    counts = False
    exercised = False

    def __init__(self, rule: Rule, rank: Callable[[Binding], tuple[int, ...]]) -> None:
        self.rule = rule
        self.violations = Violations(rank)
        self.tables: list[Table] = []
        theta, order = rule.requirement.theta, rule.requirement.variables
        self._sources = _sources(theta, order)
        self._loaded: list[Event] = []
        """The events of a snapshot, until they are looked at."""
        self._begin()
        self._latest: tuple[int, int] | None = None
        """The latest time and call."""
        ahead = [b.bound for b in core.bodies(theta) if isinstance(b, core.Later | core.Until)]
        self._ordered = (
            any(isinstance(bound, core.Within) for bound in ahead),
            any(isinstance(bound, core.Calls) for bound in ahead),
        )
        """Whether it takes for passed what is long ago in time, or in calls."""
        tests = [test for holds in core.conditions(theta) for test in core.tests(holds.condition)]
        self._fields = [
            list(dict.fromkeys(t.field for t in tests if isinstance(t, core.Equals) and t.variable == x)) for x in order
        ]

    def _begin(self) -> None:
        theta, order = self.rule.requirement.theta, self.rule.requirement.variables
        self._past = _Past()
        self._theta = _body(theta, order, self._past)
        self._open: dict[tuple[int, Binding], None] = {}
        """The events and bindings at which Θ may still become true or false."""
        self._bases: list[tuple[int, _Source, Binding]] = []
        """The events that can violate the rule under values that they do not have themselves."""
        self._domains: list[dict[str, None]] = [{} for _ in order]

    def part(self, place: int, names: frozenset[str]) -> Part | None:
        """See `Judged`."""
        return Part(place, self, (), (), ())

    def judge(self, now: Now, part: Part, ahead: bool) -> list[int]:
        """See `Judged`."""
        if self._loaded:
            self._begin()
            for at, event in enumerate(self._loaded):
                self._take_in(Now.of(event, at, 0, event.time), False)
            self._loaded = []
        if len(self._past.events) >= MOST_EVENTS:
            raise CannotJudge(f"it relates events in a way that is judged for runs of up to {MOST_EVENTS:,} events")
        self._check_order(now)
        return self._take_in(now, ahead)

    def _take_in(self, now: Now, ahead: bool) -> list[int]:
        """Judge an event, the latest one; gives the events that are violations now and were not before."""
        past, trail = self._past, now.trail
        at = len(past.events)
        past.add(now, ahead)
        known = [len(domain) for domain in self._domains]
        for domain, fields in zip(self._domains, self._fields, strict=True):
            for text in (text for field in fields for text in texts(field, now.event)):
                if text not in domain:
                    domain[text] = None
                    if trail is not None:
                        trail.append((domain.pop, (text,)))
        new: list[int] = []
        still: dict[tuple[int, Binding], None] = {}
        for pair in chain(self._open, self._begun(at, now, known)):
            past.spend(1)
            value = self._theta.value(*pair)
            place = past.places[pair[0]]
            if value is None:
                past.keep(pair not in self._open and pair not in still)
                still[pair] = None
            elif not value and self.violations.note(place, past.events[pair[0]].id, pair[1], now):
                new.append(place)
        past.keep(-sum(pair not in still for pair in self._open))
        if trail is not None:
            trail.append((setattr, (self, "_open", self._open)))
        self._open = still
        return new

    def _begun(self, at: int, now: Now, known: list[int]) -> Iterator[tuple[int, Binding]]:
        """The events and bindings that are to be asked about since this event; `known` many values were known."""
        values = [list(domain) for domain in self._domains]
        old = [some[:count] for some, count in zip(values, known, strict=True)]
        new = [some[count:] for some, count in zip(values, known, strict=True)]
        for before, source, base in self._bases if any(new) else ():
            for place, slot in enumerate(source.left):
                # The first slot with a new value: those before it have old ones, those after it any.
                choices = [
                    *[old[s] for s in source.left[:place]],
                    new[slot],
                    *[values[s] for s in source.left[place + 1 :]],
                ]
                yield from ((before, source.filled(base, chosen)) for chosen in product(*choices))
        for source in self._sources:
            for base in source.bases(now.event):
                if source.left:
                    self._bases.append((at, source, base))
                    if now.trail is not None:
                        now.trail.append((self._bases.pop, ()))
                choices = [values[slot] for slot in source.left]
                yield from ((at, source.filled(base, chosen)) for chosen in product(*choices))

    def _check_order(self, now: Now) -> None:
        """Refuse an event that may be within a bound that was taken for passed."""
        time, call = self._latest or (core.FAR * -1, -1)
        at = time if now.time is None else now.time
        if (at < time and self._ordered[0]) or (now.ordinal < call and self._ordered[1]):
            raise CannotJudge(f"the event `{now.event.id}` comes out of order, within a bound that may have passed")
        if now.trail is not None:
            now.trail.append((setattr, (self, "_latest", self._latest)))
        self._latest = max(time, at), max(call, now.ordinal)

    def end_call(self, now: Now) -> list[int]:
        """See `Judged`."""
        return []

    def _events(self) -> list[Event]:
        return self._loaded or self._past.events

    def _judgement(self) -> Judgement:
        return Judgement(self.rule.requirement, RunIndex(Trace(tuple(self._events()))), name=self.rule.name)

    def verdict(self) -> PrefixVerdict:
        """See `Judged`."""
        if self.violations.found:
            return "violated"
        return "pending" if next(self._judgement().violations(), None) else "holding"

    def owed(self, now: Now, place: int) -> list[Owed]:
        """See `Judged`."""
        events = self._events()
        return [
            Owed(place, at, events[at].id, binding)
            for at, binding in self._judgement().violations()
            if at not in self.violations.found
        ]

    def close(self) -> Outcome:
        """See `Judged`."""
        judgement = self._judgement()
        violations = tuple(judgement.violations())
        return Outcome(self.rule, violations, bool(violations) or judgement.exercised())

    def state(self) -> Any:
        """See `Judged`."""
        return [self.violations.state(), self._events(), self._latest]

    def load(self, state: Any) -> None:
        """See `Judged`."""
        violations, events, latest = state
        self._latest = None if latest is None else (latest[0], latest[1])
        self.violations.load(violations)
        self._loaded = msgspec.convert(events, list[Event])


# --- what an event can violate --------------------------------------------------------------------------------


class _Source(NamedTuple):
    """One way to violate a rule, as far as an event says itself under which bindings."""

    leaves: tuple[Leaf, ...]
    left: tuple[int, ...]
    """The variables that these give no values."""
    width: int

    def bases(self, event: Event) -> Iterable[Binding]:
        """The bindings under which the event may violate the rule, with None for what is left."""
        found: Iterable[Binding] = ((None,) * self.width,)
        for leaf in self.leaves:
            if not leaf.is_named(event):
                return ()
            assert leaf.keys is not None
            spread = spreading(leaf.slots, self.width)
            given = [spread(key) for key in leaf.keys(event)]
            both = (merged(one, other) for one in found for other in given)
            found = dict.fromkeys(binding for binding in both if binding is not None)
        return found

    def filled(self, base: Binding, chosen: tuple[str, ...]) -> Binding:
        """A binding with values for what is left."""
        values = dict(zip(self.left, chosen, strict=True))
        return tuple([values.get(slot, value) for slot, value in enumerate(base)])


def _sources(theta: core.Theta, order: tuple[str, ...]) -> list[_Source]:
    try:
        return [_source(clause, order) for clause in clauses(folded(theta), False)]
    except Irregular:
        return [_source((), order)]


def _source(clause: Clause, order: tuple[str, ...]) -> _Source:
    conditions = [t.body.condition for t in clause if t.holds and isinstance(t.body, core.Holds)]
    leaves = tuple([leaf for condition in conditions if (leaf := Leaf(condition, order)).keys is not None])
    given = {slot for leaf in leaves for slot in leaf.slots}
    return _Source(leaves, tuple([slot for slot in range(len(order)) if slot not in given]), len(order))


# --- bodies along the run -------------------------------------------------------------------------------------


class _Past:
    """The events so far, and how much they were looked at."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.places: list[int] = []
        """Where each stands in the run: ahead, calls in flight may be left out."""
        self.is_ahead: list[bool] = []
        """Whether each is only proposed, and taken to succeed."""
        self.calls: list[int] = []
        """The ordinal of each event's call."""
        self.trail: list[Any] | None = None
        self.turn = 0
        """Which event is looked at, whatever was undone."""
        self._ordinals: dict[str, int] = {}
        self._steps = self._kept = 0

    def add(self, now: Now, ahead: bool) -> None:
        """Take in the latest event."""
        event, trail = now.event, now.trail
        self.trail = trail
        self.turn += 1
        if trail is not None:
            trail += [(setattr, (self, "_steps", self._steps)), (setattr, (self, "_kept", self._kept))]
            trail += [(some.pop, ()) for some in (self.events, self.places, self.is_ahead, self.calls)]
            if event.call not in self._ordinals:
                trail.append((self._ordinals.pop, (event.call, None)))
        ordinals = self._ordinals
        call = len(ordinals) - 1 if event.action in MESSAGES else ordinals.setdefault(event.call, len(ordinals))
        self.events.append(event)
        self.places.append(now.index)
        self.is_ahead.append(ahead)
        self.calls.append(call)

    def spend(self, steps: int) -> None:
        """Count what is looked at."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise CannotJudge("it relates events, and values, in too many ways")

    def keep(self, more: int) -> None:
        """Count what is kept."""
        self._kept += more
        if self._kept > MOST_KEPT:
            raise CannotJudge("it relates events, and values, in too many ways")

    def near(self, bound: core.Bound, first: int, second: int) -> bool:
        """Whether two events, in order, are as far apart as the bound says."""
        if bound is None:
            return True
        apart = self._apart(bound, first, second)
        return apart is not None and apart <= most_of(bound) and (bound.least == 0 or apart >= bound.least)

    def is_over(self, bound: core.Bound, at: int) -> bool:
        """Whether no event that may still come is within a bound of this one."""
        last = len(self.events) - 1
        match bound:
            case None:
                return False
            case core.Steps(count):
                return last + 1 - at > count
            case core.Calls(count):
                return self.calls[last] - self.calls[at] > count
            case core.Within(most):
                apart = self._apart(bound, at, last)
                return self.events[at].time is None or (apart is not None and apart > most)

    def _apart(self, bound: core.Calls | core.Steps | core.Within, first: int, second: int) -> int | None:
        match bound:
            case core.Calls():
                return self.calls[second] - self.calls[first]
            case core.Steps():
                return second - first
            case core.Within():
                start, end = self.events[first].time, self.events[second].time
                return None if start is None or end is None else end - start


Truth: TypeAlias = bool | None
"""True or False whatever comes, None where that is open."""
_CERTAIN: Final = {True: 1, False: 2}


class _Body(ABC):
    """A body along the run: its truth at each event under each binding of its variables."""

    def __init__(self, past: _Past) -> None:
        self.past = past

    @abstractmethod
    def value(self, at: int, binding: Binding) -> Truth:
        """Θ(e, x̄) at the event with this index."""


class _Where(_Body):
    def __init__(self, past: _Past, theta: core.Where, order: tuple[str, ...]) -> None:
        super().__init__(past)
        self._order, self._check = order, compiled(theta.condition)

    def value(self, at: int, binding: Binding) -> Truth:
        values = dict(zip(self._order, binding, strict=True))
        return self._check(as_event(values), values)


class _Last(_Body):
    def value(self, at: int, binding: Binding) -> Truth:
        return None if at == len(self.past.events) - 1 else False


class _Not(_Body):
    def __init__(self, past: _Past, body: _Body) -> None:
        super().__init__(past)
        self._body = body

    def value(self, at: int, binding: Binding) -> Truth:
        return _not(self._body.value(at, binding))


class _Some(_Body):
    """A disjunction, or with `truth` False a conjunction: what one of its items decides."""

    def __init__(self, past: _Past, items: list[_Body], truth: bool) -> None:
        super().__init__(past)
        self._items, self._truth = items, truth

    def value(self, at: int, binding: Binding) -> Truth:
        found: Truth = not self._truth
        for item in self._items:
            value = item.value(at, binding)
            if value is self._truth:
                return value
            found = None if value is None else found
        return found


class _Kept(_Body):
    """A body whose truth is kept once it is certain; until then, how far it was looked for."""

    def __init__(self, past: _Past, theta: core.Theta, order: tuple[str, ...]) -> None:
        super().__init__(past)
        mentioned = core.variables_of(theta)
        self._key = projection(tuple([slot for slot, x in enumerate(order) if x in mentioned]))
        self._columns: dict[Key, bytearray] = {}
        """Of each event what is certain, as in `_CERTAIN`, or 0."""
        self._rest: dict[tuple[Key, int], tuple[int, Any]] = {}
        """Where that is open: in which turn it was looked for, and from where it goes on."""

    def value(self, at: int, binding: Binding) -> Truth:
        key, past = self._key(binding), self.past
        column = self._columns.get(key)
        if column is None:
            column = self._begun(key)
        if at < len(column) and column[at]:
            return column[at] == 1
        left = self._rest.get((key, at))
        if left is not None and left[0] == past.turn:
            return None
        past.spend(1)
        value, rest = self.find(at, binding, None if left is None else left[1])
        if past.trail is not None and (left is not None or value is None):
            past.trail.append((_restore, (self._rest, (key, at), left)))
        if value is None:
            past.keep(left is None)
            self._rest[key, at] = past.turn, rest
            return None
        if left is not None:
            past.keep(-1)
            del self._rest[key, at]
        if at >= len(column):
            column.extend(bytes(at + 1 - len(column)))
        column[at] = _CERTAIN[value]
        if past.trail is not None:
            past.trail.append((column.__setitem__, (at, 0)))
        return value

    @abstractmethod
    def find(self, at: int, binding: Binding, rest: Any) -> tuple[Truth, Any]:
        """The truth, and where that is open from where to go on next time; `rest` is what was given last time."""

    def _begun(self, key: Key) -> bytearray:
        self.past.keep(1)
        if self.past.trail is not None:
            self.past.trail.append((self._columns.pop, (key,)))
        column = self._columns[key] = bytearray()
        return column


def _restore(table: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


class _AtEvent(_Kept):
    def __init__(self, past: _Past, theta: core.Holds, order: tuple[str, ...]) -> None:
        super().__init__(past, theta, order)
        slots = {x: slot for slot, x in enumerate(order)}
        self._check = compiled(theta.condition, slots)
        self._surely, self._possibly = (compiled(foreseen(theta.condition, how), slots) for how in (True, False))

    def find(self, at: int, binding: Binding, rest: Any) -> tuple[Truth, Any]:
        event = self.past.events[at]
        if not self.past.is_ahead[at]:
            return self._check(event, binding), None
        return True if self._surely(event, binding) else None if self._possibly(event, binding) else False, None


class _Somewhere(_Kept):
    """`earlier`, or `later`."""

    def __init__(self, past: _Past, theta: core.Earlier | core.Later, order: tuple[str, ...]) -> None:
        super().__init__(past, theta, order)
        self._body, self._bound = _body(theta.body, order, past), theta.bound
        self._ahead = isinstance(theta, core.Later)
        self._first: dict[Key, int] = {}
        """Of `earlier` without a bound: at no event before this one the body can be true."""

    def find(self, at: int, binding: Binding, rest: Any) -> tuple[Truth, Any]:
        past, bound, ahead = self.past, self._bound, self._ahead
        start, unsure = rest or (at + 1 if ahead else self._first.get(self._key(binding), 0), ())
        end = len(past.events) if ahead else at
        past.spend(max(end - start, 0))
        near: Iterable[int] = range(start, end)
        if bound is not None:
            near = [other for other in near if past.near(bound, *((at, other) if ahead else (other, at)))]
        left = []
        found = False
        for other in (*unsure, *near):
            value = self._body.value(other, binding)
            if value is not False:
                left.append(other)
            if value:
                found = True
                break
        if bound is None and not ahead:
            self._begin_at(self._key(binding), min((at, *left)))
        if found:
            return True, None
        return None if left or (ahead and not past.is_over(bound, at)) else False, (end, tuple(left))

    def _begin_at(self, key: Key, first: int) -> None:
        before = self._first.get(key)
        if first > (before or 0):
            if self.past.trail is not None:
                self.past.trail.append((_restore, (self._first, key, before)))
            self._first[key] = first


class _Interval(_Kept):
    """`since`, or `until`."""

    def __init__(self, past: _Past, theta: core.Since | core.Until, order: tuple[str, ...]) -> None:
        super().__init__(past, theta, order)
        self._left, self._right = _body(theta.left, order, past), _body(theta.right, order, past)
        self._bound, self._weak, self._ahead = theta.bound, theta.weak, isinstance(theta, core.Until)

    def find(self, at: int, binding: Binding, rest: Any) -> tuple[Truth, Any]:
        past, ahead, weak = self.past, self._ahead, self._weak
        start = rest if rest is not None else at + 1 if ahead else at - 1
        going: Truth = True
        found: Truth = False
        broken: Truth = False
        for other in range(start, len(past.events)) if ahead else range(start, -1, -1):
            past.spend(1)
            near = past.near(self._bound, *((at, other) if ahead else (other, at)))
            comes = self._right.value(other, binding) if near else False
            found = _either(found, _both(going, comes))
            if found:
                return True, None
            holds = self._left.value(other, binding)
            going = _both(going, holds)
            broken = _either(broken, _not(holds) if near else False)
            if start == other and holds and comes is False:
                start += 1 if ahead else -1
            if going is False and (broken or not weak):
                break
        goes_on = ahead and not past.is_over(self._bound, at)
        found = _either(found, None if goes_on and going is not False else False)
        if weak:
            found = _either(found, _not(_either(broken, None if goes_on else False)))
        return found, start


class _Clear(_Kept):
    """`clear`: nothing forbidden before what resolves it."""

    def __init__(self, past: _Past, theta: core.Clear, order: tuple[str, ...]) -> None:
        super().__init__(past, theta, order)
        self._resolver, self._forbidden = _body(theta.resolver, order, past), _body(theta.forbidden, order, past)

    def find(self, at: int, binding: Binding, rest: Any) -> tuple[Truth, Any]:
        start = at + 1 if rest is None else rest
        going: Truth = True
        broken: Truth = False
        for other in range(start, len(self.past.events)):
            self.past.spend(1)
            bad = self._forbidden.value(other, binding)
            broken = _either(broken, _both(going, bad))
            if broken:
                return False, None
            going = _both(going, _not(self._resolver.value(other, binding)))
            if start == other and going and bad is False:
                start += 1
            if going is False:
                break
        return _not(_either(broken, None if going is not False else False)), start


class _Counted(_Kept):
    """`repeated`, or `exceeds`."""

    def __init__(self, past: _Past, theta: core.Repeated | core.Exceeds, order: tuple[str, ...]) -> None:
        super().__init__(past, theta, order)
        self._theta, self._body = theta, _body(theta.body, order, past)
        self._reset = None if theta.reset is None else _body(theta.reset, order, past)

    def find(self, at: int, binding: Binding, rest: Any) -> tuple[Truth, Any]:
        past, theta, events = self.past, self._theta, self.past.events
        is_open = False
        if isinstance(theta, core.Exceeds):
            # An output to come may have no number, and then it exceeds whatever is added up.
            is_open = past.is_ahead[at] and theta.field.output
            if not is_open and all(number(text) is None for text in texts(theta.field, events[at])):
                return True, None
        surely: list[Event] = []
        possibly: list[Event] = []
        field = theta.field if isinstance(theta, core.Exceeds) else theta.distinct
        reset: Truth = False
        for other in range(at, -1, -1):
            past.spend(1)
            if other < at and self._reset is not None:
                reset = _either(reset, self._reset.value(other, binding))
            if reset:
                break
            if past.near(theta.bound, other, at):
                met = _both(self._body.value(other, binding), _not(reset))
                surely += [events[other]] if met else []
                possibly += [events[other]] if met is not False else []
                if met is not False and past.is_ahead[other] and field is not None and field.output:
                    is_open = True
        low, high = _reaches(theta, surely), _reaches(theta, possibly)
        return True if low else None if high or is_open else False, None


def _body(theta: core.Theta, order: tuple[str, ...], past: _Past) -> _Body:
    match theta:
        case core.Holds():
            return _AtEvent(past, theta, order)
        case core.Where():
            return _Where(past, theta, order)
        case core.Not(body):
            return _Not(past, _body(body, order, past))
        case core.And(items) | core.Or(items):
            return _Some(past, [_body(item, order, past) for item in items], isinstance(theta, core.Or))
        case core.Implies(left, right):
            return _Some(past, [_Not(past, _body(left, order, past)), _body(right, order, past)], True)
        case core.Earlier() | core.Later():
            return _Somewhere(past, theta, order)
        case core.Since() | core.Until():
            return _Interval(past, theta, order)
        case core.Clear():
            return _Clear(past, theta, order)
        case core.Repeated() | core.Exceeds():
            return _Counted(past, theta, order)
        case core.Last():
            return _Last(past)


def _reaches(theta: core.Repeated | core.Exceeds, events: list[Event]) -> bool:
    if isinstance(theta, core.Exceeds):
        return total(text for event in events for text in texts(theta.field, event)) > theta.limit
    if theta.distinct is None:
        return len({event.call for event in events}) >= theta.count
    return len({text for event in events for text in texts(theta.distinct, event)}) >= theta.count


def _not(value: Truth) -> Truth:
    return None if value is None else not value


def _both(one: Truth, other: Truth) -> Truth:
    return False if one is False or other is False else None if one is None or other is None else True


def _either(one: Truth, other: Truth) -> Truth:
    return True if one or other else None if one is None or other is None else False
