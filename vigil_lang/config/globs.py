"""Globs over the files of a project, as `.gitignore` has them."""

from __future__ import annotations

from fnmatch import fnmatchcase


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
