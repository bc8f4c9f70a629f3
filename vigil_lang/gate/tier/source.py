"""What a source of signals is asked, and the protocol that a plug-in keeps to (entry points `vigil.signals`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.trace import Event


class Seen(Frozen, frozen=True):
    """What there is to look at: a run's events so far, oldest first; what a tool has just returned, None where nothing
    is new; and the events of the call that is about to be decided, none after an outcome."""

    run: str
    events: Sequence[Event] = ()
    output: str | None = None
    pending: Sequence[Event] = ()


class Source(Protocol):
    """A detector. It is made without arguments."""

    name: str

    def score(self, seen: Seen) -> float | None:
        """From 0, nothing to see, to 1, an alarm; None where it has nothing to say of this."""
