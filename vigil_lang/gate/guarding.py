"""What protects enforcement points beside its policy: which paths that policy is told, and which paths lead to them.

A policy sees the texts of calls. What only the disk tells is found here: links, other names of a file, patterns of the
shell, folders that are read with all below them, and tools that nobody described.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from vigil_lang.abstraction.tools import tool
from vigil_lang.base.files import real_path
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.trace import Event

_SPECIAL = regex(r"([*?\\])")
_WILD = regex(r"(?<!\\)(?:\\\\)*[*?]")
_SHELL_WILD = regex(r"[*?\[]")
_LONGEST = 4096
"""Characters of a path."""

_CHANGES = frozenset(
    {"file.write", "file.delete", "file.permit", "file.move", "file.copy", "file.link", "archive.extract", "db.write"}
)
_READS = frozenset({"file.read", "file.search", "dir.list", "db.query", "archive.create", "net.upload"})
_TAKES_AWAY = frozenset({"file.delete", "file.move", "file.link"})
_WHOLE = _TAKES_AWAY | {"file.copy", "archive.create", "net.upload"}
"""What is done to a folder is done to all below it."""
_RUNS = frozenset({"shell.run", "process.run", "code.run", "code.call"})
_TEXTS = ("command", "argv", "code", "variable", "arg1", "arg2")
_WORD = regex(r"[^\s'\"`;|&<>()={},:]+")
_OWN_PROCESS = regex(r"/+proc/(?:thread-)?self/(?:task/\d+/)?(cwd|root)(?=/|$)")
"""A folder of whichever process reads it: for us that is another than for the call."""
_SEEN = frozenset({"path", "source", "target", "directory"})
"""The arguments that the policy looks at."""
_PATHS = (*sorted(_SEEN), "archive")


def registration_params(protected: Iterable[str], state: str) -> dict[str, list[str]]:
    """The params of `stdlib/gate/registration.vgl` for paths and globs that are protected, and the state folder."""
    paths = _as_written((state, f"{state}/*", *protected))
    plain = [each for each in paths if not re.search(r"[*?]", each)]
    folders = list(dict.fromkeys(os.path.dirname(each) for each in paths))  # noqa: PTH120 - texts
    own = [escaped(each) for each in folders if _is_settings(each)]
    spelled = [pattern for each in plain for pattern in _spelled_by_a_glob(each)]
    enclosing: dict[str, None] = {}
    for each in folders:
        here = each
        while here not in ("", "/"):
            enclosing |= dict.fromkeys((escaped(here), f"{escaped(here)}/\\*"))
            here = os.path.dirname(here)  # noqa: PTH120
    return {
        "protected": list(dict.fromkeys((*paths, *own, *spelled))),
        "enclosing": list(enclosing),
        "private": _as_written((escaped(state), f"{escaped(state)}/*")),
    }


def _as_written(paths: Iterable[str]) -> list[str]:
    """Paths, and those in the user's home as calls name them, too: an event has `~` where its call had it."""
    home = f"{os.path.expanduser('~').rstrip('/')}/"  # noqa: PTH111 - texts
    found = [
        form for each in paths for form in (each, f"~/{each.removeprefix(home)}" if each.startswith(home) else each)
    ]
    return list(dict.fromkeys(found))


def escaped(path: str) -> str:
    """A path as a glob that matches nothing else."""
    return _SPECIAL.sub(r"\\\1", path)


def _is_settings(folder: str) -> bool:
    """Whether a folder is a host's own, where a file that is put there by its folder's name may be protected."""
    parts = folder.split("/")
    return any(part.startswith(".") for part in parts[-2:])


