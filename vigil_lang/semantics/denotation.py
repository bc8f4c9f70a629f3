"""The meaning of a requirement, transcribed from the rules: slow, obvious, and the truth for every engine.

Each function is one line of Figure 5 or of spec.md's extensions. Variables range over the values V of the run and
one fresh text that no event carries (`FRESH`), which stands for all others.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.semantics.views import members, viewed
from vigil_lang.trace import Event
from vigil_lang.trace.values import number, total

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from vigil_lang.trace import Trace

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
    domain = (FRESH, *values(requirement.theta, trace))
    for chosen in product(domain, repeat=len(requirement.variables)):
        yield dict(zip(requirement.variables, chosen, strict=True))


def values(theta: core.Theta, trace: Trace) -> tuple[str, ...]:
    """V, in order of first appearance: each event's texts, then those of its views that a variable is compared with."""
    fields = dict.fromkeys(
        test.field
        for held in core.conditions(theta)
        for test in core.tests(held.condition)
        if isinstance(test, core.Equals) and test.field.views
    )
    if not fields:
        return trace.values
    found: dict[str, None] = {}
    for event in trace.events:
        for carried in event.args.values():
            found.update(dict.fromkeys(carried))
        if event.output is not None:
            found[event.output] = None
        for field in fields:
            found.update(dict.fromkeys(texts(field, event)))
    return tuple(found)


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
        case core.Since(left, right, bound, weak):
            return any(
                holds(right, trace, other, binding)
                and within(bound, trace, other, at)
                and all(holds(left, trace, between, binding) for between in range(other + 1, at))
                for other in range(at)
            ) or (weak and all(holds(left, trace, o, binding) for o in range(at) if within(bound, trace, o, at)))
        case core.Until(left, right, bound, weak):
            later = range(at + 1, len(trace.events))
            return any(
                holds(right, trace, other, binding)
                and within(bound, trace, at, other)
                and all(holds(left, trace, between, binding) for between in range(at + 1, other))
                for other in later
            ) or (weak and all(holds(left, trace, o, binding) for o in later if within(bound, trace, at, o)))
        case core.Repeated(count, body, bound, reset, distinct):
            chosen = counted(body, bound, reset, trace, at, binding)
            if distinct is None:
                return len({event.call for event in chosen}) >= count
            return len({text for event in chosen for text in texts(distinct, event)}) >= count
        case core.Exceeds(limit, field, body, bound, reset):
            if all(number(text) is None for text in texts(field, trace.events[at])):
                return True
            chosen = counted(body, bound, reset, trace, at, binding)
            return total(text for event in chosen for text in texts(field, event)) > limit
        case core.Where(condition):
            return meets(condition, as_event(binding), binding)
        case core.Last():
            return at == len(trace.events) - 1


def counted(
    body: core.Theta, bound: core.Bound, reset: core.Theta | None, trace: Trace, at: int, binding: Binding
) -> list[Event]:
    """The events at or before an event, within the bound and after the last reset before it, that meet a body."""
    resets = [other for other in range(at) if reset is not None and holds(reset, trace, other, binding)]
    start = resets[-1] + 1 if resets else 0
    return [
        trace.events[other]
        for other in range(start, at + 1)
        if within(bound, trace, other, at) and holds(body, trace, other, binding)
    ]


def within(bound: core.Bound, trace: Trace, first: int, second: int) -> bool:
    """Whether two events, in order, are as far apart as the bound says."""
    if bound is None:
        return True
    apart = distance(bound, trace, first, second)
    if apart is None:
        return False
    most = bound.microseconds if isinstance(bound, core.Within) else bound.count
    # Times may run backwards: without a lower limit such an event is near.
    return apart <= most and (bound.least == 0 or apart >= bound.least)


def distance(bound: core.Calls | core.Steps | core.Within, trace: Trace, first: int, second: int) -> int | None:
    """How far two events, in order, are apart in the bound's unit; None where one has no time."""
    match bound:
        case core.Calls():
            return trace.call_index[second] - trace.call_index[first]
        case core.Steps():
            return second - first
        case core.Within():
            start, end = trace.events[first].time, trace.events[second].time
            return None if start is None or end is None else end - start


def as_event(binding: Binding) -> Event:
    """A binding as an event whose arguments are the variables; the fresh text is absent."""
    return Event("where", "", "where", {name: (text,) for name, text in binding.items() if text is not FRESH})


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
            if field.views:
                return bool(texts(field, event))
            return event.output is not None if field.output else field.name in event.args
        case core.In(field, values, negated):
            return any((text in values) != negated for text in texts(field, event))
        case core.Matches(field, matcher, negated):
            return any(predicate(matcher)(text) != negated for text in texts(field, event))
        case core.Compares(field, operator, limit):
            numbers = (number(text) for text in texts(field, event))
            return any(n is not None and compare(n, operator, limit) for n in numbers)
        case core.ComparesWith(field, operator, variable):
            value = binding[variable]
            most = None if value is FRESH else number(value)
            numbers = (number(text) for text in texts(field, event))
            return most is not None and any(n is not None and compare(n, operator, most) for n in numbers)
        case core.Equals(field, variable):
            return binding[variable] is not FRESH and binding[variable] in texts(field, event)
        case core.Contains(field, variable):
            value = binding[variable]
            return bool(value) and any(value in text for text in texts(field, event))  # type: ignore[operator]
        case core.ContainsText(field, text):
            return bool(text) and any(text in value for value in texts(field, event))
        case core.Entry(field, body):
            entries = (members(text) for text in texts(field, event))
            return any(meets(body, replace(event, args=entry), binding) for entry in entries if entry is not None)
        case core.NotC(body):
            return not meets(body, event, binding)
        case core.AndC(items):
            return all(meets(item, event, binding) for item in items)
        case core.OrC(items):
            return any(meets(item, event, binding) for item in items)


def texts(field: core.Reads, event: Event) -> tuple[str, ...]:
    """The canonical texts a field has at an event: none when it is absent, several for a list."""
    found = event.values(field.name) if not field.output else () if event.output is None else (event.output,)
    return viewed(field.views, found) if field.views else found


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
