"""What the operators that look ahead wait for: obligations, opened at an event under a binding, until they are decided.

A way to violate a rule has at most one of them: that something does not come (`Missing`), that something comes
(`Coming`), or that an interval breaks (`Breaking`). Each answers, event by event, which obligations are violated for
certain; at the end of the run the rest is decided.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from vigil_lang.engines.monitor.leaves import CannotJudge, as_key, measure_of, most_of, projection
from vigil_lang.semantics import core
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.engines.monitor.bodies import Body
    from vigil_lang.engines.monitor.leaves import Binding, Key, Now

MOST_OPEN: Final = 1_000_000
"""The most obligations that may be open at once."""
MOST_UNDECIDED: Final = 10_000
"""Intervals that may be open at once where each is asked about every event that may break it."""


class Obligation:
    """One that is open: since which event, under which binding, where that stands in the bound's unit."""

    __slots__ = ("binding", "id", "index", "is_over", "is_weak", "measure")

    def __init__(self, index: int, id: str, binding: Binding, measure: int | None, is_weak: bool = False) -> None:  # noqa: A002
        self.index = index
        self.id = id
        self.binding = binding
        self.measure = measure
        self.is_over = False
        self.is_weak = is_weak
        """Of an interval: only its weak part can still hold."""

    def put(self, name: str, value: bool, now: Now) -> None:
        """Change a flag."""
        if now.trail is not None:
            now.trail.append((setattr, (self, name, getattr(self, name))))
        setattr(self, name, value)


class Pair(NamedTuple):
    """A body as it is judged once it has happened, and as it is judged ahead."""

    actual: Body
    ahead: Body


class Obligations(Protocol):
    """The open obligations of one way to violate a rule."""

    names: frozenset[str] | None
    """The names of the events that may decide one; None for all."""
    owes: bool
    """Whether those that are still open when the run ends are violations."""
    ends_with_calls: bool
    """Whether the end of a call can be the last chance of one."""

    def open(self, now: Now, binding: Binding) -> list[Obligation]:
        """Open one at the current event; the list has it if it is violated for certain already."""

    def advance(self, now: Now, ahead: bool) -> list[Obligation]:
        """Those that the current event violates for certain."""

    def expire(self, now: Now) -> list[Obligation]:
        """Those that are violated for certain because the call that just ended was the last that could meet them."""

    def is_waiting(self) -> bool:
        """Whether one is open."""

    def waiting(self) -> list[Obligation]:
        """Those that are open, oldest first."""

    def left(self, obligation: Obligation, now: Now) -> core.Bound:
        """How much of the bound is left."""

    def state(self) -> Any:
        """What is open, as JSON."""

    def load(self, state: Any) -> None:
        """Take over what `state` gave."""


