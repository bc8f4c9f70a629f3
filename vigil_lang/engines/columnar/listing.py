"""A plan as lines that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.columnar.plan import (
    TRUE,
    Among,
    AtEnd,
    Before,
    Carried,
    Different,
    Either,
    Events,
    Every,
    Extended,
    Joined,
    Met,
    Near,
    Nearest,
    Neg,
    Node,
    Paired,
    Plan,
    Ranked,
    Selected,
    Some,
    Spread,
    Timed,
    Total,
    United,
    ValueMet,
)
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEP = 12


def listed(plan: Plan) -> Iterator[str]:
    """The plan of what breaks a requirement, an operator a line, its parts below it."""
    yield from _lines(plan.violated, 0)


def _lines(node: Node, depth: int) -> Iterator[str]:
    yield "  " * depth + _told(node)
    if depth >= _DEEP and node.parts:
        yield "  " * (depth + 1) + "…"
        return
    for part in node.parts:
        if part != TRUE:
            yield from _lines(part, depth + 1)


def _told(node: Node) -> str:
    match node:
        case Events():
            return "every event"
        case Carried(field, x, _):
            return f"each text {x} of {_field(field)}"
        case Selected():
            return "rows of the first of which the second is true"
        case Joined():
            return "pairs of one event with the same values"
        case United():
            return "rows of any of"
        case Extended(_, by):
            return f"with each {', '.join(by.variables)} of the run"
        case Spread(_, _, variables):
            return f"events with each {', '.join(variables)} of the run"
        case Nearest(ahead=ahead, least=least, unit=unit):
            far = f", at least {least:,} {_UNITS[unit]} away" if least else ""
            return f"the nearest event {'after' if ahead else 'before'}{far}, in"
        case Ranked(count=count):
            return f"the call that is number {count} from the last, in"
        case Met(condition):
            return condition_text(condition)
        case ValueMet(condition):
            return f"where {condition_text(condition)}"
        case Paired(test):
            return f"{condition_text(test)}, for each text and value"
        case Timed():
            return "has a time"
        case AtEnd():
            return "is the last event"
        case Among():
            return "is in"
        case Some(_, ahead):
            return f"some event {'after' if ahead else 'before'} is in"
        case Near(place, most):
            return "there is" if most >= core.FAR else f"at most {most:,} {_UNITS[place.unit]} away is"
        case Before():
            return "the first comes before the second"
        case Total(_, field, limit):
            return f"the numbers {_field(field)} come to more than {limit}, in"
        case Different(_, field, count):
            return f"at least {count} different {_field(field)}, in"
        case Neg():
            return "not"
        case Every(items):
            return "all of" if items else "true"
        case Either(items):
            return "any of" if items else "false"
        case _:
            raise AssertionError(node)


_UNITS = {"steps": "events", "calls": "calls", "times": "microseconds"}


def condition_text(condition: core.Condition) -> str:
    """A condition on one line, much as a policy says it."""
    match condition:
        case core.ActionIn(names):
            return f"action in {{{', '.join(sorted(names))}}}"
        case core.ActionMatches(matcher):
            return f"action ~ {matcher!r}"
        case core.StatusIs(status):
            return f"status = {status}"
        case core.Has(field):
            return f"has {_field(field)}"
        case core.In(field, values, negated):
            return f"{_field(field)} {'not in' if negated else 'in'} {{{', '.join(map(repr, sorted(values)))}}}"
        case core.Matches(field, matcher, negated):
            return f"{_field(field)} {'!~' if negated else '~'} {matcher!r}"
        case core.Compares(field, operator, number):
            return f"{_field(field)} {operator} {number}"
        case core.ComparesWith(field, operator, x):
            return f"{_field(field)} {operator} {x}"
        case core.Equals(field, x):
            return f"{_field(field)} = {x}"
        case core.Contains(field, x):
            return f"{_field(field)} contains {x}"
        case core.ContainsText(field, text):
            return f"{_field(field)} contains {text!r}"
        case core.Entry(field, body):
            return f"{_field(field)} with ({condition_text(body)})"
        case core.NotC(body):
            return f"not ({condition_text(body)})"
        case core.AndC(items):
            return " and ".join(_nested(item) for item in items) or "true"
        case core.OrC(items):
            return " or ".join(_nested(item) for item in items) or "false"


def _nested(condition: core.Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, core.AndC | core.OrC) and len(condition.items) > 1 else text


def _field(field: core.Reads) -> str:
    return ":".join([field.name, *(f"{v.name}({v.path})" if v.path else v.name for v in field.views)])
