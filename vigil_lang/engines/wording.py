"""Conditions that failed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.shorten import cut_middle
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.semantics.homes import is_in_full
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Matcher, quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.engines.index import Binding
    from vigil_lang.trace import Event

LONGEST_VALUE = 80
"""Code points of a value, or of what a policy says, in a message."""
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"))


def because(failing: core.Test | core.Entry | core.NotC, event: Event, binding: Binding) -> str:
    """Why one condition does not hold of an event: "target is `mask.csr`, not `M`"."""
    match failing:
        case (
            core.Equals(f) | core.In(f) | core.Matches(f) | core.Compares(f) | core.ComparesWith(f) | core.Entry(f)
        ) if not texts(f, event):
            return f"carries no {named(f)}"
        case core.ActionIn(names):
            return f"is {quoted(event.action)}, not {_one_of(names)}"
        case core.ActionMatches(matcher):
            return f"is {quoted(event.action)}, which does not match {_pattern(matcher)}"
        case core.StatusIs(status):
            return f"its status is {event.status}, not {status}"
        case core.Has(field):
            return f"carries no {named(field)}"
        case core.Equals(field, variable):
            value = binding[variable]
            other = "any other value" if value is None else quoted(value)
            return f"{_has(field, event)}, not {other}"
        case core.Contains(field, variable):
            return f"{named(field)} does not contain {quoted(binding[variable] or '')}"
        case core.ContainsText(field, text):
            return f"{named(field)} does not contain {quoted(text)}"
        case core.In(field, values, negated):
            return f"{_has(field, event)}, {'which is excluded' if negated else f'not {_one_of(values)}'}"
        case core.Matches(field, matcher, negated):
            return f"{_has(field, event)}, which {'matches' if negated else 'does not match'} {_pattern(matcher)}"
        case core.Compares(field, operator, number):
            return f"{_has(field, event)}, not {operator} {number}"
        case core.ComparesWith(field, operator, variable):
            value = binding[variable]
            return f"{_has(field, event)}, not {operator} {'any other value' if value is None else quoted(value)}"
        case core.Entry(field):
            return f"no entry of {named(field)} meets all that is asked of it"
        case core.NotC(body):
            return f"{_positive(body, event)}, which is excluded"


def _positive(body: core.Condition, event: Event) -> str:
    match body:
        case core.StatusIs(status):
            return f"its status is {status}"
        case core.Has(field):
            return f"it carries {named(field)}"
        case core.ActionIn() | core.ActionMatches():
            return f"it is {quoted(event.action)}"
        case core.NotC() | core.AndC() | core.OrC():
            return "it holds"
        case _:
            return _has(body.field, event)


def named(field: core.Reads) -> str:
    """A field as policies write it: "url:host"."""
    return "".join([field.name, *[_view(view) for view in field.views]])


def _view(view: core.View) -> str:
    if view.expression is not None:
        return f":{view.name}({_pattern(view.expression)[1:-1]})"
    return f":{view.name}({quote(view.path)})" if view.path else f":{view.name}"


def _has(field: core.Reads, event: Event) -> str:
    return f"{named(field)} is {_one_of(texts(field, event), 'and')}"


def _one_of(values: Iterable[str], word: str = "or") -> str:
    shown = [quoted(v) for v in (sorted(values) if word == "or" else values)]
    if len(shown) > 4:
        shown = [*shown[:3], f"{len(shown) - 3} more"]
    return listed(shown, word)


def listed(parts: list[str], word: str = "and") -> str:
    """`a`, `b` and `c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}" if parts else "nothing"


def _pattern(matcher: Matcher) -> str:
    if isinstance(matcher, AnyOf):
        return listed([_pattern(one) for one in matcher.matchers if not is_in_full(one)][:4], "or")
    if isinstance(matcher, Expression):
        return quoted(f"/{matcher.pattern}/{'i' * matcher.ignore_case}")
    return quoted(matcher.pattern)


def quoted(text: str) -> str:
    """A text in backticks, long ones cut in the middle."""
    return f"`{cut_middle(text, LONGEST_VALUE)}`"


def span_of(bound: core.Bound) -> str:
    """A bound in words: "3 calls", "30s", "1 to 3 calls", "more than 2 steps"."""
    match bound:
        case core.Calls(most, least):
            return _distances(most, least, "call")
        case core.Steps(most, least):
            return _distances(most, least, "step")
        case core.Within(most, least):
            if not least:
                return _time(most)
            return f"{_time(least)} or more" if most >= core.FAR else f"{_time(least)} to {_time(most)}"
        case None:
            return "the run"


def _distances(most: int, least: int, unit: str) -> str:
    if most >= core.FAR:
        return f"{least} {unit}{'s' * (least != 1)} or more"
    if least == most:
        return f"exactly {most} {unit}{'s' * (most != 1)}"
    return f"{f'{least} to ' if least else ''}{most} {unit}{'s' * (most != 1)}"


def _time(amount: int) -> str:
    unit, name = next(((u, n) for u, n in _UNITS if amount >= u and amount % u == 0), (0, ""))
    return f"{amount // unit}{name}" if unit else f"{amount / 1_000_000:g}s"


def amount_of(counted: core.Repeated | core.Exceeds) -> str:
    """What a form lets happen, or asks for, in words: "3 calls within 10m", "5 values of `path`", "1000"."""
    if isinstance(counted, core.Exceeds):
        amount = f"{counted.limit:f}"
    elif counted.distinct is not None:
        amount = f"{counted.count} value{'s' * (counted.count != 1)} of `{named(counted.distinct)}`"
    else:
        amount = f"{counted.count} call{'s' * (counted.count != 1)}"
    return amount if counted.bound is None else f"{amount} within {span_of(counted.bound)}"
