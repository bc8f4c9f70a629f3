"""What a replay comes to: a decision for each call, what is violated and owed at the end, and the published form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Severity
    from vigil_lang.semantics.metadata import Reaction
    from vigil_lang.trace import Event, Run
    from vigil_lang.trace.unseen import CallsSeen
    from vigil_lang.verdict import SolverAnswer

Decided: TypeAlias = Literal["pass", "warn", "hold", "block"]
DECISIONS: tuple[Decided, ...] = ("pass", "warn", "hold", "block")
"""What a gate may decide, from the weakest to the strongest."""


@dataclass(frozen=True, slots=True)
class ReplayedStatement:
    """A statement as reports name it: plain data, which worker processes can send."""

    policy: str
    name: str
    severity: Severity
    reaction: Reaction
    line: int


@dataclass(frozen=True, slots=True)
class Reason:
    """A statement that a call would violate, or that cannot be judged and so blocks; or that the run violated.

    `statement` is its place in `Replayed.statements`, `event` the id of the event at fault.
    """

    statement: int
    event: str
    bindings: dict[str, str | None]
    message: str
    unjudged: bool = False
    solver: SolverAnswer | None = None
    """The solver's confirmation, where it was asked for and the violation does not rest on calls in flight."""


@dataclass(frozen=True, slots=True)
class Owing:
    """An obligation that is open: since which event, under which bindings, and what is left of its bound in words."""

    statement: int
    since: str
    bindings: dict[str, str | None]
    message: str
    left: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided of one call when it is proposed.

    `owed` has the obligations that have come up since the decision before. `told` is what the agent is told, empty
    where the call passes. `time` is in microseconds since 1970, None where the recording has none; `microseconds` is
    how long it took to decide.
    """

    call: str
    events: tuple[str, ...]
    decided: Decided
    reasons: tuple[Reason, ...] = ()
    owed: tuple[Owing, ...] = ()
    told: str = ""
    shown: Event | None = field(default=None, repr=False)
    """The call itself, where it is disturbed: what a person is shown."""
    executed: bool = True
    """False where the recording shows that the call was refused."""
    time: int | None = None
    microseconds: int = 0


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run as it would have gone under a gate. Statements are named by their place in `statements`."""

    run: Run
    statements: tuple[ReplayedStatement, ...]
    decisions: tuple[Decision, ...]
    violated: tuple[Reason, ...]
    """The statements that the whole run violates, each with the first event at fault: as in a verdict on it."""
    owed: tuple[Owing, ...]
    unjudged: tuple[tuple[int, str], ...]
    """Statements that cannot be judged on this run, and why."""
    solver: tuple[SolverAnswer, ...]
    """What the solver says of each statement on the whole run, where it was asked."""
    events: int
    """How many events the recording has, also those that were left out."""
    seen: CallsSeen

    @property
    def disturbed(self) -> list[Decision]:
        """The decisions to block, hold or warn."""
        return [decision for decision in self.decisions if decision.decided != "pass"]

    @property
    def summary(self) -> dict[str, int]:
        """How many calls each decision was made for."""
        found = Counter[str](decision.decided for decision in self.decisions)
        return {decided: found[decided] for decided in DECISIONS}

    def levels(self) -> set[Severity]:
        """The severities of the statements that disturb a call or are violated at the end."""
        met = {reason.statement for decision in self.decisions for reason in decision.reasons}
        met |= {reason.statement for reason in self.violated} | {at for at, _ in self.unjudged}
        return {self.statements[at].severity for at in met}

    @property
    def unforeseen(self) -> list[Reason]:
        """The violations of statements that disturb no call: only an outcome, a message or the end showed them."""
        met = {reason.statement for decision in self.decisions for reason in decision.reasons}
        return [reason for reason in self.violated if reason.statement not in met]

    def to_json(self) -> dict[str, Any]:
        """The published form, `vigil.replay/1`."""
        return {
            "schema": "vigil.replay/1",
            "run": self._run_to_json(),
            "decisions": [self.decision_to_json(decision) for decision in self.decisions],
            "end": self._end_to_json(),
            "summary": self.summary,
        }

    def decision_to_json(self, decision: Decision) -> dict[str, Any]:
        """One decision in the published form."""
        found: dict[str, Any] = {
            "call": decision.call,
            "events": list(decision.events),
            "decision": decision.decided,
            "statements": [self._reason_to_json(reason) for reason in decision.reasons],
            "owed": [self._owing_to_json(owing) for owing in decision.owed],
            "microseconds": decision.microseconds,
        }
        if decision.told:
            found["told"] = decision.told
        return found if decision.executed else {**found, "executed": False}

    def _reason_to_json(self, reason: Reason) -> dict[str, Any]:
        statement = self.statements[reason.statement]
        found: dict[str, Any] = {
            "policy": statement.policy,
            "name": statement.name,
            "event": reason.event,
            "bindings": reason.bindings,
            "message": reason.message,
        }
        if reason.solver is not None:
            found["solver"] = reason.solver.to_json()
        return {**found, "unjudged": True} if reason.unjudged else found

    def _owing_to_json(self, owing: Owing) -> dict[str, Any]:
        statement = self.statements[owing.statement]
        found: dict[str, Any] = {
            "policy": statement.policy,
            "name": statement.name,
            "since": owing.since,
            "bindings": owing.bindings,
            "message": owing.message,
        }
        return found if owing.left is None else {**found, "left": owing.left}

    def _end_to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "violated": [self.statements[reason.statement].name for reason in self.violated],
            "violations": [self._reason_to_json(reason) for reason in self.violated],
            "owed": [self._owing_to_json(owing) for owing in self.owed],
        }
        if self.solver:
            told = zip(self.statements, self.solver, strict=True)
            found["solver"] = [{"statement": each.name, **answer.to_json()} for each, answer in told]
        if self.unjudged:
            found["unjudged"] = [{"name": self.statements[at].name, "why": why} for at, why in self.unjudged]
        return found

    def _run_to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"path": self.run.path, "calls": len(self.decisions)}
        if self.seen.unseen:
            found["unseen"] = len(self.seen.unseen)
        if self.run.not_executed:
            found["not_executed"] = self.run.not_executed
        return found


