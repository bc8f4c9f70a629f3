"""What an engine is asked and what it answers: core requirements and events, never syntax, forms or files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from vigil_lang.semantics.core import Bound, Requirement
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


class Certificate(Frozen, frozen=True):
    """What a solver confirmed: `unsat` exactly when the run breaks the rule.

    `core` has the names of a minimal set of conditions that the facts contradict.
    """

    result: str
    core: tuple[str, ...]
    seconds: float


class Outcome(Frozen, frozen=True):
    """What one rule says of one run: the events at fault in the run's order, and whether it was put to the test."""

    rule: Rule
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


class Breach(NamedTuple):
    """A violation met on the way: the rule's place among those followed, the event's index and id, and the first
    binding known to fail it."""

    rule: int
    event: int
    id: str
    binding: tuple[str | None, ...]


class Owed(NamedTuple):
    """An obligation that is open: since which event, under which binding, and how much of its bound is left.

    `left` is None where it may be met until the run ends. Time counts from the last event.
    """

    rule: int
    event: int
    id: str
    binding: tuple[str | None, ...]
    left: Bound = None


class Unjudged(NamedTuple):
    """A rule that cannot be judged from here on, and why."""

    rule: int
    why: str


class Progress(Frozen, frozen=True):
    """What is new after some more events, in the order in which it came to be certain."""

    breaches: tuple[Breach, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()


class Ahead(Frozen, frozen=True):
    """What would be new if a pending call were made and succeeded; rules that cannot judge it are named as well."""

    breaches: tuple[Breach, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()


class Monitor(Protocol):
    """Follows rules along one run."""

    def propose(self, events: Sequence[Event], unsure: Set[str] = frozenset()) -> Ahead:
        """What would be if a call with these events succeeded; nothing remembers it.

        Events that are `unsure`, by their ids, are judged as they are: they need not succeed where the call does.
        Calls in flight are no guards of it, and what they may do counts against it. A test of an output that is not
        there yet is open (spec R7.11-4).
        """

    def step(self, events: Sequence[Event], *, ended: bool = True) -> Progress:
        """Take in what happened: new events, and by their ids the ends of those in flight.

        Without `ended` the new events are in flight: their statuses and outputs may still come, and they are judged
        when they and all before them have ended.

        Raises:
            ValueError: an event has the id of one that has ended.
        """

    def verdicts(self) -> tuple[PrefixVerdict | None, ...]:
        """What each rule says of the events so far; None where it cannot be judged any more.

        Events in flight are taken as they are.
        """

    def pending(self) -> tuple[Owed, ...]:
        """What is owed, rule by rule, oldest first."""

    def close(self) -> tuple[Outcome | Unjudged, ...]:
        """The run is over, calls in flight end as they are: what a batch engine says of it, rule by rule."""

    def snapshot(self) -> bytes:
        """The whole state as JSON: equal states give equal bytes."""
