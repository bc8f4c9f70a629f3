"""Recorded runs decided without a solver: conditions are looked up by value, operators by bisection along the run.

The cost of a rule is that of one pass over the run for each of its conditions and of what its events can fail by, not
of all pairs of events or of all values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from vigil_lang.base.collector import collector_paused
from vigil_lang.engines.candidate_bindings import Candidates
from vigil_lang.engines.effort import STATEMENT, Effort, Work
from vigil_lang.engines.equivalent_values import EquivalentValues
from vigil_lang.engines.index import Key, ManyBindings, Occurrences, RunIndex
from vigil_lang.engines.interface import Outcome, Violation
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.engines.interface import Rule
    from vigil_lang.trace import Trace

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
                yield Outcome(rule, run, violations, bool(violations) or judgement.exercised())


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
        self._calls: dict[int, _CallCounts] = {}
        self._steps = 1 + core.size(requirement.theta) // _BODIES_A_STEP
        with collector_paused():
            self._occurrences, alike = self._found()
        self.candidates = Candidates(requirement, self.trace, self.occurrences, self.work, alike)

    def _found(self) -> tuple[dict[int, Occurrences], EquivalentValues | None]:
        """Where each condition holds; where lists make for many bindings, for values only that are not alike.

        By identity: to hash a condition costs more than to try it.
        """
        requirement, alike = self.requirement, None
        bodies = [requirement.theta, *([] if requirement.trigger is None else [requirement.trigger])]
        conditions = {id(holds): holds for body in bodies for holds in core.conditions(body)}
        order, index, work = requirement.variables, self.index, self.work
        self.tests = sum(len(core.tests(holds.condition)) for holds in conditions.values())
        work.spend(self.tests)
        try:
            return {key: Occurrences(holds, index, order, work) for key, holds in conditions.items()}, None
        except ManyBindings:
            alike = EquivalentValues(order, conditions.values(), self.trace)
            return {key: Occurrences(holds, index, order, work, alike) for key, holds in conditions.items()}, alike

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
            rank = self.index.rank
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
                return self._near(bound, places, range(bisect_left(places, at) - 1, -1, -1), at)
            case core.Later(body, bound):
                places = self.positions(body, binding)
                return self._near(bound, places, range(bisect_right(places, at), len(places)), at)
            case core.Clear(resolver, forbidden):
                bad = _next(self.positions(forbidden, binding), at)
                if bad is None:
                    return True
                resolved = _next(self.positions(resolver, binding), at)
                return resolved is not None and resolved < bad
            case core.Repeated(count, body):
                places = self.positions(body, binding)
                return bool(places) and self._calls_of(places).before(at) >= count

    def _near(self, bound: core.Bound, places: Sequence[int], ranks: range, at: int) -> bool:
        """Whether one of the places with these ranks, nearest first, is at most the bound away from an event."""
        if bound is None or not ranks:
            return bool(ranks)
        ordered = self.index.calls_ordered if isinstance(bound, core.Calls) else self.index.times_ordered
        if ordered:
            ranks = ranks[:1]
        return any(within(bound, self.trace, *sorted((places[rank], at))) for rank in ranks)

    def _calls_of(self, places: Sequence[int]) -> _CallCounts:
        # The places are kept by whoever made them, so that their identity stays theirs.
        found = self._calls.get(id(places))
        if found is None:
            found = self._calls[id(places)] = _CallCounts(places, self.trace)
        return found

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


class _CallCounts:
    """In how many calls a body has held before each event."""

    def __init__(self, places: Sequence[int], trace: Trace) -> None:
        self.places = places
        self._events = trace.events
        self._first: dict[str, int] = {}
        self._counts = [0]
        for place in places:
            self._first.setdefault(self._events[place].call, place)
            self._counts.append(len(self._first))

    def before(self, at: int) -> int:
        """In how many calls other than the event's own."""
        own = self._first.get(self._events[at].call)
        return self._counts[bisect_left(self.places, at)] - (own is not None and own < at)


def _next(places: Sequence[int], at: int) -> int | None:
    """The first place after an event."""
    rank = bisect_right(places, at)
    return places[rank] if rank < len(places) else None
