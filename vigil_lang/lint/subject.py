"""The input of a rule: one policy with its signature, runs and documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from vigil_lang.analysis.condition_implication import Implications
from vigil_lang.documents.library import Library
from vigil_lang.lint.policy_parts import policy_parts
from vigil_lang.lint.variables import unjoined
from vigil_lang.semantics.conditions import Conditions
from vigil_lang.semantics.meanings import Values
from vigil_lang.semantics.modules import FROM_DISK
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.analysis.reachability import Reachability
    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.judging import Judged
    from vigil_lang.lint.policy_parts import PolicyParts
    from vigil_lang.lint.signature.vocabulary import Vocabulary
    from vigil_lang.lint.source.cited import Cited
    from vigil_lang.lint.variables import UnjoinedVariables
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature, Trace

    Judge: TypeAlias = Callable[[Sequence[Statement], Sequence[Trace]], list[list[Judged]]]
    from vigil_lang.semantics.modules import Access, Declaration


MAX_DOUBTFUL = 20
"""Questions about one policy that a rule may ask the solver in vain, before it asks no more."""


@dataclass(frozen=True)
class Subject:
    """One policy with what it can be held against.

    `runs` are recordings the policy should have something to say about; None where none were given. `benign` are
    recordings in which nothing is wrong: at most the share `benign_threshold` of them may break a statement.
    `documents` reads those that statements cite.
    """

    policy: Policy
    signature: Signature | None = None
    runs: Sequence[Trace] | None = field(default=None, repr=False)
    benign: Sequence[Trace] | None = field(default=None, repr=False)
    benign_threshold: float = 0.0
    documents: Library = field(default_factory=Library, repr=False)
    access: Access = field(default=FROM_DISK, repr=False)
    """How policies are read that it does not use by name: those that tests are about."""
    tools: dict[str, Tool] = field(default_factory=dict, repr=False)
    """The tools that the project describes."""
    judge: Judge | None = field(default=None, repr=False)
    """Judges runs by statements where that is not done from nothing: an editor remembers most of the answers."""
    occurring: Reachability | None = field(default=None, repr=False)
    """What can occur within the signature, where somebody remembers what was asked of it before."""

    only: tree.Item | None = field(default=None, repr=False)
    """The one item of the policy that is looked at; None for all of it."""
    doubts: Counter[str] = field(default_factory=Counter, repr=False)
    """How many questions each rule asked the solver in vain, by its code."""

    def focused(self, item: tree.Item) -> Subject:
        """The same policy, of which only one item is looked at; what is known of its patterns is shared."""
        policy = self.policy
        statements = tuple([s for s in policy.statements if s.syntax is item])
        rules = tuple([r for r in policy.rules if r.syntax is item])
        found = replace(self, policy=structs.replace(policy, statements=statements, rules=rules), only=item)
        for shared in ("conditions", "implications", "vocabulary", "reachability", "has_rules"):
            found.__dict__[shared] = getattr(self, shared)
        return found

    @property
    def declarations(self) -> Iterable[Declaration]:
        """The declarations of the policy's own file that are looked at."""
        if self.only is None:
            return self.policy.module.own.values()
        return (self.only,) if isinstance(self.only, tree.Let | tree.Param | tree.Pattern) else ()

    @cached_property
    def has_rules(self) -> bool:
        """Whether the policy is one of a gate."""
        return bool(self.policy.rules)

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """The names of the signature; None where there is none, or it has no actions."""
        from vigil_lang.lint.signature.vocabulary import Vocabulary  # late: most policies are linted without runs

        return Vocabulary(self.signature) if self.signature is not None and self.signature.actions else None

    @cached_property
    def reachability(self) -> Reachability | None:
        """What can occur within the signature, as far as that has been asked."""
        from vigil_lang.analysis.reachability import Reachability

        if self.occurring is not None:
            return self.occurring
        return Reachability(self.signature) if self.signature is not None else None

    @cached_property
    def good_texts(self) -> frozenset[str] | None:
        """The names and values of the runs that the policy's tests do not expect to break it; None where all are."""
        from vigil_lang.lint.signature.known_bad import good_texts  # late: most policies are linted without runs

        return good_texts(self.policy.module.source.path, self.runs, self.access)

    def judged(self, runs: Sequence[Trace]) -> list[list[Judged]]:
        """For each statement of the policy, what each run says of it."""
        if self.judge is not None:
            return self.judge(self.policy.statements, runs)
        from vigil_lang.lint.judging import judged  # late: most policies are linted without runs

        return judged(self.policy.statements, runs)

    @cached_property
    def conditions(self) -> Conditions:
        """Reads conditions of the policy; what has no meaning was reported when the policy was read."""
        return Conditions(Values(self.policy.params), _ignored)

    @cached_property
    def parts(self) -> PolicyParts:
        """The tests, calls and connectives of the policy's own text, gathered once for all rules."""
        return policy_parts(self.policy, self.declarations)

    @cached_property
    def unjoined(self) -> list[UnjoinedVariables]:
        """The statements with variables that join nothing."""
        return unjoined(self.policy.statements)

    @cached_property
    def cited(self) -> Cited:
        """The sentences that statements cite, gathered once for all rules."""
        from vigil_lang.lint.source.cited import Cited  # late: most policies cite nothing

        return Cited(self.policy)

    @cached_property
    def implications(self) -> Implications:
        """Which conditions imply which, as far as that has been asked."""
        return Implications()


def _ignored(finding: Diagnostic) -> None:
    pass
