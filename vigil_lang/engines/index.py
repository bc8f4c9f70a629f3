"""Where in a run conditions hold: one pass over the run per condition, indexed by the values its variables take.

The text tests of a condition are decided here, outside the solver (paper, 5.1); the solver sees their outcomes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vigil_lang.engines.functions import compiled, conjuncts, fixing
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts

if TYPE_CHECKING:
    from vigil_lang.engines.effort import Effort, Work
    from vigil_lang.engines.equivalent_values import EquivalentValues
    from vigil_lang.engines.functions import Check
    from vigil_lang.trace import Event, Trace

Key: TypeAlias = tuple[str | None, ...]
"""The values of a condition's variables, in their order; None is the fresh text."""
Binding: TypeAlias = dict[str, str | None]

_FEW: Final = 64
"""Bindings of one event, beyond which values that are alike are looked for."""

_LOOKS_A_STEP: Final = 8
_CHARACTERS_A_STEP: Final = 4_000
"""How many events, and how much text of theirs, a value is looked for in within one step."""


class ManyBindings(Exception):
    """An event's lists combine in so many ways that equivalent values must be merged first."""


class Occurrences:
    """One condition of a statement on one run.

    A condition whose variables are each fixed by some `k = x` (or alternatives of such) is indexed by their values:
    its positions for one binding are a look-up. Any other condition with variables is tried, for each binding asked
    for, at the events that meet its variable-free conjuncts.
    """

    def __init__(
        self,
        holds: core.Holds,
        index: RunIndex,
        order: tuple[str, ...],
        work: Work,
        alike: EquivalentValues | None = None,
    ) -> None:
        """`order` is that of the statement's variables, which bindings follow.

        Raises:
            ManyBindings: without `alike`, where it would leave fewer bindings.
            TooCostly: there are too many all the same.
        """
        self.holds = holds
        self.variables = core.variables_of(holds.condition)
        self._slots = tuple(order.index(x) for x in self.variables)
        self._whole = self.variables == order
        self._events = index.trace.events
        self._work = work
        self._alike = alike
        self._looked_at: int | None = None
        parts = conjuncts(holds.condition)
        ground = [c for c in parts if not core.variables_of(c)]
        rest = [c for c in parts if core.variables_of(c)]
        self._ground = index.meeting(ground)
        self._open: Check = compiled(core.AndC(tuple(rest)))
        self._fixing = [fixing(core.AndC(tuple(rest)), x) for x in self.variables]
        self._indexed = all(fields is not None for fields in self._fixing)
        # One `k = x` for each variable and nothing else: whatever the fields hold is a solution.
        self._plain = len(rest) == len(self.variables) and all(isinstance(t, core.Equals) for t in rest)
        self._positions: dict[Key, list[int]] = {}
        self._keys: dict[int, list[Key]] = {}
        self._possible = frozenset(() if self._indexed else self._ground)
        if self._indexed:
            self._index()

    def _index(self) -> None:
        positions: dict[Key, list[int]] = defaultdict(list)
        for at in self._ground:
            self._work.at = at
            keys = self._solutions(self._events[at])
            if keys:
                self._keys[at] = keys
            if len(keys) > 1:
                self._work.make(len(keys) - 1)
            for key in keys:
                positions[key].append(at)
        self._positions = dict(positions)

    def _solutions(self, event: Event) -> list[Key]:
        """The values of the variables, in their order, under which the condition holds at the event."""
        if not self.variables:
            return [()]
        choices = [self._values(x, fields, event) for x, fields in zip(self.variables, self._fixing, strict=True)]
        if (size := prod([len(values) for values in choices])) > _FEW:
            if self._alike is None:
                raise ManyBindings
            self._work.make(size)
            self._work.spend(size)
        found: list[Key] = list(product(*choices))
        if self._plain:
            return found
        bound = ((key, dict(zip(self.variables, key, strict=True))) for key in found)
        return [key for key, binding in bound if self._open(event, binding)]

    def _values(self, variable: str, fields: list[core.Reads] | None, event: Event) -> dict[str, None]:
        found = dict.fromkeys(v for f in fields or () for v in texts(f, event))
        return found if self._alike is None else dict.fromkeys(self._alike.one_for(variable, v) for v in found)

    def key(self, binding: Key) -> Key:
        """The part of a statement's binding this condition depends on."""
        return binding if self._whole else tuple([binding[slot] for slot in self._slots])

    def spread(self, key: Key, nothing: tuple[Any, ...]) -> tuple[Any, ...]:
        """A key as a partial binding of the statement: `nothing` in the other variables' places."""
        if self._whole:
            return key
        partial = list(nothing)
        for slot, value in zip(self._slots, key, strict=True):
            partial[slot] = value
        return tuple(partial)

    def positions(self, key: Key) -> list[int]:
        """The indices of the events at which the condition holds, ascending."""
        found = self._positions.get(key)
        if found is None:
            if self._indexed:
                return []
            binding = dict(zip(self.variables, key, strict=True))
            self._work.spend(self._look())
            found = self._positions[key] = [i for i in self._ground if self._open(self._events[i], binding)]
        return found

    def _look(self) -> int:
        """Steps it takes to try the condition at every event where it may hold."""
        if self._looked_at is None:
            searched = {
                t.field for t in core.tests(self.holds.condition) if isinstance(t, core.Contains | core.ComparesWith)
            }
            places = ((field, self._events[at]) for at in self._ground for field in searched)
            characters = sum(len(text) for field, event in places for text in texts(field, event))
            self._looked_at = 1 + len(self._ground) // _LOOKS_A_STEP + characters // _CHARACTERS_A_STEP
        return self._looked_at

    def holds_at(self, key: Key, at: int) -> bool:
        """Whether the condition holds at one event."""
        positions = self.positions(key)
        place = bisect_left(positions, at)
        return place < len(positions) and positions[place] == at

    @cached_property
    def _listed(self) -> list[int]:
        return list(self._keys)

    def supporters(self, at: int) -> list[Key] | None:
        """The keys under which the condition may hold at an event; None when they are not so few to list."""
        if self._indexed:
            return self._keys.get(at, [])
        return None if at in self._possible else []

    def events(self) -> list[int]:
        """Every event, ascending, at which the condition holds or may hold."""
        return self._listed if self._indexed else self._ground


