"""Paths as texts: made absolute against a directory and normalised, without looking at any disk.

What a path comes to is right, or it is not told. ``..`` goes to the directory above by the text: where a directory on
the way is a link, a program that follows the link first ends elsewhere. Where it is not known where the home directory
lies, nothing is told of a path that leaves it.
"""

from __future__ import annotations

import posixpath
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_HOME = regex(r"~(?:/|$)|\$(?:HOME|\{HOME\})(?=/|$)")
_DRIVE = regex(r"[A-Za-z]:[\\/]")
_ROOT = regex(r"~[^/]*|[A-Za-z]:(?=/)")
"""What the text of a path begins with that is no name in a directory: a home, a drive."""

_HOME_OF = regex(r"(?:/home|(?:[A-Za-z]:)?/Users)/[^/]+(?=/|$)|/root(?=/|$)")
_NAMED = regex(r"~([^/]+)(?=/|$)")
_HOME_OF_THE_RUN: ContextVar[str | None] = ContextVar("home", default=None)

START = "."
"""The directory a run starts in, where the recording does not say which that is: what is below it stays relative."""


def home_of(directory: str | None) -> str | None:
    """The home directory that a working directory lies in, None where its text does not say."""
    where = resolve(directory, None) if directory else None
    found = None if where is None else _HOME_OF.match(where)
    return found[0] if found else None


@contextmanager
def home_is(home: str | None) -> Iterator[None]:
    """Paths are resolved in a run with this home directory; None where it is not known."""
    token = _HOME_OF_THE_RUN.set(home)
    try:
        yield
    finally:
        _HOME_OF_THE_RUN.reset(token)


def resolve(path: str, cwd: str | None) -> str | None:
    """The one text of a path as seen from a directory; None where it cannot be told.

    That is so where it is relative and the directory is unknown, and where it leaves a home directory upwards. ``.``
    and ``..`` are taken out, as are doubled and trailing slashes. A path below the user's home starts with ``~/`` only
    where it is not known where that lies (`home_is`). `cwd` is absolute, below home, or `START` or relative to it.
    """
    if not path or "\0" in path:
        return None
    if _DRIVE.match(path):
        return _normal(path.replace("\\", "/"))
    home = _HOME_OF_THE_RUN.get()
    below = _HOME.match(path) or (_of_user(path, home) if home else None)
    if below:
        return _normal(f"{home or '~'}/{path[below.end() :]}")
    if path.startswith(("/", "~")):
        return _normal(path)
    if cwd is None:
        return None
    return _below_start(path, cwd) if not cwd.startswith("/") and not _ROOT.match(cwd) else _normal(f"{cwd}/{path}")


def _of_user(path: str, home: str) -> re.Match[str] | None:
    """``~ann`` where `home` is that of ann."""
    named = _NAMED.match(path)
    return named if named and named[1] == home.rpartition("/")[2] else None


def _normal(path: str) -> str | None:
    root = _ROOT.match(path)
    if root is None:
        return "/" + posixpath.normpath(path).lstrip("/")
    rest = path[root.end() :].lstrip("/")
    if root[0][0] != "~":
        return root[0] + posixpath.normpath("/" + rest)
    below = posixpath.normpath("./" + rest)
    if below == ".." or below.startswith("../"):
        return None
    return root[0] if below == "." else f"{root[0]}/{below}"


def _below_start(path: str, cwd: str) -> str:
    """A path relative to where the run starts; one whose first name looks like a home or a drive keeps its ``./``."""
    below = posixpath.normpath(f"{cwd}/{path}")
    return "./" + below if below.startswith("~") or _DRIVE.match(below + "/") else below


def is_below(path: str, directory: str) -> bool:
    """Whether a normalised path is a directory or lies below it."""
    if directory == START:
        return not path.startswith(("/", "~", "../")) and path != ".."
    return path == directory or path.startswith(directory.rstrip("/") + "/")
