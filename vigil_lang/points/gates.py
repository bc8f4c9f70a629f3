"""What decides for an enforcement point: the gate of a state folder, or the service that its settings name."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from vigil_lang.gate.gate import Gate
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateError, StateFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.entering import Ended, Entering, Owed, Violation
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.store import Hold
    from vigil_lang.trace.record import Message


class GateLike(Protocol):
    """What enforcement points ask of a gate. Each method does and raises what the one of `Gate` does."""

    @property
    def state(self) -> Path:
        """The state folder on this machine."""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all that it was made of."""

    def enter(self, entering: Entering) -> tuple[str, ...]:
        """A run begins, or goes on; gives remarks on its policies."""

    def has_begun(self, run: str) -> bool:
        """Whether a run is known."""

    def extend(self, run: str, policies: Sequence[str]) -> bool:
        """Policies join those of a run; whether one is new."""

    def changes(self, run: str) -> tuple[str, ...]:
        """The policy files that differ from what a run goes by."""

    def decide(self, request: Request) -> Answer:
        """What becomes of an action. Nothing is raised."""

    def ended(self, run: str, ended: Ended) -> tuple[Violation, ...]:
        """A call ended; gives what is newly violated for certain."""

    def say(self, run: str, message: Message) -> tuple[Violation, ...]:
        """The user or the agent said something; gives as `ended` does."""

    def turn_ended(self, run: str, session: str = "") -> tuple[Owed, ...]:
        """A turn is over; gives what the run owes."""

    def halt(self, run: str, why: str) -> None:
        """From now on every call of a run blocks."""

    def end(self, run: str) -> None:
        """A run is over."""

    def refuse(self, message: str) -> None:
        """Note that something was refused before it was decided about."""

    def folder_of(self, run: str) -> str | None:
        """The folder that a run started in."""

    def event_count(self, run: str) -> int:
        """How many events passed in a run."""

    def hold(self, name: str) -> Hold:
        """A hold as it is now."""

    def wait(self, name: str, seconds: float) -> Hold:
        """A hold when it waits no more, or after so many seconds."""

    def cancel(self, name: str, why: str) -> Hold:
        """Cancel a hold that waits."""

    def checkpoint(self) -> object:
        """Sign the log, where it is on this machine."""

    def close(self) -> None:
        """Let go of files and connections."""


def service_of(state: Path) -> str | None:
    """The address of the service that decides for a state folder.

    None where the folder decides itself, or its settings cannot be read: then its hooks block, and say so.
    """
    try:
        remote = read_settings(StateFolder(state).settings).remote
    except StateError:
        return None
    return None if remote is None else remote.url


def gate_at(state: Path) -> GateLike:
    """What decides for a state folder, which is made where there is none.

    Raises:
        StateError: it cannot be read, or made.
    """
    _ensure(state)
    remote = read_settings(StateFolder(state).settings).remote
    if remote is None:
        return Gate(state)
    from vigil_lang.points.remote import RemoteGate

    return RemoteGate(state, remote)


def _ensure(state: Path) -> None:
    with suppress(OSError):  # `ensure` says what is wrong
        if any(state.iterdir()):
            return
    from vigil_lang.gate.setup import ensure  # late: a folder is made once

    ensure(state)
