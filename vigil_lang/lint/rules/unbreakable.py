"""VGL314: statements that no run can break, though each of their conditions may hold and may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.lint.obligations import implied, triggering
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Resolutions that every trigger is, guards that the scope is, and bodies of `always` that hold whatever happens.

    Other statements can be broken wherever their conditions can hold: by a run of the trigger alone, or of the trigger
    and what is forbidden. Conditions that hold or fail always by themselves are found as such.
    """
    for statement in subject.policy.statements:
        if statement.preset is not None:
            yield from _resolved(statement, subject)
            yield from _guarded(statement, subject)
        elif not statement.params and not _open(statement.requirement.theta):
            yield from _valid(statement, subject)


def _resolved(statement: Statement, subject: Subject) -> Iterator[Diagnostic]:
    match statement.requirement.theta:
        case core.Implies(left, core.Or((core.Holds() as resolution, _))):
            trigger = triggering(left)
            if trigger is None or trigger.span is None or resolution.span is None:
                return
            if implied(subject, statement, trigger, resolution):
                yield Diagnostic.of(
                    "VGL314",
                    f"every trigger is its own resolution, so no run can break `{statement.name}`",
                    statement.source,
                    resolution.span,
                    help="leave triggers out of the resolution, or resolutions out of the trigger: `… and not …`",
                    notes=(Note("the trigger", statement.source, trigger.span),),
                )


def _guarded(statement: Statement, subject: Subject) -> Iterator[Diagnostic]:
    match statement.requirement.theta:
        case core.Implies(
            core.And((_, core.Earlier(core.Holds() as scope))), core.Earlier(core.Holds() as guard, None)
        ):
            if scope.span is not None and guard.span is not None and implied(subject, statement, scope, guard):
                yield Diagnostic.of(
                    "VGL314",
                    f"what `{statement.name}` applies after is a guard already, so no run can break it",
                    statement.source,
                    guard.span,
                    help="name a guard that the scope does not imply",
                    notes=(Note("it applies after this", statement.source, scope.span),),
                )


def _valid(statement: Statement, subject: Subject) -> Iterator[Diagnostic]:
    from vigil_lang.analysis.statement_entailment import valid

    known, requirement = subject.implications, statement.requirement
    if not valid(requirement, known):
        return
    conditions = [h.condition for h in core.conditions(requirement.theta)]
    if any(known.impossible((c,)) or known.impossible((core.NotC(c),)) for c in conditions):
        return
    message = f"no run can break `{statement.name}`: what it asks for follows from the rest"
    help_text = "ask for something that does not follow from the rest, or leave the statement out"
    yield Diagnostic.of("VGL314", message, statement.source, statement.span, help=help_text)


def _open(theta: core.Theta) -> bool:
    """Whether a body can be broken as long as its conditions can hold, by its shape: most are of this one."""
    match theta:
        case core.Holds():
            return True
        case core.Implies(core.Holds(), right):
            return all(map(_elsewhere, right.items if isinstance(right, core.And) else (right,)))
        case _:
            return _elsewhere(theta)


def _elsewhere(theta: core.Theta) -> bool:
    match theta:
        case core.Not(body):
            return _elsewhere(body)
        case core.Earlier(core.Holds()) | core.Later(core.Holds()):
            return True
        case _:
            return False
