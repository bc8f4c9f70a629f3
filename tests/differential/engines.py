"""What each engine says of a requirement on a run, in one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.semantics import denotation
from vigil_lang.smt.encode import Encoding
from vigil_lang.smt.solve import assertion_names, decide

if TYPE_CHECKING:
    from vigil_lang.semantics.core import Requirement
    from vigil_lang.trace import Trace

Offence = tuple[int, tuple[str | None, ...]]


@dataclass(frozen=True)
class Judgement:
    """Every offending event with its first failing binding, and whether the run put the statement to the test."""

    offences: tuple[Offence, ...]
    exercised: bool

    @property
    def events(self) -> list[int]:
        return [at for at, _ in self.offences]


def by_denotation(requirement: Requirement, trace: Trace) -> Judgement:
    """What the rules say, read word by word."""
    found = denotation.violations(requirement, trace)
    offences = tuple((at, tuple(binding[x] for x in requirement.variables)) for at, binding in found)
    return Judgement(offences, denotation.exercised(requirement, trace))


def by_solver(requirement: Requirement, trace: Trace, name: str = "S") -> Judgement:
    """What the encoding and Z3 say. The core must name exactly one offending event: one is enough to refute."""
    encoding = Encoding(requirement, trace, name=name)
    decision = decide(encoding, name)
    names = assertion_names(name, [event.id for event in trace.events])
    assert len(set(names)) == len(names), "two conditions share a name"
    assert decision.result == ("unsat" if decision.offending else "sat")
    assert len(decision.core) == bool(decision.offending)
    # Names are given to the conditions that can fail, in order: number them as `decide` does.
    asserted = assertion_names(name, [trace.events[c.event].id for c in encoding.conditions])
    named = dict(zip(asserted, (c.event for c in encoding.conditions), strict=True))
    assert {named[name] for name in decision.core} <= {at for at, _ in decision.offending}
    return Judgement(decision.offending, encoding.exercised())
