"""What an engine is asked and what it answers: core requirements and events, never syntax, forms or files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.core import Requirement
    from vigil_lang.trace import Trace


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
