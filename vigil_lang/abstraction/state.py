"""What later calls of a followed run need of the earlier ones, as plain data that can be stored."""

from __future__ import annotations

import msgspec

from vigil_lang.abstraction.shell.state import ShellState
from vigil_lang.abstraction.step import Step
from vigil_lang.trace import Run


class FilesState(msgspec.Struct, array_like=True):
    """What is known of the files, sets in order (`files.KnownFiles`)."""

    texts: dict[str, str]
    gone: list[str]
    large: list[str]
    telling: list[str]
    doubtful: list[str]
    held: dict[str, int]


class CallState(msgspec.Struct, array_like=True):
    """A call whose result is awaited; its arguments are only in `told`, those of its event."""

    key: str
    name: str
    time: int | None
    session: str
    parent: str | None
    event: str
    told: tuple[dict[str, tuple[str, ...]], tuple[str, ...]]
    has_shell: bool
    """Whether it may have changed the shell of its session."""
    shows: str | None
    command: str
    steps: list[Step]
    owners: list[int | None]
    trouble: list[str]
    unseen: list[str]
    before: ShellState
    left: ShellState
    stopped: ShellState
    changed: dict[str, tuple[str | None, bool, bool]]


class SessionState(msgspec.Struct, array_like=True):
    """The shell of a session; `last` is the key of the latest call that may have changed it."""

    state: ShellState
    base: str | None
    last: str | None
    typed: ShellState | None


class AbstractionState(msgspec.Struct, array_like=True):
    """A followed run between two records."""

    run: Run
    calls: int
    messages: int
    has_results: bool
    dropped: int
    home: str | None
    files: FilesState
    waiting: list[CallState]
    sessions: dict[str, SessionState]
