"""Algorithm 1's Verify: each statement put through the solver once, each violation localised and explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.semantics.observation import rests_on_cut
from vigil_lang.smt.effort import SHOWN, VIOLATION, Effort
from vigil_lang.smt.encode import Encoding
from vigil_lang.smt.explain import Explainer
from vigil_lang.smt.leaves import Matching
from vigil_lang.smt.solve import decide
from vigil_lang.verdict import SolverAnswer, StatementVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.lower import Statement as PolicyStatement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace


def verify(policies: Iterable[Policy], trace: Trace, effort: Effort | None = None) -> Verdict:
    """Judge a run by every statement of the policies. Runs of one recording share an `effort`.

    Raises:
        TooCostly: VGL003, that would take more than the size of the run warrants.
        SolverDisagrees: Z3 did not confirm a verdict; a fault of this program.
    """
    chosen = tuple(policies)
    matching = Matching(trace)
    effort = effort or Effort()
    effort.begin(trace)
    found = [
        _statement(policy, statement, trace, matching, effort) for policy in chosen for statement in policy.statements
    ]
    return Verdict(trace, chosen, tuple(found))


def _statement(
    policy: Policy, statement: PolicyStatement, trace: Trace, matching: Matching, effort: Effort
) -> StatementVerdict:
    encoding = Encoding(statement.requirement, trace, matching, name=statement.name, effort=effort)
    decision = decide(encoding, statement.name)
    if decision.offending:
        encoding.spend(decision.offending[0][0], VIOLATION + SHOWN * encoding.tests)
    explainer = Explainer(statement, encoding)
    return StatementVerdict(
        policy=policy.path,
        name=statement.name,
        form=statement.form,
        verdict="violated" if decision.offending else "satisfied",
        vacuous=not decision.offending and not encoding.exercised(),
        offending=tuple(explainer.offence(at, binding) for at, binding in decision.offending),
        solver=SolverAnswer(decision.result, decision.core, decision.seconds),
        statement=statement,
        truncated=rests_on_cut(statement.requirement, trace),
    )
