"""Paths as texts: made absolute against a directory and normalised, without looking at any disk.

What a path comes to is right, or it is not told. ``..`` goes to the directory above by the text: where a directory on
the way is a link, a program that follows the link first ends elsewhere. Where the home directory lies is not known, so
that nothing is told of a path that leaves it.
"""

from __future__ import annotations

import posixpath
import re

_HOME = re.compile(r"~(?:/|$)|\$(?:HOME|\{HOME\})(?=/|$)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_ROOT = re.compile(r"~[^/]*|[A-Za-z]:(?=/)")
"""What the text of a path begins with that is no name in a directory: a home, a drive."""

START = "."
"""The directory a run starts in, where the recording does not say which that is: what is below it stays relative."""


def resolve(path: str, cwd: str | None) -> str | None:
    """The one text of a path as seen from a directory; None where it cannot be told.

    That is so where it is relative and the directory is unknown, and where it leaves a home directory upwards. ``.``
    and ``..`` are taken out, as are doubled and trailing slashes. A path below the user's home starts with ``~/``.
    `cwd` is absolute, below home, or `START` and what is relative to it.
    """
    if not path or "\0" in path:
        return None
    if _DRIVE.match(path):
        return _normal(path.replace("\\", "/"))
    home = _HOME.match(path)
    if home:
        return _normal("~/" + path[home.end() :])
    if path.startswith(("/", "~")):
        return _normal(path)
    if cwd is None:
        return None
    return _below_start(path, cwd) if not cwd.startswith("/") and not _ROOT.match(cwd) else _normal(f"{cwd}/{path}")


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
