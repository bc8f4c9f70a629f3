"""Counts and sums along the run: what the solver adds up at the events at which one body can hold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import groupby
from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.trace.values import EXACT, number, total

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from vigil_lang.engines.indexed import Judgement
    from vigil_lang.engines.smt.query import Formula, Query
    from vigil_lang.engines.smt.series import Series


class Tally:
    """One counting operator under one binding.

    Without a bound its questions share one chain. A window of a chain is a difference of two of its links where what
    is counted stands together; else the question is written out.
    """

    def __init__(
        self,
        theta: core.Repeated | core.Exceeds,
        series: Series,
        resets: Series | None,
        judgement: Judgement,
        query: Query,
        ids: Sequence[str],
    ) -> None:
        self._theta = theta
        self._series = series
        self._resets = resets
        self._judgement = judgement
        self._query = query
        self._ids = ids
        events = judgement.trace.events
        self._units: list[tuple[str, ...]] = []
        self._amounts: list[int] = []
        if isinstance(theta, core.Exceeds):
            numbers = [total(texts(theta.field, events[place])) for place in series.positions]
            self._amounts, limit = _whole(numbers, theta.limit)
            self._enough = limit + 1
        else:
            distinct = theta.distinct
            self._enough = theta.count
            for place in series.positions:
                event = events[place]
                units = (event.call,) if distinct is None else texts(distinct, event)
                self._units.append(tuple(dict.fromkeys(units)))
        self._chain: _Chain | None = None
        self._groups: _Groups | None = None

    def more(self, at: int) -> Formula:
        """Whether what counts at an event is as much as the operator asks for."""
        theta, places = self._theta, self._series.positions
        if isinstance(theta, core.Exceeds):
            event = self._judgement.trace.events[at]
            if all(number(text) is None for text in texts(theta.field, event)):
                return self._query.true
        end = bisect_right(places, at)
        if theta.bound is None:
            return self._query.at_least(self._prefix(at), self._enough)
        ranks = self._judgement.near(theta.bound, places, 0, end, at)
        if isinstance(ranks, range) and self._resets is None:
            if self._amounts:
                chain = self._links()
                return self._query.at_least(chain.upto(ranks.stop), self._enough, chain.upto(ranks.start))
            if theta_counts_calls(theta) and self._judgement.index.calls_ordered:
                return self._calls_in(ranks)
        return self._written_out(list(ranks), at)

    def _links(self) -> _Chain:
        if self._chain is None:
            self._chain = _Chain(self._query, self._ids, self._series, self._resets, self._units, self._amounts)
        return self._chain

    def _prefix(self, at: int) -> Formula | None:
        return self._links().at(at)

    def _calls_in(self, ranks: range) -> Formula:
        """The calls of a window: whole ones by the chain over calls, those at its edges by themselves."""
        if not ranks:
            return self._query.at_least(None, self._enough)
        if self._groups is None:
            self._groups = _Groups(self._query, self._ids, self._series, self._units)
        groups = self._groups
        first, last = groups.of(ranks.start), groups.of(ranks.stop - 1)
        edges: list[Formula] = []
        if ranks.start > groups.spans[first][0]:
            edges.append(self._series.some(range(ranks.start, min(groups.spans[first][1], ranks.stop))))
            first += 1
        if first <= last and ranks.stop < groups.spans[last][1]:
            edges.append(self._series.some(range(groups.spans[last][0], ranks.stop)))
            last -= 1
        if first > last:
            return self._query.enough([(formula, 1) for formula in edges], self._enough)
        return self._query.at_least(groups.upto(last + 1), self._enough, groups.upto(first), [(f, 1) for f in edges])

    def _written_out(self, ranks: list[int], at: int) -> Formula:
        """Each unit, or amount, of the events at these ranks by itself."""
        query, series, resets = self._query, self._series, self._resets
        self._judgement.work.spend(len(ranks))
        counted: dict[str, list[Formula]] = {}
        sums: list[tuple[Formula, int]] = []
        for rank in ranks:
            formula = series.formulas[rank]
            if resets is not None:
                start = bisect_left(resets.positions, series.positions[rank])
                reset = resets.some(range(start, bisect_left(resets.positions, at)))
                formula = query.all([formula, query.negate(reset)])
            if self._amounts:
                sums.append((formula, self._amounts[rank]))
            else:
                for unit in self._units[rank]:
                    counted.setdefault(unit, []).append(formula)
        sums += [(query.any(formulas), 1) for formulas in counted.values()]
        return query.enough(sums, self._enough)


def theta_counts_calls(theta: core.Repeated | core.Exceeds) -> bool:
    """Whether an operator counts calls, and not values or amounts."""
    return isinstance(theta, core.Repeated) and theta.distinct is None


class _Chain:
    """What has been counted by each position, one step a position; a reset begins anew after its event."""

    def __init__(
        self,
        query: Query,
        ids: Sequence[str],
        series: Series,
        resets: Series | None,
        units: list[tuple[str, ...]],
        amounts: list[int],
    ) -> None:
        self._query = query
        self._ids = ids
        self._series = series
        self._resets = resets
        self._units = units
        self._amounts = amounts
        self._counted: list[Formula | None] = [None]  # by rank: before any reset at the position itself
        self._held: dict[str, tuple[Formula, int]] = {}  # by unit: whether it was counted, up to which position

    def at(self, place: int) -> Formula | None:
        """What counts at an event."""
        positions = self._series.positions
        end = bisect_right(positions, place)
        counted = self.upto(end)
        if self._resets is None or not end or positions[end - 1] == place:
            return counted
        return self._after(end, place)

    def upto(self, end: int) -> Formula | None:
        """What the first `end` positions come to; None for nothing."""
        query = self._query
        while len(self._counted) <= end:
            rank = len(self._counted) - 1
            place, formula = self._series.positions[rank], self._series.formulas[rank]
            before = self._after(rank, place)
            if self._amounts:
                cases = [(formula, self._amounts[rank])]
            else:
                cases = [(self._first(unit, rank, formula), 1) for unit in self._units[rank]]
            name = f"{'total of' if self._amounts else 'number of'} {self._series.name} by {self._ids[place]}"
            self._counted.append(query.total(name, before, cases))
        return self._counted[end]

    def _after(self, end: int, place: int) -> Formula | None:
        """What the first `end` positions come to just before an event: nothing after a reset in between."""
        counted = self._counted[end]
        if self._resets is None or counted is None:
            return counted
        reset = self._reset_between(self._series.positions[end - 1], place)
        if reset is self._query.false:
            return counted
        return self._query.cleared(f"{self._series.name} left at {self._ids[place]}", reset, counted)

    def _reset_between(self, start: int, end: int) -> Formula:
        """Whether some event from `start` to just before `end` is a reset."""
        resets = self._resets
        if resets is None:
            return self._query.false
        return resets.some(range(bisect_left(resets.positions, start), bisect_left(resets.positions, end)))

    def _first(self, unit: str, rank: int, formula: Formula) -> Formula:
        """Whether a position is the first, since the last reset, to count for a unit."""
        query, place = self._query, self._series.positions[rank]
        held, since = self._held.get(unit, (query.false, place))
        held = query.all([held, query.negate(self._reset_between(since, place))])
        name = f"{self._series.name} counted once by {self._ids[place]}"
        self._held[unit] = query.define(name, query.any([held, formula])), place
        return query.all([formula, query.negate(held)])


class _Groups:
    """The positions of a series by call, where the calls stand one after the other, and how many have held so far."""

    def __init__(self, query: Query, ids: Sequence[str], series: Series, units: list[tuple[str, ...]]) -> None:
        self._query = query
        self._ids = ids
        self._series = series
        self.spans: list[tuple[int, int]] = []
        """For each call the ranks of its positions, from the first to after the last."""
        for _, ranks in groupby(range(len(units)), key=units.__getitem__):
            found = list(ranks)
            self.spans.append((found[0], found[-1] + 1))
        self._starts = [start for start, _ in self.spans]
        self._counts: list[Formula | None] = [None]

    def of(self, rank: int) -> int:
        """The call of a position."""
        return bisect_right(self._starts, rank) - 1

    def upto(self, end: int) -> Formula | None:
        """In how many of the first `end` calls the body holds; None for none."""
        while len(self._counts) <= end:
            start, stop = self.spans[len(self._counts) - 1]
            held = self._series.some(range(start, stop))
            name = f"calls with {self._series.name} by {self._ids[self._series.positions[stop - 1]]}"
            self._counts.append(self._query.total(name, self._counts[-1], [(held, 1)]))
        return self._counts[end]


def _whole(numbers: list[Decimal], limit: Decimal) -> tuple[list[int], int]:
    """Amounts and their limit as whole numbers of their smallest unit; what is infinite is more than the limit."""
    places = 0
    for value in (limit, *numbers):
        exponent = value.as_tuple().exponent
        if isinstance(exponent, int):
            places = min(places, exponent)
    most = int(EXACT.scaleb(limit, -places))
    return [int(EXACT.scaleb(n, -places)) if n.is_finite() else max(most, 0) + 1 for n in numbers], most
