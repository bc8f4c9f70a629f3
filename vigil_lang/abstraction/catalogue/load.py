"""The shipped catalogue: a program is looked up in the files' text, and its own tables alone are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from vigil_lang.base.resources import resource
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from vigil_lang.abstraction.catalogue.programs import Program

_VERSION = regex(r"-?[0-9]+(?:\.[0-9]+)*\Z")
_BARE = regex(r"[A-Za-z0-9_-]+\Z", re.ASCII)
_SCOPED = regex(r"@[\w.-]+/[\w.-]+\Z")
_ABSOLUTE = regex(r"[/~\\]|[A-Za-z]:[/\\]")
_NAME = regex(r"[^\s\"\\]{1,100}\Z")
_ALIASES = regex(r"^aliases = \[([^\]]*)\]", re.MULTILINE)
_PLACES = frozenset({"bin", "sbin", ".bin", "Scripts", "venv", ".venv", "libexec"})
_EVERYDAY = frozenset({"coreutils", "shell", "text", "system", "search"})
_WITH_EXTENSION = regex(r"[^.].*\.[A-Za-z]\w{0,5}\Z")
_WRAPPERS = regex(r"(?:gradlew|mvnw|sbt|waf|bazelw?|pants|configure|config\.status|bootstrap|b2|bjam|afl-[\w+-]+)\Z")
"""Programs that are usually run from the project's own directory."""

Key = tuple[str, ...]
"""Where an entry stands: ``("git",)``, ``("git", "push")``."""


def program(name: str) -> Program | None:
    """The catalogue's entry for a program as it is called: a name, an alias, with a version (`python3.11`) or a path.

    A path outside a directory of programs (`./test`) is not taken for an everyday command of that name, and a
    relative one (`./build`, `tools/convert`) for none, unless it has an extension or is a project's usual wrapper.
    """
    if not is_path(name):
        return _named(name.rpartition("/")[2])
    *_, place, base = name.replace("\\", "/").split("/")
    found = _named(base)
    if found is None or place in _PLACES:
        return found
    own = not _ABSOLUTE.match(name) and not _WRAPPERS.match(base) and not _WITH_EXTENSION.match(base)
    return None if own or found.subject in _EVERYDAY else found


def script_program(path: str) -> str | None:
    """The program that a script is when an interpreter is given it: `python manage.py`; None for most."""
    base = path.replace("\\", "/").rpartition("/")[2]
    return base if _WITH_EXTENSION.match(base) and _named(base) is not None else None


def is_path(name: str) -> bool:
    """Whether a program is called by a path; a package with a scope (`@biomejs/biome`) is called by name."""
    return ("/" in name or "\\" in name) and not _SCOPED.match(name)


def names() -> tuple[str, ...]:
    """The names of all programs, without aliases."""
    keys = (key_of(header) for text in _texts().values() for header, _ in sections(text))
    return tuple(dict.fromkeys(key[0] for key in keys))


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The tables of a catalogue file in order: the dotted key of the header, and the text from the header on."""
    for part in ("\n" + text).split("\n[")[1:]:
        yield part[: part.find("]")], "[" + part


def key_of(header: str) -> Key:
    """The entry a header belongs to: ``git.commands.push.roles`` is part of ``("git", "push")``."""
    parts = [part.strip().strip("\"'") for part in re.findall(r'"[^"]*"|[^."]+', header)]
    key = parts[:1]
    for at in range(1, len(parts) - 1, 2):
        if parts[at] != "commands":
            break
        key.append(parts[at + 1])
    return tuple(key)


def entry(key: Key, texts: list[str]) -> dict[str, Any]:
    """The table of one entry out of the pieces it consists of."""
    import tomllib

    table: Any = tomllib.loads("\n".join(texts))[key[0]]
    for name in key[1:]:
        table = table["commands"][name]
    return dict(table)


@lru_cache(maxsize=4096)
def _named(name: str) -> Program | None:
    bare = name.removesuffix(".exe")
    for each in dict.fromkeys((name, bare, _VERSION.sub("", bare))):
        if _NAME.match(each):
            owner = _owner(each)
            if owner is not None:
                return _program(*owner)
    return None


def _owner(name: str) -> tuple[str, str] | None:
    """The subject and the header of the program that has a name or an alias."""
    header = name if _BARE.match(name) else f'"{name}"'
    for subject, text in _texts().items():
        if f"\n[{header}]\n" in text:
            return subject, header
    alias = f'"{name}"'
    for subject, text in _texts().items():
        at = text.find(alias)
        while at >= 0:
            if text.startswith("aliases = [", text.rfind("\n", 0, at) + 1):
                start = text.rfind("\n[", 0, at) + 2
                header = text[start : text.find("]\n", start)]
                if len(key_of(header)) == 1:
                    return subject, header
            at = text.find(alias, at + 1)
    return None


@cache
def _program(subject: str, header: str) -> Program:
    from vigil_lang.abstraction.catalogue.entry import build

    text = _texts()[subject]
    start = text.index(f"\n[{header}]\n") + 1
    end = start
    while end >= 0:
        end = text.find("\n[", end + 1)
        if not text.startswith(f"\n[{header}.", end):
            break
    entries: dict[Key, list[str]] = {}
    for each, part in sections(text[start : end if end >= 0 else len(text)]):
        entries.setdefault(key_of(each), []).append(part)
    top = key_of(header)
    commands = Commands(top, entries, subject) if len(entries) > 1 else None
    return build(top[0], entry(top, entries[top]), subject, commands)


class Commands(Mapping[str, "Program"]):
    """The subcommands of an entry by name and alias, each read when it is asked for."""

    def __init__(self, above: Key, entries: Mapping[Key, list[str]], subject: str) -> None:
        self._entries = entries
        self._subject = subject
        self._keys: dict[str, Key] = {}
        self._read: dict[str, Program] = {}
        for key in entries:
            if len(key) > len(above) and key[: len(above)] == above:
                self._keys.setdefault(key[len(above)], key[: len(above) + 1])
        for name, key in list(self._keys.items()):
            for alias in _aliases("\n".join(entries.get(key, ()))):
                self._keys.setdefault(alias, (*above, name))

    def __getitem__(self, name: str) -> Program:
        if name not in self._read:
            from vigil_lang.abstraction.catalogue.entry import build

            key = self._keys[name if name in self._keys else self._pattern(name)]
            texts = self._entries.get(key)
            below = Commands(key, self._entries, self._subject)
            table = entry(key, texts) if texts else {}
            self._read[name] = build(key[-1], table, self._subject, below or None)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._keys or (isinstance(name, str) and bool(self._pattern(name)))

    def _pattern(self, name: str) -> str:
        """The name with a star, or the alias, that a subcommand matches; empty where none does."""
        return next((each for each in self._keys if "*" in each and fnmatchcase(name, each)), "")

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@cache
def _texts() -> dict[str, str]:
    """The catalogue's files by subject."""
    return {path.stem: "\n" + path.read_text("utf-8") for path in sorted(resource("stdlib", "commands").glob("*.toml"))}


def _aliases(text: str) -> list[str]:
    match = _ALIASES.search(text)
    return re.findall(r'"([^"]+)"', match[1]) if match else []
