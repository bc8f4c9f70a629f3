"""What an engine is asked and what it answers: core requirements and events, never syntax, forms or files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.core import Requirement
    from vigil_lang.trace import Event, Trace


class Rule(NamedTuple):
    """A requirement and the name it goes by: plain data, which can be stored, hashed and sent."""

    name: str
    requirement: Requirement


class Violation(NamedTuple):
    """An event at fault, by its index, with the first binding that fails it (spec 7.9).

    `binding` has a value for each variable of the requirement, in order; None is the fresh text.
    """

    event: int
    binding: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a solver confirmed: `unsat` exactly when the run breaks the rule.

    `core` has the names of a minimal set of conditions that the facts contradict.
    """

    result: str
    core: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule says of one run: the events at fault in the run's order, and whether it was put to the test."""

    rule: Rule
    run: Trace
    violations: tuple[Violation, ...]
    exercised: bool
    """Some event meets the trigger under some binding; without a trigger always (spec 7.10)."""
    certificate: Certificate | None = None


class BatchEngine(Protocol):
    """Decides recorded runs."""

    def judge(self, rules: Sequence[Rule], runs: Iterable[Trace]) -> Iterator[Outcome]:
        """The outcome of every rule on every run, run by run."""


PrefixVerdict: TypeAlias = Literal["violated", "satisfied", "pending", "holding"]
"""What a rule says of the events so far (spec 7.11): every continuation violates it, or none does; else whether it
would be false or true were the run to stop now."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a rule says of a run after some more events: the verdict, and the violations that are new."""

    verdict: PrefixVerdict
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a rule would say if a pending call were made: the violations that would be new."""

    violations: tuple[Violation, ...] = ()


class Monitor(Protocol):
    """Follows one rule along one run."""

    def propose(self, events: Sequence[Event]) -> Ahead:
        """What would be if a call with these events succeeded; nothing remembers it."""

    def step(self, events: Sequence[Event]) -> Progress:
        """Take in what happened: new events, and by their ids the ends of earlier ones."""

    def close(self) -> Outcome:
        """The run is over: what a batch engine says of it."""