def _spelled_by_a_glob(path: str) -> tuple[str, ...]:
    """How a shell's patterns commonly name a file, which no call resolves: as globs that match these very patterns."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)  # noqa: PTH122
    names = {"*", f"*{suffix}", f"{stem}*", f"{stem}.*"}
    return tuple(escaped(f"{folder}/{each}") for each in sorted(names))


class Guarded:
    """The files and folders of the globs that the registration's policy is told, as they lie on this machine's disk.

    `protected` are not changed, `private` not read either.
    """

    def __init__(self, protected: Iterable[str], private: Iterable[str]) -> None:
        self._protected, self._private = _Area(protected), _Area(private)

    def touched(self, events: Sequence[Event], directory: str | None) -> list[str]:
        """How events touch what is guarded, by what the disk tells: a sentence for each path."""
        found: dict[str, None] = {}
        for event in events:
            kinds = {event.action, *event.kinds}
            undescribed = _is_undescribed(event)
            changes = undescribed or not kinds.isdisjoint(_CHANGES)
            whole = not kinds.isdisjoint(_WHOLE) or _reads_below(event, kinds)
            if not kinds.isdisjoint(_RUNS) and (text := self._naming(event)) is not None:
                found[f"`{cut(text, 200)}` names the state of the gate"] = None
            if not (changes or not kinds.isdisjoint(_READS)):
                continue
            seen = {text for name in _SEEN for text in event.args.get(name, ())}
            for name, value in _values(event, undescribed):
                path = _absolute(value, directory)
                as_told = name and value in seen and (value.startswith("~/") or value == path)
                if as_told and (self._protected.has(path) or self._private.has(path)):
                    continue  # the policy sees that by itself
                real = real_path(path)
                changed = changes and not (name == "source" and "file.copy" in kinds)
                if changed and self._protected.meets(path, real, whole=not kinds.isdisjoint(_TAKES_AWAY)):
                    found[f"`{cut(value, 200)}` leads to what guards the agent"] = None
                elif self._private.meets(path, real, whole=whole):
                    found[f"`{cut(value, 200)}` leads to the state of the gate"] = None
        return list(found)

    def _naming(self, event: Event) -> str | None:
        """What of a program's arguments or code has the name of a private folder in it."""
        texts = (each for name in _TEXTS for each in event.args.get(name, ()))
        return next((each for each in texts if any(name in each for name in self._private.names)), None)


def _is_undescribed(event: Event) -> bool:
    """Whether an event is a call of a tool that nobody described, or of one that types into a program that runs."""
    types = event.kinds == ("process.run",) and "program" not in event.args
    return "." not in event.action and (not event.kinds or types)


def _reads_below(event: Event, kinds: set[str]) -> bool:
    """Whether all below a folder is read: what packs or copies it reads the folder itself."""
    if "file.search" not in kinds:
        return "file.read" in kinds
    if "program" in event.args:
        return not {"recursive", "exec"}.isdisjoint(event.args)
    return tool(event.action).reads == "folders"


def _values(event: Event, undescribed: bool) -> Iterator[tuple[str, str]]:
    """The texts of an event that may be paths, with the names of their arguments.

    Those are all of a tool's, and the words, without a name, of one that nobody described.
    """
    is_step = "program" in event.args or "." in event.action
    named = tuple(name for name in _PATHS if name in event.args) if is_step else ()
    if is_step and not named and "file" in event.args:
        named = ("file",)
    if "file.search" in event.kinds and event.args.keys().isdisjoint(("path", "program")):
        yield "path", "."  # the tool searches where it is
    for name in named or event.args:
        for text in event.args[name]:
            if text and len(text) <= _LONGEST and "\n" not in text:
                yield ("" if undescribed else name), text
            if undescribed:
                words = dict.fromkeys(_WORD.findall(text))
                yield from (("", word) for word in words if "/" in word and len(word) <= _LONGEST)


def _absolute(value: str, directory: str | None) -> str:
    path = value
    if path.startswith("file:"):
        from urllib.parse import unquote

        path = unquote(re.sub(r"^file:(//(localhost)?)?", "", path))
    path = re.sub(r"^\$(HOME|\{HOME\})(?=/|$)", "~", path)
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111 - texts
    if own := _OWN_PROCESS.match(path):
        path = (directory or "/" if own[1] == "cwd" else "") + path[own.end() :]
    return os.path.normpath(os.path.join(directory or "/", path))  # noqa: PTH118


