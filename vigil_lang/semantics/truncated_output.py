"""Events whose output was truncated, so that a statement may judge them by an incomplete text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets

if TYPE_CHECKING:
    from vigil_lang.trace import Event, Trace

TRUNCATED = "truncated"
"""The member of an event that says how many code points of its output are missing."""


def rests_on_cut(requirement: core.Requirement, trace: Trace) -> tuple[str, ...]:
    """The events with a cut output whose missing part could decide a condition of the requirement, or be counted."""
    if any(_counts_output(body) for body in core.bodies(requirement.theta)):
        return tuple(event.id for event in trace.events if event.extra.get(TRUNCATED))
    doubtful = [
        held.condition
        for held in core.conditions(requirement.theta)
        if any(_reads_output(test) for test in core.tests(held.condition))
    ]
    if not doubtful:
        return ()
    return tuple(
        event.id
        for event in trace.events
        if event.extra.get(TRUNCATED) and any(_outcome(condition, event) is None for condition in doubtful)
    )


def _counts_output(body: core.Theta) -> bool:
    match body:
        case core.Repeated(distinct=core.Reads(output=True)) | core.Exceeds(field=core.Reads(output=True)):
            return True
    return False


def _reads_output(test: core.Test) -> bool:
    match test:
        case core.ActionIn() | core.ActionMatches() | core.StatusIs():
            return False
        case core.Has(field):
            return field.output and bool(field.views)
    return test.field.output


def _outcome(condition: core.Condition, event: Event) -> bool | None:
    """Whether a condition holds at an event, None where that depends on what is missing, or on a variable."""
    match condition:
        case core.NotC(body):
            inner = _outcome(body, event)
            return None if inner is None else not inner
        case core.AndC(items) | core.OrC(items):
            decisive = isinstance(condition, core.OrC)
            outcomes = [_outcome(item, event) for item in items]
            return decisive if decisive in outcomes else None if None in outcomes else not decisive
        case core.Entry():
            return None
        case core.Equals() | core.Contains() | core.ComparesWith():
            return None
        case _:
            return None if _reads_output(condition) else meets(condition, event, {})
