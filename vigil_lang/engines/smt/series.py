"""The events at which one body can hold, in order, and the questions a requirement asks of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from vigil_lang.engines.smt.symbols import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.engines.smt.query import Formula, Query
    from vigil_lang.trace import Trace


class Series:
    """Positions with the body's formula at each; every answer is a formula of constant size over shared definitions."""

    __slots__ = ("_blocks", "_calls", "_clears", "_ids", "_lowest", "_name", "_prefixes", "_query", "_suffixes",
                 "_trace", "formulas", "positions")  # fmt: skip

    def __init__(
        self, query: Query, trace: Trace, ids: Sequence[str], name: str, positions: list[int], formulas: list[Formula]
    ) -> None:
        """`ids` are the events' names in symbols. There is a series for each value: what few ask for is made late."""
        self._query = query
        self._trace = trace
        self._ids = ids
        self._name = name
        self.positions = positions
        self.formulas = formulas
        self._prefixes: list[Formula] = [query.false]
        self._suffixes: dict[int, Formula] | None = None
        self._lowest = len(positions)
        self._blocks: dict[tuple[int, int], Formula] = {}
        self._clears: dict[int, _Clear] = {}
        self._calls: _Calls | None = None

    def _id(self, rank: int) -> str:
        return self._ids[self.positions[rank]]

    def prefix(self, end: int) -> Formula:
        """Whether the body holds at one of the first `end` positions."""
        known = self._prefixes
        while len(known) <= end:
            rank = len(known) - 1
            if rank == 0:
                known.append(self.formulas[0])
                continue
            body = self._query.any([known[-1], self.formulas[rank]])
            known.append(self._query.define(f"{self._name} by {self._id(rank)}", body))
        return known[end]

    def suffix(self, start: int) -> Formula:
        """Whether the body holds at a position of rank `start` or later."""
        if self._suffixes is None:
            self._suffixes = {len(self.positions): self._query.false}
        while self._lowest > start:
            rank = self._lowest = self._lowest - 1
            body = self._query.any([self.formulas[rank], self._suffixes[rank + 1]])
            self._suffixes[rank] = self._query.define(f"{self._name} from {self._id(rank)}", body)
        return self._suffixes[start]

    def some(self, start: int, end: int | None, near: Callable[[int], bool], ordered: bool) -> Formula:
        """Whether the body holds at a position of rank in [start, end) that is near enough.

        Ranks after the event are searched when `end` is None, else ranks before it. Where distance is `ordered` along
        the run, the near ranks are next to the event and their edge is found by bisection.
        """
        positions = self.positions
        if ordered and end is None:
            far = bisect_left(range(start, len(positions)), True, key=lambda rank: not near(positions[rank]))
            return self._span(start, start + far)
        if ordered and end is not None:
            return self._span(bisect_left(range(end), True, key=lambda rank: near(positions[rank])), end)
        spans: list[tuple[int, int]] = []
        for rank in range(start, len(positions) if end is None else end):
            if near(positions[rank]):
                begun = spans.pop()[0] if spans and spans[-1][1] == rank else rank
                spans.append((begun, rank + 1))
        return self._query.any([self._span(low, high) for low, high in spans])

    def _span(self, low: int, high: int) -> Formula:
        """∨ over ranks [low, high) by aligned blocks of a power of two, each defined once."""
        parts = []
        while low < high:
            size = low & -low or 1 << (high - low).bit_length()
            while low + size > high:
                size >>= 1
            parts.append(self._block(low, size))
            low += size
        return self._query.any(parts)

    def _block(self, low: int, size: int) -> Formula:
        if size == 1:
            return self.formulas[low]
        if (low, size) not in self._blocks:
            half = size // 2
            body = self._query.any([self._block(low, half), self._block(low + half, half)])
            name = f"{self._name} in {self._id(low)}..{self._id(low + size - 1)}"
            self._blocks[low, size] = self._query.define(name, body)
        return self._blocks[low, size]

    def before_clear(self, resolver: Series, at: int) -> Formula:
        """Whether, after an event, this body holds before the resolver has held strictly in between."""
        if id(resolver) not in self._clears:
            self._clears[id(resolver)] = _Clear(self._query, self._ids, self, resolver)
        return self._clears[id(resolver)].after(at)

    def repeated(self, count: int, at: int) -> Formula:
        """Whether the body holds, before an event, in at least `count` calls other than the event's own."""
        if self._calls is None:
            self._calls = _Calls(self._query, self._trace, self._ids, self, self._name)
        return self._calls.at_least(count, at)


