"""VGL313: resolvers of `until` that resolve nothing: each is forbidden itself, or begins what it should end."""

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
    """Statements that mean the same without their resolver: what is forbidden stays so once the trigger occurred."""
    for statement in subject.policy.statements:
        match statement.requirement.theta:
            case core.Implies(left, core.Clear(core.Holds() as resolver, core.Holds() as forbidden)):
                if implied(subject, statement, resolver, forbidden):
                    message = f"every resolver is itself forbidden, so the first one breaks `{statement.name}`"
                    yield _finding(message, statement, resolver, forbidden, "what is forbidden")
                    continue
                trigger = triggering(left)
                if trigger is not None and implied(subject, statement, resolver, trigger):
                    message = f"every resolver is a trigger again, so `{statement.name}` stays in force for good"
                    yield _finding(message, statement, resolver, trigger, "the trigger")


def _finding(message: str, statement: Statement, resolver: core.Holds, other: core.Holds, what: str) -> Diagnostic:
    assert resolver.span is not None
    assert other.span is not None
    help_text = f"leave resolvers out of {what}: `… and not …`"
    note = Note(what, statement.source, other.span)
    return Diagnostic.of("VGL313", message, statement.source, resolver.span, help=help_text, notes=(note,))
