"""VGL327: a gate is told to block or hold where refusing calls prevents no violation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.analysis.enforceability import enforceability, in_words, kinds
from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Reactions other than `warn`, written out, of statements no part of which can be prevented all along."""
    for statement in subject.policy.statements:
        written = [note for note in statement.syntax.annotations if note.name.text == "on_violation"]
        parts = enforceability(statement.requirement)
        found = kinds(parts)
        if not written or not found or "preventable" in found:
            continue
        match written[0].args:
            case (tree.Name("block" | "hold" as reaction) | tree.String("block" | "hold" as reaction),):
                at_last = "last-chance" in found
                said = "; it ".join(in_words(statement, part) for part in parts)
                fix = Fix("write `warn`", (Edit(written[0].args[0].span, "warn"),))
                yield Diagnostic.of(
                    "VGL327",
                    f"`{statement.name}` {said}",
                    statement.source,
                    written[0].span,
                    severity="info" if at_last else None,
                    help=f"before that, `@on_violation({reaction})` stops nothing"
                    if at_last
                    else "`@on_violation(warn)` is what a gate can do",
                    fix=None if at_last else fix,
                )
