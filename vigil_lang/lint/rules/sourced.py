"""VGL803: statements that do not say whose rule they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements without `@source`."""
    for statement in subject.policy.statements:
        if not statement.metadata.cites:
            message = f"`{statement.name}` cites no source"
            help_text = 'name the file and the sentence it enforces: `@source("SKILL.md", "…")`'
            yield Diagnostic.of("VGL803", message, statement.source, statement.span, help=help_text)


RULE = Rule(("VGL803",), find)
