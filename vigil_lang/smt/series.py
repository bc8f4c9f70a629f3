"""The events at which one body can hold, in order, and the questions a requirement asks of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from vigil_lang.smt.symbols import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.smt.query import Formula, Query
    from vigil_lang.trace import Trace


class Series:
    """Positions with the body's formula at each; every answer is a formula of constant size over shared definitions."""

    def __init__(self, query: Query, trace: Trace, ids: list[str], name: str, items: list[tuple[int, Formula]]) -> None:
        """`ids` are the events' names in symbols."""
        self._query = query
        self._ids = ids
        self._trace = trace
        self._name = name
        self.positions = [at for at, _ in items]
        self.formulas = [formula for _, formula in items]
        self._prefixes: list[Formula] = [query.false]
        self._suffixes: dict[int, Formula] = {len(items): query.false}
        self._lowest_suffix = len(items)
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
        while self._lowest_suffix > start:
            rank = self._lowest_suffix = self._lowest_suffix - 1
            body = self._query.any([self.formulas[rank], self._suffixes[rank + 1]])
            self._suffixes[rank] = self._query.define(f"{self._name} from {self._id(rank)}", body)
        return self._suffixes[start]

    def some(self, start: int, end: int | None, near: Callable[[int], bool], ordered: bool) -> Formula:
        """Whether the body holds at a position of rank in [start, end) that is near enough.

        The search begins at the rank next to the event (`start` when `end` is None, else the last one) and, where
        distance is `ordered` along the run, stops at the first that is too far.
        """
        ranks = range(start, len(self.positions)) if end is None else range(end - 1, start - 1, -1)
        spans: list[tuple[int, int]] = []
        for rank in ranks:
            if not near(self.positions[rank]):
                if ordered:
                    break
            elif spans and rank == spans[-1][1]:
                spans[-1] = (spans[-1][0], rank + 1)
            elif spans and rank == spans[-1][0] - 1:
                spans[-1] = (rank, spans[-1][1])
            else:
                spans.append((rank, rank + 1))
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
            self._calls = _Calls(self._query, self._trace, self, self._name)
        return self._calls.at_least(count, at)


class _Clear:
    """bad(p) = forbidden(p) ∨ (¬resolver(p) ∧ bad(next p)), from the right, over the positions of either."""

    def __init__(self, query: Query, ids: list[str], forbidden: Series, resolver: Series) -> None:
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
    """How many calls the body has held in, counted along the run."""

    def __init__(self, query: Query, trace: Trace, series: Series, name: str) -> None:
        self._query = query
        self._trace = trace
        self._name = name
        groups: dict[str, list[tuple[int, Formula]]] = {}
        for at, formula in zip(series.positions, series.formulas, strict=True):
            groups.setdefault(trace.events[at].call, []).append((at, formula))
        self._groups = list(groups.items())
        self._ranks = {call: rank for rank, (call, _) in enumerate(self._groups)}
        self._starts = [members[0][0] for _, members in self._groups]
        ends = [members[-1][0] for _, members in self._groups]
        self._disjoint = all(end < start for end, start in zip(ends, self._starts[1:], strict=False))
        self._counts: list[Formula] = []

    def at_least(self, count: int, at: int) -> Formula:
        own = self._trace.events[at].call
        begun = bisect_left(self._starts, at)
        mine = self._ranks.get(own, begun)
        others = begun - (mine < begun)
        if others < count:
            return self._query.false
        if self._disjoint and mine >= others:  # none of the first `others` calls is the event's own
            return self._query.at_least(self._prefix(others), count)
        return self._directly(count, at, own)

    def _prefix(self, end: int) -> Formula:
        """The count over the first `end` calls."""
        while len(self._counts) < end:
            call, members = self._groups[len(self._counts)]
            held = self._query.any([formula for _, formula in members])
            before = self._counts[-1] if self._counts else None
            self._counts.append(self._query.count(f"calls with {self._name} up to {shown(call)}", before, held))
        return self._counts[end - 1]

    def _directly(self, count: int, at: int, own: str) -> Formula:
        """Calls whose steps interleave: only the steps before the event count."""
        total: Formula | None = None
        for call, members in self._groups:
            before = [formula for place, formula in members if place < at]
            if call != own and before:
                name = f"calls with {self._name} before {shown(self._trace.events[at].id)} up to {shown(call)}"
                total = self._query.count(name, total, self._query.any(before))
        return self._query.false if total is None else self._query.at_least(total, count)