class Bounded:
    """Obligations by key, and by age where there is a bound."""

    owes = True
    ends_with_calls = False

    def __init__(self, bound: core.Bound, slots: frozenset[int]) -> None:
        self._bound = bound
        self.measure = measure_of(bound)
        self._most, self._least = most_of(bound), 0 if bound is None else bound.least
        self._slots, self._key = slots, projection(tuple(sorted(slots)))
        self._open: dict[Key, list[Obligation]] = {}
        self._queue: deque[Obligation] = deque()
        self._count = 0
        self._passed: int | None = None
        """Up to where, in the bound's unit, obligations were decided because nothing could meet them any more."""
        self._timed = isinstance(bound, core.Within)

    def _add(self, now: Now, obligation: Obligation) -> None:
        if self._count >= MOST_OPEN:
            raise CannotJudge(f"more than {MOST_OPEN:,} obligations are open")
        key = self._key(obligation.binding)
        same = self._open.get(key)
        if same is None:
            same = self._open[key] = []
            if now.trail is not None:
                now.trail.append((self._open.pop, (key, None)))
        same.append(obligation)
        self._count += 1
        if now.trail is not None:
            now.trail.append((self._take_back, (same,)))
        if self._bound is not None:
            self._queue.append(obligation)
            if now.trail is not None:
                now.trail.append((self._queue.pop, ()))

    def _take_back(self, same: list[Obligation]) -> None:
        same.pop()
        self._count -= 1

    def _end(self, obligation: Obligation, now: Now) -> None:
        obligation.put("is_over", True, now)

    def _keep(self, key: Key, now: Now) -> None:
        """Drop those of a key that were decided."""
        before = self._open[key]
        kept = [obligation for obligation in before if not obligation.is_over]
        if len(kept) == len(before):
            return
        if now.trail is not None:
            now.trail.append((self._put_back, (key, before, self._count)))
        self._count -= len(before) - len(kept)
        if kept:
            self._open[key] = kept
        else:
            del self._open[key]

    def _put_back(self, key: Key, before: list[Obligation], count: int) -> None:
        self._open[key] = before
        self._count = count

    def _passing(self, now: Now, here: int | None) -> list[Obligation]:
        """End those that no later event can be within the bound of; `here` is the least measure of such an event."""
        found = []
        queue = self._queue
        while queue and (queue[0].is_over or self._is_past(queue[0], here)):
            obligation = queue.popleft()
            if now.trail is not None:
                now.trail.append((queue.appendleft, (obligation,)))
            if not obligation.is_over:
                self._pass(obligation, now)
                self._end(obligation, now)
                self._keep(self._key(obligation.binding), now)
                found.append(obligation)
        return found

    def _is_past(self, obligation: Obligation, here: int | None) -> bool:
        return here is not None and obligation.measure is not None and here - obligation.measure > self._most

    def _pass(self, obligation: Obligation, now: Now) -> None:
        assert obligation.measure is not None
        reach = obligation.measure + self._most
        if self._passed is None or reach > self._passed:
            if now.trail is not None:
                now.trail.append((setattr, (self, "_passed", self._passed)))
            self._passed = reach

    def _check_order(self, now: Now, here: int | None, body: Body | None = None) -> None:
        """Refuse an event at which a body (None: any event) may hold within a bound that was taken to have passed."""
        if self._passed is None or here is None or here > self._passed:
            return
        if body is None or not (body.rare and body.regular) or _occurs(body, now):
            raise CannotJudge(f"the event `{now.event.id}` comes out of order, within a bound that had passed")

    def _next(self, now: Now) -> int | None:
        """The least measure of the next event."""
        here = self.measure(now)
        return here if here is None or not isinstance(self._bound, core.Steps) else here + 1

    def is_within(self, obligation: Obligation, here: int | None) -> bool:
        if self._bound is None:
            return True
        if here is None or obligation.measure is None:
            return False
        apart = here - obligation.measure
        return apart <= self._most and (self._least == 0 or apart >= self._least)

    def _touched(self, body: Body, now: Now) -> list[Key]:
        """The keys of open obligations at which a body holds at the current event."""
        if not self._open:
            return []
        # Of a body with fewer variables than the others no key can be told from its bindings.
        if body.exact and body.slots == self._slots:
            return [key for b in body.exceptions(now) if (key := self._key(b)) in self._open]
        if body.rare and body.regular and body.slots == self._slots:
            found = dict.fromkeys(self._key(b) for b in body.exceptions(now) if body.holds(now, b))
            return [key for key in found if key in self._open]
        return [key for key, same in self._open.items() if body.holds(now, same[0].binding)]

    def expire(self, now: Now) -> list[Obligation]:
        """See `Obligations`."""
        return []

    def is_waiting(self) -> bool:
        """See `Obligations`."""
        return self._count > 0

    def waiting(self) -> list[Obligation]:
        """See `Obligations`."""
        found = [obligation for same in self._open.values() for obligation in same]
        return sorted(found, key=lambda o: (o.index, [value or "" for value in o.binding]))

    def left(self, obligation: Obligation, now: Now) -> core.Bound:
        """See `Obligations`."""
        here = self.measure(now)
        if self._bound is None or self._most >= core.FAR or here is None or obligation.measure is None:
            return None
        left = max(self._most - (here - obligation.measure), 0)
        match self._bound:
            case core.Within():
                return core.Within(left)
            case core.Steps():
                return core.Steps(left)
            case _:
                return core.Calls(left)

    def state(self) -> list[Any]:
        """See `Obligations`."""
        return [
            self._passed,
            [[o.index, o.id, o.binding, o.measure, o.is_weak] for o in self.waiting()],
        ]

    def load(self, state: Any) -> None:
        """See `Obligations`."""
        self._passed, found = state
        for index, name, binding, measure, is_weak in found:
            obligation = Obligation(index, name, tuple(binding), measure, is_weak)
            self._open.setdefault(self._key(obligation.binding), []).append(obligation)
            self._count += 1
            if self._bound is not None:
                self._queue.append(obligation)


