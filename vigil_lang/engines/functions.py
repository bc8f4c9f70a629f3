"""Conditions as functions of an event and a binding: what all engines evaluate them by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import compare, texts
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.semantics.views import members
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vigil_lang.trace import Event

Check: TypeAlias = "Callable[[Event, Any], bool]"


def compiled(condition: core.Condition, slots: Mapping[str, Any] | None = None) -> Check:
    """ψ(e, x̄) as a function; the same meaning as `denotation.meets`, with the dispatch done once.

    It takes the binding as a table by variable; with `slots`, as whatever has a variable's value under its slot.
    """
    match condition:
        case core.ActionIn(names):
            return lambda e, _: e.action in names or any(k in names for k in e.kinds)
        case core.ActionMatches(matcher):
            test = predicate(matcher)
            return lambda e, _: any(map(test, e.names()))
        case core.StatusIs(status):
            return lambda e, _: e.status == status
        case core.Has(field) if field.views:
            return lambda e, _: bool(texts(field, e))
        case core.Has(core.Reads(name, output)):
            return (lambda e, _: e.output is not None) if output else (lambda e, _: name in e.args)
        case core.In(core.Reads(name, False, ()), values, False):
            return lambda e, _: not values.isdisjoint(e.args.get(name, ()))
        case core.In(field, values, negated):
            return lambda e, _: any((text in values) != negated for text in texts(field, e))
        case core.Matches(field, matcher, negated):
            test = predicate(matcher)
            return lambda e, _: any(test(text) != negated for text in texts(field, e))
        case core.Compares(field, operator, limit):
            return lambda e, _: any(n is not None and compare(n, operator, limit) for n in map(number, texts(field, e)))
        case core.ComparesWith(field, operator, variable):
            x = variable if slots is None else slots[variable]
            return lambda e, b: _compares(texts(field, e), operator, b[x])
        case core.Equals(field, variable):
            x = variable if slots is None else slots[variable]
            if not field.output and not field.views:
                name = field.name
                return lambda e, b: b[x] in e.args.get(name, ())
            return lambda e, b: b[x] in texts(field, e)  # the fresh text, None, is in none
        case core.Contains(field, variable):
            x = variable if slots is None else slots[variable]
            return lambda e, b: bool(v := b[x]) and any(v in text for text in texts(field, e))
        case core.ContainsText(field, part):
            return lambda e, _: bool(part) and any(part in text for text in texts(field, e))
        case core.Entry(field, body):
            inner = compiled(body, slots)
            return lambda e, b: any(
                inner(replace(e, args=entry), b) for entry in map(members, texts(field, e)) if entry is not None
            )
        case core.NotC(body):
            inner = compiled(body, slots)
            return lambda e, b: not inner(e, b)
        case core.AndC((item,)):
            return compiled(item, slots)
        case core.AndC((left, right)):
            one, two = compiled(left, slots), compiled(right, slots)
            return lambda e, b: one(e, b) and two(e, b)
        case core.AndC(items):
            checks = [compiled(item, slots) for item in items]
            return lambda e, b: all(check(e, b) for check in checks)
        case core.OrC(items):
            checks = [compiled(item, slots) for item in items]
            return lambda e, b: any(check(e, b) for check in checks)


def _compares(found: tuple[str, ...], operator: str, bound: str | None) -> bool:
    limit = None if bound is None else number(bound)
    return limit is not None and any(n is not None and compare(n, operator, limit) for n in map(number, found))


def conjuncts(condition: core.Condition) -> list[core.Condition]:
    """The parts of a conjunction, however it is nested; any other condition alone."""
    if isinstance(condition, core.AndC):
        return [c for item in condition.items for c in conjuncts(item)]
    return [condition]


def fixing(condition: core.Condition, variable: str) -> list[core.Reads] | None:
    """Fields one of which carries the variable's value wherever the condition holds; None if there are none such."""
    match condition:
        case core.Equals(field, x) if x == variable:
            return [field]
        case core.Entry(field, body):
            members = fixing(body, variable)
            return None if members is None else [core.member_of(field, member) for member in members]
        case core.AndC(items):
            return next((fields for item in items if (fields := fixing(item, variable)) is not None), None)
        case core.OrC(items) if items:
            each = [fixing(item, variable) for item in items]
            return None if None in each else [field for fields in each for field in fields or ()]
        case _:
            return None
