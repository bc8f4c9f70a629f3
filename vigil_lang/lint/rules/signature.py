"""VGL401 to VGL409: what a policy says of things that its signature does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterable[Diagnostic]:
    """The findings against the signature; none without one."""
    if subject.signature is None or not subject.signature.actions:
        return ()
    from vigil_lang.lint.signature.against import against

    return against(subject.policy, subject.signature, subject.conditions)


RULE = Rule(tuple(f"VGL40{n}" for n in range(1, 10)), find, basic=True)
