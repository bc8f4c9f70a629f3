"""Operators that look back, sliced by value: a memory for all values that no event told apart, one for each other.

`Seen` is the table of nearly all guards, a set of keys. `Slices` is that of any operator whose bodies list what they
touch; a slice catches up with the events that concern all values when it is asked for. `Journal` is for bodies that
cannot list it (`output contains x`), with all operators inside them: it keeps the events themselves, and reads them
again for a value that is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from vigil_lang.engines.monitor.leaves import CannotJudge, Now, as_key, projection, spreading
from vigil_lang.engines.monitor.memory import copied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.engines.monitor.bodies import Body, Slots
    from vigil_lang.engines.monitor.leaves import Binding, Key, Leaf
    from vigil_lang.engines.monitor.memory import Letter, Memory, Operator
    from vigil_lang.trace import Event

Trail: TypeAlias = "list[tuple[Callable[..., object], tuple[Any, ...]]] | None"

MOST_KEYS: Final = 5_000_000
"""Values a table remembers, some 200 bytes each."""
MOST_EVENTS: Final = 20_000
MOST_CHARACTERS: Final = 20_000_000
"""Events a journal keeps, and the text in them."""
MOST_ASKED: Final = 10_000
"""Values whose memories a journal keeps rather than read its events again; the first asked about gives way."""


class Table(Protocol):
    """An operator along one run. As a body it says what holds at the current event, which it has not taken in yet."""

    slots: Slots
    names: frozenset[str] | None
    rare: bool
    regular: bool
    exact: bool
    told_by: frozenset[str] | None
    """The names of the events that may change it; None for all."""
    counts_here: bool
    """Whether the current event counts, too."""

    def holds(self, now: Now, binding: Binding) -> bool:
        """Whether the operator holds at the current event."""

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """Bindings that may differ from the fresh one."""

    def update(self, now: Now) -> None:
        """Take in the current event."""

    def is_settled(self, last: Now | None) -> bool:
        """Whether it has no variables, and holds from here on whatever happens.

        `last` is an event that it has not taken in yet, if there is one.
        """

    def state(self) -> Any:
        """What it remembers, as JSON."""

    def load(self, state: Any) -> None:
        """Take over what `state` gave."""


class Seen:
    """`earlier ψ` without a bound, for a condition whose keys are listed: those that were seen."""

    names: frozenset[str] | None = None
    rare = True
    regular = True
    exact = False
    counts_here = False

    def __init__(self, leaf: Leaf, width: int) -> None:
        assert leaf.keys is not None
        self.slots = frozenset(leaf.slots)
        self.rare = bool(leaf.slots)
        self.told_by = leaf.names
        self.key = projection(leaf.slots)
        self.seen: dict[Key, None] = {}
        """The same table from the beginning to the end."""
        self._keys = leaf.keys
        self._spread = spreading(leaf.slots, width)

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Table`."""
        return self.key(binding) in self.seen

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """See `Table`."""
        return map(self._spread, tuple(self.seen)) if self.slots else ()

    def update(self, now: Now) -> None:
        """See `Table`."""
        seen = self.seen
        for key in self._keys(now.event):
            if key not in seen:
                if len(seen) >= MOST_KEYS:
                    raise CannotJudge(f"more than {MOST_KEYS:,} values are to be remembered")
                seen[key] = None
                if now.trail is not None:
                    now.trail.append((seen.pop, (key,)))

    def is_settled(self, last: Now | None) -> bool:
        """See `Table`."""
        return not self.slots and bool(self.seen)

    def state(self) -> Any:
        """See `Table`."""
        return list(self.seen)

    def load(self, state: Any) -> None:
        """See `Table`."""
        self.seen.clear()
        self.seen.update(dict.fromkeys(map(as_key, state)))


