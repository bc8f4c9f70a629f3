"""The findings of `vigil check` on a policy that has a meaning (spec.md, annex A)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.lint.registry import basic_rules
from vigil_lang.lint.subject import Subject

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic, Span
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature


def check_policy(policy: Policy, signature: Signature | None = None) -> list[Diagnostic]:
    """The findings about what resolves: its conditions by themselves and, given a signature, its vocabulary.

    They add to `policy.diagnostics`; each is found once, however many statements share its cause.
    """
    subject = Subject(policy, signature)
    once: dict[tuple[str, str, Span], Diagnostic] = {}
    for rule in basic_rules():
        for finding in rule.find(subject):
            once.setdefault((finding.code, finding.source.path, finding.span), finding)
    return sorted(once.values(), key=lambda d: (d.source.path != policy.path, d.source.path, d.span.start, d.code))
