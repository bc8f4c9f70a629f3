"""Recorded runs decided without a solver: conditions are looked up by value, operators by bisection along the run.

The cost of a rule is that of one pass over the run for each of its conditions and of what its events can fail by, not
of all pairs of events or of all values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from vigil_lang.base.collector import collector_paused
from vigil_lang.engines.candidate_bindings import Candidates
from vigil_lang.engines.effort import STATEMENT, Effort, Work
from vigil_lang.engines.equivalent_values import EquivalentValues
from vigil_lang.engines.functions import compiled
from vigil_lang.engines.index import Key, ManyBindings, Occurrences, RunIndex
from vigil_lang.engines.interface import Outcome, Violation
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import as_event, distance, texts, values, within
from vigil_lang.trace.values import EXACT, number, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.engines.interface import Rule
    from vigil_lang.trace import Event, Trace

_RANKS_A_STEP: Final = 8
_BODIES_A_STEP: Final = 8
"""How many bodies are looked at within one step: it takes the solver that much longer."""


class IndexedEngine:
    """The batch engine for those who need verdicts and no certificate."""

    def judge(self, rules: Sequence[Rule], runs: Iterable[Trace]) -> Iterator[Outcome]:
        """The outcome of every rule on every run, run by run."""
        for run in runs:
            index = RunIndex(run)
            for rule in rules:
                judgement = Judgement(rule.requirement, index, name=rule.name)
                violations = tuple(judgement.violations())
                yield Outcome(rule, violations, bool(violations) or judgement.exercised())


class Judgement:
    """One requirement on one run; what is asked of it is worked out when it is asked.

    A binding is a tuple of values, None for the fresh text, in the order of the requirement's variables.
    """

    def __init__(self, requirement: core.Requirement, index: RunIndex, *, name: str = "") -> None:
        """`index` may be shared by requirements on the same run; a refusal calls this one by its `name`.

        Raises:
            TooCostly: its values can be combined in too many ways; so does whatever is asked of it.
        """
        self.requirement = requirement
        self.trace = index.trace
        self.index = index
        effort = index.effort
        if effort is None:
            effort = Effort()
            effort.begin(index.trace)
        self.work = Work(effort, index.trace, name)
        self.work.spend(STATEMENT)
        self._slots: dict[int, tuple[int, ...]] = {}
        self._places: dict[tuple[int, Key], list[int]] = {}
        self._windows: dict[tuple[int, Key], _Window] = {}
        self._breakers = {
            id(body): core.negated(body.left)
            for body in core.bodies(requirement.theta)
            if isinstance(body, core.Since | core.Until)
        }
        self._where = {
            id(body): compiled(body.condition)
            for body in core.bodies(requirement.theta)
            if isinstance(body, core.Where)
        }
        views = any(t.field.views for t in _equalities(requirement.theta))
        self.values = values(requirement.theta, index.trace) if views else index.trace.values
        self.rank = {value: at for at, value in enumerate(self.values)} if views else None
        self._steps = 1 + core.size(requirement.theta) // _BODIES_A_STEP
        with collector_paused():
            self._occurrences, alike = self._found()
        self._alike = alike
        self.candidates = Candidates(requirement, self.trace, self.occurrences, self.work, self.values, alike)

    def _found(self) -> tuple[dict[int, Occurrences], EquivalentValues | None]:
        """Where each condition holds; where lists make for many bindings, for values only that are not alike.

        By identity: to hash a condition costs more than to try it.
        """
        requirement, alike = self.requirement, None
        trigger = [] if requirement.trigger is None else [requirement.trigger]
        bodies = [requirement.theta, *trigger, *self._breakers.values()]
        conditions = {id(holds): holds for body in bodies for holds in core.conditions(body)}
        order, index, work = requirement.variables, self.index, self.work
        self.tests = sum(len(core.tests(holds.condition)) for holds in conditions.values())
        work.spend(self.tests)
        try:
            return {key: Occurrences(holds, index, order, work) for key, holds in conditions.items()}, None
        except ManyBindings:
            alike = EquivalentValues(requirement.theta, order, conditions.values(), self.trace, self.values)
            return {key: Occurrences(holds, index, order, work, alike) for key, holds in conditions.items()}, alike

    def standing_for(self, binding: Key) -> Key:
        """A binding as it is to be asked about: of values that are alike, the first in each one's place."""
        alike = self._alike
        if alike is None:
            return binding
        named = zip(self.requirement.variables, binding, strict=True)
        return tuple([None if value is None else alike.one_for(name, value) for name, value in named])

    def occurrences(self, holds: core.Holds) -> Occurrences:
        """Where one of the requirement's conditions holds."""
        return self._occurrences[id(holds)]

    def violations(self) -> Iterator[Violation]:
        """The events at fault in the run's order, each with its first failing binding."""
        for at in self.candidates.suspects():
            failing = self.failing(at)
            if failing:
                yield Violation(at, failing[0])

    def failing(self, at: int) -> list[Key]:
        """The bindings under which Θ is false at an event, in 7.9's order; of a group that is alike, the first."""
        theta, work = self.requirement.theta, self.work
        work.at = at
        found = []
        for binding in self.candidates.failing(at):
            work.spend(self._steps)
            if not self.holds(theta, at, binding):
                found.append(binding)
        if len(found) > 1:
            rank = self.rank or self.index.rank
            found.sort(key=lambda binding: [-1 if value is None else rank[value] for value in binding])
        return found

    def exercised(self) -> bool:
        """Whether some event meets the trigger under some binding (spec 7.10)."""
        trigger = self.requirement.trigger
        if trigger is None:
            return True
        for at in self.candidates.events(trigger):
            self.work.at = at
            for binding in self.candidates.meeting(trigger, at):
                self.work.spend(self._steps)
                if self.holds(trigger, at, binding):
                    return True
        return False

    def breakers(self, theta: core.Since | core.Until) -> core.Theta:
        """What breaks an interval: the body that holds wherever the left one does not."""
        return self._breakers[id(theta)]

    def positions(self, body: core.Theta, binding: Key) -> Sequence[int]:
        """The indices of the events at which a body holds under a binding, ascending."""
        if isinstance(body, core.Holds):
            found = self.occurrences(body)
            return found.positions(found.key(binding))
        known = id(body), self._key(body, binding)
        places = self._places.get(known)
        if places is None:
            possible = self.possible(body, binding)
            self.work.spend(1 + len(possible) * core.size(body) // _BODIES_A_STEP)
            places = self._places[known] = [at for at in possible if self.holds(body, at, binding)]
        return places

    def holds(self, theta: core.Theta, at: int, binding: Key) -> bool:
        """Θ(e, x̄) at the event with this index."""
        match theta:
            case core.Holds():
                found = self.occurrences(theta)
                return found.holds_at(found.key(binding), at)
            case core.Implies(left, right):
                return not self.holds(left, at, binding) or self.holds(right, at, binding)
            case core.Not(body):
                return not self.holds(body, at, binding)
            case core.And(items):
                return all(self.holds(item, at, binding) for item in items)
            case core.Or(items):
                return any(self.holds(item, at, binding) for item in items)
            case core.Earlier(body, bound):
                places = self.positions(body, binding)
                return self._some(bound, places, 0, bisect_left(places, at), at)
            case core.Later(body, bound):
                places = self.positions(body, binding)
                return self._some(bound, places, bisect_right(places, at), len(places), at)
            case core.Clear(resolver, forbidden):
                bad = _next(self.positions(forbidden, binding), at)
                if bad is None:
                    return True
                resolved = _next(self.positions(resolver, binding), at)
                return resolved is not None and resolved < bad
            case core.Since(_, right, bound, weak):
                places = self.positions(right, binding)
                broken = self.positions(self._breakers[id(theta)], binding)
                end = bisect_left(broken, at)
                start = bisect_left(places, broken[end - 1]) if end else 0
                if self._some(bound, places, start, bisect_left(places, at), at):
                    return True
                return weak and not self._some(bound, broken, 0, end, at)
            case core.Until(_, right, bound, weak):
                places = self.positions(right, binding)
                broken = self.positions(self._breakers[id(theta)], binding)
                start = bisect_right(broken, at)
                last = bisect_right(places, broken[start]) if start < len(broken) else len(places)
                if self._some(bound, places, bisect_right(places, at), last, at):
                    return True
                return weak and not self._some(bound, broken, start, len(broken), at)
            case core.Repeated(count):
                return len(self._counted(theta, at, binding).units) >= count
            case core.Exceeds(limit, field):
                if all(number(text) is None for text in texts(field, self.trace.events[at])):
                    return True
                return self._counted(theta, at, binding).total > limit
            case core.Where():
                names = self.requirement.variables
                values = dict(zip(names, binding, strict=True))
                return self._where[id(theta)](as_event(values), values)
            case core.Last():
                return at == len(self.trace.events) - 1

    def _some(self, bound: core.Bound, places: Sequence[int], low: int, high: int, at: int) -> bool:
        """Whether one of the places with ranks in [low, high), all on one side of an event, is within the bound."""
        ranks = self.near(bound, places, low, high, at)
        if isinstance(ranks, range):
            return bool(ranks)
        return next(iter(ranks), None) is not None

    def near(self, bound: core.Bound, places: Sequence[int], low: int, high: int, at: int) -> Iterable[int]:
        """The ranks in [low, high), of places that are all on one side of an event, that are within the bound.

        A range where distance is ordered along the run.
        """
        if bound is None or low >= high:
            return range(low, high)
        trace = self.trace
        if isinstance(bound, core.Calls):
            ordered, far = self.index.calls_ordered, bound.count
        elif isinstance(bound, core.Steps):
            ordered, far = True, bound.count
        else:
            ordered, far = self.index.times_ordered, bound.microseconds
        if not ordered:
            return (rank for rank in range(low, high) if within(bound, trace, *sorted((places[rank], at))))
        ranks = range(low, high)

        def apart(rank: int) -> int:
            return distance(bound, trace, *sorted((places[rank], at))) or 0

        if places[low] <= at:
            start = bisect_left(ranks, True, key=lambda rank: apart(rank) <= far)
            end = bisect_left(ranks, True, key=lambda rank: apart(rank) < bound.least) if bound.least else len(ranks)
        else:
            start = bisect_left(ranks, True, key=lambda rank: apart(rank) >= bound.least) if bound.least else 0
            end = bisect_left(ranks, True, key=lambda rank: apart(rank) > far)
        return ranks[start:end]

    def _counted(self, theta: core.Repeated | core.Exceeds, at: int, binding: Key) -> _Window:
        """What counts at an event: the events here or earlier within the bound and after the last reset before it."""
        places = self.positions(theta.body, binding)
        known = id(theta), self._key(theta, binding)
        window = self._windows.get(known)
        if window is None:
            units = _units(theta, self.trace.events)
            window = self._windows[known] = _Window([units(place) for place in places], self.work)
        low = 0
        if theta.reset is not None:
            resets = self.positions(theta.reset, binding)
            before = bisect_left(resets, at)
            low = bisect_left(places, resets[before - 1] + 1) if before else 0
        ranks = self.near(theta.bound, places, low, bisect_right(places, at), at)
        window.move(ranks if isinstance(ranks, range) else list(ranks))
        return window

    def _key(self, body: core.Theta, binding: Key) -> Key:
        slots = self._slots.get(id(body))
        if slots is None:
            order = self.requirement.variables
            slots = self._slots[id(body)] = tuple([order.index(x) for x in core.variables_of(body)])
        return tuple([binding[slot] for slot in slots])

    def possible(self, body: core.Theta, binding: Key) -> Sequence[int]:
        """A superset, ascending, of the events at which a body holds under a binding."""
        match body:
            case core.Holds():
                return self.positions(body, binding)
            case core.And(items) if items:
                return min((self.possible(item, binding) for item in items), key=len)
            case core.Or(items):
                return sorted({at for item in items for at in self.possible(item, binding)})
            case _:
                return range(len(self.trace.events))


class _Window:
    """What some of the events at which a body holds count for: their units, and the total of their amounts.

    Questions that move along the run cost what enters and leaves.
    """

    def __init__(self, counted: Sequence[_Counted], work: Work) -> None:
        self._counted = counted
        self._work = work
        self._now: range | list[int] = range(0)
        self.units: dict[str, int] = {}
        self.total = Decimal(0)

    def move(self, ranks: range | list[int]) -> None:
        """Go on to other events."""
        now = self._now
        if isinstance(ranks, range) and isinstance(now, range) and now.start <= ranks.start <= now.stop <= ranks.stop:
            gone, come = range(now.start, ranks.start), range(now.stop, ranks.stop)
            # A total that was infinite does not become less by what leaves.
            if not (gone and self.total.is_infinite()):
                self._work.spend((len(gone) + len(come)) // _RANKS_A_STEP)
                for rank in gone:
                    self._leave(self._counted[rank])
                for rank in come:
                    self._enter(self._counted[rank])
                self._now = ranks
                return
        self._work.spend(len(ranks) // _RANKS_A_STEP)
        self.units, self.total, self._now = {}, Decimal(0), ranks
        for rank in ranks:
            self._enter(self._counted[rank])

    def _enter(self, counted: _Counted) -> None:
        for unit in counted.units:
            self.units[unit] = self.units.get(unit, 0) + 1
        self.total = EXACT.add(self.total, counted.amount)

    def _leave(self, counted: _Counted) -> None:
        for unit in counted.units:
            self.units[unit] -= 1
            if not self.units[unit]:
                del self.units[unit]
        self.total = EXACT.subtract(self.total, counted.amount)


class _Counted(NamedTuple):
    """What one event counts for."""

    units: tuple[str, ...]
    amount: Decimal


def _units(theta: core.Repeated | core.Exceeds, events: Sequence[Event]) -> Callable[[int], _Counted]:
    nothing = Decimal(0)
    if isinstance(theta, core.Exceeds):
        field = theta.field
        return lambda at: _Counted((), total(texts(field, events[at])))
    distinct = theta.distinct
    if distinct is None:
        return lambda at: _Counted((events[at].call,), nothing)
    return lambda at: _Counted(tuple(dict.fromkeys(texts(distinct, events[at]))), nothing)


def _equalities(theta: core.Theta) -> list[core.Equals]:
    return [t for holds in core.conditions(theta) for t in core.tests(holds.condition) if isinstance(t, core.Equals)]


def _next(places: Sequence[int], at: int) -> int | None:
    """The first place after an event."""
    rank = bisect_right(places, at)
    return places[rank] if rank < len(places) else None
