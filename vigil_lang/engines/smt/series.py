"""The events at which one body can hold, in order, and the questions a requirement asks of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.engines.smt.query import Formula, Query


class Series:
    """Positions with the body's formula at each; every answer is a formula of constant size over shared definitions."""

    __slots__ = (
        "_blocks",
        "_clears",
        "_ids",
        "_intervals",
        "_lowest",
        "_prefixes",
        "_query",
        "_suffixes",
        "formulas",
        "name",
        "positions",
    )  # fmt: skip

    def __init__(
        self, query: Query, ids: Sequence[str], name: str, positions: list[int], formulas: list[Formula]
    ) -> None:
        """`ids` are the events' names in symbols. There is a series for each value: what few ask for is made late."""
        self._query = query
        self._ids = ids
        self.name = name
        self.positions = positions
        self.formulas = formulas
        self._prefixes: list[Formula] = [query.false]
        self._suffixes: dict[int, Formula] | None = None
        self._lowest = len(positions)
        self._blocks: dict[tuple[int, int], Formula] = {}
        self._clears: dict[int, _Clear] = {}
        self._intervals: dict[tuple[int, bool, bool], _Interval] = {}

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
            known.append(self._query.define(f"{self.name} by {self._id(rank)}", body))
        return known[end]

    def suffix(self, start: int) -> Formula:
        """Whether the body holds at a position of rank `start` or later."""
        if self._suffixes is None:
            self._suffixes = {len(self.positions): self._query.false}
        while self._lowest > start:
            rank = self._lowest = self._lowest - 1
            body = self._query.any([self.formulas[rank], self._suffixes[rank + 1]])
            self._suffixes[rank] = self._query.define(f"{self.name} from {self._id(rank)}", body)
        return self._suffixes[start]

    def some(self, ranks: Iterable[int]) -> Formula:
        """Whether the body holds at a position with one of these ranks, which ascend."""
        if isinstance(ranks, range):
            return self._span(ranks.start, ranks.stop)
        spans: list[tuple[int, int]] = []
        for rank in ranks:
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
            name = f"{self.name} in {self._id(low)}..{self._id(low + size - 1)}"
            self._blocks[low, size] = self._query.define(name, body)
        return self._blocks[low, size]

    def before_clear(self, resolver: Series, at: int) -> Formula:
        """Whether, after an event, this body holds before the resolver has held strictly in between."""
        if id(resolver) not in self._clears:
            self._clears[id(resolver)] = _Clear(self._query, self._ids, self, resolver)
        return self._clears[id(resolver)].after(at)

    def interval(self, broken: Series, at: int, *, past: bool, weak: bool) -> Formula:
        """Whether this body holds before (or after) an event, with nothing strictly in between that is `broken`."""
        known = id(broken), past, weak
        if known not in self._intervals:
            self._intervals[known] = _Interval(self._query, self._ids, self, broken, past=past, weak=weak)
        return self._intervals[known].beside(at)


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


class _Interval:
    """s(p) = ends(p) ∨ (¬broken(p) ∧ s(next p)) from an event on, away from it, over the positions of either."""

    def __init__(
        self, query: Query, ids: Sequence[str], ends: Series, broken: Series, *, past: bool, weak: bool
    ) -> None:
        self._query = query
        self._ids = ids
        self._ends = dict(zip(ends.positions, ends.formulas, strict=True))
        self._broken = dict(zip(broken.positions, broken.formulas, strict=True))
        self._positions = sorted({*self._ends, *self._broken}, reverse=not past)
        self._past = past
        self._states = [query.true if weak else query.false]

    def beside(self, at: int) -> Formula:
        """The state of the positions strictly before the event, or strictly after it."""
        if self._past:
            end = bisect_left(self._positions, at)
        else:
            end = bisect_left(self._positions, -at, key=lambda place: -place)
        query, states = self._query, self._states
        while len(states) <= end:
            place = self._positions[len(states) - 1]
            going_on = query.all([query.negate(self._broken.get(place, query.false)), states[-1]])
            body = query.any([self._ends.get(place, query.false), going_on])
            states.append(query.define(f"unbroken {'by' if self._past else 'from'} {self._ids[place]}", body))
        return states[end]
