"""A folder of the user's own for what is costly to work out again. It may always be missing.

What is read back decides how policies are understood, so it is read only from a folder that nobody else can
write to, and only whole. A folder in a checkout is none: whoever fills the checkout fills it. Every failure means "not
there"; that a folder which the environment names is left alone is said, once.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_LARGEST = 16_000_000
_REPOSITORY = (".git", ".hg", ".svn", ".jj")
_PROJECT = (*_REPOSITORY, "vigil.toml", "pyproject.toml")


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
    place = _trusted()
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
    from vigil_lang.base.outputs import rewrite
    from vigil_lang.diagnostics import InputError

    place = _trusted()
    with suppress(OSError, ValueError, InputError):
        if place is None:
            return
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _private(place):
            rewrite(str(place / name), text)


def folder(name: str) -> Path | None:
    """A folder of this name in it, made where it is missing; None unless nobody else can write to it."""
    base = _trusted()
    with suppress(OSError, ValueError):
        if base is None:
            return None
        place = base / name
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if _private(base) and _private(place):
            return place
    return None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def say_nothing() -> None:
    """Leave it to another process to say why the folder is left alone."""
    _told.append("")


_told: list[str] = []


def _trusted() -> Path | None:
    """The folder, if nobody but the user can have filled it."""
    place = _folder()
    if place is None:
        return None
    with suppress(OSError, ValueError):
        why = _distrusted(place)
        if why is None:
            return place
        variable = next((name for name in ("VIGIL_CACHE_DIR", "XDG_CACHE_HOME") if os.environ.get(name)), None)
        if variable is not None and not _told:
            from vigil_lang.diagnostics.log import harmless
            from vigil_lang.diagnostics.visible import visible

            _told.append(why)
            message = f"vigil: the cache folder {visible(str(place))} ({variable}) is not used: {why}"
            print(harmless(message), file=sys.stderr)
    return None


def _distrusted(place: Path) -> str | None:
    """Why a folder, or what it would be made in, may have been filled by somebody else; None where it cannot.

    Raises:
        OSError: it cannot be looked at, or is no folder.
    """
    if not place.is_absolute():
        return "its path is relative"
    try:
        here = os.getcwd()  # noqa: PTH109 - a text
    except OSError:
        here = ""
    project = _project_around(str(place), here, os.path.expanduser("~"))  # noqa: PTH111 - leaves `~` where there is none
    if project is not None:
        return "it lies in a project, whose author may have filled it"
    if not _mine(_nearest(place)):
        return "it belongs to another user"
    return "others can write to it" if place.exists() and not _private(place) else None


@lru_cache(maxsize=16)
def _project_around(place: str, here: str, home: str) -> str | None:
    """The project that a folder lies in: the working directory, or a folder above it that looks like one.

    The home folder of a user is none for what a user's tools put there, unless it is a repository.
    """
    real, here, home = (os.path.realpath(path) for path in (place, here, home))
    if here not in ("/", home) and not _within(home, here) and _within(real, here):
        return here
    folders = [real, *map(str, Path(real).parents)]
    for folder in folders:
        marks = _REPOSITORY if _within(home, folder) else _PROJECT
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in marks):  # noqa: PTH118 - texts
            return folder
    return None


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))  # noqa: PTH118 - texts


def _folder() -> Path | None:
    """`VIGIL_CACHE_DIR` (empty: none), or the platform's place for caches."""
    chosen = os.environ.get("VIGIL_CACHE_DIR")
    if chosen is not None:
        return Path(chosen) if chosen else None
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
