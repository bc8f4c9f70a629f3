"""The files that a glob matches, in one walk: `glob.glob` walks again for each `**`, and through links for ever."""

from __future__ import annotations

import glob
import os
import re
from fnmatch import fnmatch
from typing import Final

MAX_LOOKED_AT: Final = 200_000
"""Names that are looked at for one glob."""

_SEPARATOR = re.compile(r"[/\\]" if os.altsep else "/")


class TooManyNames(Exception):
    """A glob looks at too many files and folders."""


def matching(pattern: str) -> list[str]:
    """The files and folders that a glob matches, sorted; `**` stands for any folders.

    From its first magic part on nothing is found through a link to a folder: it could lead anywhere, and in circles.

    Raises:
        TooManyNames: it looks at more than `MAX_LOOKED_AT`.
    """
    parts = [part for part in _SEPARATOR.split(pattern) if part]
    root = pattern[: len(pattern) - len(pattern.lstrip("/"))][:1]
    plain = 0
    while plain < len(parts) - 1 and not glob.has_magic(parts[plain]):
        plain += 1
    start = root + "/".join(parts[:plain])
    return sorted(_Walk(tuple(parts[plain:])).under(start))


class _Walk:
    def __init__(self, parts: tuple[str, ...]) -> None:
        self._parts = parts
        self._left = MAX_LOOKED_AT

    def under(self, start: str) -> list[str]:
        found = []
        pending = [(start, self._reached({0}))]
        while pending:
            folder, places = pending.pop()
            try:
                entries = list(os.scandir(folder or "."))
            except OSError:
                continue
            self._left -= len(entries)
            if self._left < 0:
                raise TooManyNames
            for entry in entries:
                path = f"{folder.rstrip('/')}/{entry.name}" if folder else entry.name
                after = self._after(entry.name, places, through=not entry.is_symlink())
                if len(self._parts) in after:
                    found.append(path)
                inner = after - {len(self._parts)}
                if inner and _is_folder(entry):
                    pending.append((path, inner))
        return found

    def _reached(self, places: set[int]) -> set[int]:
        """The places in the pattern, and those that follow where `**` stands for no folder."""
        found = set(places)
        for place in range(len(self._parts)):
            if place in found and self._parts[place] == "**":
                found.add(place + 1)
        return found

    def _after(self, name: str, places: set[int], *, through: bool) -> set[int]:
        """The places behind one more name; `through` says whether `**` may stand for it."""
        found = set()
        for place in places - {len(self._parts)}:
            part = self._parts[place]
            if name.startswith(".") and not part.startswith("."):
                continue
            if part == "**":
                found |= {place} if through else {len(self._parts)} & {place + 1}
            elif fnmatch(name, part):
                found.add(place + 1)
        return self._reached(found)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
