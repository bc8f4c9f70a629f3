"""What a rule looks at: one policy, and all that is known beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from vigil_lang.semantics.conditions import Conditions
from vigil_lang.semantics.meanings import Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature, Trace


@dataclass(frozen=True)
class Subject:
    """One policy with what it can be held against.

    `runs` are recordings the policy should have something to say about; None where none were given. `benign` are
    recordings in which nothing is wrong: at most the share `benign_threshold` of them may break a statement.
    """

    policy: Policy
    signature: Signature | None = None
    runs: Sequence[Trace] | None = field(default=None, repr=False)
    benign: Sequence[Trace] | None = field(default=None, repr=False)
    benign_threshold: float = 0.0

    @cached_property
    def conditions(self) -> Conditions:
        """Reads conditions of the policy; what has no meaning was reported when the policy was read."""
        return Conditions(Values(self.policy.params), _ignored)


def _ignored(finding: Diagnostic) -> None:
    pass