class Missing(Bounded):
    """¬◇⁺Θ: violated unless Θ comes within the bound."""

    def __init__(self, body: Pair, bound: core.Bound) -> None:
        super().__init__(bound, body.actual.slots)
        self._body = body
        self.names = None if bound is not None else body.actual.names
        self.ends_with_calls = asks_for_a_call(bound, body.actual)

    def open(self, now: Now, binding: Binding) -> list[Obligation]:
        """See `Obligations`."""
        obligation = Obligation(now.index, now.event.id, binding, self.measure(now))
        if self._timed and now.time is None:
            return [obligation]
        self._add(now, obligation)
        return []

    def advance(self, now: Now, ahead: bool) -> list[Obligation]:
        """See `Obligations`."""
        body = self._body.ahead if ahead else self._body.actual
        here = self.measure(now)
        found = self._passing(now, here) if self._bound is not None else []
        self._check_order(now, here, body)
        for key in self._touched(body, now):
            for obligation in self._open[key]:
                if self.is_within(obligation, here):
                    self._end(obligation, now)
            self._keep(key, now)
        if isinstance(self._bound, core.Steps):
            found += self._passing(now, self._next(now))
        return found

    def expire(self, now: Now) -> list[Obligation]:
        """See `Obligations`."""
        return self._passing(now, now.ordinal + 1) if self.ends_with_calls else []


def asks_for_a_call(bound: core.Bound, body: Body) -> bool:
    """Whether the end of a call can be the last chance: what is asked for within some calls is no message, which would
    count as the call's."""
    return isinstance(bound, core.Calls) and body.names is not None and body.names.isdisjoint(MESSAGES)


def _occurs(body: Body, now: Now) -> bool:
    """Whether a body may hold at the current event under some binding."""
    return any(body.holds(now, binding) for binding in body.exceptions(now))


class Coming(Bounded):
    """◇⁺Θ, or with a resolver ¬clear: violated where Θ comes, within the bound and with no resolver strictly before."""

    owes = False

    def __init__(self, forbidden: Pair, resolver: Pair | None, bound: core.Bound) -> None:
        slots = forbidden.actual.slots | (frozenset() if resolver is None else resolver.actual.slots)
        super().__init__(bound, slots)
        self._forbidden, self._resolver = forbidden, resolver
        bodies = [forbidden.actual] if resolver is None else [forbidden.actual, resolver.actual]
        named = [body.names for body in bodies if body.names is not None]
        every = bound is not None or len(named) < len(bodies)
        self.names = None if every else frozenset[str]().union(*named)

    def open(self, now: Now, binding: Binding) -> list[Obligation]:
        """See `Obligations`."""
        if not (self._timed and now.time is None):
            self._add(now, Obligation(now.index, now.event.id, binding, self.measure(now)))
        return []

    def advance(self, now: Now, ahead: bool) -> list[Obligation]:
        """See `Obligations`."""
        forbidden = self._forbidden.ahead if ahead else self._forbidden.actual
        here = self.measure(now)
        if self._bound is not None:
            self._passing(now, here)
            self._check_order(now, here, forbidden)
        found = []
        for key in self._touched(forbidden, now):
            for obligation in self._open[key]:
                if self.is_within(obligation, here):
                    found.append(obligation)
                    self._end(obligation, now)
            self._keep(key, now)
        if self._resolver is not None:
            for key in self._touched(self._resolver.ahead if ahead else self._resolver.actual, now):
                for obligation in self._open[key]:
                    self._end(obligation, now)
                self._keep(key, now)
        return found


class Breaking(Bounded):
    """¬(Θ U Θ′): violated where the interval breaks before Θ′ comes, or nothing comes in time."""

    def __init__(self, left: Pair, right: Pair, theta: core.Until) -> None:
        super().__init__(theta.bound, left.actual.slots | right.actual.slots)
        self._left, self._right, self._weak = left, right, theta.weak
        self.owes = not theta.weak
        self.ends_with_calls = self.owes and asks_for_a_call(theta.bound, right.actual)
        self.names: frozenset[str] | None = None

    def open(self, now: Now, binding: Binding) -> list[Obligation]:
        """See `Obligations`."""
        obligation = Obligation(now.index, now.event.id, binding, self.measure(now))
        if self._timed and now.time is None:
            return [] if self._weak else [obligation]
        self._add(now, obligation)
        return []

    def advance(self, now: Now, ahead: bool) -> list[Obligation]:
        """See `Obligations`."""
        left, right = (self._left.ahead, self._right.ahead) if ahead else (self._left.actual, self._right.actual)
        here = self.measure(now)
        found = self._late(now, here)
        self._check_order(now, here)
        for key in list(self._open):
            binding = self._open[key][0].binding
            comes, breaks = right.holds(now, binding), not left.holds(now, binding)
            if comes or breaks:
                found += self._decided(key, here, comes, breaks, now)
        if isinstance(self._bound, core.Steps):
            found += self._late(now, self._next(now))
        return found

    def expire(self, now: Now) -> list[Obligation]:
        """See `Obligations`."""
        return self._passing(now, now.ordinal + 1) if self.ends_with_calls else []

    def _late(self, now: Now, here: int | None) -> list[Obligation]:
        if self._bound is None:
            return []
        late = self._passing(now, here)
        return [] if self._weak else late

    def _decided(self, key: Key, here: int | None, comes: bool, breaks: bool, now: Now) -> list[Obligation]:
        found = []
        for obligation in self._open[key]:
            near = self.is_within(obligation, here)
            if comes and near and not obligation.is_weak:
                self._end(obligation, now)
            elif breaks and (not self._weak or near):
                self._end(obligation, now)
                found.append(obligation)
            elif breaks:
                obligation.put("is_weak", True, now)
        self._keep(key, now)
        return found


