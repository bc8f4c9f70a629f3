"""The side store: the plain values that stand in the log as salted digests. It may be deleted at any time.

`args.sqlite` has one table, `plain(seq, path, salt, value)`: the entry, the place in it (a JSON pointer), 16 bytes and
the value as canonical JSON. The entry has SHA-256(salt ‖ value) in hexadecimal at that place.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.gate.canonical import NotCanonical, canonical
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SALT_BYTES = 16
_TABLE = (
    "CREATE TABLE IF NOT EXISTS plain(seq INTEGER NOT NULL, path TEXT NOT NULL, salt BLOB NOT NULL, "
    "value TEXT NOT NULL, PRIMARY KEY(seq, path)) STRICT"
)


class PlainValue(NamedTuple):
    """A row of the side store; `value` is canonical JSON."""

    seq: int
    path: str
    salt: bytes
    value: str

    @classmethod
    def of(cls, seq: int, path: str, value: object) -> PlainValue:
        """A value with a salt of its own.

        Raises:
            StateError: it has no canonical form.
        """
        try:
            return cls(seq, path, os.urandom(SALT_BYTES), canonical(value).decode())
        except NotCanonical as error:
            raise StateError(f"a value cannot be logged: {error}") from error

    def digest(self) -> str:
        """What the entry has in its place. The value is made canonical where somebody wrote it in another way."""
        return sha256(self.salt + self.value.encode()).hexdigest()

    def fits(self, digest: object) -> bool:
        """Whether it is what the digest was made of, whichever way it is written."""
        if sha256(self.salt + self.value.encode()).hexdigest() == digest:
            return True
        try:
            return sha256(self.salt + canonical(json.loads(self.value))).hexdigest() == digest
        except (ValueError, RecursionError):
            return False


class SideStore:
    """The side store of a state folder, made where there is none; whoever writes holds the folder's lock.

    With `synced` a loss of power leaves it whole, though the last rows may be missing.
    """

    def __init__(self, path: Path, *, synced: bool = True) -> None:
        self._path = path
        self._synced = synced
        self._open: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def put(self, rows: Iterable[PlainValue]) -> None:
        """Write rows, in the place of those that an entry left that was never written.

        Raises:
            StateError: they cannot be written.
        """
        try:
            connection = self._connection()
            for row in rows:
                connection.execute("INSERT OR REPLACE INTO plain VALUES (?, ?, ?, ?)", row)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise StateError(f"the side store {self._path} cannot be written: {error}") from error

    def get(self, seq: int, path: str) -> PlainValue | None:
        """A row, None where it was deleted.

        Raises:
            StateError: the store cannot be read.
        """
        try:
            if not self._path.exists():
                return None
            found = self._connection().execute("SELECT * FROM plain WHERE seq = ? AND path = ?", (seq, path)).fetchone()
            return None if found is None else PlainValue(*found)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise StateError(f"the side store {self._path} cannot be read: {error}") from error

    def close(self) -> None:
        """Let go of the file."""
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = self._identity = None

    def _connection(self) -> sqlite3.Connection:
        """The open store; opened anew where another file took its place, or none did."""
        try:
            now = os.stat(self._path, follow_symlinks=False)  # noqa: PTH116 - one call, before each entry
        except FileNotFoundError:
            self.close()
            self._make()
            now = os.stat(self._path, follow_symlinks=False)  # noqa: PTH116
        if self._open is None or self._identity != (now.st_dev, now.st_ino):
            self.close()
            os.close(os.open(self._path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC))  # it is no link
            self._open = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
            self._open.execute("PRAGMA journal_mode = WAL")
            self._open.execute(f"PRAGMA synchronous = {'NORMAL' if self._synced else 'OFF'}")
            self._open.execute("PRAGMA wal_autocheckpoint = 4000")  # it waits for the disk, and others for it
            self._open.execute(_TABLE)
            self._identity = (now.st_dev, now.st_ino)
        return self._open

    def _make(self) -> None:
        for suffix in ("-wal", "-shm"):  # of a store that was deleted: they would bring its rows back
            with suppress(FileNotFoundError):
                os.unlink(f"{self._path}{suffix}")  # noqa: PTH108 - a text
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
