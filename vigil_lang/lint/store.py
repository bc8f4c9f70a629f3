"""A cache of lint results, valid until the file, its dependencies or the linter changes."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.base import cache
from vigil_lang.base.resources import resource
from vigil_lang.lint.codec import Records
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT = ""
"""The digest of a file that is not there: should it appear, what rested on its absence is worked out anew."""
_MADE_OF = (".py", ".vgl", ".toml", ".lark", ".json")


class Entry(msgspec.Struct, array_like=True, frozen=True):
    """The result for a text with a digest; `needs` are the digests of the other files it rests on, by path.

    `cites` are the (file, sentence) pairs of the statements. `unreadable`: the file could not be judged at all.
    """

    digest: str
    needs: dict[str, str]
    records: Records
    suppressed: Records
    cites: list[tuple[str, str]] = []
    unreadable: bool = False
    lasting: bool = True


class Digests:
    """Digests of files as they are now, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The digest of a file's bytes, `ABSENT` where it cannot be read."""
        if path not in self._known:
            try:
                with open(path, "rb") as stream:  # noqa: PTH123 - a text, for speed
                    self._known[path] = digest(stream.read())
            except (OSError, ValueError):
                self._known[path] = ABSENT
        return self._known[path]


class Store:
    """The entries of one folder and one set of options."""

    def __init__(self, options: str) -> None:
        made = digest(f"{os.getcwd()}\n{options}".encode())[:24]  # noqa: PTH109 - a text
        self._name = f"lint-{made}"
        self._made_by = _linter()
        self._entries: dict[str, Entry] = {}
        self._changed = False
        text = cache.read(self._name)
        if text is not None:
            try:
                made_by, self._entries = msgspec.json.decode(text, type=tuple[str, dict[str, Entry]])
            except msgspec.DecodeError:
                made_by = ""
            if made_by != self._made_by:
                self._entries = {}

    def get(self, path: str, digests: Digests) -> Entry | None:
        """The entry of a path if everything it rests on is as it was."""
        entry = self._entries.get(path)
        if entry is None or entry.digest != digests.of(path):
            return None
        return entry if all(digests.of(other) == was for other, was in entry.needs.items()) else None

    def put(self, path: str, entry: Entry) -> None:
        """Keep an entry that lasts."""
        if entry.lasting:
            self._entries[path] = entry
            self._changed = True

    def save(self) -> None:
        """Write what is new, if anything is."""
        if self._changed:
            with suppress(UnicodeEncodeError):  # a file's name that is no text cannot be written down
                cache.write(self._name, msgspec.json.encode((self._made_by, self._entries)).decode())


def digest(data: bytes) -> str:
    """A digest of bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _linter() -> str:
    """What changes whenever the linter does: in a checkout that is any of its files."""
    parts = [__version__]
    for folder in (resource("lint").parent, resource("grammar"), resource("stdlib")):
        parts += (f"{name}:{size}:{time}" for name, size, time in sorted(_files(str(folder))))
    return digest("\n".join(parts).encode())


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            elif entry.name.endswith(_MADE_OF):
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