class ComingUnder:
    """As `Coming`, where what comes gives values to variables that the trigger leaves open."""

    owes = False
    ends_with_calls = False

    def __init__(self, forbidden: Pair, resolver: Pair | None, bound: core.Bound, values: tuple[Body, ...]) -> None:
        """`values` are the conditions on the values of variables, which can only be asked once all are known."""
        self._forbidden, self._resolver, self._values = forbidden, resolver, values
        self._window = Bounded(bound, frozenset())
        bodies = [forbidden.actual] if resolver is None else [forbidden.actual, resolver.actual]
        named = [body.names for body in bodies if body.names is not None]
        self.names = None if len(named) < len(bodies) else frozenset[str]().union(*named)
        self._slots = tuple(sorted(forbidden.actual.slots))
        self._resolving = projection(() if resolver is None else tuple(sorted(resolver.actual.slots)))
        self._open: list[Obligation] = []
        self._resolved: dict[Key, int] = {}

    def open(self, now: Now, binding: Binding) -> list[Obligation]:
        """See `Obligations`."""
        if len(self._open) >= MOST_UNDECIDED:
            raise CannotJudge(f"more than {MOST_UNDECIDED:,} intervals are open")
        self._open.append(Obligation(now.index, now.event.id, binding, self._window.measure(now)))
        if now.trail is not None:
            now.trail.append((self._open.pop, ()))
        return []

    def advance(self, now: Now, ahead: bool) -> list[Obligation]:
        """See `Obligations`."""
        if not self._open:
            return []
        forbidden = self._forbidden.ahead if ahead else self._forbidden.actual
        here = self._window.measure(now)
        found = []
        for given in forbidden.exceptions(now):
            if forbidden.holds(now, given):
                found += [o for opened in self._open if (o := self._under(opened, given, here, now)) is not None]
        if self._resolver is not None:
            self._resolve(self._resolver.ahead if ahead else self._resolver.actual, now)
        return found

    def _under(self, opened: Obligation, given: Binding, here: int | None, now: Now) -> Obligation | None:
        binding = list(opened.binding)
        for slot in self._slots:
            if binding[slot] is None:
                binding[slot] = given[slot]
            elif binding[slot] != given[slot]:
                return None
        found = tuple(binding)
        if self._resolved.get(self._resolving(found), -1) > opened.index or not self._window.is_within(opened, here):
            return None
        if not all(body.holds(now, found) for body in self._values):
            return None
        return Obligation(opened.index, opened.id, found, opened.measure)

    def _resolve(self, resolver: Body, now: Now) -> None:
        bindings: Iterable[Binding] = (
            resolver.exceptions(now) if resolver.slots else ((None,) * len(self._open[0].binding),)
        )
        for binding in bindings:
            if resolver.holds(now, binding):
                key = self._resolving(binding)
                if now.trail is not None:
                    now.trail.append((self._restore, (key, self._resolved.get(key), self._open)))
                self._resolved[key] = now.index
                if not resolver.slots:
                    self._open = []

    def _restore(self, key: Key, index: int | None, opened: list[Obligation]) -> None:
        self._open = opened
        if index is None:
            self._resolved.pop(key, None)
        else:
            self._resolved[key] = index

    def expire(self, now: Now) -> list[Obligation]:
        """See `Obligations`."""
        return []

    def is_waiting(self) -> bool:
        """See `Obligations`."""
        return bool(self._open)

    def waiting(self) -> list[Obligation]:
        """See `Obligations`."""
        return self._open

    def left(self, obligation: Obligation, now: Now) -> core.Bound:
        """See `Obligations`."""
        return None

    def state(self) -> list[Any]:
        """See `Obligations`."""
        return [
            [[o.index, o.id, o.binding, o.measure] for o in self._open],
            list(self._resolved.items()),
        ]

    def load(self, state: Any) -> None:
        """See `Obligations`."""
        found, resolved = state
        self._open = [Obligation(index, name, tuple(binding), measure) for index, name, binding, measure in found]
        self._resolved = {as_key(key): index for key, index in resolved}
