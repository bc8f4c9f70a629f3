"""Small counterexamples: a guessed run that breaks one statement and keeps another refutes an implication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from vigil_lang.analysis.witness import guess
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import satisfied
from vigil_lang.semantics.matching_cost import is_laborious
from vigil_lang.trace.event import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.trace.event import Event

_MOST: Final = 20
"""Events of the longest run that is tried."""


def counterexample(requirement: core.Requirement, avoiding: core.Condition | None = None) -> Trace | None:
    """A run of a few guessed events that breaks a requirement; None if none is found.

    The trigger is chosen so that it does not meet the condition to avoid, where there is one.
    """
    wanted = list(_asked(requirement.theta))
    if not wanted or len(wanted) > _MOST or is_laborious(core.AndC(tuple(wanted))):
        return None
    if avoiding is not None:
        at = 1 if len(wanted) > 1 and len(list(_met(requirement.trigger or core.FALSE))) > 1 else 0
        wanted[at] = core.AndC((wanted[at], core.NotC(avoiding)))
    events: list[Event] = []
    for at, condition in enumerate(wanted):
        event = guess(condition)
        if event is None:
            return None
        events.append(replace(event, id=f"e{at}", call=f"e{at}"))
    run = Trace(tuple(events))
    return None if satisfied(requirement, run) else run


def _asked(theta: core.Theta) -> Iterator[core.Condition]:
    """The conditions that the events of a breaking run must meet, in order, for a body of a usual shape."""
    match theta:
        case core.Not(body):
            yield from _met(body)
        case core.Implies(left, core.Clear(_, forbidden)):
            yield from _met(left)
            yield from _met(forbidden)
        case core.Implies(left, core.Not(core.Repeated(count, body))) if count <= _MOST:
            for _ in range(count - 1):
                yield from _met(body)
            yield from _met(left)
        case core.Implies(left, core.Not(core.Exceeds(_, field))):  # an event without a number is at fault
            yield from _but(left, core.Has(field))
        case core.Implies(core.Last(), core.Repeated(_, core.Holds(counted))):
            yield core.NotC(counted)
        case core.Implies(left, core.Holds(condition)):
            for trigger in _met(left):
                yield core.AndC((trigger, core.NotC(condition)))
        case core.Implies(left, core.Or((core.Holds(resolution), _))):
            yield from _but(left, resolution)
        case core.Implies(left, _):
            yield from _met(left)


def _met(theta: core.Theta) -> Iterator[core.Condition]:
    """The conditions of a trigger, that of its scope first; nothing for another shape."""
    match theta:
        case core.Holds(condition):
            yield condition
        case core.And((core.Holds(condition), *scopes)):
            for scope in scopes:
                if isinstance(scope, core.Earlier):
                    yield from _met(scope.body)
            yield condition


def _but(trigger: core.Theta, missing: core.Condition) -> Iterator[core.Condition]:
    """The conditions of a trigger, whose event fails another one."""
    for at, condition in enumerate(met := list(_met(trigger)), 1):
        yield condition if at < len(met) else core.AndC((condition, core.NotC(missing)))
