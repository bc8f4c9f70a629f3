"""From a requirement and a run to a query whose size is linear in the run for every preset form.

Instead of a disjunction over all earlier events at each event (Figure 5 read literally, quadratic), each condition
and binding has one series of the events at which it holds, and "some earlier one" is a chain of definitions along it:
`guard(M) by e9 = guard(M) by e4 ∨ guard(M)@e9`. See docs/adr/0002.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise, product
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.smt.leaves import Binding, Candidates, Key, Leaf
from vigil_lang.smt.query import Condition, Formula, Query
from vigil_lang.smt.series import Series
from vigil_lang.smt.symbols import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.trace import Trace

Partial: TypeAlias = dict[str, str | None]


class Encoding:
    """One statement on one run: the query and the conditions Rφ(e) that are not trivially true."""

    def __init__(self, requirement: core.Requirement, trace: Trace, candidates: Candidates | None = None) -> None:
        self.requirement = requirement
        self.trace = trace
        self.query = Query()
        self._candidates = candidates or Candidates(trace)
        self._leaves: dict[int, Leaf] = {}  # by identity: hashing a condition costs more than evaluating it
        self._roles: dict[int, str] = {}
        self._facts: dict[tuple[int, Key, int], Formula] = {}
        self._series: dict[tuple[int, Key], Series] = {}
        self._variables: dict[int, tuple[str, ...]] = {}
        for holds in core.conditions(requirement.theta):
            self._leaf(holds)
        calls, times = trace.call_index, [event.time for event in trace.events]
        self._calls_ordered = all(a <= b for a, b in pairwise(calls))
        self._times_ordered = None not in times and all(a <= b for a, b in pairwise(times))  # type: ignore[operator]
        polarity = _polarity(requirement.theta)
        self._free: dict[str, bool] = {x: polarity.get(x) == {True} for x in requirement.variables}
        self._domains: dict[str, list[str | None]] = {}
        self.conditions = self._conditions()

    # --- the requirement, event by event ---

    def _conditions(self) -> list[Condition]:
        found = []
        theta, variables = self.requirement.theta, self.requirement.variables
        for at in range(len(self.trace.events)):
            cases: dict[tuple[str | None, ...], Formula] = {}
            for partial in self._refuters(theta, at):
                for binding in self._complete(partial):
                    key = tuple([binding[x] for x in variables])
                    if key not in cases:
                        cases[key] = self._encode(theta, at, binding)
            kept = tuple((key, formula) for key, formula in cases.items() if not formula.is_true())
            if kept:
                found.append(Condition(at, kept))
        return found

    def _completions(self, partial: Partial, variables: tuple[str, ...]) -> Iterator[Binding]:
        """Every extension of a partial binding to the variables that some test can tell apart."""
        missing = [x for x in variables if x not in partial]
        for values in product(*map(self._domain, missing)):
            yield partial | dict(zip(missing, values, strict=True))

    def _complete(self, partial: Partial) -> list[Binding]:
        """Bindings that stand for all extensions of a partial one.

        A variable that occurs only positively is hardest to satisfy by the fresh text, which stands for the rest.
        """
        missing = [x for x in self.requirement.variables if x not in partial]
        if not missing:
            return [partial]
        choices = [[None] if self._free[x] else self._domain(x) for x in missing]
        return [partial | dict(zip(missing, values, strict=True)) for values in product(*choices)]

    def _domain(self, variable: str) -> list[str | None]:
        """The values some test on the variable can tell from the fresh text, and the fresh text."""
        if variable not in self._domains:
            found: dict[str | None, None] = {None: None}
            for leaf in self._leaves.values():
                for test in core.tests(leaf.holds.condition):
                    if isinstance(test, core.Contains) and test.variable == variable:
                        found.update(dict.fromkeys(self.trace.values))
                    elif isinstance(test, core.Equals) and test.variable == variable:
                        for event in self.trace.events:
                            texts = (event.output,) if test.field.output else event.values(test.field.name)
                            found.update((t, None) for t in texts if t is not None)
            self._domains[variable] = list(found)
        return self._domains[variable]

    def exercised(self) -> bool:
        """Whether some event meets the trigger under some binding: if none does, the statement holds vacuously."""
        trigger = self.requirement.trigger
        if trigger is None:
            return True
        value, encode = self.query.value, self._encode
        return any(
            value(encode(trigger, at, binding))
            for at in range(len(self.trace.events))
            for partial in self._supporters(trigger, at)
            for binding in self._completions(partial, core.variables_of(trigger))
        )

    # --- which bindings can make a body false or true at an event ---

    def _refuters(self, theta: core.Theta, at: int) -> list[Partial]:
        match theta:
            case core.Holds():
                leaf = self._leaf(theta)
                if not leaf.variables and leaf.supporters(at):
                    return []
                return [{}]
            case core.Not(body):
                return self._supporters(body, at)
            case core.And(items):
                return [p for item in items for p in self._refuters(item, at)]
            case core.Or(items):
                return _join([self._refuters(item, at) for item in items])
            case core.Implies(left, right):
                supporters = self._supporters(left, at)
                return _join([supporters, self._refuters(right, at)]) if supporters else []
            case _:
                return [{}]

    def _supporters(self, theta: core.Theta, at: int) -> list[Partial]:
        match theta:
            case core.Holds():
                leaf = self._leaf(theta)
                keys = leaf.supporters(at)
                if keys is None:
                    return [{}]
                return [dict(zip(leaf.variables, key, strict=True)) for key in keys]
            case core.Not(body):
                return self._refuters(body, at)
            case core.And(items):
                return _join([self._supporters(item, at) for item in items])
            case core.Or(items):
                return [p for item in items for p in self._supporters(item, at)]
            case core.Implies(left, right):
                return [*self._refuters(left, at), *self._supporters(right, at)]
            case _:
                return [{}]

    # --- Θ(e, x̄) as a formula ---

    def _encode(self, theta: core.Theta, at: int, binding: Binding) -> Formula:
        query = self.query
        match theta:
            case core.Holds():
                return self._fact(theta, at, binding)
            case core.Not(body):
                return query.negate(self._encode(body, at, binding))
            case core.And(items):
                return query.all([self._encode(item, at, binding) for item in items])
            case core.Or(items):
                return query.any([self._encode(item, at, binding) for item in items])
            case core.Implies(left, right):
                antecedent = self._encode(left, at, binding)
                if antecedent.is_false():
                    return query.true
                return query.implies(antecedent, self._encode(right, at, binding))
            case core.Earlier(body, bound):
                return self._earlier(body, bound, at, binding)
            case core.Later(body, bound):
                return self._later(body, bound, at, binding)
            case core.Clear(resolver, forbidden):
                blocked = self._series_of(forbidden, binding)
                cleared = self._series_of(resolver, binding)
                return query.negate(blocked.before_clear(cleared, at))
            case core.Repeated(count, body):
                return self._series_of(body, binding).repeated(count, at)

    def _earlier(self, body: core.Theta, bound: core.Bound, at: int, binding: Binding) -> Formula:
        series = self._series_of(body, binding)
        end = bisect_left(series.positions, at)
        match bound:
            case None:
                return series.prefix(end)
            case core.Calls(count):
                calls = self.trace.call_index
                return series.some(0, end, lambda i: calls[at] - calls[i] <= count, self._calls_ordered)
            case core.Within(limit):
                now, events = self.trace.events[at].time, self.trace.events
                return series.some(0, end, lambda i: _apart(events[i].time, now, limit), self._times_ordered)

    def _later(self, body: core.Theta, bound: core.Bound, at: int, binding: Binding) -> Formula:
        series = self._series_of(body, binding)
        start = bisect_right(series.positions, at)
        match bound:
            case None:
                return series.suffix(start)
            case core.Calls(count):
                calls = self.trace.call_index
                return series.some(start, None, lambda i: calls[i] - calls[at] <= count, self._calls_ordered)
            case core.Within(limit):
                now, events = self.trace.events[at].time, self.trace.events
                return series.some(start, None, lambda i: _apart(now, events[i].time, limit), self._times_ordered)

    def _fact(self, holds: core.Holds, at: int, binding: Binding) -> Formula:
        leaf = self._leaf(holds)
        key = leaf.key(binding)
        known = (id(leaf), key, at)
        if known not in self._facts:
            positions = leaf.positions(key)
            place = bisect_left(positions, at)
            there = place < len(positions) and positions[place] == at
            name = f"{self._roles[id(holds)]}{_values(key)}@{shown(self.trace.events[at].id)}"
            self._facts[known] = self.query.fact(name) if there else self.query.false
        return self._facts[known]

    def _series_of(self, body: core.Theta, binding: Binding) -> Series:
        """The events at which a body can hold under a binding, with its formula at each."""
        variables = self._variables.get(id(body))
        if variables is None:
            variables = self._variables[id(body)] = core.variables_of(body)
        key = tuple([binding[x] for x in variables])
        known = (id(body), key)
        if known not in self._series:
            name = f"{self._name(body)}{_values(key)}"
            formulas = ((at, self._encode(body, at, binding)) for at in self._positions(body, binding))
            self._series[known] = Series(self.query, self.trace, name, [f for f in formulas if not f[1].is_false()])
        return self._series[known]

    def _positions(self, body: core.Theta, binding: Binding) -> list[int] | range:
        """A superset, ascending, of the events at which a body holds."""
        match body:
            case core.Holds():
                leaf = self._leaf(body)
                return leaf.positions(leaf.key(binding))
            case core.And(items) if items:
                return min((self._positions(item, binding) for item in items), key=len)
            case core.Or(items):
                return sorted({i for item in items for i in self._positions(item, binding)})
            case _:
                return range(len(self.trace.events))

    def _leaf(self, holds: core.Holds) -> Leaf:
        leaf = self._leaves.get(id(holds))
        if leaf is None:
            leaf = self._leaves[id(holds)] = Leaf(holds, self.trace, self._candidates)
            self._roles[id(holds)] = self._role(holds)
        return leaf

    def _role(self, holds: core.Holds) -> str:
        taken = set(self._roles.values())
        if holds.role not in taken and holds.role != "condition":
            return holds.role
        return next(name for n in range(1, len(taken) + 2) if (name := f"{holds.role}{n}") not in taken)

    def _name(self, body: core.Theta) -> str:
        return self._roles[id(body)] if isinstance(body, core.Holds) else "body"

    def roles(self) -> list[tuple[str, core.Holds]]:
        """The name each condition goes by in the query's symbols."""
        return [(role, self._leaves[known].holds) for known, role in self._roles.items()]


