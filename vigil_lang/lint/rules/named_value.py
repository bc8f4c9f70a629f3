"""VGL702: numbers, versions and names of a cited sentence that nothing in the statement contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterable[Diagnostic]:
    """The findings about what is cited; nothing is loaded for policies that cite nothing."""
    if not any(statement.metadata.cites for statement in subject.policy.statements):
        return ()
    from vigil_lang.lint.source import values

    return values.find(subject)


RULE = Rule(("VGL702",), find)
