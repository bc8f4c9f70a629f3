"""What the operators that look back remember: a memory for each key, which steps along the run.

The memories are plain lists, so that a state can be stored; an operator here says how one steps and what it answers.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from vigil_lang.engines.monitor.leaves import CannotJudge, measure_of, most_of
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.trace.values import EXACT, number, total

if TYPE_CHECKING:
    from vigil_lang.engines.monitor.leaves import Now
    from vigil_lang.trace import Event

Memory: TypeAlias = list[Any]

SLACK: Final = {core.Calls: 64, core.Steps: 0, core.Within: 600_000_000}
"""How far behind a bound, in its unit, entries are kept, should events come out of order."""


MOST_ENTRIES: Final = 1_000_000
"""Events within a bound that are kept for one value."""


class Letter(NamedTuple):
    """What an operator reads of an event: where it stands, whether its main body and the one that breaks or resets it
    hold there, and what it counts for."""

    measure: int | None
    met: bool
    broken: bool
    counts: Any = None


class Operator(Protocol):
    """How a memory begins, steps and answers."""

    counts_here: bool
    """Whether the current event itself counts."""
    lasting: bool
    """Whether the operator, once true, stays true until something breaks or resets it."""
    resets: bool
    """Whether what breaks or resets it leaves nothing of what was before."""
    window: Window
    """Its bound, and the entries that it keeps for it."""

    def begin(self) -> Memory:
        """The memory of a run without events."""

    def letter(self, now: Now, met: bool, broken: bool) -> Letter:
        """What the current event says."""

    def step(self, memory: Memory, letter: Letter) -> None:
        """Take in an event."""

    def holds(self, memory: Memory, now: Now, met: bool) -> bool:
        """Whether the operator holds at the current event, which the memory has not taken in yet."""

    def forget(self, memory: Memory, now: Now) -> None:
        """Drop what is too long ago to matter."""


class Window:
    """A bound, and the lists of entries that are kept for it: [measure, what it counts for], oldest first.

    What the bound has left behind is kept for a while longer, should events come out of order.
    """

    def __init__(self, bound: core.Bound) -> None:
        self.measure = measure_of(bound)
        self.bounded = bound is not None
        self._most, self._least = most_of(bound), 0 if bound is None else bound.least
        self._slack = 0 if bound is None else SLACK[type(bound)]
        self.forgotten: int | None = None
        """The latest measure of what was dropped."""

    def is_near(self, there: int | None, here: int | None) -> bool:
        """Whether an event that stands there is within the bound of the one at hand."""
        if not self.bounded:
            return there is not None
        if there is None or here is None:
            return False
        return here - there <= self._most and (self._least == 0 or here - there >= self._least)

    def check(self, here: int | None) -> None:
        """Refuse an event that may be within the bound of what was dropped."""
        if self.forgotten is not None and here is not None and here - self.forgotten <= self._most:
            raise CannotJudge("events come out of order, further than is remembered")

    def near(self, entries: list[Any], here: int | None) -> list[Any]:
        """What the entries within the bound count for."""
        if not self.bounded:
            return [counts for _, counts in entries]
        if here is None:
            return []
        self.check(here)
        if self._least == 0:
            oldest = here - self._most
            return [counts for at, counts in entries if at >= oldest]
        return [counts for at, counts in entries if self._least <= here - at <= self._most]

    def add(self, entries: list[Any], at: int | None, counts: Any) -> list[Any]:
        """Take in an entry, and drop those too far behind it, which are returned."""
        if at is None:
            return []
        if len(entries) >= MOST_ENTRIES:
            raise CannotJudge(f"more than {MOST_ENTRIES:,} events are within the bound")
        entries.append([at, counts])
        return self.drop(entries, at)

    def drop(self, entries: list[Any], here: int) -> list[Any]:
        """Drop the entries that are too far behind, and return them."""
        oldest, old = here - self._most - self._slack, 0
        while old < len(entries) and entries[old][0] < oldest:
            self._forget(entries[old][0])
            old += 1
        if not old:
            return []
        dropped = entries[:old]
        del entries[:old]
        return dropped

    def drop_all(self, entries: list[Any], now: Now) -> None:
        """Drop the entries that are too far behind the current event."""
        here = self.measure(now)
        if here is not None:
            self.drop(entries, here)

    def without_old(self, there: int | None, here: int | None) -> int | None:
        """A measure, None where it is too far behind to matter."""
        if there is None or here is None or self._least or there >= here - self._most - self._slack:
            return there
        self._forget(there)
        return None

    def _forget(self, at: int) -> None:
        self.forgotten = at if self.forgotten is None else max(self.forgotten, at)

    def counts_here(self, here: int | None) -> bool:
        """Whether the current event is within the bound of itself."""
        return not self.bounded or (here is not None and self._least == 0)


class Unbounded:
    """`earlier` and `since` without a bound: [whether it holds at the next event]."""

    resets = True
    counts_here = False
    lasting = True

    def __init__(self, *, weak: bool) -> None:
        self.window = Window(None)
        self._weak = weak

    def begin(self) -> Memory:
        """See `Operator`."""
        return [self._weak]

    def letter(self, now: Now, met: bool, broken: bool) -> Letter:
        """See `Operator`."""
        return Letter(None, met, broken)

    def step(self, memory: Memory, letter: Letter) -> None:
        """See `Operator`."""
        memory[0] = letter.met or (memory[0] and not letter.broken)

    def holds(self, memory: Memory, now: Now, met: bool) -> bool:
        """See `Operator`."""
        return bool(memory[0])

    def forget(self, memory: Memory, now: Now) -> None:
        """See `Operator`."""


class OneSided:
    """With a bound that has only a greatest or only a least distance: [the nearest (or furthest) event that counts, the
    same of those that broke it]."""

    counts_here = False
    lasting = False

    def __init__(self, bound: core.Calls | core.Steps | core.Within, *, weak: bool) -> None:
        self.window = Window(bound)
        self.resets = not weak
        self._weak = weak
        self._better = max if bound.least == 0 else min

    def begin(self) -> Memory:
        """See `Operator`."""
        return [None, None]

    def letter(self, now: Now, met: bool, broken: bool) -> Letter:
        """See `Operator`."""
        return Letter(self.window.measure(now), met, broken)

    def step(self, memory: Memory, letter: Letter) -> None:
        """See `Operator`."""
        at = letter.measure
        if letter.broken:
            memory[0] = None
            if self._weak and at is not None:
                memory[1] = at if memory[1] is None else self._better(memory[1], at)
        if letter.met and at is not None:
            memory[0] = at if memory[0] is None else self._better(memory[0], at)

    def holds(self, memory: Memory, now: Now, met: bool) -> bool:
        """See `Operator`."""
        window, here = self.window, self.window.measure(now)
        window.check(here)
        return window.is_near(memory[0], here) or (self._weak and not window.is_near(memory[1], here))

    def forget(self, memory: Memory, now: Now) -> None:
        """See `Operator`."""
        here = self.window.measure(now)
        memory[:] = [self.window.without_old(there, here) for there in memory]


class TwoSided:
    """With a bound that has a least and a greatest distance: [what counts, what broke it]."""

    counts_here = False
    lasting = False

    def __init__(self, bound: core.Bound, *, weak: bool) -> None:
        self.window = Window(bound)
        self.resets = not weak
        self._weak = weak

    def begin(self) -> Memory:
        """See `Operator`."""
        return [[], []]

    def letter(self, now: Now, met: bool, broken: bool) -> Letter:
        """See `Operator`."""
        return Letter(self.window.measure(now), met, broken)

    def step(self, memory: Memory, letter: Letter) -> None:
        """See `Operator`."""
        if letter.broken:
            memory[0] = []
            if self._weak:
                self.window.add(memory[1], letter.measure, None)
        if letter.met:
            self.window.add(memory[0], letter.measure, None)

    def holds(self, memory: Memory, now: Now, met: bool) -> bool:
        """See `Operator`."""
        window, here = self.window, self.window.measure(now)
        return bool(window.near(memory[0], here)) or (self._weak and not window.near(memory[1], here))

    def forget(self, memory: Memory, now: Now) -> None:
        """See `Operator`."""
        for entries in memory:
            self.window.drop_all(entries, now)


class Counting:
    """`repeated`: [the units (calls, or distinct values) since the last reset, no more than are counted], or with a
    bound [the entries of units]."""

    resets = True
    counts_here = True

    def __init__(self, theta: core.Repeated) -> None:
        self._count, self._distinct = theta.count, theta.distinct
        self.window = Window(theta.bound)
        self.lasting = theta.bound is None

    def begin(self) -> Memory:
        """See `Operator`."""
        return [[] if self.window.bounded else {}]

    def letter(self, now: Now, met: bool, broken: bool) -> Letter:
        """See `Operator`."""
        return Letter(self.window.measure(now), met, broken, self._units(now) if met else None)

    def _units(self, now: Now) -> list[str]:
        if self._distinct is None:
            return [now.event.call]
        return list(dict.fromkeys(texts(self._distinct, now.event)))

    def step(self, memory: Memory, letter: Letter) -> None:
        """See `Operator`."""
        if letter.broken:
            memory[0] = self.begin()[0]
        elif letter.met and letter.counts:
            if self.window.bounded:
                self.window.add(memory[0], letter.measure, letter.counts)
            elif len(memory[0]) < self._count:
                memory[0].update(dict.fromkeys(letter.counts))

    def holds(self, memory: Memory, now: Now, met: bool) -> bool:
        """See `Operator`."""
        window, found = self.window, memory[0]
        here = window.measure(now)
        if window.bounded:
            if self._distinct is None and len(found) + 1 < self._count:
                return False
            units = {unit for counts in window.near(found, here) for unit in counts}
        elif len(found) >= self._count:
            return True
        else:
            units = found
        if not met or not window.counts_here(here):
            return len(units) >= self._count
        return len(units) + sum(1 for unit in self._units(now) if unit not in units) >= self._count

    def forget(self, memory: Memory, now: Now) -> None:
        """See `Operator`."""
        if self.window.bounded:
            self.window.drop_all(memory[0], now)


class Adding:
    """`exceeds`: [the total of the amounts since the last reset, the entries of a bound].

    The total is that of all entries kept, so no less than what is within the bound.
    """

    resets = True
    counts_here = True
    lasting = False

    def __init__(self, theta: core.Exceeds) -> None:
        self._limit, self._field = theta.limit, theta.field
        self.window = Window(theta.bound)

    def begin(self) -> Memory:
        """See `Operator`."""
        return ["0", []]

    def letter(self, now: Now, met: bool, broken: bool) -> Letter:
        """See `Operator`."""
        return Letter(self.window.measure(now), met, broken, self._amount(now.event) if met else None)

    def _amount(self, event: Event) -> Decimal:
        return total(texts(self._field, event))

    def step(self, memory: Memory, letter: Letter) -> None:
        """See `Operator`."""
        if letter.broken:
            memory[:] = self.begin()
        elif letter.met and (amount := Decimal(letter.counts)):
            if not self.window.bounded:
                memory[0] = EXACT.add(Decimal(memory[0]), amount)
            elif letter.measure is not None:
                whole = EXACT.add(Decimal(memory[0]), amount)
                dropped = self.window.add(memory[1], letter.measure, amount)
                if dropped and whole.is_infinite():
                    whole = self._sum(memory[1])
                else:
                    for _, gone in dropped:
                        whole = EXACT.subtract(whole, Decimal(gone))
                memory[0] = whole

    @staticmethod
    def _sum(entries: list[Any]) -> Decimal:
        found = Decimal(0)
        for _, amount in entries:
            found = EXACT.add(found, Decimal(amount))
        return found

    def holds(self, memory: Memory, now: Now, met: bool) -> bool:
        """See `Operator`."""
        # Of an output that is open only that it takes nothing away is known.
        is_open = now.ahead and self._field.output
        if not is_open and all(number(text) is None for text in texts(self._field, now.event)):
            return True
        window = self.window
        here = window.measure(now)
        own = self._amount(now.event) if met and window.counts_here(here) else Decimal(0)
        if EXACT.add(Decimal(memory[0]), own) <= self._limit:
            return False
        if not window.bounded:
            return True
        near = Decimal(0)
        for amount in window.near(memory[1], here):
            near = EXACT.add(near, Decimal(amount))
        return EXACT.add(near, own) > self._limit

    def forget(self, memory: Memory, now: Now) -> None:
        """See `Operator`."""
        if self.window.bounded:
            self.window.drop_all(memory[1], now)
            memory[0] = self._sum(memory[1]) if memory[1] else "0"


def copied(memory: Memory) -> Memory:
    """A copy that steps do not share: they change lists and tables, and replace what is neither."""
    return [copied(part) if type(part) is list else dict(part) if type(part) is dict else part for part in memory]


def operator_of(theta: core.Theta) -> Operator:
    """The operator of a body that looks back."""
    match theta:
        case core.Repeated():
            return Counting(theta)
        case core.Exceeds():
            return Adding(theta)
        case core.Earlier(bound=bound):
            weak = False
        case core.Since(bound=bound, weak=weak):
            pass
        case _:
            raise AssertionError(theta)
    if bound is None:
        return Unbounded(weak=weak)
    if bound.least == 0 or most_of(bound) >= core.FAR:
        return OneSided(bound, weak=weak)
    return TwoSided(bound, weak=weak)
