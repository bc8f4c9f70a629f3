"""From a requirement and a run to a query whose size is linear in the run for preset forms.

Instead of a disjunction over all earlier events at each event (Figure 5 read literally, quadratic), each condition
and binding has one series of the events at which it holds, and "some earlier one" is a chain of definitions along it:
`guard(M) by e9 = guard(M) by e4 ∨ guard(M)@e9`. See docs/adr/0002, also for the
statements that stay quadratic: a variable under a negation that the trigger does not fix.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from vigil_lang.base.collector import collector_paused
from vigil_lang.engines.effort import SOLVED
from vigil_lang.engines.smt.query import Condition, Formula, Query
from vigil_lang.engines.smt.series import Series
from vigil_lang.engines.smt.symbols import shown
from vigil_lang.engines.smt.tally import Tally
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.engines.index import Key
    from vigil_lang.engines.indexed import Judgement
    from vigil_lang.engines.interface import Violation
    from vigil_lang.trace import Trace


class Encoding:
    """One statement on one run: the query and the conditions Rφ(e) that are not trivially true.

    A binding is a tuple of values, None for the fresh text, in the order of the requirement's variables.
    """

    def __init__(
        self,
        judgement: Judgement,
        ids: Sequence[str] | None = None,
        *,
        name: str = "",
        only: Violation | None = None,
    ) -> None:
        """`ids` are the events' names in symbols, as `event_names` gives them: statements on a run may share them.

        `name` is the statement's: no condition goes by it, so that its assertions' names are theirs alone. With `only`
        there is one condition, that of one event under one binding.

        Raises:
            TooCostly: this takes more than the run's size warrants.
        """
        self.requirement = judgement.requirement
        self.trace = judgement.trace
        self._work = judgement.work
        self.query = Query(self._work.make)
        self._judgement = judgement
        self._index = judgement.index
        self._candidates = judgement.candidates
        self._ids = event_names(self.trace) if ids is None else ids
        self._facts: dict[tuple[str, Key, int], Formula] = {}
        self._series: dict[tuple[int, Key], Series] = {}
        self._tallies: dict[tuple[int, int, int], Tally] = {}
        self._slots: dict[int, tuple[int, ...]] = {}
        self._held = self._conditions_of(self.requirement.theta)
        self._roles = _roles(self._held, name)
        with collector_paused():
            self.conditions = self._conditions(only)

    def _conditions(self, only: Violation | None) -> list[Condition]:
        found = []
        theta, true, work = self.requirement.theta, self.query.true, self._work
        steps = core.size(theta)
        for at in self._candidates.suspects() if only is None else (only.event,):
            work.at = at
            cases = []
            for key in self._candidates.failing(at) if only is None else (only.binding,):
                work.spend(steps)
                formula = self._encode(theta, at, key)
                if formula is not true:
                    work.make(SOLVED)
                    cases.append((key, formula))
            if cases:
                found.append(Condition(at, tuple(cases)))
        return found

    def facts(self) -> Iterator[tuple[int, Formula]]:
        """(event index, symbol) of every fact the query states."""
        return ((at, symbol) for (_, _, at), symbol in self._facts.items())

    def roles(self) -> list[tuple[str, core.Holds]]:
        """The name each condition goes by in the query's symbols."""
        return [(self._roles[id(holds)], holds) for holds in self._held]

    def _conditions_of(self, theta: core.Theta) -> list[core.Holds]:
        """The conditions that the query speaks of, each object once: of an interval what breaks it."""
        found: dict[int, core.Holds] = {}
        waiting = [theta]
        while waiting:
            body = waiting.pop()
            if isinstance(body, core.Holds):
                found[id(body)] = body
            elif isinstance(body, core.Since | core.Until):
                waiting += (body.right, self._judgement.breakers(body))
            else:
                waiting += reversed(core.children(body))
        return list(found.values())

    # --- Θ(e, x̄) as a formula ---

    def _encode(self, theta: core.Theta, at: int, binding: Key) -> Formula:
        query = self.query
        match theta:
            case core.Holds():
                found = self._judgement.occurrences(theta)
                key = found.key(binding)
                return self._fact(theta, key, at) if found.holds_at(key, at) else query.false
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
                return series.prefix(end) if bound is None else self._near(series, bound, 0, end, at)
            case core.Later(body, bound):
                series = self._series_of(body, binding)
                start = bisect_right(series.positions, at)
                if bound is None:
                    return series.suffix(start)
                return self._near(series, bound, start, len(series.positions), at)
            case core.Clear(resolver, forbidden):
                cleared = self._series_of(resolver, binding)
                bad = self._series_of(forbidden, binding).interval(cleared, at, past=False, weak=False)
                return query.negate(bad)
            case core.Since(_, right, bound, weak) | core.Until(_, right, bound, weak):
                return self._interval(theta, right, bound, weak, at, binding)
            case core.Repeated() | core.Exceeds():
                return self._tally_of(theta, binding).more(at)
            case core.Where() | core.Last():
                return query.true if self._judgement.holds(theta, at, binding) else query.false

    def _near(self, series: Series, bound: core.Bound, low: int, high: int, at: int) -> Formula:
        """Whether the body of a series holds at a rank in [low, high) that is within a bound of an event."""
        return series.some(self._judgement.near(bound, series.positions, low, high, at))

    def _interval(
        self, theta: core.Since | core.Until, right: core.Theta, bound: core.Bound, weak: bool, at: int, binding: Key
    ) -> Formula:
        """`since` and `until`: without a bound one step of a chain, else for each near event that may end it."""
        query, past = self.query, isinstance(theta, core.Since)
        ends = self._series_of(right, binding)
        broken = self._series_of(self._judgement.breakers(theta), binding)
        if bound is None:
            return ends.interval(broken, at, past=past, weak=weak)
        if past:
            ranks = self._judgement.near(bound, ends.positions, 0, bisect_left(ends.positions, at), at)
            edge = bisect_left(broken.positions, at)
            cases = [(r, bisect_right(broken.positions, ends.positions[r]), edge) for r in ranks]
            near = self._near(broken, bound, 0, edge, at)
        else:
            start, edge = bisect_right(ends.positions, at), bisect_right(broken.positions, at)
            ranks = self._judgement.near(bound, ends.positions, start, len(ends.positions), at)
            cases = [(r, edge, bisect_left(broken.positions, ends.positions[r])) for r in ranks]
            near = self._near(broken, bound, edge, len(broken.positions), at)
        self._work.spend(len(cases))
        found = [query.all([ends.formulas[r], query.negate(broken.some(range(a, b)))]) for r, a, b in cases]
        return query.any([*found, query.negate(near)] if weak else found)

    def _tally_of(self, theta: core.Repeated | core.Exceeds, binding: Key) -> Tally:
        """What a counting operator counts under a binding."""
        series = self._series_of(theta.body, binding)
        resets = None if theta.reset is None else self._series_of(theta.reset, binding)
        known = id(theta), id(series), id(resets)
        tally = self._tallies.get(known)
        if tally is None:
            tally = self._tallies[known] = Tally(theta, series, resets, self._judgement, self.query, self._ids)
        return tally

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
            found = self._judgement.occurrences(body)
            own = found.key(binding)
            positions = found.positions(own)
            formulas = [self._fact(body, own, at) for at in positions]
            name = self._roles[id(body)]
        else:
            places = self._judgement.possible(body, binding)
            self._work.spend(len(places) * core.size(body))
            encoded = ((at, self._encode(body, at, binding)) for at in places)
            kept = [item for item in encoded if item[1] is not self.query.false]
            positions, formulas = [at for at, _ in kept], [formula for _, formula in kept]
            name = "body"
        return Series(self.query, self._ids, f"{name}{_values(key)}", positions, formulas)


def event_names(trace: Trace) -> list[str]:
    """The events' ids as symbols show them."""
    return [shown(event.id) for event in trace.events]


def _roles(held: Sequence[core.Holds], taken: str) -> dict[int, str]:
    """The name each condition goes by: its part in its form, made unique; conditions of `always` are only numbered."""
    roles: dict[int, str] = {}
    names = {taken}
    for holds in held:
        name = holds.role
        if name in names or name == "condition":
            name = next(found for n in range(1, len(names) + 2) if (found := f"{holds.role}{n}") not in names)
        names.add(name)
        roles[id(holds)] = name
    return roles


def _values(key: Key) -> str:
    return f"({', '.join(['any other' if v is None else shown(v) for v in key])})" if key else ""
