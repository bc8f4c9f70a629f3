"""For which folders `vigil init` registered with a host: the user's own settings count in every folder, so that what
one folder undoes may be what others rely on."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.base.outputs import write_private

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "initialised"
"""The folder of the state that says so, a file for each settings file of a host."""


class Use(msgspec.Struct, frozen=True):
    """Who relies on a registration: the folders that `vigil init` ran in, and whether it was what registered."""

    path: str
    by_init: bool
    folders: tuple[str, ...]


class Uses:
    """The uses of the registrations that a state folder is the state of."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def add(self, path: Path, folder: Path, *, registered: bool) -> None:
        """`vigil init` ran in a folder; `registered` where it was what put the hook into the settings file.

        Raises:
            InputError: it cannot be noted.
        """
        known = self.of(path)
        by_init = registered or (known is not None and known.by_init)
        folders = dict.fromkeys((*(known.folders if known is not None and not registered else ()), str(folder)))
        self._note(Use(str(path), by_init, tuple(folders)))

    def of(self, path: Path) -> Use | None:
        """The use of a settings file; None where `vigil init` never met it. Folders that are gone use nothing."""
        try:
            found = msgspec.json.decode(read_bytes(self._place(path)), type=Use)
        except (OSError, ValueError):
            return None
        there = tuple(each for each in found.folders if os.path.isdir(each))  # noqa: PTH112 - a text
        return msgspec.structs.replace(found, folders=there)

    def drop(self, path: Path, folder: Path) -> None:
        """A folder relies on a settings file no more.

        Raises:
            InputError: it cannot be noted.
        """
        if (known := self.of(path)) is not None:
            self._note(msgspec.structs.replace(known, folders=tuple(f for f in known.folders if f != str(folder))))

    def forget(self, path: Path) -> None:
        """The hook was taken out of a settings file."""
        with suppress(OSError):
            self._place(path).unlink()

    def _note(self, use: Use) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        write_private(str(self._place(use.path)), msgspec.json.encode(use), replace=True)

    def _place(self, path: Path | str) -> Path:
        return self._folder / f"{hashlib.sha256(str(path).encode()).hexdigest()[:32]}.json"
