"""Globs over the files of a project, as `.gitignore` has them."""

from __future__ import annotations

import os
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def matches(path: str, pattern: str) -> bool:
    """Whether a glob names a file by its path with forward slashes, or a folder the file lies in.

    A pattern without a slash fits in any folder; `*` and `?` stay within one name, `**` stands for any folders.
    """
    inner = pattern.removeprefix("./").rstrip("/")
    wanted = [part for part in inner.split("/") if part]
    if not wanted:
        return False
    if len(wanted) == 1 and not pattern.startswith(("/", "./")):
        wanted.insert(0, "**")
    return _fits([part for part in path.split("/") if part not in ("", ".")], wanted)


def seen_from(folder: str | Path, path: str) -> str:
    """A file's path as globs of a folder speak of it: from that folder, with forward slashes."""
    with suppress(ValueError):  # another drive
        path = os.path.relpath(path, folder)
    return path.replace("\\", "/") if os.sep == "\\" else path


def _fits(names: list[str], wanted: list[str]) -> bool:
    """Whether the pattern fits the first names, one or more: what remains lies in the folder it names."""
    reached = {0}  # how many names the pattern so far can have taken
    for part in wanted:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
        if not reached:
            return False
    return max(reached) > 0
