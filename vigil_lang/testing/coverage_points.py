"""What tests should show of a policy: places in a source, with what should be seen there and what was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source, Span

PartKind: TypeAlias = Literal["statement", "condition", "pattern", "disjunct", "conjunct"]
Seen: TypeAlias = Literal["satisfied", "violated", "exercised", "true", "false", "decides"]
"""`decides`: the conjunct is false while the others beside it hold, so that it alone makes the difference."""


@dataclass(slots=True)
class Point:
    """A place in a source, what should be seen of it, and what was seen so far."""

    kind: PartKind
    source: Source
    span: Span
    wanted: set[Seen] = field(default_factory=set)
    seen: set[Seen] = field(default_factory=set)

    @property
    def done(self) -> bool:
        """Whether everything was seen."""
        return self.wanted <= self.seen


class Points(Protocol):
    """Where points are kept: the same for one place, whichever statement leads there."""

    def point(self, kind: PartKind, source: Source, span: Span, wanted: set[Seen]) -> Point:
        """The point at a place, at which so much more should be seen."""

    def spend(self, work: int) -> bool:
        """Whether there is still time to try so many conditions."""