class Change(NamedTuple):
    """A call on which two sets of policies decide differently; a decision is None where the call was left out."""

    before: Decision | None
    now: Decision | None


@dataclass(frozen=True, slots=True)
class Changed:
    """What is different between two replays of one run: decisions, and the statements violated at the end."""

    before: Replayed
    now: Replayed

    @property
    def decisions(self) -> list[Change]:
        """The calls on which they differ, in the run's order; statements count by their names."""
        old = {decision.events: decision for decision in self.before.decisions}
        new = {decision.events: decision for decision in self.now.decisions}
        order = [*new, *(events for events in old if events not in new)]
        pairs = (Change(old.get(events), new.get(events)) for events in order)
        return [pair for pair in pairs if self._told(self.before, pair.before) != self._told(self.now, pair.now)]

    @property
    def violated(self) -> tuple[list[str], list[str]]:
        """The names of statements that are violated now and were not before, and the other way round."""
        before = {self.before.statements[reason.statement].name for reason in self.before.violated}
        now = {self.now.statements[reason.statement].name for reason in self.now.violated}
        return sorted(now - before), sorted(before - now)

    def __bool__(self) -> bool:
        return bool(self.decisions) or any(self.violated)

    @staticmethod
    def _told(of: Replayed, decision: Decision | None) -> object:
        if decision is None:
            return None
        return decision.decided, {of.statements[reason.statement].name for reason in decision.reasons}

    def to_json(self) -> dict[str, Any]:
        """The published form with the decisions that differ only, each with what it `was`."""
        found = self.now.to_json()
        found["decisions"] = list(self._changes_to_json())
        appeared, gone = self.violated
        found["end"] |= {"newly_violated": appeared, "no_longer_violated": gone}
        found["was"] = {"summary": self.before.summary}
        return found

    def _changes_to_json(self) -> Iterator[dict[str, Any]]:
        for change in self.decisions:
            was = None if change.before is None else self.before.decision_to_json(change.before)
            if change.now is not None:
                yield {**self.now.decision_to_json(change.now), "was": was}
            elif was is not None:
                yield {"call": was["call"], "events": was["events"], "decision": None, "statements": [], "was": was}
