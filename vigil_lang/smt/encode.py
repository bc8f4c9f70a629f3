"""From a requirement and a run to a query whose size is linear in the run for preset forms.

Instead of a disjunction over all earlier events at each event (Figure 5 read literally, quadratic), each condition
and binding has one series of the events at which it holds, and "some earlier one" is a chain of definitions along it:
`guard(M) by e9 = guard(M) by e4 ∨ guard(M)@e9`. See docs/adr/0002, also for the
statements that stay quadratic: a variable under a negation that the trigger does not fix.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from vigil_lang.collector import collector_paused
from vigil_lang.semantics import core
from vigil_lang.smt.alike import Alike
from vigil_lang.smt.effort import SOLVED, STATEMENT, Effort, Work
from vigil_lang.smt.instances import Instances
from vigil_lang.smt.leaves import Key, Leaf, ManyBindings, Matching
from vigil_lang.smt.query import Condition, Formula, Query
from vigil_lang.smt.series import Series
from vigil_lang.smt.symbols import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.trace import Trace


class Encoding:
    """One statement on one run: the query and the conditions Rφ(e) that are not trivially true.

    A binding is a tuple of values, None for the fresh text, in the order of the requirement's variables.
    """

    def __init__(
        self,
        requirement: core.Requirement,
        trace: Trace,
        matching: Matching | None = None,
        *,
        name: str = "",
        effort: Effort | None = None,
    ) -> None:
        """`name` is the statement's: no condition goes by it, so that its assertions' names are theirs alone.

        `matching` may be shared by statements on the same run, `effort` by what is judged together.

        Raises:
            TooCostly: this takes more than the run's size warrants; so do `exercised` and `positions`.
        """
        self.requirement = requirement
        self.trace = trace
        if effort is None:
            effort = Effort()
            effort.begin(trace)
        self._work = Work(effort, trace, name)
        self._work.spend(STATEMENT)
        self.query = Query(self._work.make)
        self._matching = matching or Matching(trace)
        self._ids = self._matching.ids
        self._name_taken = name
        self._leaves: dict[int, Leaf] = {}  # by identity: hashing a condition costs more than evaluating it
        self._roles: dict[int, str] = {}
        self._facts: dict[tuple[str, Key, int], Formula] = {}
        self._series: dict[tuple[int, Key], Series] = {}
        self._slots: dict[int, tuple[int, ...]] = {}
        with collector_paused():
            alike = self._make_leaves()
            self._instances = Instances(requirement, trace, self._leaf, self._work, alike)
            self.conditions = self._conditions()

    def _make_leaves(self) -> Alike | None:
        """Make a leaf of every condition; where lists make for many bindings, of values that are not alike only."""
        conditions = list(_conditions_of(self.requirement))
        self.tests = sum(len(core.tests(holds.condition)) for holds in conditions)
        self._work.spend(self.tests)
        order, alike = self.requirement.variables, None
        try:
            leaves = [Leaf(holds, self._matching, order, self._work) for holds in conditions]
        except ManyBindings:
            alike = Alike(self.requirement.variables, conditions, self.trace)
            leaves = [Leaf(holds, self._matching, order, self._work, alike) for holds in conditions]
        for holds, leaf in zip(conditions, leaves, strict=True):
            self._leaves[id(holds)] = leaf
            self._roles[id(holds)] = self._role(holds)
        return alike

    def _conditions(self) -> list[Condition]:
        found = []
        theta, true, work = self.requirement.theta, self.query.true, self._work
        steps = _size(theta)
        for at in self._instances.suspects():
            work.at = at
            cases = []
            for key in self._instances.failing(at):
                work.spend(steps)
                formula = self._encode(theta, at, key)
                if formula is not true:
                    work.make(SOLVED)
                    cases.append((key, formula))
            if cases:
                found.append(Condition(at, tuple(cases)))
        return found

    def spend(self, at: int, steps: int) -> None:
        """Account for more work at the event with this index.

        Raises:
            TooCostly: it is too much.
        """
        self._work.at = at
        self._work.spend(steps)

    def positions(self, holds: core.Holds, binding: Key) -> list[int]:
        """The indices of the events at which one of the requirement's conditions holds, ascending."""
        leaf = self._leaf(holds)
        return leaf.positions(leaf.key(binding))

    def exercised(self) -> bool:
        """Whether some event meets the trigger under some binding: if none does, the statement holds vacuously."""
        trigger = self.requirement.trigger
        if trigger is None:
            return True
        steps = _size(trigger)
        for at in self._instances.events(trigger):
            self._work.at = at
            for binding in self._instances.meeting(trigger, at):
                self._work.spend(steps)
                if self.query.value(self._encode(trigger, at, binding)):
                    return True
        return False

    def facts(self) -> Iterator[tuple[int, Formula]]:
        """(event index, symbol) of every fact the query states."""
        return ((at, symbol) for (_, _, at), symbol in self._facts.items())

    def roles(self) -> list[tuple[str, core.Holds]]:
        """The name each condition goes by in the query's symbols."""
        return [(role, self._leaves[known].holds) for known, role in self._roles.items()]

    # --- Θ(e, x̄) as a formula ---

    def _encode(self, theta: core.Theta, at: int, binding: Key) -> Formula:
        query = self.query
        match theta:
            case core.Holds():
                leaf = self._leaf(theta)
                key = leaf.key(binding)
                return self._fact(theta, key, at) if leaf.holds_at(key, at) else query.false
            case core.Implies(left, right):
                antecedent = self._encode(left, at, binding)
                if antecedent is query.false:
                    return query.true
                return query.implies(antecedent, self._encode(right, at, binding))
            case core.Not(body):
                return query.negate(self._encode(body, at, binding))
            case core.And(items):
                return query.all([self._encode(item, at, binding) for item in items])
            case core.Or(items):
                return query.any([self._encode(item, at, binding) for item in items])
            case core.Earlier(body, bound):
                series = self._series_of(body, binding)
                end = bisect_left(series.positions, at)
                return series.prefix(end) if bound is None else self._near(series, bound, at, end, later=False)
            case core.Later(body, bound):
                series = self._series_of(body, binding)
                start = bisect_right(series.positions, at)
                return series.suffix(start) if bound is None else self._near(series, bound, at, start, later=True)
            case core.Clear(resolver, forbidden):
                cleared = self._series_of(resolver, binding)
                return query.negate(self._series_of(forbidden, binding).before_clear(cleared, at))
            case core.Repeated(count, body):
                return self._series_of(body, binding).repeated(count, at)

    def _near(self, series: Series, bound: core.Calls | core.Within, at: int, rank: int, *, later: bool) -> Formula:
        """Whether the body of a series holds on one side of an event, at most a bound away."""
        if isinstance(bound, core.Calls):
            calls, limit = self.trace.call_index, bound.count
            here = calls[at]
            if later:
                return series.some(rank, None, lambda i: calls[i] - here <= limit, self._calls_ordered)
            return series.some(0, rank, lambda i: here - calls[i] <= limit, self._calls_ordered)
        events, now, limit = self.trace.events, self.trace.events[at].time, bound.microseconds
        if later:
            return series.some(rank, None, lambda i: _apart(now, events[i].time, limit), self._times_ordered)
        return series.some(0, rank, lambda i: _apart(events[i].time, now, limit), self._times_ordered)

    @cached_property
    def _calls_ordered(self) -> bool:
        return all(a <= b for a, b in pairwise(self.trace.call_index))

    @cached_property
    def _times_ordered(self) -> bool:
        times = [event.time for event in self.trace.events]
        return all(a is not None and b is not None and a <= b for a, b in pairwise(times))

    def _fact(self, holds: core.Holds, key: Key, at: int) -> Formula:
        role = self._roles[id(holds)]
        known = (role, key, at)
        symbol = self._facts.get(known)
        if symbol is None:
            symbol = self._facts[known] = self.query.fact(f"{role}{_values(key)}@{self._ids[at]}")
        return symbol

    def _series_of(self, body: core.Theta, binding: Key) -> Series:
        """The events at which a body can hold under a binding, with its formula at each."""
        slots = self._slots.get(id(body))
        if slots is None:
            order = self.requirement.variables
            slots = self._slots[id(body)] = tuple(order.index(x) for x in core.variables_of(body))
        key = tuple([binding[slot] for slot in slots])
        known = (id(body), key)
        series = self._series.get(known)
        if series is None:
            series = self._series[known] = self._new_series(body, binding, key)
        return series

    def _new_series(self, body: core.Theta, binding: Key, key: Key) -> Series:
        if isinstance(body, core.Holds):
            leaf = self._leaf(body)
            own = leaf.key(binding)
            positions = leaf.positions(own)
            formulas = [self._fact(body, own, at) for at in positions]
            name = self._roles[id(body)]
        else:
            places = self._positions(body, binding)
            self._work.spend(len(places) * _size(body))
            encoded = ((at, self._encode(body, at, binding)) for at in places)
            kept = [item for item in encoded if item[1] is not self.query.false]
            positions, formulas = [at for at, _ in kept], [formula for _, formula in kept]
            name = "body"
        return Series(self.query, self.trace, self._ids, f"{name}{_values(key)}", positions, formulas)

    def _positions(self, body: core.Theta, binding: Key) -> list[int] | range:
        """A superset, ascending, of the events at which a body holds under a binding."""
        match body:
            case core.Holds():
                return self.positions(body, binding)
            case core.And(items) if items:
                return min((self._positions(item, binding) for item in items), key=len)
            case core.Or(items):
                return sorted({i for item in items for i in self._positions(item, binding)})
            case _:
                return range(len(self.trace.events))

    def _leaf(self, holds: core.Holds) -> Leaf:
        return self._leaves[id(holds)]

    def _role(self, holds: core.Holds) -> str:
        """The condition's part in its form, made unique; conditions of `always` are only numbered."""
        taken = {*self._roles.values(), self._name_taken}
        if holds.role not in taken and holds.role != "condition":
            return holds.role
        return next(name for n in range(1, len(taken) + 2) if (name := f"{holds.role}{n}") not in taken)


def _conditions_of(requirement: core.Requirement) -> Iterator[core.Holds]:
    """The conditions of Θ, and those of a trigger that is no part of it, each once."""
    trigger = requirement.trigger
    both = [*core.conditions(requirement.theta), *(core.conditions(trigger) if trigger is not None else ())]
    yield from {id(holds): holds for holds in both}.values()


def _size(theta: core.Theta) -> int:
    """How many operators and conditions a body has."""
    match theta:
        case core.And(items) | core.Or(items):
            return 1 + sum(map(_size, items))
        case core.Implies(left, right) | core.Clear(left, right):
            return 1 + _size(left) + _size(right)
        case core.Not(body) | core.Earlier(body) | core.Later(body) | core.Repeated(_, body):
            return 1 + _size(body)
        case core.Holds():
            return 1


def _apart(start: int | None, end: int | None, limit: int) -> bool:
    return start is not None and end is not None and end - start <= limit


def _values(key: Key) -> str:
    return f"({', '.join(['any other' if v is None else shown(v) for v in key])})" if key else ""
