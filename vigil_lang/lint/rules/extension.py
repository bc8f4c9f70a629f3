"""VGL501: where a policy uses more than the language of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterable[Diagnostic]:
    """Every use of an extension."""
    from vigil_lang.semantics.extensions import uses

    return uses(subject.policy)


RULE = Rule(("VGL501",), find)
