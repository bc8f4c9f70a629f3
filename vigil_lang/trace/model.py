"""Typed events (paper, section 4.2) and the trace that orders them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Status = Literal["ok", "error", "unknown"]

MESSAGES = frozenset({"user.message", "agent.message"})
"""The actions of events that are no calls: what the user and the agent say."""


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a run: e = ⟨a(e), e[·], s(e), o(e)⟩.

    `args` maps a flattened argument name (``params.amount``) to the canonical texts of its value: one for a
    scalar, any number for a list. An absent argument has no entry. `output` is None where nothing was seen.
    `time` is in microseconds since 1970 (UTC), None where the source does not say.
    """

    id: str
    action: str
    call: str
    args: dict[str, tuple[str, ...]] = field(default_factory=dict)
    status: Status = "unknown"
    output: str | None = None
    kinds: tuple[str, ...] = ()
    time: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """The action's own name and its kinds: what `action in {…}` is tested against."""
        return (self.action, *self.kinds)

    def values(self, name: str) -> tuple[str, ...]:
        """The texts under an argument name, none where the event does not carry it."""
        return self.args.get(name, ())


@dataclass(frozen=True, slots=True)
class Run:
    """What a reader learned about a recording besides its events."""

    path: str
    format: str = "vigil"
    name: str | None = None
    source: str | None = None
    cwd: str | None = None
    """The working directory the run started in, where the recording says so."""
    not_executed: int = 0
    """Calls the recording shows as denied, cancelled or rejected before they ran; they are no events."""
    one_of_many: bool = False
    """Whether the recording holds other runs too; `path` then ends in ``#`` and the run's name."""


@dataclass(frozen=True)
class Trace:
    """A finite run τ = e₁ ≺ e₂ ≺ …; ids are unique within it."""

    events: tuple[Event, ...]
    run: Run = Run("<memory>")

    def __len__(self) -> int:
        return len(self.events)

    @cached_property
    def call_index(self) -> tuple[int, ...]:
        """For each event the ordinal, from 0, of its call: what bounds in calls measure.

        A message is no call: it has the ordinal of the call before it, and -1 before the first.
        """
        seen: dict[str, int] = {}
        return tuple(len(seen) - 1 if e.action in MESSAGES else seen.setdefault(e.call, len(seen)) for e in self.events)

    @cached_property
    def characters(self) -> int:
        """How many characters all names, values and outputs have together."""
        return sum(
            len(event.action)
            + len(event.output or "")
            + sum(len(name) + sum(map(len, texts)) for name, texts in event.args.items())
            for event in self.events
        )

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Position by event id."""
        return {e.id: i for i, e in enumerate(self.events)}

    @cached_property
    def values(self) -> tuple[str, ...]:
        """V of Definition 1, argument values and outputs, in order of first appearance."""
        found: dict[str, None] = {}
        for event in self.events:
            for texts in event.args.values():
                found.update(dict.fromkeys(texts))
            if event.output is not None:
                found.setdefault(event.output)
        return tuple(found)
