"""When two requirements mean the same: equal up to the order of conjuncts and the names of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterable

Key: TypeAlias = "tuple[str | Key, ...]"
"""A nested tuple; a variable is `("variable", name)`."""


def key(theta: core.Theta) -> str:
    """A text that two bodies share only if they hold of the same events; two that do may still differ in it."""
    names: dict[str, str] = {}
    return repr(_renamed(_key(theta), names))


def _renamed(part: Key, names: dict[str, str] | None) -> Key:
    """Variables by the order they come in, or (without a table) all the same."""
    if part[:1] == ("variable",):
        return ("variable", "") if names is None else ("variable", names.setdefault(str(part[1]), str(len(names))))
    return tuple(p if isinstance(p, str) else _renamed(p, names) for p in part)


def _key(node: core.Theta | core.Condition) -> Key:
    match node:
        case core.Holds(condition):
            return _key(condition)
        case core.Not(body) | core.NotC(body):
            inner = _key(body)
            return inner[1] if inner[0] == "not" else ("not", inner)  # type: ignore[return-value]
        case core.And(items) | core.AndC(items):
            return _joined("and", items)
        case core.Or(items) | core.OrC(items):
            return _joined("or", items)
        case core.Implies(left, right):
            return "implies", _key(left), _key(right)
        case core.Earlier(body, bound):
            return "earlier", repr(bound), _key(body)
        case core.Later(body, bound):
            return "later", repr(bound), _key(body)
        case core.Clear(resolver, forbidden):
            return "clear", _key(resolver), _key(forbidden)
        case core.Repeated(count, body):
            return "repeated", str(count), _key(body)
        case core.ActionIn(names):
            return "action in", *sorted(names)
        case core.In(field, values, negated):
            return "in", repr(field), str(negated), *sorted(values)
        case core.Equals(field, variable) | core.Contains(field, variable):
            return type(node).__name__, repr(field), ("variable", variable)
        case _:
            return "test", repr(node)


def _joined(word: str, items: Iterable[core.Theta | core.Condition]) -> Key:
    """A conjunction or disjunction, flat, each part once, in an order that does not depend on variables' names."""
    flat: list[Key] = []
    for item in map(_key, items):
        flat += item[1:] if item[0] == word else [item]  # type: ignore[arg-type]
    parts = sorted(dict.fromkeys(flat), key=lambda part: repr(_renamed(part, None)))
    return parts[0] if len(parts) == 1 else (word, *parts)
