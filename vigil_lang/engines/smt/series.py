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

    def interval(self, broken: Series, at: int, *, past: bool, weak: bool) -> Formula:
        """Whether this body holds before (or after) an event, with nothing strictly in between that is `broken`."""
        known = id(broken), past, weak
        if known not in self._intervals:
            self._intervals[known] = _Interval(self._query, self._ids, self, broken, past=past, weak=weak)
        return self._intervals[known].beside(at)


class _Interval:
    """From one end to the next: s(r) = ends(r) ∨ (nothing broken since the end before it ∧ s(r before)).

    Ends are ranked in the order in which an interval that began at an event would meet them. What is broken is
    asked by blocks, which all intervals share.
    """

    def __init__(
        self, query: Query, ids: Sequence[str], ends: Series, broken: Series, *, past: bool, weak: bool
    ) -> None:
        self._query = query
        self._ids = ids
        self._broken = broken
        self._past = past
        self._places = ends.positions if past else ends.positions[::-1]
        self._ends = ends.formulas if past else ends.formulas[::-1]
        self._states = [query.true if weak else query.false]

    def beside(self, at: int) -> Formula:
        """Whether the interval that lies strictly on its side of an event is unbroken up to an end."""
        away = 1 if self._past else -1
        end = bisect_left(self._places, at * away, key=lambda place: place * away)
        query, states, places = self._query, self._states, self._places
        while len(states) <= end:
            rank = len(states) - 1
            going_on = query.all([self._unbroken(rank, places[rank], inclusive=True), states[-1]])
            body = query.any([self._ends[rank], going_on])
            states.append(query.define(f"unbroken {'by' if self._past else 'from'} {self._ids[places[rank]]}", body))
        if states[end] is query.false:
            return states[end]
        return query.all([self._unbroken(end, at, inclusive=False), states[end]])

    def _unbroken(self, rank: int, place: int, *, inclusive: bool) -> Formula:
        """Whether nothing is broken strictly between the end before a rank and a place, or at the place, too."""
        positions = self._broken.positions
        if self._past:
            start = bisect_right(positions, self._places[rank - 1]) if rank else 0
            stop = bisect_right(positions, place) if inclusive else bisect_left(positions, place)
        else:
            start = bisect_left(positions, place) if inclusive else bisect_right(positions, place)
            stop = bisect_left(positions, self._places[rank - 1]) if rank else len(positions)
        return self._query.negate(self._broken.some(range(start, max(start, stop))))