class _Clear:
    """bad(p) = forbidden(p) ∨ (¬resolver(p) ∧ bad(next p)), from the right, over the positions of either."""

    def __init__(self, query: Query, ids: Sequence[str], forbidden: Series, resolver: Series) -> None:
        self._query = query
        self._ids = ids
        self._forbidden = dict(zip(forbidden.positions, forbidden.formulas, strict=True))
        self._resolver = dict(zip(resolver.positions, resolver.formulas, strict=True))
        self._positions = sorted({*self._forbidden, *self._resolver})
        self._bad: dict[int, Formula] = {len(self._positions): query.false}
        self._lowest = len(self._positions)

    def after(self, at: int) -> Formula:
        start = bisect_right(self._positions, at)
        query = self._query
        while self._lowest > start:
            rank = self._lowest = self._lowest - 1
            place = self._positions[rank]
            resolved = self._resolver.get(place, query.false)
            going_on = query.all([query.negate(resolved), self._bad[rank + 1]])
            body = query.any([self._forbidden.get(place, query.false), going_on])
            self._bad[rank] = query.define(f"broken from {self._ids[place]}", body)
        return self._bad[start]


class _Calls:
    """How many calls the body has held in, counted along the run, one step a position."""

    def __init__(self, query: Query, trace: Trace, ids: Sequence[str], series: Series, name: str) -> None:
        self._query = query
        self._trace = trace
        self._ids = ids
        self._series = series
        self._name = name
        self._counts: list[Formula | None] = [None]
        self._held: dict[str, Formula] = {}  # by call: whether the body has held in it, as far as was counted
        self._held_by: list[tuple[str, Formula]] = []  # for each position its call, and the same just before it
        self._positions_of: dict[str, list[int]] = {}

    def at_least(self, count: int, at: int) -> Formula:
        """Whether the body holds, before an event, in at least `count` calls other than the event's own."""
        rank = bisect_left(self._series.positions, at)
        own = self._trace.events[at].call
        total = self._count(rank)
        if total is None or rank < count:
            return self._query.false
        held = self._held_before(own, rank)
        query = self._query
        enough = query.at_least(total, count)
        if held is query.false:
            return enough
        more = query.at_least(total, count + 1)
        return query.any([more, query.all([query.negate(held), enough])])

    def _count(self, end: int) -> Formula | None:
        """The number of calls among the first `end` positions; None for none."""
        query = self._query
        while len(self._counts) <= end:
            rank = len(self._counts) - 1
            place, formula = self._series.positions[rank], self._series.formulas[rank]
            call = self._trace.events[place].call
            before = self._held.get(call, query.false)
            self._held_by.append((call, before))
            self._positions_of.setdefault(call, []).append(rank)
            first = query.all([formula, query.negate(before)])
            self._counts.append(query.count(f"calls with {self._name} by {self._ids[place]}", self._counts[-1], first))
            held = query.any([before, formula])
            self._held[call] = query.define(f"{self._name} in {shown(call)} by {self._ids[place]}", held)
        return self._counts[end]

    def _held_before(self, call: str, end: int) -> Formula:
        """Whether the body holds in a call at one of the first `end` positions."""
        ranks = self._positions_of.get(call, [])
        known = bisect_left(ranks, end)
        if known == 0:
            return self._query.false
        if known < len(ranks):
            return self._held_by[ranks[known]][1]
        return self._held[call]
