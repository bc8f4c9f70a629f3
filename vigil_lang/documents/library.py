"""Cited documents, each read once, and none from outside the project."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.base import inputs
from vigil_lang.base.files import project_root, read_bytes, real_path
from vigil_lang.diagnostics import Source

if TYPE_CHECKING:
    from vigil_lang.documents.document import Document

MAX_BYTES = 5_000_000
"""The size of the largest document that is read."""

MAX_CLIMB = 4
"""How many folders upwards a citation may lead; from further away a document is cited by its whole path."""

# `arXiv:…`, `https://…`, `RFC 2119, section 5`: a source, but no file.
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|[^/\\]*,? (?:section|chapter|page|table|figure|§)", re.IGNORECASE)

Reason: TypeAlias = Literal["absent", "elsewhere", "outside", "unreadable"]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document that cannot be read: it does not exist, is no file of the project, or what keeps it from being read.

    `elsewhere` is no path at all, but the name of a book or an address.
    """

    path: str
    reason: Reason
    message: str


@dataclass(frozen=True)
class Library:
    """Documents by the files they are stored in."""

    _read: dict[Path, Document | Unreadable] = field(default_factory=dict, repr=False)
    _cited: dict[tuple[str, str], Document | Unreadable] = field(default_factory=dict, repr=False)
    _found: dict[tuple[str, str], tuple[Document, dict[Path, None]]] = field(default_factory=dict, repr=False)
    """Documents that were there, and where was looked for each."""
    _roots: dict[Path, Path] = field(default_factory=dict, repr=False)
    _looked: dict[Path, None] = field(default_factory=dict, repr=False)
    _around: dict[str, tuple[Path, Path]] = field(default_factory=dict, repr=False)
    """The folder of each policy, links followed, and the root of its project."""

    def afresh(self) -> Library:
        """A library with the same documents that has looked at nothing yet."""
        return Library(self._read, _found=self._found, _roots=self._roots)

    def read(self, path: str | Path) -> Document | Unreadable:
        """A document that was named outright, wherever it is."""
        try:
            place = Path(real_path(path))
        except (OSError, ValueError, RuntimeError) as error:
            return Unreadable(str(path), "unreadable", _why(error))
        self._looked[place] = None
        return self._at(place, str(path))

    def cited(self, policy: str, name: str) -> Document | Unreadable:
        """The document a policy cites: beside the policy, or else in its project's folder.

        Symbolic links are followed, and none leads out of the project.
        """
        key = (policy, name)
        if key in self._found:
            document, looked = self._found[key]
            self._looked.update(looked)
            return document
        if key not in self._cited:
            self._cited[key] = self._find(policy, name)
        return self._cited[key]

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The files that were looked at or for, in order: what is known of citations rests on them."""
        return tuple(map(str, self._looked))

    def _find(self, policy: str, name: str) -> Document | Unreadable:
        if not name.strip() or _ELSEWHERE.match(name):
            return Unreadable(name, "elsewhere", "it is not the path of a file")
        try:
            folder, root = self._folders(policy)
            looked: dict[Path, None] = {}
            for start in dict.fromkeys((folder, root)):
                place = Path(real_path(start / name))
                if not place.is_relative_to(root):
                    return Unreadable(name, "outside", "it leads out of the project's folder")
                self._looked[place] = looked[place] = None
                if place.exists():
                    document = self._at(place, _shown(policy, name, start, folder))
                    if not isinstance(document, Unreadable):
                        self._found[policy, name] = document, looked
                    return document
        except (OSError, ValueError, RuntimeError) as error:
            return Unreadable(name, "unreadable", _why(error))
        return Unreadable(name, "absent", "there is no such file")

    def _folders(self, policy: str) -> tuple[Path, Path]:
        if policy not in self._around:
            root = self._root(Path(real_path(Path(policy).parent)))  # a link to a policy lends nothing of where that is
            self._around[policy] = Path(real_path(policy)).parent, root
        return self._around[policy]

    def _root(self, folder: Path) -> Path:
        if folder not in self._roots:
            self._roots[folder] = project_root(folder)
        return self._roots[folder]

    def _at(self, place: Path, shown: str) -> Document | Unreadable:
        if place not in self._read:
            self._read[place] = _load(place, shown)
        return self._read[place]


def citable(policy: str, file: str) -> tuple[str, bool]:
    """How a policy at some place cites a file so that `Library.cited` finds it, and whether it lies in its project."""
    folder, place = Path(real_path(policy)).parent, Path(real_path(file))
    root = project_root(folder)
    try:
        name = Path(os.path.relpath(place, folder)).as_posix()
    except ValueError:  # another drive
        return place.as_posix(), False
    if name.count("../") > MAX_CLIMB:
        return place.as_posix(), place.is_relative_to(root)
    return f"./{name}" if _ELSEWHERE.match(name) else name, place.is_relative_to(root)


def _shown(policy: str, name: str, start: Path, folder: Path) -> str:
    """The path of a cited document as people would write it from where they are."""
    return str(Path(policy).parent / name) if start == folder else str(start / name)


def _load(place: Path, shown: str) -> Document | Unreadable:
    from vigil_lang.documents.read import read_document  # late: a linter without citations reads no document

    try:
        if not place.exists():
            return Unreadable(shown, "absent", "there is no such file")
        if not place.is_file():
            return Unreadable(shown, "unreadable", "it is a folder" if place.is_dir() else "it is not a file")
        inputs.note(str(place))
        raw = read_bytes(place, MAX_BYTES)
        if len(raw) > MAX_BYTES:
            return Unreadable(shown, "unreadable", f"it is larger than {MAX_BYTES // 1_000_000} MB")
        return read_document(Source(shown, raw.decode("utf-8")))
    except UnicodeDecodeError:
        return Unreadable(shown, "unreadable", "it is not UTF-8 text")
    except (OSError, ValueError) as error:
        return Unreadable(shown, "unreadable", _why(error))


def _why(error: Exception) -> str:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return reason.lower()
