"""Conditions of one event, ready to say under which bindings an event meets them.

A binding is a tuple with a value for each variable of the rule, in order, None for the fresh text and for what is not
bound yet. A key is its part for some variables: the value of one variable, a tuple for several, () for none.
"""

from __future__ import annotations

from itertools import product
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.functions import compiled, conjuncts, fixing
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Key: TypeAlias = Any
Binding: TypeAlias = tuple[str | None, ...]
Keys: TypeAlias = "Callable[[Event], Sequence[Key]]"

MOST_COMBINATIONS: Final = 4_096
"""The most combinations of the values of one event's lists; with more a rule is not judged."""


class CannotJudge(Exception):
    """A rule that cannot be judged from here on; the text says why."""


REFUSALS: Final = (CannotJudge, TooCostly)
"""What is raised where a rule cannot be judged: by a monitor's own limits, or by a view's or a batch engine's."""


def why(refusal: Exception) -> str:
    """The reason for a refusal, in a line."""
    return refusal.diagnostics[0].message if isinstance(refusal, TooCostly) else str(refusal)


_NO_EVENT: Final = Event("-", "-", "-")


class Now:
    """The event that is looked at, and where it stands in its run."""

    __slots__ = ("ahead", "event", "index", "ordinal", "time", "trail")

    event: Event
    index: int
    ordinal: int
    """The ordinal of its call."""
    time: int | None
    ahead: bool
    """Whether it is only proposed, so that its output is open."""
    trail: list[tuple[Callable[..., object], tuple[Any, ...]]] | None
    """What undoes the changes made, the latest last; None where changes are to stay."""

    @classmethod
    def of(cls, event: Event, index: int, ordinal: int, time: int | None) -> Now:
        """A place that later events do not change."""
        now = cls()
        now.event, now.index, now.ordinal, now.time = event, index, ordinal, time
        now.ahead, now.trail = False, None
        return now

    @classmethod
    def nowhere(cls) -> Now:
        """Where no event is current."""
        return cls.of(_NO_EVENT, 0, 0, None)

    def state(self) -> Any:
        """As JSON."""
        return [self.event, self.index, self.ordinal, self.time]

    @classmethod
    def from_state(cls, state: Any) -> Now:
        """What `state` gave, read from JSON."""
        event, *place = state
        return cls.of(msgspec.convert(event, Event), *place)

    def copy(self) -> Now:
        """The place as it is now, to be kept."""
        return Now.of(self.event, self.index, self.ordinal, self.time)


def measure_of(bound: core.Bound) -> Callable[[Now], int | None]:
    """Where an event stands in a bound's unit: None where it has no time."""
    match bound:
        case core.Calls():
            return lambda now: now.ordinal
        case core.Within():
            return lambda now: now.time
        case _:
            return lambda now: now.index


def most_of(bound: core.Bound) -> int:
    """The greatest distance within a bound."""
    match bound:
        case None:
            return core.FAR
        case core.Within(microseconds):
            return microseconds
        case core.Calls(count) | core.Steps(count):
            return count


def projection(slots: tuple[int, ...]) -> Callable[[Binding], Key]:
    """From a binding to its key for some variables."""
    return itemgetter(*slots) if slots else lambda _: ()


def spreading(slots: tuple[int, ...], width: int) -> Callable[[Key], Binding]:
    """From a key to the binding that has its values, and nothing else."""
    if slots == tuple(range(width)):
        return (lambda key: (key,)) if width == 1 else lambda key: key

    def spread(key: Key) -> Binding:
        binding: list[str | None] = [None] * width
        if len(slots) == 1:
            binding[slots[0]] = key
        else:
            for slot, value in zip(slots, key, strict=True):
                binding[slot] = value
        return tuple(binding)

    return spread


def as_key(value: Any) -> Key:
    """A key as it was before it was written as JSON."""
    return tuple(value) if isinstance(value, list) else value