class _Area:
    """Files, and folders with all below them, by globs of which the last `/*` or `/**` stands for all below."""

    def __init__(self, globs: Iterable[str]) -> None:
        home = os.path.expanduser("~")  # noqa: PTH111 - texts
        paths: dict[str, None] = {}
        folders: dict[str, None] = {}
        self._globs: list[re.Pattern[str]] = []
        for each in globs:
            glob = f"{home}/{each[2:]}" if each.startswith("~/") else each
            stem = re.sub(r"/\*\*?$", "", glob)
            if not _WILD.search(stem):
                plain = re.sub(r"\\(.)", r"\1", stem)
                if not _SHELL_WILD.search(plain):
                    (paths if stem == glob else folders)[plain] = None
            else:
                self._globs.append(_compiled(glob))
        self._paths = {*paths, *map(real_path, paths)}
        self._folders = {*folders, *map(real_path, folders)}
        self._all = sorted(self._paths | self._folders)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """How texts name the folders: as paths, and below the user's home as shells write them."""
        home = os.path.expanduser("~")  # noqa: PTH111 - texts
        below = [each.removeprefix(home) for each in self._folders if each.startswith(f"{home}/")]
        return (
            *self._folders,
            *(f"{form}{each}" for each in below for form in ("~", "$HOME", "${HOME}")),
            "VIGIL_STATE",
        )

    @cached_property
    def _enclosing(self) -> frozenset[str]:
        return frozenset(above for each in self._all for above in _above(each))

    def meets(self, path: str, real: str, *, whole: bool) -> bool:
        """Whether a path, with links followed `real`, is one of these; with `whole` also whether it is above one."""
        if _SHELL_WILD.search(path):
            return any(self._is_meant(path, each, whole) for each in self._all if os.path.lexists(each))
        return any(
            self.has(each) or (whole and each in self._enclosing) for each in (path, real)
        ) or self._is_other_name(real)

    def has(self, path: str) -> bool:
        """Whether a path is one of these by its text."""
        if path in self._paths or path in self._folders or any(each in self._folders for each in _above(path)):
            return True
        return any(each.fullmatch(path) for each in self._globs)

    def _is_meant(self, pattern: str, path: str, whole: bool) -> bool:
        """Whether a shell's pattern means a path, something below it where that is a folder, or with `whole` above."""
        wanted, parts = pattern.split("/"), path.split("/")
        if (
            len(wanted) != len(parts)
            and not (len(wanted) > len(parts) and path in self._folders)
            and not (len(wanted) < len(parts) and whole)
        ):
            return False
        return all(
            fnmatchcase(part, want) and (want[:1] == "." or part[:1] != ".")
            for want, part in zip(wanted, parts, strict=False)
        )

    def _is_other_name(self, path: str) -> bool:
        """Whether a file is one of these by another name: a hard link, or other letters where case is nothing."""
        try:
            found = os.stat(path)  # noqa: PTH116 - a text
        except (OSError, ValueError):
            return False
        if sys.platform == "linux" and (found.st_nlink < 2 or not stat.S_ISREG(found.st_mode)):
            return False
        return any(_is_same(each, found) for each in self._all)


def _is_same(path: str, other: os.stat_result) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - a text
    except (OSError, ValueError):
        return False
    return (found.st_dev, found.st_ino) == (other.st_dev, other.st_ino)


def _above(path: str) -> Iterator[str]:
    """The folders above a path."""
    while path := path.rpartition("/")[0]:
        yield path


def _compiled(glob: str) -> re.Pattern[str]:
    """A glob in which `*` and `?` stand for any characters."""
    parts = re.findall(r"\\.|\*+|.", glob, re.DOTALL)
    return re.compile("".join(".*" if p[0] == "*" else "." if p == "?" else re.escape(p[-1]) for p in parts), re.DOTALL)
