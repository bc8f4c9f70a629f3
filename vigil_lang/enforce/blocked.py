"""What is raised in place of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from vigil_lang.enforce.run import Broken, NotJudged
    from vigil_lang.trace import Event

_SHOWN = 3


class PolicyWarning(UserWarning):
    """A statement with `@on_violation(warn)` is broken by a call that is made, or one is violated as the run ends."""


class Blocked(Exception):
    """A call was not made.

    `kind` is `statement` where statements forbid it, `fault` where it could not be judged (`unjudged`, or `why`).
    `decision` is `hold` where a person could have allowed it. `events` are what the call would have been.
    """

    def __init__(
        self,
        tool: str,
        kind: Literal["statement", "fault"],
        decision: Literal["block", "hold"] = "block",
        broken: tuple[Broken, ...] = (),
        unjudged: tuple[NotJudged, ...] = (),
        events: tuple[Event, ...] = (),
        why: str = "",
    ) -> None:
        super().__init__(tool, kind, decision, broken, unjudged, events, why)
        self.tool = tool
        self.kind = kind
        self.decision = decision
        self.broken = broken
        self.unjudged = unjudged
        self.events = events
        self.why = why

    @property
    def statements(self) -> tuple[str, ...]:
        """The names of the statements that forbid the call."""
        return tuple(broken.statement.name for broken in self.broken)

    def __str__(self) -> str:
        reasons = [in_words(broken) for broken in self.broken]
        reasons += map(not_judged, self.unjudged)
        more = len(reasons) - _SHOWN
        reasons = reasons[:_SHOWN] + [f"and {more} more"] * (more > 0) + [self.why] * bool(self.why)
        return visible(f"`{self.tool}` was not called: {'; '.join(reasons)}")


def in_words(broken: Broken) -> str:
    """What is wrong, and what would have allowed it."""
    said = f"{broken.statement.name}: {broken.offence.message}"
    return said if broken.remedy is None else f"{said} (it needs {broken.remedy} first)"


def not_judged(doubt: NotJudged) -> str:
    """What is not known, and why."""
    return f"{doubt.statement.name} cannot be judged: {doubt.why}"
