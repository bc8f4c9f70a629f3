"""What judging a run by policies comes to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from vigil_lang.base.structs import Frozen
from vigil_lang.trace.unseen import CallsSeen, calls_seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.lower import Statement as PolicyStatement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace

FORBIDDEN_SHOWN: Final = 5
"""Forbidden events that are shown; the published form has all."""

_UNSEEN_TOLD = 100
"""Ids of calls that are not wholly seen, as many as the published form has."""


class NearMiss(Frozen, frozen=True):
    """An event that almost met what was missing, and the one thing that kept it from doing so."""

    event: str
    why: str


class Offence(Frozen, frozen=True):
    """An event at fault.

    `index` counts from 0. `bindings` gives each variable's value; None stands for any value the run does not carry.
    `why` says in words what is missing or forbidden; `message` is the policy's own, or `why` where it has none.
    `forbidden` has, for `until`, every event that came before the resolver.
    """

    event: str
    index: int
    call: str
    bindings: dict[str, str | None]
    message: str
    why: str
    near_misses: tuple[NearMiss, ...] = ()
    forbidden: tuple[str, ...] = ()

    def notes(self, trace: Trace) -> dict[int, str]:
        """What is to be said of the events that come into it, by index: near misses, and what was forbidden."""
        found = {trace.index_of[miss.event]: f"near miss: {miss.why}" for miss in self.near_misses}
        found |= dict.fromkeys([trace.index_of[event] for event in self.forbidden[:FORBIDDEN_SHOWN]], "forbidden here")
        if (more := len(self.forbidden) - FORBIDDEN_SHOWN) > 0:
            found[trace.index_of[self.forbidden[FORBIDDEN_SHOWN - 1]]] += f", and {more} more"
        return found

    def to_json(self) -> dict[str, Any]:
        """The published form (`why` is for people)."""
        found: dict[str, Any] = {
            "event": self.event,
            "index": self.index,
            "call": self.call,
            "bindings": self.bindings,
            "message": self.message,
            "near_misses": [{"event": n.event, "why": n.why} for n in self.near_misses],
        }
        return found | ({"forbidden": list(self.forbidden)} if self.forbidden else {})


class SolverAnswer(Frozen, frozen=True):
    """Z3's answer: `unsat` is a violation; `core` names the conditions of one minimal contradiction."""

    result: str
    core: tuple[str, ...]
    seconds: float
    name: str = "z3"

    def to_json(self) -> dict[str, Any]:
        """The published form."""
        return {
            "name": self.name,
            "result": self.result,
            "core": list(self.core),
            "seconds": round(self.seconds, 6),
        }


class StatementVerdict(Frozen, frozen=True):
    """One statement on one run. `vacuous`: it held because nothing put it to the test."""

    _UNSHOWN: ClassVar[frozenset[str]] = frozenset({"statement"})

    policy: str
    name: str
    form: str
    verdict: Literal["satisfied", "violated"]
    vacuous: bool
    offending: tuple[Offence, ...]
    solver: SolverAnswer
    statement: PolicyStatement
    truncated: tuple[str, ...] = ()
    """Events whose output was cut, where the missing part could change the verdict."""

    def to_json(self) -> dict[str, Any]:
        """The published form."""
        found: dict[str, Any] = {
            "policy": self.policy,
            "name": self.name,
            "form": self.form,
            "verdict": self.verdict,
            "vacuous": self.vacuous,
            "offending": [o.to_json() for o in self.offending],
            "solver": self.solver.to_json(),
        }
        return found | ({"truncated": list(self.truncated)} if self.truncated else {})


class Verdict(Frozen, frozen=True, dict=True):
    """A run judged by policies: unsafe when some statement is violated."""

    _UNSHOWN: ClassVar[frozenset[str]] = frozenset({"trace", "policies"})

    trace: Trace
    policies: tuple[Policy, ...]
    statements: tuple[StatementVerdict, ...]

    @property
    def verdict(self) -> Literal["safe", "unsafe"]:
        """`unsafe` when some statement is violated."""
        return "unsafe" if any(s.verdict == "violated" for s in self.statements) else "safe"

    def __bool__(self) -> bool:
        raise TypeError("a verdict is neither true nor false: ask for `verdict.safe`")

    @property
    def safe(self) -> bool:
        """Whether no statement is violated. `seen` and `vacuous` say what that rests on."""
        return self.verdict == "safe"

    @property
    def vacuous(self) -> bool:
        """Whether every statement holds vacuously: nothing that the policies speak of happened."""
        return bool(self.statements) and all(s.vacuous for s in self.statements)

    @cached_property
    def seen(self) -> CallsSeen:
        """How many calls were judged, and which of them are not wholly seen."""
        return calls_seen(self.trace)

    def offences(self) -> Iterator[tuple[StatementVerdict, Offence]]:
        """Every offence with its statement, statements in policy order, events in run order."""
        for statement in self.statements:
            for offence in statement.offending:
                yield statement, offence

    def to_json(self) -> dict[str, Any]:
        """The published form, `vigil.verdict/1`."""
        return {
            "schema": "vigil.verdict/1",
            "trace": self._trace_to_json(),
            "verdict": self.verdict,
            "vacuous": self.vacuous,
            "statements": [s.to_json() for s in self.statements],
        }

    def _trace_to_json(self) -> dict[str, Any]:
        run, seen = self.trace.run, self.seen
        found: dict[str, Any] = {
            "path": run.path,
            "events": len(self.trace),
            "calls": seen.calls,
            "unseen": len(seen.unseen),
        }
        if seen.unseen:
            found["unseen_events"] = list(seen.unseen[:_UNSEEN_TOLD])
        if run.not_executed:
            found["not_executed"] = run.not_executed
        if run.not_understood:
            found |= {"records": run.records, "not_understood": run.not_understood}
        return found
