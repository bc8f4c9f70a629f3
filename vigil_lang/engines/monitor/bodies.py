"""Temporal bodies at the current event: whether they hold under a binding, and under which they differ from the rest.

A body has one truth for all values that no event gave it a reason to tell apart: that of the fresh text. `exceptions`
lists the bindings that may differ from it, so that an event costs what it touches and not what was ever seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from vigil_lang.engines.functions import compiled
from vigil_lang.engines.monitor.leaves import spreading
from vigil_lang.semantics.denotation import as_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.engines.monitor.leaves import Binding, Leaf, Now
    from vigil_lang.semantics import core

Slots = frozenset[int]


class Body(Protocol):
    """A body that rests on the current event and on those before it."""

    slots: Slots
    """Those of the variables that occur in it."""
    names: frozenset[str] | None
    """Only an event with one of these names can meet it; None where any event can."""
    rare: bool
    """Whether it is false under every binding that `exceptions` does not list."""
    regular: bool
    """Whether `exceptions` lists every binding whose truth may differ from the fresh one's."""
    exact: bool
    """Whether it holds under each binding that `exceptions` lists, and under no other."""

    def holds(self, now: Now, binding: Binding) -> bool:
        """Θ(e, x̄) at the current event."""

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """Bindings of its own variables, the others None."""


class AtEvent:
    """A condition on the current event."""

    def __init__(self, leaf: Leaf, width: int) -> None:
        self.leaf = leaf
        self.slots = frozenset(leaf.slots)
        self.names = leaf.names
        self.rare = self.exact = leaf.keys is not None and bool(leaf.slots)
        self.regular = not leaf.slots or leaf.keys is not None or leaf.candidates is not None
        self.spread = spreading(leaf.slots, width)

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        return self.leaf.check(now.event, binding)

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """See `Body`."""
        leaf = self.leaf
        if not leaf.slots or (leaf.keys is not None and not leaf.is_named(now.event)):
            return ()
        listed = leaf.keys or leaf.candidates
        assert listed is not None, "an irregular body lists no exceptions"
        return [self.spread(key) for key in listed(now.event)]


class OfValues:
    """A condition on the values of the variables alone."""

    names: frozenset[str] | None = None
    rare = False
    exact = False

    def __init__(self, condition: core.Condition, order: tuple[str, ...], mentioned: Iterable[str]) -> None:
        self.slots = frozenset(order.index(x) for x in mentioned)
        self.regular = not self.slots
        self._order = order
        self._check = compiled(condition)

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        values = dict(zip(self._order, binding, strict=True))
        return self._check(as_event(values), values)

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """See `Body`."""
        return ()


class Negation:
    """¬Θ."""

    names: frozenset[str] | None = None
    rare = False
    exact = False

    def __init__(self, body: Body) -> None:
        self._body = body
        self.slots = body.slots
        self.regular = body.regular
        self.exceptions = body.exceptions

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        return not self._body.holds(now, binding)


class Conjunction:
    """Θ ∧ Θ′ …"""

    exact = False

    def __init__(self, items: Sequence[Body], width: int) -> None:
        self._items = items
        self._fresh: Binding = (None,) * width
        self.slots = frozenset[int]().union(*[item.slots for item in items])
        named = [item.names for item in items if item.names is not None]
        self.names = min(named, key=len) if named else None
        self._cover = next((i for i in items if i.rare and i.regular and i.slots == self.slots), None)
        self.rare = self._cover is not None
        self.regular = self.rare or _all_regular(items, self.slots)

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        return all(item.holds(now, binding) for item in self._items)

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """See `Body`."""
        if self._cover is not None:
            return self._cover.exceptions(now)
        return _deciding(self._items, now, self._fresh, False)


class Disjunction:
    """Θ ∨ Θ′ …"""

    exact = False

    def __init__(self, items: Sequence[Body], width: int) -> None:
        self._items = items
        self._fresh: Binding = (None,) * width
        self.slots = frozenset[int]().union(*[item.slots for item in items])
        named = [item.names for item in items if item.names is not None]
        self.names = frozenset[str]().union(*named) if len(named) == len(items) else None
        self.regular = _all_regular(items, self.slots)
        self.rare = self.regular and all(item.rare for item in items)

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        return any(item.holds(now, binding) for item in self._items)

    def exceptions(self, now: Now) -> Iterable[Binding]:
        """See `Body`."""
        return _deciding(self._items, now, self._fresh, True)


def _all_regular(items: Sequence[Body], slots: Slots) -> bool:
    return all(item.regular and item.slots in (frozenset(), slots) for item in items)


def _deciding(items: Sequence[Body], now: Now, fresh: Binding, truth: bool) -> Iterable[Binding]:
    """The bindings whose truth may differ from the fresh one's; where one item decides that, only this item's can."""
    deciding = next((item for item in items if item.holds(now, fresh) is truth), None)
    if deciding is not None:
        return deciding.exceptions(now)
    return dict.fromkeys(binding for item in items for binding in item.exceptions(now))