class Leaf:
    """A condition on an event, of a rule whose variables stand in `order`."""

    def __init__(self, condition: core.Condition, order: tuple[str, ...]) -> None:
        mentioned = core.variables_of(condition)
        self.slots = tuple([slot for slot, x in enumerate(order) if x in mentioned])
        self.check = compiled(condition, {x: slot for slot, x in enumerate(order)})
        parts = conjuncts(condition)
        named = next((c for c in parts if isinstance(c, core.ActionIn)), None)
        self.names = names_of(condition) if named is None else named.names
        """The names one of which an event has that meets it; None where that may be any."""
        rest = [c for c in parts if c is not named]
        variables = [order[slot] for slot in self.slots]
        tied = core.AndC(tuple([c for c in rest if core.variables_of(c)]))
        fields = [fixing(tied, x) for x in variables]
        self.keys: Keys | None = None
        """The keys under which an event meets it, which has one of the names; None where they cannot be listed."""
        self.candidates: Keys | None = None
        """Of one variable: a superset of the values that an event may tell from the fresh one."""
        if all(found is not None for found in fields):
            ground = [c for c in rest if not core.variables_of(c)]
            self.keys = _keys(ground, tied, [found or [] for found in fields], self.slots, order)
        elif len(variables) == 1:
            self._look_for_candidates(condition)

    def _look_for_candidates(self, condition: core.Condition) -> None:
        tests = [t for t in core.tests(condition) if isinstance(t, core.OF_VARIABLES)]
        if all(isinstance(t, core.Equals) for t in tests):
            reads = list(dict.fromkeys(t.field for t in tests))
            self.candidates = lambda event: list(dict.fromkeys(v for field in reads for v in texts(field, event)))

    def is_named(self, event: Event) -> bool:
        """Whether an event has one of the names."""
        names = self.names
        return names is None or event.action in names or any(kind in names for kind in event.kinds)


def names_of(condition: core.Condition) -> frozenset[str] | None:
    """The names one of which an event has that meets a condition; None where that may be any."""
    match condition:
        case core.ActionIn(names):
            return names
        case core.AndC(items):
            named = [found for item in items if (found := names_of(item)) is not None]
            return min(named, key=len) if named else None
        case core.OrC(items):
            named = [found for item in items if (found := names_of(item)) is not None]
            return frozenset[str]().union(*named) if len(named) == len(items) else None
        case _:
            return None


_ONCE: Final[tuple[Key, ...]] = ((),)


def _keys(
    ground: list[core.Condition],
    tied: core.AndC,
    fields: list[list[core.Reads]],
    slots: tuple[int, ...],
    order: tuple[str, ...],
) -> Keys:
    """The keys of a condition whose variables are each fixed by some fields."""
    meets = compiled(core.AndC(tuple(ground))) if ground else None
    if not slots:
        if meets is None:
            return lambda _: _ONCE
        return lambda event: _ONCE if meets(event, None) else ()
    plain = len(tied.items) == len(slots) and all(isinstance(test, core.Equals) for test in tied.items)
    values = [_values(found) for found in fields]
    if plain and len(slots) == 1:
        (one,) = values
        if meets is None:
            return one
        return lambda event: one(event) if meets(event, None) else ()
    check = compiled(tied, {x: slot for slot, x in enumerate(order)})
    spread = spreading(slots, len(order))

    def keys(event: Event) -> Sequence[Key]:
        if meets is not None and not meets(event, None):
            return ()
        choices = [found(event) for found in values]
        if prod([len(found) for found in choices]) > MOST_COMBINATIONS:
            raise CannotJudge(
                f"the lists of the event `{event.id}` can be combined in more than {MOST_COMBINATIONS} ways"
            )
        found: Sequence[Key] = choices[0] if len(slots) == 1 else list(product(*choices))
        return found if plain else [key for key in found if check(event, spread(key))]

    return keys


def _values(fields: list[core.Reads]) -> Callable[[Event], Sequence[str]]:
    """The values of some fields together, each once."""
    if len(fields) == 1 and not fields[0].views and not fields[0].output:
        name = fields[0].name

        def carried(event: Event) -> Sequence[str]:
            found = event.args.get(name, ())
            return found if len(found) < 2 else list(dict.fromkeys(found))

        return carried
    return lambda event: list(dict.fromkeys(v for field in fields for v in texts(field, event)))
