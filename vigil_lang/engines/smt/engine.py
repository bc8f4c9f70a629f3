"""The engine whose every outcome Z3 confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Outcome
from vigil_lang.engines.smt.encode import Encoding, event_names
from vigil_lang.engines.smt.solve import certify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.engines.interface import Rule
    from vigil_lang.trace import Trace


class SmtEngine:
    """The batch engine that gives certificates."""

    def judge(self, rules: Sequence[Rule], runs: Iterable[Trace]) -> Iterator[Outcome]:
        """The outcome of every rule on every run, run by run.

        Raises:
            SolverDisagrees: Z3 did not confirm one; a fault of this program.
        """
        for run in runs:
            index, names = RunIndex(run), event_names(run)
            for rule in rules:
                yield confirmed(rule, Judgement(rule.requirement, index, name=rule.name), names)


def confirmed(rule: Rule, judgement: Judgement, event_names: Sequence[str]) -> Outcome:
    """What a rule says of a run, with Z3's certificate; `event_names` are shared by the rules on the run.

    Raises:
        SolverDisagrees: Z3 did not confirm it.
    """
    violations = tuple(judgement.violations())
    encoding = Encoding(judgement, event_names, name=rule.name)
    certificate = certify(encoding, rule.name, {violation.event for violation in violations})
    return Outcome(rule, violations, bool(violations) or judgement.exercised(), certificate)
