"""VGL312: responses that are triggers themselves: the last one has no response after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.lint.obligations import implied, obligations
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements that the last trigger of any run breaks, because every response is a trigger."""
    for statement in subject.policy.statements:
        for trigger, response, _ in obligations(statement.requirement, core.Later):
            if response.span is None or trigger.span is None or not implied(subject, statement, response, trigger):
                continue
            same = implied(subject, statement, trigger, response)
            what = "the response is the trigger itself" if same else "every response is a trigger again"
            yield Diagnostic.of(
                "VGL312",
                f"{what}, so the last one always breaks `{statement.name}`",
                statement.source,
                response.span,
                help="exclude responses from the trigger, or name another response",
                notes=(Note("the trigger", statement.source, trigger.span),),
            )
