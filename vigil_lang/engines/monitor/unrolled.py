"""Rules of any shape, judged event by event and binding by binding: what cannot be sliced by value.

Each event's Θ(e, x̄) is unrolled along the run until it is true or false whatever comes. That costs the whole run again
and again, so it is for short runs; beyond its limit the rule is not judged.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import msgspec

from vigil_lang.engines.functions import compiled
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Outcome, Owed
from vigil_lang.engines.monitor.clauses import foreseen
from vigil_lang.engines.monitor.leaves import CannotJudge
from vigil_lang.engines.monitor.rules import Part, Violations
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import as_event, distance, texts, within
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.values import number, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.engines.interface import PrefixVerdict, Rule
    from vigil_lang.engines.monitor.leaves import Binding, Now
    from vigil_lang.engines.monitor.tables import Table

MOST_EVENTS: Final = 1_000
MOST_STEPS: Final = 2_000_000
"""Events of a run, and evaluations of a part of the rule at an event, beyond which it is not judged."""


class Unrolled:
    """A rule along one run, with the run."""

    ends_with_calls = False
    counts = False
    exercised = False

    def __init__(self, rule: Rule, rank: Callable[[Binding], tuple[int, ...]]) -> None:
        self.rule = rule
        self.violations = Violations(rank)
        self.tables: list[Table] = []
        self._events: list[Event] = []
        self._places: list[int] = []
        """Where each stands in the run: ahead, calls in flight may be left out."""
        self._happened = 0
        """How many of them are no proposal."""
        self._true: set[tuple[int, Binding]] = set()
        """The events and bindings at which Θ holds whatever comes."""
        self._domains: list[dict[str, None]] = [{} for _ in rule.requirement.variables]
        self._steps = 0
        self._latest: tuple[int, int] | None = None
        """The latest time and call."""
        ahead = [b.bound for b in core.bodies(rule.requirement.theta) if isinstance(b, core.Later | core.Until)]
        self._ordered = (
            any(isinstance(bound, core.Within) for bound in ahead),
            any(isinstance(bound, core.Calls) for bound in ahead),
        )
        """Whether it takes for passed what is long ago in time, or in calls."""
        tests = [test for holds in core.conditions(rule.requirement.theta) for test in core.tests(holds.condition)]
        self._fields = [
            list(dict.fromkeys(t.field for t in tests if isinstance(t, core.Equals) and t.variable == x))
            for x in rule.requirement.variables
        ]

    def part(self, place: int, names: frozenset[str]) -> Part | None:
        """See `Judged`."""
        return Part(place, self, (), (), ())

    def judge(self, now: Now, part: Part, ahead: bool) -> list[int]:
        """See `Judged`."""
        if len(self._events) >= MOST_EVENTS:
            raise CannotJudge(f"it relates events in a way that is judged for runs of up to {MOST_EVENTS:,} events")
        self._check_order(now)
        self._events.append(now.event)
        self._places.append(now.index)
        if now.trail is not None:
            now.trail += [(self._events.pop, ()), (self._places.pop, ())]
        if not ahead:
            if now.trail is not None:
                now.trail.append((setattr, (self, "_happened", self._happened)))
            self._happened = len(self._events)
        for domain, fields in zip(self._domains, self._fields, strict=True):
            for text in (text for field in fields for text in texts(field, now.event)):
                if text not in domain:
                    domain[text] = None
                    if now.trail is not None:
                        now.trail.append((domain.pop, (text,)))
        unrolling = _Unrolling(self.rule.requirement, Trace(tuple(self._events)), self._happened)
        new = []
        for at, event in enumerate(self._events):
            for binding in product(*self._domains):
                if (at, binding) in self._true:
                    continue
                value = unrolling.value(self.rule.requirement.theta, at, binding)
                if value is True and now.trail is None:
                    self._true.add((at, binding))
                elif value is False and self.violations.note(self._places[at], event.id, binding, now):
                    new.append(self._places[at])
        if now.trail is None:
            self._steps += unrolling.steps
        if self._steps + unrolling.steps > MOST_STEPS:
            raise CannotJudge("it relates events, and values, in too many ways")
        return new

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

    def _judgement(self) -> Judgement:
        return Judgement(self.rule.requirement, RunIndex(Trace(tuple(self._events))), name=self.rule.name)

    def verdict(self) -> PrefixVerdict:
        """See `Judged`."""
        if self.violations.found:
            return "violated"
        return "pending" if next(self._judgement().violations(), None) else "holding"

    def owed(self, now: Now, place: int) -> list[Owed]:
        """See `Judged`."""
        return [
            Owed(place, at, self._events[at].id, binding)
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
        return [self.violations.state(), self._events, self._steps, sorted(self._true, key=str), self._latest]

    def load(self, state: Any) -> None:
        """See `Judged`."""
        violations, events, self._steps, true, latest = state
        self._latest = None if latest is None else (latest[0], latest[1])
        self.violations.load(violations)
        self._events = msgspec.convert(events, list[Event])
        self._places = list(range(len(self._events)))
        self._happened = len(self._events)
        self._true = {(at, tuple(binding)) for at, binding in true}
        for event in self._events:
            for domain, fields in zip(self._domains, self._fields, strict=True):
                domain.update(dict.fromkeys(text for field in fields for text in texts(field, event)))


class _Unrolling:
    """The truth of bodies on the events so far: True or False whatever comes, None where that is open."""

    def __init__(self, requirement: core.Requirement, trace: Trace, happened: int) -> None:
        self.steps = 0
        self._variables = requirement.variables
        self._trace = trace
        self._happened = happened
        self._known: dict[tuple[int, int, Binding], bool | None] = {}
        self._checks: dict[tuple[int, bool | None], Callable[[Event, Any], bool]] = {}

    def value(self, theta: core.Theta, at: int, binding: Binding) -> bool | None:
        """Θ(e, x̄) at the event with this index."""
        key = id(theta), at, binding
        if key not in self._known:
            self.steps += 1
            self._known[key] = self._value(theta, at, binding)
        return self._known[key]

    def _value(self, theta: core.Theta, at: int, binding: Binding) -> bool | None:
        trace = self._trace
        end = len(trace.events)
        match theta:
            case core.Holds(condition):
                return self._meets(condition, at, binding)
            case core.Where(condition):
                values = dict(zip(self._variables, binding, strict=True))
                return self._check(condition, None)(as_event(values), values)
            case core.Not(body):
                return _not(self.value(body, at, binding))
            case core.And(items):
                return _not(_any([_not(self.value(item, at, binding)) for item in items]))
            case core.Or(items):
                return _any([self.value(item, at, binding) for item in items])
            case core.Implies(left, right):
                return _any([_not(self.value(left, at, binding)), self.value(right, at, binding)])
            case core.Earlier(body, bound):
                return _any([self.value(body, o, binding) for o in range(at) if within(bound, trace, o, at)])
            case core.Later(body, bound):
                found = [self.value(body, o, binding) for o in range(at + 1, end) if within(bound, trace, at, o)]
                return _any([*found, False if self._is_past(bound, at) else None])
            case core.Clear(resolver, forbidden):
                return self._clear(resolver, forbidden, at, binding)
            case core.Since(left, right, bound, weak):
                return self._interval(left, right, bound, weak, range(at - 1, -1, -1), at, binding, False)
            case core.Until(left, right, bound, weak):
                return self._interval(left, right, bound, weak, range(at + 1, end), at, binding, True)
            case core.Repeated() | core.Exceeds():
                return self._counted(theta, at, binding)
            case core.Last():
                return None if at == end - 1 else False

    def _meets(self, condition: core.Condition, at: int, binding: Binding) -> bool | None:
        event = self._trace.events[at]
        values = dict(zip(self._variables, binding, strict=True))
        if at < self._happened:
            return self._check(condition, None)(event, values)
        surely, possibly = (self._check(condition, how)(event, values) for how in (True, False))
        return True if surely else None if possibly else False

    def _check(self, condition: core.Condition, surely: bool | None) -> Callable[[Event, Any], bool]:
        key = id(condition), surely
        if key not in self._checks:
            self._checks[key] = compiled(condition if surely is None else foreseen(condition, surely))
        return self._checks[key]

    def _is_past(self, bound: core.Bound, at: int) -> bool:
        """Whether no event that may still come is within a bound of this one."""
        last = len(self._trace.events) - 1
        match bound:
            case None:
                return False
            case core.Steps(count):
                return last + 1 - at > count
            case core.Calls(count):
                return (distance(bound, self._trace, at, last) or 0) > count
            case core.Within(most):
                apart = distance(bound, self._trace, at, last)
                return self._trace.events[at].time is None or (apart is not None and apart > most)

    def _clear(self, resolver: core.Theta, forbidden: core.Theta, at: int, binding: Binding) -> bool | None:
        unresolved: bool | None = True
        broken: list[bool | None] = []
        for other in range(at + 1, len(self._trace.events)):
            broken.append(_both(unresolved, self.value(forbidden, other, binding)))
            unresolved = _both(unresolved, _not(self.value(resolver, other, binding)))
        return _not(_any([*broken, None if unresolved is not False else False]))

    def _interval(
        self,
        left: core.Theta,
        right: core.Theta,
        bound: core.Bound,
        weak: bool,
        others: range,
        at: int,
        binding: Binding,
        ahead: bool,
    ) -> bool | None:
        trace = self._trace
        so_far: bool | None = True
        found: list[bool | None] = []
        lefts: list[bool | None] = []
        for other in others:
            near = within(bound, trace, *sorted((at, other)))
            if near:
                found.append(_both(so_far, self.value(right, other, binding)))
            holds = self.value(left, other, binding)
            if near:
                lefts.append(_not(holds))
            so_far = _both(so_far, holds)
        goes_on = ahead and not self._is_past(bound, at)
        strong = _any([*found, None if goes_on and so_far is not False else False])
        if not weak:
            return strong
        return _any([strong, _not(_any([*lefts, None if goes_on else False]))])

    def _counted(self, theta: core.Repeated | core.Exceeds, at: int, binding: Binding) -> bool | None:
        trace = self._trace
        event = trace.events[at]
        if isinstance(theta, core.Exceeds):
            is_known = at < self._happened or not theta.field.output
            if is_known and all(number(text) is None for text in texts(theta.field, event)):
                return True
        surely: list[Event] = []
        possibly: list[Event] = []
        field = theta.field if isinstance(theta, core.Exceeds) else theta.distinct
        is_open = False
        reset: bool | None = False
        for other in range(at, -1, -1):
            if other < at and theta.reset is not None:
                reset = _any([reset, self.value(theta.reset, other, binding)])
            if reset is True:
                break
            if within(theta.bound, trace, other, at):
                met = _both(self.value(theta.body, other, binding), _not(reset))
                surely += [trace.events[other]] if met is True else []
                possibly += [trace.events[other]] if met is not False else []
                if met is not False and other >= self._happened and field is not None and field.output:
                    is_open = True
        low, high = _reaches(theta, surely), _reaches(theta, possibly)
        return True if low else None if high or is_open else False


def _reaches(theta: core.Repeated | core.Exceeds, events: list[Event]) -> bool:
    if isinstance(theta, core.Exceeds):
        return total(text for event in events for text in texts(theta.field, event)) > theta.limit
    if theta.distinct is None:
        return len({event.call for event in events}) >= theta.count
    return len({text for event in events for text in texts(theta.distinct, event)}) >= theta.count


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _both(one: bool | None, other: bool | None) -> bool | None:
    return False if one is False or other is False else None if one is None or other is None else True


def _any(values: list[bool | None]) -> bool | None:
    return True if True in values else None if None in values else False