def _apart(start: int | None, end: int | None, limit: int) -> bool:
    return start is not None and end is not None and end - start <= limit


def _values(key: Key) -> str:
    return f"({', '.join('any other' if v is None else shown(v) for v in key)})" if key else ""


def _join(groups: list[list[Partial]]) -> list[Partial]:
    """Every way to pick one partial binding of each group without contradiction."""
    joined: list[Partial] = [{}]
    for group in groups:
        if group == [{}]:
            continue
        joined = [
            left | right
            for left in joined
            for right in group
            if all(left.get(x, v) == v for x, v in right.items())
        ]
    return joined


def _polarity(theta: core.Theta) -> dict[str, set[bool]]:
    """For each variable, whether its tests occur under an even (True) or odd number of negations."""
    found: dict[str, set[bool]] = {}

    def walk(node: core.Theta | core.Condition, positive: bool) -> None:
        match node:
            case core.Holds(condition):
                walk(condition, positive)
            case core.Not(body) | core.NotC(body):
                walk(body, not positive)
            case core.And(items) | core.Or(items) | core.AndC(items) | core.OrC(items):
                for item in items:
                    walk(item, positive)
            case core.Implies(left, right):
                walk(left, not positive)
                walk(right, positive)
            case core.Clear(resolver, forbidden):
                walk(resolver, positive)
                walk(forbidden, not positive)
            case core.Earlier(body) | core.Later(body) | core.Repeated(_, body):
                walk(body, positive)
            case core.Equals(_, x) | core.Contains(_, x):
                found.setdefault(x, set()).add(positive)

    walk(theta, True)
    return found
