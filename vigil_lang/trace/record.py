"""What a recording says, before it is abstracted: calls, their results and messages, in the recording's order.

A reader yields records as it meets them. A result follows its call, at any distance; a call whose result never
comes is pending. The order matters: what a call did to the working directory, say, is known to the calls that were
issued after its result.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from vigil_lang.base.structs import Mutable
from vigil_lang.trace.event import Event, Run, Status  # noqa: TC001 - snapshots of runs are read by these types


class Start(Mutable):
    """A run begins: the first record, and once more for every further run in the same recording.

    Where a later line of the recording adds to what is known of the run, the reader yields it again with `again`.
    """

    run: Run
    again: bool = False


class Call(Mutable):
    """A tool call as it was issued. `key` is unique within the run; results refer to it."""

    key: str
    name: str
    args: dict[str, Any]
    """The arguments as decoded from JSON, numbers other than integers as Decimals; not flattened."""
    time: int | None = None
    """Microseconds since 1970 (UTC)."""
    cwd: str | None = None
    """The directory the recording states for this very call."""
    session: str = ""
    """What shares a shell: the run's own agent is ``""``, a sub-agent has its own."""
    parent: str | None = None
    """The key of the call that started the sub-agent this one belongs to, or the sub-agent's id."""
    kinds: tuple[str, ...] = ()
    """What whoever asks says that it is, beside what its name and arguments tell."""


class Result(Mutable):
    """What came of a call. A later result of the same call takes the place of an earlier one."""

    key: str
    status: Status = "unknown"
    output: str | None = None
    """What the agent was shown; None where that is no text, or is not recorded."""
    executed: bool = True
    """False for a call that was denied, cancelled or rejected before it ran: it is no event."""
    exit_code: int | None = None
    cwd: str | None = None
    """The directory the shell is in afterwards, where the recording says so."""
    file: tuple[str, str] | None = None
    """Path and whole text of a file that the result shows, where the recording has them apart."""


class Message(Mutable):
    """Something said between the user and the agent.

    Neither what an agent tells a sub-agent, nor what a harness adds, is said by the user. What a sub-agent says has
    its `session` and `parent`.
    """

    role: Literal["user", "agent"]
    text: str
    time: int | None = None
    session: str = ""
    parent: str | None = None


Record: TypeAlias = "Start | Call | Result | Message | Event"
