"""The folder that a gate keeps its state in: whose it is, where it may lie, and its lock."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import real_path

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_WAIT = 10.0
"""Seconds that a decision waits for the others that are under way; then it cannot judge."""


class StateError(Exception):
    """The state cannot be read or written, or is not what it has to be: nothing can be judged. The text says why."""


def state_path(given: str | None = None) -> Path:
    """The state folder: as given, as `VIGIL_STATE` says, or the user's own."""
    named = given or os.environ.get("VIGIL_STATE")
    if named:
        return Path(named).absolute()
    from platformdirs import user_state_path

    return user_state_path("vigil", appauthor=False)


def refuse_inside(state: Path, workspace: Path) -> None:
    """Refuse a state folder that an agent could write to.

    Raises:
        StateError: it lies in the workspace.
    """
    if Path(real_path(state)).is_relative_to(real_path(workspace)):
        message = (
            f"the state folder {state} lies in the workspace {workspace.absolute()}, where the agent could write to it"
        )
        raise StateError(message)


class StateFolder:
    """An existing state folder, of mode 0700 and the user's own.

    Raises:
        StateError: it does not exist, is a link or no folder, belongs to another user, or others may look into it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            found = path.lstat()
        except OSError as error:
            raise StateError(f"the state folder {path} cannot be read: {error.strerror}") from error
        if not stat.S_ISDIR(found.st_mode):
            raise StateError(f"the state folder {path} is no folder")
        if found.st_uid != os.geteuid():
            raise StateError(f"the state folder {path} belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise StateError(f"others may look into the state folder {path}: its mode has to be 0700")
        self.settings = path / "gate.toml"
        self.log = path / "log.jsonl"
        self.checkpoint = path / "checkpoint"
        self.checkpoints = path / "checkpoints"
        self.log_key = path / "keys" / "log.pem"
        self.next_log_key = path / "keys" / "log.next.pem"
        self.log_vkey = path / "log.vkey"
        self.plain = path / "args.sqlite"
        self.index = path / "index.sqlite"
        self.policies = path / "policies"
        self.revocations = path / "revocations.json"
        self.keys = path / "keys"
        self._lock = path / "lock"
        self._held = False

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Nobody else writes to the folder meanwhile. Within it, taking it again changes nothing.

        Raises:
            StateError: it is not to be had, in `LOCK_WAIT` seconds.
        """
        if self._held:
            yield
            return
        try:
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StateError(f"the lock of the state folder cannot be opened: {error.strerror}") from error
        try:
            _take(descriptor)
            self._held = True
            yield
        finally:
            self._held = False
            os.close(descriptor)  # which gives it back


def _take(descriptor: int) -> None:
    end = time.monotonic() + LOCK_WAIT
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise StateError(f"others kept the state folder locked for {LOCK_WAIT:g} s") from None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.01)
        except OSError as error:
            raise StateError(f"the state folder cannot be locked: {error.strerror}") from error
