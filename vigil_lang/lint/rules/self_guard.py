"""VGL311: guards that are triggers themselves: the first of them has none before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.lint.obligations import implied, obligations
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements that the first trigger of any run breaks, because every guard is a trigger.

    With `after` a guard may come before its scope begins and is then no trigger.
    """
    for statement in subject.policy.statements:
        for trigger, guard, scoped in obligations(statement.requirement, core.Earlier):
            if scoped or guard.span is None or trigger.span is None or not implied(subject, statement, guard, trigger):
                continue
            same = implied(subject, statement, trigger, guard)
            what = "the guard is the trigger itself" if same else "every guard is a trigger, too"
            yield Diagnostic.of(
                "VGL311",
                f"{what}, so the first one always breaks `{statement.name}`",
                statement.source,
                guard.span,
                help="name the event that must come first; to forbid an event write `abs(…)`",
                notes=(Note("the trigger", statement.source, trigger.span),),
            )
