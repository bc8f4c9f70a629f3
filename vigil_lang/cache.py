"""A folder of the user's own for what is costly to work out again. It may always be missing.

What is read back decides how policies are understood, so it is read only from a folder that nobody else can
write to, and only whole. Every failure means "not there".
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

_LARGEST = 16_000_000


def read(name: str) -> str | None:
    """The text stored under a name, or None."""
    digest, _, body = (read_bytes(name) or b"").partition(b"\n")
    if digest != _digest(body):
        return None
    try:
        return body.decode("utf-8")
    except ValueError:
        return None


def read_bytes(name: str) -> bytes | None:
    """What a file of the folder holds, or None. Whether it is whole is for the reader to tell."""
    place = _folder()
    if place is None:
        return None
    try:
        # Not through a link, nor a pipe, which could make us wait.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(place / name, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not (_private(place) and _mine(status) and stat.S_ISREG(status.st_mode)):
                return None
            return file.read(_LARGEST)
    except (OSError, ValueError):
        return None


def write(name: str, text: str) -> None:
    """Store a text under a name, if that can be done safely."""
    with suppress(ValueError):  # a lone surrogate cannot be written
        write_plain(name, f"{_digest(text.encode()).decode()}\n{text}")


def write_plain(name: str, text: str) -> None:
    """Store a text as it is, for `read_bytes` and for people, if that can be done safely."""
    from vigil_lang.diagnostics import InputError
    from vigil_lang.outputs import rewrite

    place = _folder()
    with suppress(OSError, ValueError, InputError):
        if place is None or not _mine(_nearest(place)):
            return
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _private(place):
            rewrite(str(place / name), text)


def folder(name: str) -> Path | None:
    """A folder of this name in it, made where it is missing; None unless nobody else can write to it."""
    base = _folder()
    with suppress(OSError, ValueError):
        if base is None or not _mine(_nearest(base)):
            return None
        place = base / name
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if _private(base) and _private(place):
            return place
    return None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _folder() -> Path | None:
    """`VIGIL_CACHE_DIR` (empty: none), or the platform's place for caches."""
    chosen = os.environ.get("VIGIL_CACHE_DIR")
    if chosen is not None:
        return Path(chosen).absolute() if chosen else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")  # noqa: PTH111 - leaves `~` alone where there is no home
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    return Path(base) / "vigil" if Path(base).is_absolute() else None


def _nearest(folder: Path) -> os.stat_result:
    """The status of a folder, or of what it would be made in: under sudo, somebody else's home."""
    while not folder.exists():
        folder = folder.parent
    return folder.stat()


def _private(folder: Path) -> bool:
    status = folder.lstat()
    open_to_others = sys.platform != "win32" and stat.S_IMODE(status.st_mode) & 0o022
    return stat.S_ISDIR(status.st_mode) and _mine(status) and not open_to_others


def _mine(status: os.stat_result) -> bool:
    return sys.platform == "win32" or status.st_uid == os.geteuid()
