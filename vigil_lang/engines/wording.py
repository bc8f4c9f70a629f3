"""Conditions that failed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.semantics.text import Expression, Matcher

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.engines.index import Binding
    from vigil_lang.trace import Event

_LIMIT = 80
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"))


def because(failing: core.Test | core.NotC, event: Event, binding: Binding) -> str:
    """Why one condition does not hold of an event: "target is `mask.csr`, not `M`"."""
    match failing:
        case core.Equals(f) | core.In(f) | core.Matches(f) | core.Compares(f) if not texts(f, event):
            return f"carries no {f.name}"
        case core.ActionIn(names):
            return f"is {quoted(event.action)}, not {_one_of(names)}"
        case core.ActionMatches(matcher):
            return f"is {quoted(event.action)}, which does not match {_pattern(matcher)}"
        case core.StatusIs(status):
            return f"its status is {event.status}, not {status}"
        case core.Has(field):
            return f"carries no {field.name}"
        case core.Equals(field, variable):
            value = binding[variable]
            other = "any other value" if value is None else quoted(value)
            return f"{_has(field, event)}, not {other}"
        case core.Contains(field, variable):
            return f"{field.name} does not contain {quoted(binding[variable] or '')}"
        case core.ContainsText(field, text):
            return f"{field.name} does not contain {quoted(text)}"
        case core.In(field, values, negated):
            return f"{_has(field, event)}, {'which is excluded' if negated else f'not {_one_of(values)}'}"
        case core.Matches(field, matcher, negated):
            return f"{_has(field, event)}, which {'matches' if negated else 'does not match'} {_pattern(matcher)}"
        case core.Compares(field, operator, number):
            return f"{_has(field, event)}, not {operator} {number}"
        case core.NotC(body):
            return f"{_positive(body, event)}, which is excluded"


def _positive(body: core.Condition, event: Event) -> str:
    match body:
        case core.StatusIs(status):
            return f"its status is {status}"
        case core.Has(field):
            return f"it carries {field.name}"
        case core.ActionIn() | core.ActionMatches():
            return f"it is {quoted(event.action)}"
        case _:
            return _has(body.field, event) if not isinstance(body, (core.NotC, core.AndC, core.OrC)) else "it holds"


def _has(field: core.Reads, event: Event) -> str:
    return f"{field.name} is {_one_of(texts(field, event), 'and')}"


def _one_of(values: Iterable[str], word: str = "or") -> str:
    shown = [quoted(v) for v in (sorted(values) if word == "or" else values)]
    if len(shown) > 4:
        shown = [*shown[:3], f"{len(shown) - 3} more"]
    return listed(shown, word)


def listed(parts: list[str], word: str = "and") -> str:
    """`a`, `b` and `c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}" if parts else "nothing"


def _pattern(matcher: Matcher) -> str:
    if isinstance(matcher, Expression):
        return quoted(f"/{matcher.pattern}/{'i' * matcher.ignore_case}")
    return quoted(matcher.pattern)


def quoted(text: str) -> str:
    """A text in backticks, long ones cut in the middle."""
    if len(text) > _LIMIT:
        half = _LIMIT // 2 - 1
        text = f"{text[:half]}…{text[-half:]}"
    return f"`{text}`"


def span_of(bound: core.Bound) -> str:
    """A bound in words: "3 calls", "30s"."""
    match bound:
        case core.Calls(count):
            return f"{count} call{'s' * (count != 1)}"
        case core.Within(amount):
            unit, name = next(((u, n) for u, n in _UNITS if amount >= u and amount % u == 0), (0, ""))
            return f"{amount // unit}{name}" if unit else f"{amount / 1_000_000:g}s"
        case None:
            return "the run"
