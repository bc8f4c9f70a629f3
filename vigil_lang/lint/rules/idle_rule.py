"""VGL351: a gate's rule that another rule of the file makes idle."""

from __future__ import annotations

from itertools import islice, permutations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject

_MAX_PAIRS: Final = 2_000
"""Pairs of rules of one policy that are compared."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Rules whose calls another rule stops as much; of two that say the same, the first stays."""
    rules = subject.policy.rules
    if len(rules) < 2:
        return
    from vigil_lang.lint.rule_layers import adds_nothing, idle  # late: most policies have no rules

    said: set[str] = set()
    for rule, other in islice(permutations(reversed(rules), 2), _MAX_PAIRS):
        if rule.name in said or other.name in said:
            continue
        if adds_nothing(rule, other, subject.implications):
            said.add(rule.name)
            yield idle(rule, other, f"`{other.name}`")
