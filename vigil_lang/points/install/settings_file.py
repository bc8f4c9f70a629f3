"""One settings file of a host: read strictly, written whole or not at all, and given back as it was.

What a file held before our first change is kept in the state folder, which the agent cannot write to: taking our hooks
out gives back the very bytes where nobody else has changed the file since.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vigil_lang.base.files import MAX_BYTES, read_bytes
from vigil_lang.base.outputs import rewrite, write_private
from vigil_lang.points.install.registration import Unusable
from vigil_lang.points.own_files import INSTALLED


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a file: its text before and after, None where there is none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after


class _Kept(msgspec.Struct, frozen=True):
    """What a file held before our change, None where it was not there; the digest of what we wrote; folders made."""

    path: str
    before: str | None
    wrote: str
    folders: tuple[str, ...] = ()


def read(path: Path) -> str | None:
    """The text of a file, None where there is none.

    Raises:
        Unusable: it is a link or no file, cannot be read, is too large, or no UTF-8.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(_reason(error)) from None
    if stat.S_ISLNK(status.st_mode):
        raise Unusable("it is a link: name the file that it leads to, or replace it by a file")
    if not stat.S_ISREG(status.st_mode):
        raise Unusable("it is not a file")
    try:
        data = read_bytes(path)
    except OSError as error:
        raise Unusable(_reason(error)) from None
    if len(data) > MAX_BYTES:
        raise Unusable(f"it has more than {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(f"it is no UTF-8: byte {error.start} is wrong") from None


class Kept:
    """What the settings files held before our changes, in a state folder."""

    def __init__(self, state: Path) -> None:
        self._folder = state / INSTALLED

    def before(self, path: Path, now: str | None) -> tuple[bool, str | None]:
        """Whether a file is as we left it, and what it held before."""
        kept = self._read(path)
        known = kept is not None and now is not None and kept.wrote == _digest(now)
        return (True, kept.before) if known and kept else (False, None)

    def apply(self, change: Change, original: str | None) -> None:
        """Write a change; `original` is what the file holds without us.

        Raises:
            InputError: it cannot be written; the file is as it was.
            Unusable: a folder for it, or what it held, cannot be written.
        """
        path = change.path
        kept = self._read(path)
        folders = list(kept.folders) if kept else []
        if change.after is None:
            _remove(path)
            self._forget(path, folders)
            return
        try:
            folders += _made_folders(path.parent)
            if change.after != original:
                self._keep(path, _Kept(str(path), original, _digest(change.after), tuple(folders)))
        except OSError as error:
            raise Unusable(_reason(error)) from None
        rewrite(str(path), change.after)
        if change.after == original:
            self._forget(path, [])

    def _place(self, path: Path) -> Path:
        return self._folder / f"{_digest(str(path))[:32]}.json"

    def _read(self, path: Path) -> _Kept | None:
        try:
            return msgspec.json.decode(read_bytes(self._place(path)), type=_Kept)
        except (OSError, ValueError, msgspec.DecodeError):
            return None

    def _keep(self, path: Path, kept: _Kept) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        write_private(str(self._place(path)), msgspec.json.encode(kept), replace=True)

    def _forget(self, path: Path, folders: list[str]) -> None:
        with suppress(OSError):
            self._place(path).unlink()
        for each in folders:
            with suppress(OSError):  # something else is in it
                Path(each).rmdir()


def _made_folders(folder: Path) -> list[str]:
    """The folders that had to be made for a folder to be there, the innermost first."""
    missing: list[Path] = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir()
    return [str(each) for each in missing]


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise Unusable(_reason(error)) from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