class Slices:
    """An operator whose bodies list the bindings they touch."""

    names: frozenset[str] | None = None
    regular = True
    exact = False

    def __init__(self, operator: Operator, met: Body, broken: Body | None, slots: Slots, width: int) -> None:
        """`broken` is what breaks an interval, or resets a count."""
        self.slots = slots
        self.told_by = told_by(met, broken)
        self.counts_here = operator.counts_here
        self.rare = False
        self._operator, self._met, self._broken = operator, met, broken
        order = tuple(sorted(slots))
        self._key, self._spread = projection(order), spreading(order, width)
        self._fresh: Binding = (None,) * width
        self._base = operator.begin()
        """The memory of every value without a slice."""
        self._log: list[Letter] = []
        """What concerned all values since the slices were last brought up to date."""
        self._slices: dict[Key, list[Any]] = {}
        """Of each key [how much of the log it knows, its memory]."""
        self._swept = 64
        self._reset = 0
        """Where in the log the last letter stands that leaves nothing of what was before."""

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Table`."""
        operator = self._operator
        met = operator.counts_here and self._met.holds(now, binding)
        if not self._slices:
            return operator.holds(self._base, now, met)
        key = self._key(binding)
        known = self._slices.get(key)
        if known is None:
            return operator.holds(self._base, now, met)
        return operator.holds(self._caught_up(key, known, now), now, met)

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """See `Table`."""
        found = dict.fromkeys(map(self._spread, tuple(self._slices)))
        if self._operator.counts_here:
            found |= dict.fromkeys(self._met.exceptions(now))
        return found

    def update(self, now: Now) -> None:
        """See `Table`."""
        operator, trail = self._operator, now.trail
        if trail is not None:
            trail.append((setattr, (operator.window, "forgotten", operator.window.forgotten)))
        ends = self._broken
        here = not self._met.rare and self._met.holds(now, self._fresh)
        stops = ends is not None and not ends.rare and ends.holds(now, self._fresh)
        logged = here or stops
        for binding, met, broken in self._touched(now, stops) if self.slots else ():
            key = self._key(binding)
            known = self._slices.get(key)
            if known is None:
                known = self._begun(key, trail)
            memory = self._caught_up(key, known, now)
            operator.step(memory, operator.letter(now, met, broken))
            known[0] = len(self._log) + logged
        if logged:
            if trail is not None:
                trail.append((self._restore, (copied(self._base), len(self._log), self._reset)))
            letter = operator.letter(now, here, stops)
            operator.step(self._base, letter)
            if self._slices:
                if stops and operator.resets:
                    self._reset = len(self._log)
                self._log.append(letter)
        if trail is None and (len(self._slices) > 2 * self._swept or len(self._log) > 4 * len(self._slices) + 64):
            self._sweep(now)

    def _told(self, now: Now, binding: Binding) -> tuple[bool, bool]:
        broken = self._broken
        return self._met.holds(now, binding), broken is not None and broken.holds(now, binding)

    def _touched(self, now: Now, stops: bool) -> Iterable[tuple[Binding, bool, bool]]:
        """The bindings that may differ from the fresh one, and what is said under each."""
        met, broken = self._met, self._broken
        if met.exact and (broken is None or not broken.slots):
            return [(binding, True, stops) for binding in met.exceptions(now)]
        found = dict.fromkeys((*met.exceptions(now), *(() if broken is None else broken.exceptions(now))))
        return [(binding, *self._told(now, binding)) for binding in found]

    def _begun(self, key: Key, trail: Trail) -> list[Any]:
        if len(self._slices) >= MOST_KEYS:
            raise CannotJudge(f"more than {MOST_KEYS:,} values are to be remembered")
        known = self._slices[key] = [len(self._log), copied(self._base)]
        if trail is not None:
            trail.append((self._slices.pop, (key,)))
        return known

    def _caught_up(self, key: Key, known: list[Any], now: Now) -> Memory:
        """A slice's memory, with what concerned all values since it was touched; it may be changed."""
        memory: Memory = known[1]
        if now.trail is not None:
            now.trail.append((self._slices.__setitem__, (key, [known[0], copied(memory)])))
        if known[0] < len(self._log):
            for letter in self._log[max(known[0], self._reset) :]:
                self._operator.step(memory, letter)
            known[0] = len(self._log)
        return memory

    def _restore(self, base: Memory, logged: int, reset: int) -> None:
        self._base = base
        self._reset = reset
        del self._log[logged:]

    def _sweep(self, now: Now) -> None:
        """Bring all slices up to date, and drop those that differ from no other value's."""
        operator = self._operator
        operator.forget(self._base, now)
        for key, known in list(self._slices.items()):
            memory = self._caught_up(key, known, now)
            operator.forget(memory, now)
            known[0] = 0
            if memory == self._base:
                del self._slices[key]
        self._log.clear()
        self._reset = 0
        self._swept = max(64, len(self._slices))

    def is_settled(self, last: Now | None) -> bool:
        """See `Table`."""
        if self.slots or self._broken is not None or not self._operator.lasting:
            return False
        met = last is not None and self._met.holds(last, self._fresh)
        return self._operator.holds(self._base, last or Now.nowhere(), met)

    def state(self) -> Any:
        """See `Table`."""
        slices = []
        for key, (known, memory) in self._slices.items():
            memory = copied(memory)
            for letter in self._log[known:]:
                self._operator.step(memory, letter)
            if memory != self._base:
                slices.append((key, memory))
        # A slice that was forgotten and came back stands elsewhere than one that was kept all the time.
        slices.sort(key=lambda each: repr(each[0]))
        return [self._base, slices, self._swept, self._operator.window.forgotten]

    def load(self, state: Any) -> None:
        """See `Table`."""
        self._base, slices, self._swept, self._operator.window.forgotten = state
        self._log.clear()
        self._reset = 0
        self._slices = {as_key(key): [0, memory] for key, memory in slices}


class Replayed:
    """An operator whose events a journal keeps: it remembers what they say of the binding that was asked about."""

    names: frozenset[str] | None = None
    rare = False
    regular = False
    exact = False

    def __init__(self, operator: Operator, met: Body, broken: Body | None, slots: Slots) -> None:
        """As of `Slices`."""
        self.slots = slots
        self.told_by = told_by(met, broken)
        self.operator = operator
        self.memory = operator.begin()
        self._met, self._broken = met, broken

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        operator = self.operator
        return operator.holds(self.memory, now, operator.counts_here and self._met.holds(now, binding))

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """None: what it touches cannot be listed."""
        return ()

    def step(self, now: Now, binding: Binding) -> None:
        """Take in an event."""
        broken = self._broken
        stops = broken is not None and broken.holds(now, binding)
        here = self._met.holds(now, binding)
        if here or stops:
            self.operator.step(self.memory, self.operator.letter(now, here, stops))


class _Read:
    """How many events of a journal were read for a binding, and what its operators remember of them."""

    __slots__ = ("count", "forgotten", "memories")

    def __init__(self, count: int, memories: list[Memory], forgotten: list[int | None]) -> None:
        self.count = count
        self.memories = memories
        self.forgotten = forgotten

    def copy(self) -> _Read:
        return _Read(self.count, [copied(memory) for memory in self.memories], list(self.forgotten))


class Journal:
    """An operator whose bodies cannot list what they touch: it keeps the events that they may hold at.

    The operators inside it are read along with it, for one binding at a time.
    """

    names: frozenset[str] | None = None
    rare = False
    regular = False
    exact = False

    def __init__(
        self,
        parts: Sequence[Replayed],
        slots: Slots,
        concerns: Callable[[Event, Any], bool],
        shortened: Callable[[Event], Event],
    ) -> None:
        """`parts` are the operator and those inside it, each before those that it rests on; `concerns` tells whether
        a body of one of them may hold at an event, `shortened` leaves out of one what none looks at."""
        self.slots = slots
        told = [part.told_by for part in parts]
        self.told_by = None if None in told else frozenset[str]().union(*[names for names in told if names is not None])
        self.counts_here = parts[0].operator.counts_here
        self._parts, self._concerns, self._shortened = parts, concerns, shortened
        self._key = projection(tuple(sorted(slots)))
        self._events: list[Now] = []
        self._characters = 0
        self._tried = 0
        """How many of the latest events are only tried."""
        self._asked: dict[Key, _Read] = {}
        """What was read of the events that happened, the binding asked about last at the end."""
        self._asked_ahead: dict[Key, _Read] = {}
        """Likewise with those that are tried."""

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Table`."""
        key = self._key(binding)
        known = self._asked.pop(key, None)
        if known is None:
            if len(self._asked) >= MOST_ASKED > 0:
                del self._asked[next(iter(self._asked))]
            parts = self._parts
            known = _Read(0, [part.operator.begin() for part in parts], [None] * len(parts))
        self._read_on(known, len(self._events) - self._tried, binding)
        self._asked[key] = known
        if self._tried:
            ahead = self._asked_ahead.pop(key, None) or known.copy()
            self._read_on(ahead, len(self._events), binding)
            self._asked_ahead[key] = ahead
        return self._parts[0].holds(now, binding)

    def _read_on(self, known: _Read, end: int, binding: Binding) -> None:
        """Have the operators remember what a binding's events up to this one say."""
        parts = self._parts
        for part, memory, forgotten in zip(parts, known.memories, known.forgotten, strict=True):
            part.memory, part.operator.window.forgotten = memory, forgotten
        for event in self._events[known.count : end]:
            for part in parts:
                part.step(event, binding)
        known.count = end
        known.forgotten = [part.operator.window.forgotten for part in parts]

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """None: what it touches cannot be listed."""
        return ()

    def update(self, now: Now) -> None:
        """See `Table`."""
        if not self._concerns(now.event, None):
            return
        event = self._shortened(now.event)
        size = _characters(event)
        if len(self._events) >= MOST_EVENTS or self._characters + size > MOST_CHARACTERS:
            raise CannotJudge(
                f"more than {MOST_EVENTS:,} events, or {MOST_CHARACTERS:,} characters, are to be remembered whole"
            )
        self._events.append(Now.of(event, now.index, now.ordinal, now.time))
        self._characters += size
        if now.trail is not None:
            self._tried += 1
            now.trail.append((self._drop_last, (size,)))

    def _drop_last(self, size: int) -> None:
        self._events.pop()
        self._characters -= size
        self._tried -= 1
        self._asked_ahead.clear()

    def is_settled(self, last: Now | None) -> bool:
        """See `Table`."""
        return False

    def state(self) -> Any:
        """See `Table`."""
        return [now.state() for now in self._events]

    def load(self, state: Any) -> None:
        """See `Table`."""
        self._asked.clear()
        self._events = [Now.from_state(now) for now in state]
        self._characters = sum(_characters(now.event) for now in self._events)


def _characters(event: Event) -> int:
    return len(event.output or "") + sum(len(text) for found in event.args.values() for text in found)


def told_by(met: Body, broken: Body | None) -> frozenset[str] | None:
    """The names of the events at which one of the bodies may hold; None for all."""
    bodies = [met] if broken is None else [met, broken]
    named = [body.names for body in bodies if body.names is not None]
    return frozenset[str]().union(*named) if len(named) == len(bodies) else None
