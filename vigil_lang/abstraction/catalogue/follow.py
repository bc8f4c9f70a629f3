"""Paths that a command line does not spell out: a target in a directory, an archive's extension, a download's name."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue import values
from vigil_lang.abstraction.step import Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.abstraction.catalogue.fill import Filled


def suffixed(found: Filled) -> None:
    """The extension that a program gives to a path without one."""
    for role, extension in found.entry.suffix.items():
        pairs = found.local.get(role, [])
        made = [
            (word, path if path is None or "." in posixpath.basename(path) else path + extension)
            for word, path in pairs
        ]
        if made != pairs:
            found.local[role] = made
            found.roles[role] = [path for _, path in made if path is not None]


def into_directory(found: Filled) -> None:
    """The path that is written where the target is a directory."""
    if not {"-T", "--no-target-directory"}.isdisjoint(found.found.values):
        return
    if not found.entry.into or (found.local.get("target") is None and found.entry.into not in found.local):
        return
    sources, targets = found.sources, found.local.get("target", [])
    directories = found.local.get(found.entry.into, [])
    if not directories:
        several = len(sources) > 1 or any(word.glob for word in sources)
        if not (several or values.is_directory(targets[-1][0].text)):
            return
        directories = targets[-1:]
        if directories[0][1] is not None:
            found.roles[found.entry.into] = [directories[0][1]]
    directory = directories[-1][1]
    written: list[tuple[Word, str | None]] = []
    for word in sources:
        known = word.known and directory is not None
        written.append((word, values.below(directory or "", word.text) if known else None))
    if written:
        found.local["target"] = written
        found.roles["target"] = [path for _, path in written if path is not None]
        found.unresolved.pop("target", None)
        if any(path is None for _, path in written):
            found.unresolved["target"] = None


def derived(found: Filled, rules: Mapping[str, str]) -> None:
    """Paths that follow from others: what gzip leaves, where curl -O writes."""
    for role, rule in rules.items():
        if role in found.roles or role in found.local or role in found.unresolved:
            continue
        made: list[tuple[Word, str | None]] = []
        if rule == "url":
            base = found.local["directory"][-1][1] if role != "directory" and "directory" in found.local else found.cwd
            for url in found.roles.get("url", ()):
                part = values.last_of_url(url).removesuffix(".git")
                word = Word(part or "index.html")
                made.append((word, values.local(word, base)))
            if "url" in found.unresolved:
                found.unresolved[role] = None
        else:
            sign = "+" if "+" in rule else "-"
            origin, _, suffixes = rule.partition(sign)
            for word, path in found.local.get(origin, ()):
                made.append((word, None if path is None else _renamed(path, sign, suffixes.split(","))))
        if made:
            found.local[role] = made
            found.roles[role] = [path for _, path in made if path is not None]
            if len(found.roles[role]) < len(made):
                found.unresolved[role] = None


def _renamed(path: str, sign: str, suffixes: list[str]) -> str | None:
    if sign == "+":
        return path + suffixes[0]
    return next((path.removesuffix(each) for each in suffixes if path.endswith(each) and path != each), None)
