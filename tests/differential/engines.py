"""What each engine says of a requirement on a run, in one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import IndexedEngine, Judgement
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.smt.encode import Encoding
from vigil_lang.engines.smt.engine import SmtEngine
from vigil_lang.engines.smt.solve import assertion_names
from vigil_lang.semantics import denotation

if TYPE_CHECKING:
    from vigil_lang.engines.interface import BatchEngine, Outcome
    from vigil_lang.semantics.core import Requirement
    from vigil_lang.trace import Trace

Offence = tuple[int, tuple[str | None, ...]]


@dataclass(frozen=True)
class Answer:
    """Every offending event with its first failing binding, and whether the run put the statement to the test."""

    offences: tuple[Offence, ...]
    exercised: bool

    @property
    def events(self) -> list[int]:
        return [at for at, _ in self.offences]


def by_denotation(requirement: Requirement, trace: Trace) -> Answer:
    """What the rules say, read word by word."""
    found = denotation.violations(requirement, trace)
    offences = tuple((at, tuple(binding[x] for x in requirement.variables)) for at, binding in found)
    return Answer(offences, denotation.exercised(requirement, trace))


def outcome_of(engine: BatchEngine, requirement: Requirement, trace: Trace, name: str = "S") -> Outcome:
    """The one outcome of one rule on one run."""
    (outcome,) = engine.judge([Rule(name, requirement)], [trace])
    return outcome


def by_index(requirement: Requirement, trace: Trace) -> Answer:
    """What is decided without a solver."""
    outcome = outcome_of(IndexedEngine(), requirement, trace)
    assert outcome.certificate is None
    return Answer(tuple((v.event, v.binding) for v in outcome.violations), outcome.exercised)


def by_solver(requirement: Requirement, trace: Trace, name: str = "S") -> Answer:
    """What Z3 confirms. The core must name exactly one offending event: one is enough to refute."""
    outcome = outcome_of(SmtEngine(), requirement, trace, name)
    certificate = outcome.certificate
    assert certificate is not None
    names = assertion_names(name, [event.id for event in trace.events])
    assert len(set(names)) == len(names), "two conditions share a name"
    assert certificate.result == ("unsat" if outcome.violations else "sat")
    assert len(certificate.core) == bool(outcome.violations)
    # Names are given to the conditions that can fail, in order: number them as `certify` does.
    conditions = encoded(requirement, trace, name).conditions
    asserted = assertion_names(name, [trace.events[c.event].id for c in conditions])
    named = dict(zip(asserted, (c.event for c in conditions), strict=True))
    assert {named[name] for name in certificate.core} <= {violation.event for violation in outcome.violations}
    return Answer(tuple((v.event, v.binding) for v in outcome.violations), outcome.exercised)


def encoded(requirement: Requirement, trace: Trace, name: str = "") -> Encoding:
    """A requirement on a run as a query."""
    return Encoding(Judgement(requirement, RunIndex(trace)), name=name)
