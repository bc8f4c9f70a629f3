"""The log in the state folder: `log.jsonl` and the files beside it."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING

from vigil_lang.gate.log.derivation import read_bundle
from vigil_lang.gate.log.notes import Checkpoint, Note, NoteError
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.shared_sync import SharedSync
from vigil_lang.gate.log.side_store import SideStore
from vigil_lang.gate.state import LOCK_WAIT, StateError
from vigil_lang.gate.storage.files import CHUNK, MAX_LINE, lines_of, read, replace, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Literal

    from vigil_lang.gate.log.side_store import PlainValue
    from vigil_lang.gate.state import StateFolder
    from vigil_lang.gate.storage.storage import Identity, Stamp

MAX_LIST = 16_000_000
"""Bytes of the longest revocation list, with its envelope."""

_SECRET_BYTES = 32
_PAUSE = 0.02


class FolderStorage:
    """The log of a state folder. With `durability` `process` a loss of power may break the plain values."""

    is_transactional = False

    def __init__(self, folder: StateFolder, durability: Literal["power", "process"] = "power") -> None:
        self.folder = folder
        self._side = SideStore(folder.plain, synced=durability == "power")
        self._opened: int | None = None
        self._sync: SharedSync

    def lock(self) -> AbstractContextManager[None]:
        return self.folder.lock()

    def at_end(self, settled: Callable[[bool], None]) -> None:
        """It is never open."""

    def stamp(self) -> Stamp:
        found = os.stat(self.folder.log)  # noqa: PTH116 - one call, many times a second
        return found.st_dev, found.st_ino, found.st_size

    def wait(self, stamp: Stamp, seconds: float) -> None:
        end = monotonic() + seconds
        while self.stamp() == stamp and (left := end - monotonic()) > 0:
            sleep(min(_PAUSE, left))

    def close(self) -> None:
        self._side.close()
        if self._opened is not None:
            with suppress(OSError):
                os.close(self._opened)
        self._opened = None

    # --- the log --------------------------------------------------------------------------------------------------

    def open_log(self) -> Identity:
        if self._opened is None:
            self._opened = os.open(self.folder.log, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
            self._sync = SharedSync(self._opened)
        return _identity(os.fstat(self._opened))

    @property
    def _file(self) -> int:
        if self._opened is None:
            raise StateError(f"the log {self.folder.log} is not open")
        return self._opened

    def check_place(self) -> None:
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise StateError(f"the log {self.folder.log} is not a file that only its user reads and writes")

    def look(self) -> tuple[Identity, int]:
        found = os.stat(self.folder.log, follow_symlinks=False)  # noqa: PTH116 - one call, before each entry
        return _identity(found), found.st_size

    def lines(self, start: int, end: int) -> Iterator[bytes]:
        return lines_of(self._file, start, end)

    def lines_at(self, starts: Sequence[int]) -> Iterator[bytes]:
        with os.fdopen(os.open(self.folder.log, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
            for start in starts:
                stream.seek(start)
                yield stream.readline().rstrip(b"\n")

    def is_boundary(self, place: int) -> bool:
        return os.pread(self._file, 1, place - 1) == b"\n"

    def append(self, place: int, line: bytes, *, wait: bool) -> None:
        self._sync.appending(place)
        written = os.write(self._file, line)
        if written != len(line):
            raise OSError(0, f"{written:,} of {len(line):,} bytes were written")
        self._sync.appended(place + written)
        if wait:
            self.on_disk(place + written)

    def cut(self, place: int) -> None:
        os.ftruncate(self._file, place)
        os.fdatasync(self._file)

    def on_disk(self, place: int) -> None:
        self._sync.upto(place)

    def mend(self, end: int) -> None:
        if self._sync.failed is None:
            return
        start = self._sync.doubtful_from
        handle = os.open(self.folder.log, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            while start < end:
                if not (data := os.pread(self._file, min(CHUNK, end - start), start)):
                    raise OSError(0, "it was cut")
                start += os.pwrite(handle, data, start)
            os.fdatasync(handle)
        finally:
            os.close(handle)
        self._sync.written_again(end)

    # --- checkpoints ----------------------------------------------------------------------------------------------

    def newest_checkpoint(self) -> bytes | None:
        return _there(self.folder.checkpoint)

    def checkpoint(self, size: int) -> bytes | None:
        return _there(self.folder.checkpoints / str(size))

    def checkpoints(self, above: int = -1) -> Iterator[tuple[int, bytes]]:
        for size in LogCopy(self.folder.path).sizes()[0]:
            if size > above:
                yield size, read(self.folder.checkpoints / str(size), MAX_LINE)

    def finish_checkpoint(self) -> None:
        begun = self.folder.path / "checkpoint.next"
        try:
            size = Checkpoint.parse(Note.parse(read(begun, MAX_LINE)).text).size
        except FileNotFoundError:
            return
        except NoteError:
            begun.unlink()
            return
        if (self.folder.checkpoints / str(size)).exists():
            begun.replace(self.folder.checkpoint)
        else:
            begun.unlink()

    def publish(self, size: int, note: str) -> None:
        """Write a checkpoint and then its copy, so that a crash in between is seen: `checkpoint.next` is there then.

        An older checkpoint than the newest, to which somebody adds a cosignature, has no copy.
        """
        data = note.encode()
        begun, newest = self.folder.path / "checkpoint.next", self.newest_checkpoint()
        copied = newest is None or Checkpoint.parse(Note.parse(newest).text).size <= size
        if copied:
            replace(begun, data)
        replace(self.folder.checkpoints / str(size), data)
        if copied:
            begun.replace(self.folder.checkpoint)
            sync_folder(self.folder.path)

    # --- plain values and policies --------------------------------------------------------------------------------

    def put_plain(self, rows: Iterable[PlainValue]) -> None:
        self._side.put(rows)

    def plain(self, seq: int, path: str) -> PlainValue | None:
        return self._side.get(seq, path)

    def all_plain(self, before: int) -> Iterator[PlainValue]:
        with LogCopy(self.folder.path).plain() as rows:
            for row in rows:
                if row.seq >= before:
                    return
                yield row

    def plain_identity(self) -> Identity:
        return _identity(self.folder.plain.stat())

    def bundle(self, digest: str) -> bytes:
        return read_bundle(self.folder.policies, digest)

    def bundles(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.folder.policies.glob("*.json")):
            yield path.stem, self.bundle(path.stem)

    def keep_bundle(self, digest: str, data: bytes) -> None:
        path = self.folder.policies / f"{digest}.json"
        if path.exists():
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        beside = path.with_suffix(".new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)

    # --- the revocation list --------------------------------------------------------------------------------------

    def revocation_stamp(self) -> Stamp | None:
        try:
            return _stamp(os.stat(self.folder.revocations, follow_symlinks=False))  # noqa: PTH116 - once a decision
        except FileNotFoundError:
            return None

    def revocations(self) -> tuple[Stamp, bytes]:
        handle = os.open(self.folder.revocations, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(0, "it is no file")
            return _stamp(found), stream.read(MAX_LIST + 1)

    def put_revocations(self, data: bytes) -> None:
        replace(self.folder.revocations, data)

    @contextmanager
    def publishing(self) -> Iterator[None]:
        path = self.folder.path / "revocations.lock"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StateError(f"the lock of the revocation list cannot be opened: {error.strerror}") from error
        try:
            end = monotonic() + LOCK_WAIT
            while not _locked(handle):
                if monotonic() > end:
                    raise StateError(f"others kept the revocation list locked for {LOCK_WAIT:g} s")
                sleep(0.01)
            yield
        finally:
            os.close(handle)

    # --- the service ----------------------------------------------------------------------------------------------

    def renew_secret(self, name: str) -> None:
        with self.lock():
            replace(self.folder.keys / f"{name}.secret", os.urandom(_SECRET_BYTES))

    def secret(self, name: str) -> bytes:
        path = self.folder.keys / f"{name}.secret"
        with self.lock():
            if not path.exists():
                replace(path, os.urandom(_SECRET_BYTES))
            found = read(path, 1000)
        if len(found) != _SECRET_BYTES:
            raise StateError(f"the secret {path} has not {_SECRET_BYTES} bytes")
        return found


def _there(path: Path) -> bytes | None:
    try:
        return read(path, MAX_LINE)
    except FileNotFoundError:
        return None


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_mtime_ns, found.st_size


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
