"""Joins that cannot fail: a variable is compared with the same field that binds it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

Names: TypeAlias = frozenset[str] | None
"""The actions that a condition can hold of; None where it does not say."""


def certain(condition: core.Condition) -> set[tuple[core.Reads, str]]:
    """The joins, as (field, variable), that hold of every value the variable can have from this condition.

    `put(key = x) or set(name = x)` has two: no call is of both actions. `copy(from = x) or copy(to = x)` has none.
    """
    found = list(_joins(condition, None))
    return {
        (join.field, join.variable)
        for join, names in found
        if not any(
            other.variable == join.variable and other.field != join.field and _meet(names, others)
            for other, others in found
        )
    }


def _joins(condition: core.Condition, names: Names) -> Iterator[tuple[core.Equals, Names]]:
    """Every join, with the actions it is asked of."""
    match condition:
        case core.AndC(items):
            inside = _both(names, _names(condition))
            yield from chain.from_iterable(_joins(item, inside) for item in items)
        case core.OrC(items):
            yield from chain.from_iterable(_joins(item, names) for item in items)
        case core.NotC(body):
            yield from _joins(body, None)
        case core.Equals():
            yield condition, names


def _names(condition: core.Condition) -> Names:
    match condition:
        case core.ActionIn(names):
            return names
        case core.AndC(items):
            found: Names = None
            for item in items:
                found = _both(found, _names(item))
            return found
        case core.OrC(items):
            each = [_names(item) for item in items]
            known = [names for names in each if names is not None]
            return frozenset().union(*known) if len(known) == len(each) else None
        case _:
            return None


def _both(one: Names, two: Names) -> Names:
    return two if one is None else one if two is None else one & two


def _meet(one: Names, two: Names) -> bool:
    return one is None or two is None or not one.isdisjoint(two)
