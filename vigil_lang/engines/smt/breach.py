"""Violations found while a run goes on, each confirmed and explained by the solver on the events that decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.explanation import Explainer
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Violation
from vigil_lang.engines.slicing import deciding, subrun
from vigil_lang.engines.smt.encode import Encoding
from vigil_lang.engines.smt.solve import certify
from vigil_lang.semantics.truncated_output import rests_on_cut
from vigil_lang.verdict import SolverAnswer, StatementVerdict

if TYPE_CHECKING:
    from vigil_lang.engines.interface import Certificate
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace


class Breaches:
    """What was found on a run so far, or on a run that has ended; what does not depend on the event is found once.

    A call that is about to be made comes last in the run, as what it would be if it succeeded.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._index = RunIndex(trace)
        self._known: dict[int, tuple[Judgement, Explainer, tuple[str, ...]]] = {}

    def certified(self, policy: Policy, statement: Statement, found: Violation) -> StatementVerdict:
        """The verdict on one event: its offence, with the ids and indices of the run, and the solver's answer.

        The solver is asked about the slice of the run alone, under the binding that was found.

        Raises:
            TooCostly: VGL003, that would take more than the size of the run warrants.
            SolverDisagrees: Z3 does not confirm that the event violates the statement under this binding.
        """
        judgement, explainer, truncated = self._of(statement)
        binding = judgement.standing_for(found.binding)
        offence = explainer.offence(found.event, binding)
        named = [self.trace.index_of[miss.event] for miss in offence.near_misses]
        named += [self.trace.index_of[event] for event in offence.forbidden]
        places = deciding(judgement, found.event, binding, named)
        asked = Violation(places.index(found.event), binding)
        small = Judgement(judgement.requirement, RunIndex(subrun(self.trace, places)), name=statement.name)
        certificate = confirmed_breach(small, asked, statement.name)
        return StatementVerdict(
            policy=policy.path,
            name=statement.name,
            form=statement.form,
            verdict="violated",
            vacuous=False,
            offending=(offence,),
            solver=SolverAnswer(certificate.result, certificate.core, certificate.seconds),
            statement=statement,
            truncated=truncated,
        )

    def _of(self, statement: Statement) -> tuple[Judgement, Explainer, tuple[str, ...]]:
        known = self._known.get(id(statement))
        if known is None:
            judgement = Judgement(statement.requirement, self._index, name=statement.name)
            truncated = rests_on_cut(statement.requirement, self.trace)
            known = self._known[id(statement)] = judgement, Explainer(statement, judgement), truncated
        return known


def confirmed_breach(judgement: Judgement, found: Violation, name: str) -> Certificate:
    """Z3's certificate that a requirement fails at one event under one binding; the core names that event.

    Raises:
        SolverDisagrees: it does not.
    """
    binding = judgement.standing_for(found.binding)
    return certify(Encoding(judgement, name=name, only=Violation(found.event, binding)), name, {found.event})
