"""When two requirements mean the same: equal up to the order of conjuncts and the names of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterable

    FieldTest: TypeAlias = (
        core.Has
        | core.In
        | core.Matches
        | core.Compares
        | core.ComparesWith
        | core.Equals
        | core.Contains
        | core.ContainsText
    )

Key: TypeAlias = "tuple[str | Key, ...]"
"""A nested tuple; a variable is `("variable", name)`."""


def key(theta: core.Theta) -> str:
    """A text that two bodies share only if they hold of the same events; two that do may still differ in it."""
    names: dict[str, str] = {}
    return repr(_renamed(_key(theta), names))


def _renamed(part: Key, names: dict[str, str] | None) -> Key:
    """Variables by the order they come in, or (without a table) all the same."""
    if part[:1] == ("variable",) and len(part) == 2:  # an argument may be called so, too
        return ("variable", "") if names is None else ("variable", names.setdefault(str(part[1]), str(len(names))))
    return tuple(p if isinstance(p, str) else _renamed(p, names) for p in part)


def _key(node: core.Theta | core.Condition, named: tuple[str, ...] = ()) -> Key:
    """The names of what is read are `named` variables in a condition on these."""
    match node:
        case core.Holds(condition):
            return _key(condition, named)
        case core.Not(body) | core.NotC(body):
            inner = _key(body, named)
            return inner[1] if inner[0] == "not" else ("not", inner)  # type: ignore[return-value]
        case core.And(items) | core.AndC(items):
            return _joined("and", items, named)
        case core.Or(items) | core.OrC(items):
            return _joined("or", items, named)
        case core.Implies(left, right):
            return "implies", _key(left), _key(right)
        case core.Earlier(body, bound):
            return "earlier", repr(bound), _key(body)
        case core.Later(body, bound):
            return "later", repr(bound), _key(body)
        case core.Clear(resolver, forbidden):
            return "clear", _key(resolver), _key(forbidden)
        case core.Since(left, right, bound, weak) | core.Until(left, right, bound, weak):
            return type(node).__name__, repr(bound), str(weak), _key(left), _key(right)
        case core.Repeated(count, body, bound, reset, distinct):
            return "repeated", str(count), repr(bound), repr(distinct), _key(body), _key(reset or core.FALSE)
        case core.Exceeds(limit, field, body, bound, reset):
            return "exceeds", str(limit), repr(bound), repr(field), _key(body), _key(reset or core.FALSE)
        case core.Where(condition):
            return "where", _key(condition, ("variable",))
        case core.Last():
            return ("last",)
        case core.ActionIn(names):
            return "action in", *sorted(names)
        case core.Entry(field, body):
            return "entry", repr(field), _key(body)
        case core.ActionMatches() | core.StatusIs():
            return "test", repr(node)
        case _:
            return _test(node, named)


def _test(test: FieldTest, named: tuple[str, ...]) -> Key:
    field = test.field
    read = (*named, field.name), str(field.output), repr(field.views)
    match test:
        case core.In(_, values, negated):
            return "in", *read, str(negated), *sorted(values)
        case core.Equals(_, variable) | core.Contains(_, variable):
            return type(test).__name__, *read, ("variable", variable)
        case core.ComparesWith(_, operator, variable):
            return operator, *read, ("variable", variable)
        case _:
            return "test", *read, repr(replace(test, field=core.Reads("")))


def _joined(word: str, items: Iterable[core.Theta | core.Condition], named: tuple[str, ...]) -> Key:
    """A conjunction or disjunction, flat, each part once, in an order that does not depend on variables' names."""
    flat: list[Key] = []
    for item in [_key(item, named) for item in items]:
        flat += item[1:] if item[0] == word else [item]  # type: ignore[arg-type]
    parts = sorted(dict.fromkeys(flat), key=lambda part: repr(_renamed(part, None)))
    return parts[0] if len(parts) == 1 else (word, *parts)
