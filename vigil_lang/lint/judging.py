"""The verdicts of a policy's statements on runs, for the rules that need them.

The verdicts are those of `vigil verify`, without a solver to confirm each. What is shared by statements is worked out
once a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.functions import conjuncts
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace


class Judged(NamedTuple):
    """One statement on one run: the first event that offends, if any, and whether the run has to do with it."""

    run: Trace
    offending: str | None
    concerned: bool


def judged(statements: Sequence[Statement], runs: Sequence[Trace]) -> list[list[Judged]]:
    """For each statement, what each run says of it; what would take too long to find out gives no cause to complain."""
    found: list[list[Judged]] = [[] for _ in statements]
    for run in runs:
        index = RunIndex(run)
        for statement, verdicts in zip(statements, found, strict=True):
            try:
                judgement = Judgement(statement.requirement, index)
                first = next(judgement.violations(), None)
                at_fault = None if first is None else run.events[first.event].id
                verdicts.append(Judged(run, at_fault, concerns(judgement)))
            except TooCostly:
                verdicts.append(Judged(run, None, concerned=True))
    return found


def concerns(judgement: Judgement) -> bool:
    """Whether a run has to do with a requirement: an event meets its trigger under some binding.

    A requirement without a trigger (`abs`, an `always` that is no implication) is about every event. A run has to do
    with it where it has an event that one of its conditions is about: one of the actions it asks for, whatever else it
    asks; or, where it asks for none, an event with one of the arguments it looks at.
    """
    if judgement.requirement.trigger is not None:
        return judgement.exercised()
    conditions = core.conditions(judgement.requirement.theta)
    return any(judgement.index.meeting(conjuncts(about(holds.condition))) for holds in conditions)


def about(condition: core.Condition) -> core.Condition:
    """What the events meet that a condition is about; it has no variables."""
    tests = core.tests(condition)
    if any(isinstance(t, core.ActionIn | core.ActionMatches) for t in tests):
        return _may_meet(condition, wanted=True)
    fields = {t.field for t in tests if not isinstance(t, core.ActionIn | core.ActionMatches | core.StatusIs)}
    if fields:
        return core.OrC(
            tuple(core.Has(field) for field in sorted(fields, key=lambda field: (field.output, field.name)))
        )
    return core.OrC((core.StatusIs("ok"), core.StatusIs("error")))


def _may_meet(condition: core.Condition, *, wanted: bool) -> core.Condition:
    """What an event's names have to meet to let a condition hold (or fail)."""
    match condition:
        case core.NotC(body):
            return _may_meet(body, wanted=not wanted)
        case core.AndC(items) | core.OrC(items):
            each = tuple(_may_meet(item, wanted=wanted) for item in items)
            return core.AndC(each) if isinstance(condition, core.AndC) == wanted else core.OrC(each)
        case core.ActionIn() | core.ActionMatches():
            return condition if wanted else core.NotC(condition)
        case _:
            return core.AndC(())
