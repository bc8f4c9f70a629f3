"""The citations of a policy, gathered once for all rules."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from vigil_lang.lint.source.citations import citations_of
from vigil_lang.lint.source.reach import StatementReach

if TYPE_CHECKING:
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy


class Cited:
    """The citations of a policy's statements, and what these statements say."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._reaches: dict[int, StatementReach] = {}

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation, in order."""
        return tuple(c for s in self._policy.statements if s.metadata.cites for c in citations_of(s))

    def reach(self, statement: Statement) -> StatementReach:
        """What a statement of the policy says."""
        if id(statement) not in self._reaches:
            self._reaches[id(statement)] = StatementReach(statement, self._policy.module)
        return self._reaches[id(statement)]