class RunIndex:
    """What all requirements on one run share: its events by action name and kind."""

    def __init__(self, trace: Trace, effort: Effort | None = None) -> None:
        """`effort` is shared by all that is judged together; without one every requirement has its own."""
        self.trace = trace
        self.effort = effort
        by_name: dict[str, list[int]] = defaultdict(list)
        for at, event in enumerate(trace.events):
            by_name[event.action].append(at)
            for name in event.kinds:
                if by_name[name][-1:] != [at]:
                    by_name[name].append(at)
        self._by_name = dict(by_name)

    @cached_property
    def rank(self) -> dict[str, int]:
        """The place of each value of the run in the order of bindings (spec 7.9)."""
        return {value: at for at, value in enumerate(self.trace.values)}

    @cached_property
    def calls_ordered(self) -> bool:
        """Whether no event belongs to an earlier call than the event before it."""
        return all(a <= b for a, b in pairwise(self.trace.call_index))

    @cached_property
    def times_ordered(self) -> bool:
        """Whether every event has a time, and none an earlier one than the event before it."""
        times = [event.time for event in self.trace.events if event.time is not None]
        return len(times) == len(self.trace) and all(a <= b for a, b in pairwise(times))

    def meeting(self, ground: list[core.Condition]) -> list[int]:
        """The events, ascending, that meet conditions without variables: a look-up where they name the action."""
        named = next((c for c in ground if isinstance(c, core.ActionIn)), None)
        if named is None:
            found = list(range(len(self.trace.events)))
        else:
            lists = [self._by_name[name] for name in named.names if name in self._by_name]
            found = lists[0] if len(lists) == 1 else sorted({i for group in lists for i in group})
        others = [c for c in ground if c is not named]
        if not others:
            return found
        check, events = compiled(core.AndC(tuple(others))), self.trace.events
        return [i for i in found if check(events[i], {})]
