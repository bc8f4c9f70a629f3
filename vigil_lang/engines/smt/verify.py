"""Algorithm 1's Verify: each statement put through the solver once, each violation localised and explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.effort import SHOWN, VIOLATION, Effort
from vigil_lang.engines.explanation import Explainer
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.smt.encode import event_names
from vigil_lang.engines.smt.engine import confirmed
from vigil_lang.semantics.truncated_output import rests_on_cut
from vigil_lang.verdict import SolverAnswer, StatementVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    effort = effort or Effort()
    effort.begin(trace)
    index, names = RunIndex(trace, effort), event_names(trace)
    found = [_statement(policy, statement, index, names) for policy in chosen for statement in policy.statements]
    return Verdict(trace, chosen, tuple(found))


def _statement(policy: Policy, statement: PolicyStatement, index: RunIndex, names: Sequence[str]) -> StatementVerdict:
    judgement = Judgement(statement.requirement, index, name=statement.name)
    outcome = confirmed(Rule(statement.name, statement.requirement), judgement, names)
    certificate = outcome.certificate
    assert certificate is not None
    if outcome.violations:
        judgement.work.spend(VIOLATION + SHOWN * judgement.tests)
    explainer = Explainer(statement, judgement)
    return StatementVerdict(
        policy=policy.path,
        name=statement.name,
        form=statement.form,
        verdict="violated" if outcome.violations else "satisfied",
        vacuous=not outcome.exercised,
        offending=tuple(explainer.offence(at, binding) for at, binding in outcome.violations),
        solver=SolverAnswer(certificate.result, certificate.core, certificate.seconds),
        statement=statement,
        truncated=rests_on_cut(statement.requirement, index.trace),
    )
