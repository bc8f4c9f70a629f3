"""Runs judged by the statements of a policy, for rules that ask how the statements fare.

The verdicts are those of `vigil verify`: the same encoding, evaluated on the run's facts without a solver to confirm
each. What is shared by statements is worked out once a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.semantics import core
from vigil_lang.smt.encode import Encoding
from vigil_lang.smt.leaves import Matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Event, Trace


class Judged(NamedTuple):
    """One statement on one run: the first event that offends, if any, and whether it was put to the test."""

    run: Trace
    offending: str | None
    exercised: bool


def judged(statements: Sequence[Statement], runs: Sequence[Trace]) -> list[list[Judged]]:
    """For each statement, what each run says of it."""
    found: list[list[Judged]] = [[] for _ in statements]
    for run in runs:
        matching = Matching(run)
        for statement, verdicts in zip(statements, found, strict=True):
            encoding = Encoding(statement.requirement, run, matching, name=statement.name)
            verdicts.append(Judged(run, _first_offence(encoding), exercised(encoding)))
    return found


def _first_offence(encoding: Encoding) -> str | None:
    query = encoding.query
    for condition in encoding.conditions:
        if not all(query.value(formula) for _, formula in condition.cases):
            return encoding.trace.events[condition.event].id
    return None


def exercised(encoding: Encoding) -> bool:
    """Whether a run puts a statement to the test: an event meets its trigger under some binding.

    A statement without a trigger (`abs`, an `always` that is no implication) is about every event. It counts as put
    to the test where the run has an event that one of its conditions is about: one of the actions it asks for,
    whatever else it asks; or, where it asks for none, an event with one of the arguments it looks at.
    """
    if encoding.requirement.trigger is not None:
        return encoding.exercised()
    conditions = [holds.condition for holds in core.conditions(encoding.requirement.theta)]
    return any(_is_about(condition, event) for event in encoding.trace.events for condition in conditions)


def _is_about(condition: core.Condition, event: Event) -> bool:
    tests = core.tests(condition)
    if any(isinstance(t, core.ActionIn | core.ActionMatches) for t in tests):
        return _may_meet(condition, event, wanted=True)
    fields = {t.field for t in tests if not isinstance(t, core.ActionIn | core.ActionMatches | core.StatusIs)}
    carried = (event.output is not None if field.output else field.name in event.args for field in fields)
    return any(carried) if fields else event.status != "unknown"


def _may_meet(condition: core.Condition, event: Event, *, wanted: bool) -> bool:
    """Whether an event's names alone let a condition hold (or fail)."""
    match condition:
        case core.NotC(body):
            return _may_meet(body, event, wanted=not wanted)
        case core.AndC(items) | core.OrC(items):
            each = [_may_meet(item, event, wanted=wanted) for item in items]
            return all(each) if isinstance(condition, core.AndC) == wanted else any(each)
        case core.ActionIn() | core.ActionMatches():
            from vigil_lang.semantics.denotation import meets

            return meets(condition, event, {}) == wanted
        case _:
            return True
