"""A log as an auditor reads it: a copy of a state folder at any path, of which nothing is written and nothing trusted.

Who may own the files and what their modes are is the gate's concern, not the auditor's.
"""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import stat
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from vigil_lang.gate.log.log import moment
from vigil_lang.gate.log.notes import MAX_NOTE, Checkpoint, Note, NoteError, VerifierKey
from vigil_lang.gate.log.side_store import PlainValue
from vigil_lang.gate.state import LOCK_WAIT
from vigil_lang.gate.storage.files import CHUNK, MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZE = re.compile(r"0|[1-9][0-9]{0,17}")


class CannotRead(Exception):
    """Something that has to be there cannot be read: nothing can be judged. The text says why."""


class Signed(NamedTuple):
    """A checkpoint with the note that it stands in."""

    checkpoint: Checkpoint
    note: Note


class LogCopy:
    """The files of a log in a folder, which may be in use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def still(self) -> Iterator[None]:
        """Nobody writes meanwhile, where the folder is in use: its lock is shared, and never made.

        Raises:
            CannotRead: somebody keeps it locked.
        """
        try:
            handle = os.open(self.folder / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            yield
            return
        try:
            end = time.monotonic() + LOCK_WAIT
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise CannotRead(f"others kept the state folder locked for {LOCK_WAIT:g} s") from None
                    time.sleep(0.01)
            yield
        finally:
            os.close(handle)

    def key(self) -> VerifierKey:
        """The key that the folder says is the log's.

        Raises:
            CannotRead: there is none.
        """
        try:
            return VerifierKey.parse(read_small(self.folder / "log.vkey").decode())
        except (OSError, ValueError) as error:
            raise CannotRead(f"the log's key, log.vkey, cannot be read: {reason(error)}") from None

    def sizes(self) -> tuple[list[int], list[str]]:
        """The sizes that there are checkpoints of, in order, and the names beside them that are no sizes.

        Raises:
            CannotRead: the folder cannot be read.
        """
        try:
            with os.scandir(self.folder / "checkpoints") as found:
                names = [each.name for each in found]
        except FileNotFoundError:
            return [], []
        except OSError as error:
            raise CannotRead(f"the checkpoints cannot be read: {reason(error)}") from None
        others = sorted(name for name in names if not _SIZE.fullmatch(name) and not name.startswith("."))
        return sorted(int(name) for name in names if _SIZE.fullmatch(name)), others

    def note(self, size: int | None = None) -> bytes | None:
        """The checkpoint of a size, or the copy of the newest; None where there is none.

        Raises:
            OSError: it cannot be read.
        """
        place = self.folder / "checkpoint" if size is None else self.folder / "checkpoints" / str(size)
        try:
            return read_small(place)
        except FileNotFoundError:
            return None

    def begun(self) -> bytes | None:
        """The checkpoint that a crash left unfinished."""
        try:
            return read_small(self.folder / "checkpoint.next")
        except OSError:
            return None

    def newest(self) -> Signed:
        """The newest checkpoint; that it is signed by the log is not looked at.

        Raises:
            CannotRead: there is none, or it is damaged.
        """
        sizes, _ = self.sizes()
        if not sizes:
            raise CannotRead("the log has no checkpoint yet")
        try:
            return signed(self.note(sizes[-1]) or b"")
        except (OSError, NoteError) as error:
            raise CannotRead(f"the checkpoint {sizes[-1]} cannot be read: {reason(error)}") from None

    def lines(self) -> Iterator[bytes]:
        """The lines of the log without their line feeds; the last is what follows the last line feed, mostly nothing.

        Raises:
            CannotRead: the log cannot be read, or a line is too long.
        """
        try:
            handle = os.open(self.folder / "log.jsonl", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise CannotRead(f"the log, log.jsonl, cannot be read: {reason(error)}") from None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise CannotRead("the log, log.jsonl, is no file")
            end, start, rest = found.st_size, 0, b""
            while start < end:
                data = os.pread(handle, min(CHUNK, end - start), start)
                if not data:
                    break
                start += len(data)
                *whole, rest = (rest + data).split(b"\n")
                yield from whole
                if len(rest) > MAX_LINE:
                    raise CannotRead(f"a line of the log has more than {MAX_LINE:,} bytes")
            yield rest
        except OSError as error:
            raise CannotRead(f"the log, log.jsonl, cannot be read: {reason(error)}") from None
        finally:
            os.close(handle)

    def entries(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The entries with their numbers; each has a `kind` and a time `at`. A line without an end is none.

        Raises:
            CannotRead: the log, or an entry of it, cannot be read.
        """
        before: bytes | None = None
        for seq, line in enumerate(self.lines(), -1):
            if before is not None:
                yield seq, _entry(seq, before)
            before = line

    @contextmanager
    def plain(self) -> Iterator[Iterator[PlainValue]]:
        """The rows of the side store by entry; none where it was deleted.

        Raises:
            sqlite3.Error, OSError: it cannot be read; so do the rows.
        """
        with self._database("args.sqlite") as found:
            rows = () if found is None else found.execute("SELECT seq, path, salt, value FROM plain ORDER BY seq, path")
            yield map(_row, rows)

    def index(self) -> bytes | None:
        """The hashes of the leaves that the index took in, one after the other; None where there is no index.

        Raises:
            sqlite3.Error, OSError: it cannot be read.
        """
        with self._database("index.sqlite") as found:
            if found is None:
                return None
            leaves = bytearray()
            for at, (seq, leaf) in enumerate(found.execute("SELECT seq, leaf FROM entries ORDER BY seq")):
                if seq != at or not isinstance(leaf, bytes) or len(leaf) != 32:
                    raise sqlite3.DataError(f"entry {at} has no hash in it")
                leaves += leaf
            return bytes(leaves)

    @contextmanager
    def _database(self, name: str) -> Iterator[sqlite3.Connection | None]:
        """A database opened for reading. What its writers left beside it is read too, from a copy of both."""
        path = self.folder / name
        if not path.exists():
            yield None
            return
        import shutil  # late: both import all formats of archives, and a gate only shares the lock
        import tempfile

        if path.is_symlink() or not path.is_file():
            raise OSError(f"{name} is no file")
        beside = self.folder / f"{name}-wal"
        with tempfile.TemporaryDirectory(prefix="vigil-audit-") as place:
            immutable = "&immutable=1"
            with self.still():
                if beside.is_file():
                    path, immutable = Path(place, name), ""
                    shutil.copyfile(self.folder / name, path)
                    shutil.copyfile(beside, Path(place, beside.name))
            uri = f"{path.absolute().as_uri()}?mode={'ro' if immutable else 'rw'}{immutable}"
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as found:
                found.execute("PRAGMA trusted_schema = OFF")
                tables = "SELECT 1 FROM sqlite_schema WHERE type = 'view' OR type = 'trigger'"
                if found.execute(tables).fetchone():
                    raise sqlite3.DataError("it has more than tables")
                yield found


def signed(data: bytes) -> Signed:
    """A checkpoint as it is written.

    Raises:
        NoteError: it is none.
    """
    note = Note.parse(data)
    return Signed(Checkpoint.parse(note.text), note)


def read_small(path: Path) -> bytes:
    """A file that is no link and no larger than a note.

    Raises:
        OSError: it cannot be read, or is larger.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(MAX_NOTE + 1)
    if len(data) > MAX_NOTE:
        raise OSError(f"it has more than {MAX_NOTE:,} bytes")
    return data


def reason(error: Exception) -> str:
    """Why something failed, for a message."""
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()


def _entry(seq: int, line: bytes) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        moment(entry["at"])
        if isinstance(entry["kind"], str):
            return entry
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CannotRead(f"entry {seq} of the log is damaged: `vigil audit verify` says more")


def _row(row: tuple[object, ...]) -> PlainValue:
    seq, path, salt, value = row
    if type(seq) is int and type(path) is str and type(salt) is bytes and type(value) is str:
        return PlainValue(seq, path, salt, value)
    raise sqlite3.DataError("a row is not of its types")
