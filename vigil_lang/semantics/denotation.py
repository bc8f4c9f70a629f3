"""The meaning of a requirement, transcribed from the rules: slow, obvious, and the truth for every engine.

Each function is one line of Figure 5 or of spec.md's extensions. Variables range over the values V of the run and
one fresh text that no event carries (`FRESH`), which stands for all others.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.semantics.text import predicate
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from vigil_lang.trace import Event, Trace

FRESH: Final = None
Value: TypeAlias = str | None
Binding: TypeAlias = dict[str, Value]


def satisfied(requirement: core.Requirement, trace: Trace) -> bool:
    """τ ⊨ □Θ: Θ(e, x̄) for every event e and every binding x̄."""
    return not violations(requirement, trace)


def violations(requirement: core.Requirement, trace: Trace) -> list[tuple[int, Binding]]:
    """loc(φ): the index of each event e whose condition Rφ(e) fails, with the first binding that fails it."""
    found = []
    for at in range(len(trace.events)):
        for binding in bindings(requirement, trace):
            if not holds(requirement.theta, trace, at, binding):
                found.append((at, binding))
                break
    return found


def bindings(requirement: core.Requirement, trace: Trace) -> Iterator[Binding]:
    """Every binding of the variables: the fresh text first, then the values in order of first appearance."""
    domain = (FRESH, *trace.values)
    for values in product(domain, repeat=len(requirement.variables)):
        yield dict(zip(requirement.variables, values, strict=True))


def exercised(requirement: core.Requirement, trace: Trace) -> bool:
    """Whether the run puts the statement to the test: some event meets its trigger under some binding."""
    if requirement.trigger is None:
        return True
    return any(
        holds(requirement.trigger, trace, at, binding)
        for at in range(len(trace.events))
        for binding in bindings(requirement, trace)
    )


def holds(theta: core.Theta, trace: Trace, at: int, binding: Binding) -> bool:
    """Θ(e, x̄) at the event with this index."""
    match theta:
        case core.Holds(condition):
            return meets(condition, trace.events[at], binding)
        case core.Not(body):
            return not holds(body, trace, at, binding)
        case core.And(items):
            return all(holds(item, trace, at, binding) for item in items)
        case core.Or(items):
            return any(holds(item, trace, at, binding) for item in items)
        case core.Implies(left, right):
            return not holds(left, trace, at, binding) or holds(right, trace, at, binding)
        case core.Earlier(body, bound):
            return any(holds(body, trace, other, binding) and within(bound, trace, other, at) for other in range(at))
        case core.Later(body, bound):
            return any(
                holds(body, trace, other, binding) and within(bound, trace, at, other)
                for other in range(at + 1, len(trace.events))
            )
        case core.Clear(resolver, forbidden):
            return all(
                any(holds(resolver, trace, between, binding) for between in range(at + 1, bad))
                for bad in range(at + 1, len(trace.events))
                if holds(forbidden, trace, bad, binding)
            )
        case core.Repeated(count, body):
            own = trace.events[at].call
            others = {trace.events[other].call for other in range(at) if holds(body, trace, other, binding)}
            return len(others - {own}) >= count


def within(bound: core.Bound, trace: Trace, first: int, second: int) -> bool:
    """Whether two events, in order, are at most the bound apart."""
    match bound:
        case None:
            return True
        case core.Calls(count):
            return trace.call_index[second] - trace.call_index[first] <= count
        case core.Within(microseconds):
            start, end = trace.events[first].time, trace.events[second].time
            return start is not None and end is not None and end - start <= microseconds


def meets(condition: core.Condition, event: Event, binding: Binding) -> bool:
    """ψ(e, x̄): the foot of Figure 5, with the closed-world reading of absent arguments."""
    match condition:
        case core.ActionIn(names):
            return any(name in names for name in event.names())
        case core.ActionMatches(matcher):
            return any(predicate(matcher)(name) for name in event.names())
        case core.StatusIs(status):
            return event.status == status
        case core.Has(field):
            return event.output is not None if field.output else field.name in event.args
        case core.In(field, values, negated):
            return any((text in values) != negated for text in texts(field, event))
        case core.Matches(field, matcher, negated):
            return any(predicate(matcher)(text) != negated for text in texts(field, event))
        case core.Compares(field, operator, limit):
            numbers = (number(text) for text in texts(field, event))
            return any(n is not None and compare(n, operator, limit) for n in numbers)
        case core.Equals(field, variable):
            return binding[variable] is not FRESH and binding[variable] in texts(field, event)
        case core.Contains(field, variable):
            value = binding[variable]
            return bool(value) and any(value in text for text in texts(field, event))  # type: ignore[operator]
        case core.ContainsText(field, text):
            return bool(text) and any(text in value for value in texts(field, event))
        case core.NotC(body):
            return not meets(body, event, binding)
        case core.AndC(items):
            return all(meets(item, event, binding) for item in items)
        case core.OrC(items):
            return any(meets(item, event, binding) for item in items)


def texts(field: core.Reads, event: Event) -> tuple[str, ...]:
    """The canonical texts a field has at an event: none when it is absent, several for a list."""
    if not field.output:
        return event.values(field.name)
    return () if event.output is None else (event.output,)


def compare(value: Decimal, operator: str, limit: Decimal) -> bool:
    """An order test on numbers."""
    match operator:
        case "<":
            return value < limit
        case "<=":
            return value <= limit
        case ">":
            return value > limit
        case _:
            return value >= limit
