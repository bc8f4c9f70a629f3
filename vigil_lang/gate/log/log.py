"""The log of a state folder: entries are appended, one line each, and are on disk before anyone is told.

`log.jsonl` is the truth. A checkpoint, `checkpoints/SIZE`, says what it was at a size and is signed with the folder's
key; `checkpoint` is a copy of the newest. Whoever writes holds the folder's lock.
"""

from __future__ import annotations

import os
import stat
import time
from array import array
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.gate.log.notes import Checkpoint, Note, NoteError, Signer, VerifierKey, note_of
from vigil_lang.gate.log.side_store import PlainValue, SideStore
from vigil_lang.gate.log.tree import Frontier, leaf_hash
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from vigil_lang.gate.settings import LogSettings
    from vigil_lang.gate.state import StateFolder

VERSION = 1
MAX_LINE = 16_000_000
"""Bytes of the longest entry."""

CLOCK_SLACK = 5_000_000
"""Microseconds that the clock may go back: the time then stands still for as long."""

WHOLE_BYTES = 16_000_000
"""A log up to this size is read whole when it is opened; of a longer one, what follows its newest checkpoint."""

_ORIGIN = "vigil.local/"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_END = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The first moment that an entry cannot be read with."""
_CHUNK = 1 << 20
_ENCODE = msgspec.json.Encoder(decimal_format="number").encode


class _Head(msgspec.Struct):
    """What appending has to know of an entry."""

    at: str
    kind: str


_HEAD = msgspec.json.Decoder(_Head)
_ENTRY = msgspec.json.Decoder(dict[str, Any])


class Kept(msgspec.Struct, frozen=True):
    """The frontier of a log at its newest checkpoint, so that a long log is not read whole: `frontier`, a cache."""

    size: int
    offset: int
    at: int
    peaks: tuple[str, ...]


def now() -> int:
    """The system's clock, in microseconds since 1970."""
    return time.time_ns() // 1000


class Log:
    """The log of a state folder, which other processes append to as well: `refresh` takes in what they did.

    `clock` gives microseconds since 1970. It may be used by one thread at a time.

    Raises:
        StateError: there is none.
    """

    def __init__(self, folder: StateFolder, settings: LogSettings, clock: Callable[[], int] = now) -> None:
        self._folder = folder
        self._settings = settings
        self._clock = clock
        self._side = SideStore(folder.plain, synced=settings.durability == "power")
        self._frontier = Frontier()
        self._offset = 0
        self._starts = array("q")
        """Where the last entries begin in the file, of those that were read one by one."""
        self._at = 0
        self._last_kind = ""
        self._signed_size = 0
        self._signed_at: int | None = None
        self._signer: Signer | None = None
        self._begun = False
        self._torn = False
        try:
            self._file = os.open(folder.log, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
            self._identity = _identity(os.fstat(self._file))
        except OSError as error:
            raise StateError(f"the log {folder.log} cannot be opened: {error.strerror}") from error

    # --- what it has ----------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of entries that were taken in."""
        return self._frontier.size

    def root(self) -> bytes:
        """The root of the tree of these entries."""
        return self._frontier.root()

    def at(self) -> int:
        """The time of the last entry, in microseconds since 1970; 0 where there is none."""
        return self._at

    @property
    def signed_to(self) -> int:
        """The number of entries that the newest checkpoint signs."""
        return self._signed_size

    @cached_property
    def origin(self) -> str:
        """The name of the log, which its key has too: what chains name as their audience.

        Raises:
            StateError: its verifier key cannot be read.
        """
        try:
            return VerifierKey.parse(_read(self._folder.log_vkey, 10_000).decode()).name
        except (OSError, ValueError) as error:
            raise StateError(f"the log's key {self._folder.log_vkey} cannot be read: {error}") from error

    def entries(self, start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
        """The entries from a number on, each with its number, up to those that were taken in.

        Raises:
            StateError: the log cannot be read.
        """
        for seq, line in self._lines(start):
            yield seq, _decoded(seq, line)

    def leaves(self, start: int = 0) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """As `entries`, with the hash of each leaf."""
        for seq, line in self._lines(start):
            yield seq, leaf_hash(line), _decoded(seq, line)

    def plain(self, seq: int, path: str) -> Any:
        """The plain value at a place in an entry, None where it was deleted.

        Raises:
            StateError: the side store cannot be read.
        """
        found = self._side.get(seq, path)
        return None if found is None else msgspec.json.decode(found.value)

    def lines(self, place: int) -> Iterator[bytes]:
        """The lines from a place in the file on, without their line feeds, up to what was taken in."""
        return lines_of(self._file, place, self._offset)

    def _lines(self, start: int) -> Iterator[tuple[int, bytes]]:
        first = self.size - len(self._starts)
        if start >= self.size:
            return
        seq, place = (start, self._starts[start - first]) if start >= first else (0, 0)
        try:
            for at, line in enumerate(lines_of(self._file, place, self._offset), seq):
                if at >= start:
                    yield at, line
        except OSError as error:
            raise StateError(f"the log cannot be read: {error.strerror}") from error

    # --- taking in what others did --------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what others appended. A last line that was torn by a crash is dropped, and an entry tells of it.

        Raises:
            StateError: the log is cut or damaged, or cannot be read.
        """
        try:
            found = os.stat(self._folder.log, follow_symlinks=False)  # noqa: PTH116 - one call, before each entry
            if _identity(found) != self._identity:
                raise StateError(f"the log {self._folder.log} was replaced by another file")
            if self._begun and found.st_size == self._offset and not self._torn:
                return
            with self._folder.lock():
                self._take_in()
        except OSError as error:
            raise StateError(f"the log cannot be read: {error.strerror}") from error

    def _take_in(self) -> None:
        if not self._begun:
            self._check_place()
            self._finish_checkpoint()
        covered = self._newest()
        if not self._begun:
            self._start(covered)
        end = os.fstat(self._file).st_size
        if end < self._offset:
            raise StateError(f"the log was cut: it had {self._offset:,} bytes, and has {end:,}")
        for line in lines_of(self._file, self._offset, end):
            self._add(line, covered)
        if covered is not None and covered.size > self.size:
            raise StateError(f"the log was cut: it has {self.size:,} entries, a checkpoint covers {covered.size:,}")
        self._begun = True
        if covered is not None and covered.size > self._signed_size:
            self._signed_size, self._signed_at = covered.size, self._at
        self._torn = False
        if end > self._offset:
            self._drop(end - self._offset)

    def _add(self, line: bytes, covered: Checkpoint | None) -> None:
        try:
            head = _HEAD.decode(line)
            at = moment(head.at)
        except (ValueError, RecursionError) as error:
            raise StateError(f"entry {self.size} of the log is damaged: {error}") from error
        self._taken(line, at, head.kind)
        if covered is not None and self.size == covered.size:
            self._signed_size, self._signed_at = self.size, at
            if self.root() != covered.root:
                raise StateError(f"the log was changed: its first {self.size:,} entries are not those that were signed")

    def _taken(self, line: bytes, at: int, kind: str) -> None:
        self._frontier.push(leaf_hash(line))
        self._starts.append(self._offset)
        self._offset += len(line) + 1
        self._at = max(self._at, at)
        self._last_kind = kind
        if self._signed_at is None:
            self._signed_at = at

    def _drop(self, count: int) -> None:
        """A last line is not whole: its write was never answered."""
        self._moment()
        self._cut_back()
        self.append("recovered", {"bytes": count})

    def _check_place(self) -> None:
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise StateError(f"the log {self._folder.log} is not a file that only its user reads and writes")

    def _start(self, covered: Checkpoint | None) -> None:
        """Begin at the newest checkpoint, where the log is long and what was kept of it there is right."""
        end = os.fstat(self._file).st_size
        if covered is None or end <= WHOLE_BYTES:
            return
        try:
            kept = msgspec.json.decode(_read(self._folder.path / "frontier", 100_000), type=Kept)
            frontier = Frontier(kept.size, map(bytes.fromhex, kept.peaks))
        except (OSError, ValueError):
            return
        right = kept.size == covered.size and frontier.root() == covered.root and 0 < kept.offset <= end
        if right and os.pread(self._file, 1, kept.offset - 1) == b"\n":
            self._frontier, self._offset, self._at = frontier, kept.offset, kept.at
            self._signed_size, self._signed_at = kept.size, kept.at

    # --- appending ------------------------------------------------------------------------------------------------

    def append(self, kind: str, members: Mapping[str, object], plain: Mapping[str, object] | None = None) -> int:
        """Append an entry and give its number; it is on disk then. The caller holds the lock and has refreshed.

        `plain` has values by their place in the entry (a JSON pointer, `/inputs`): the entry has their salted digests,
        the side store has them.

        Raises:
            StateError: it cannot be written, or the clock went back; the log is as it was.
        """
        if not self._begun or self._torn:
            raise StateError("the log was not read before it was written")
        if self._checkpoint_is_due():
            self.checkpoint()
        at, seq = self._moment(), self.size
        entry: dict[str, Any] = {"v": VERSION, "at": text_of(at), "kind": kind, **members}
        if plain:
            rows = [PlainValue.of(seq, path, value) for path, value in plain.items()]
            for row in rows:
                _put(entry, row.path, row.digest())
            self._side.put(rows)
        line = _encoded(entry)
        self._write(line + b"\n")
        self._taken(line, at, kind)
        if self._checkpoint_is_due():
            with suppress(StateError):  # the entry is in the log: the next one is not appended before there is one
                self.checkpoint()
        return seq

    def _moment(self) -> int:
        at = self._clock()
        if at >= _END:
            raise StateError("the clock is beyond the year 9999")
        if at >= self._at:
            return at
        if self._at - at > CLOCK_SLACK:
            raise StateError(f"the clock went back: it is {text_of(at)}, and was {text_of(self._at)}")
        return self._at

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
            if written != len(data):
                raise OSError(0, f"{written:,} of {len(data):,} bytes were written")
            if self._settings.durability == "power":
                os.fdatasync(self._file)
        except OSError as error:
            with suppress(OSError):
                self._cut_back()
            raise StateError(f"the log cannot be written: {error.strerror}") from error

    def _cut_back(self) -> None:
        """Drop what follows the last entry; until that is done nothing is appended."""
        self._torn = True
        os.ftruncate(self._file, self._offset)
        os.fdatasync(self._file)
        self._torn = False

    # --- checkpoints ----------------------------------------------------------------------------------------------

    def checkpoint(self) -> str:
        """Sign what the log is now, where that is not done yet; gives the note. The caller holds the lock.

        Raises:
            StateError: it cannot be signed or written.
        """
        try:
            signer = self._signing()
            place = self._folder.checkpoints / str(self.size)
            if place.exists():
                note = _read(place, MAX_LINE).decode()
            else:
                os.fdatasync(self._file)
                note = str(note_of(Checkpoint(signer.key.name, self.size, self.root()), [signer]))
            publish(self._folder.path, self.size, note)
            self._keep()
        except (OSError, ValueError) as error:
            raise StateError(f"the log cannot be signed: {error}") from error
        self._signed_size, self._signed_at = self.size, self._at
        return note

    def _checkpoint_is_due(self) -> bool:
        new = self.size - self._signed_size
        return new > 0 and (
            self._last_kind == "run_end"
            or new >= self._settings.checkpoint_entries
            or self._at - (self._signed_at or self._at) >= self._settings.checkpoint_seconds * 1_000_000
        )

    def _signing(self) -> Signer:
        if self._signer is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key

            key = VerifierKey.parse(_read(self._folder.log_vkey, 10_000).decode())
            private = load_pem_private_key(_read(self._folder.log_key, 10_000), None)
            if not isinstance(private, Ed25519PrivateKey):
                raise ValueError("the key of the log is no Ed25519 key")
            signer = Signer(key.name, private)
            if signer.key != key:
                raise ValueError("the key of the log is not the one in log.vkey")
            self._signer = signer
        return self._signer

    def _keep(self) -> None:
        kept = Kept(self.size, self._offset, self._at, tuple(peak.hex() for peak in self._frontier.peaks))
        replace(self._folder.path / "frontier", msgspec.json.encode(kept), sync=False)

    def _newest(self) -> Checkpoint | None:
        try:
            return Checkpoint.parse(Note.parse(_read(self._folder.checkpoint, MAX_LINE)).text)
        except FileNotFoundError:
            return None
        except NoteError as error:
            raise StateError(f"the newest checkpoint is damaged: {error}") from error

    def _finish_checkpoint(self) -> None:
        """End what a crash interrupted between writing a checkpoint and its copy."""
        begun = self._folder.path / "checkpoint.next"
        try:
            size = Checkpoint.parse(Note.parse(_read(begun, MAX_LINE)).text).size
        except FileNotFoundError:
            return
        except NoteError:
            begun.unlink()
            return
        if (self._folder.checkpoints / str(size)).exists():
            begun.replace(self._folder.checkpoint)
        else:
            begun.unlink()

    def close(self) -> None:
        """Let go of the files."""
        self._side.close()
        with suppress(OSError):
            os.close(self._file)


def create_log(folder: StateFolder) -> None:
    """Make the log of a state folder: its key, the key's public part `log.vkey`, which names the log, and no entry.

    Raises:
        StateError: there is one, or it cannot be written.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        folder.checkpoints.mkdir(mode=0o700, exist_ok=True)
        folder.keys.mkdir(mode=0o700, exist_ok=True)
        if folder.log.exists() or any(folder.checkpoints.iterdir()):
            raise StateError(f"there is a log in {folder.path} already")
        private = Ed25519PrivateKey.generate()
        form = serialization.PrivateFormat.PKCS8
        pem = private.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        replace(folder.log_key, pem)
        replace(folder.log_vkey, f"{Signer(_ORIGIN + token_hex(16), private).key}\n".encode())
        os.close(os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        _sync_folder(folder.path)
    except OSError as error:
        raise StateError(f"the log cannot be made: {error.strerror}") from error


def publish(folder: Path, size: int, note: str) -> None:
    """Write a checkpoint and then its copy, so that a crash in between is seen: `checkpoint.next` is there then.

    An older checkpoint than the newest, to which somebody adds a cosignature, has no copy.

    Raises:
        OSError: it cannot be written.
    """
    data = note.encode()
    begun, newest = folder / "checkpoint.next", folder / "checkpoint"
    copied = not newest.exists() or _size_of(newest) <= size
    if copied:
        replace(begun, data)
    replace(folder / "checkpoints" / str(size), data)
    if copied:
        begun.replace(newest)
        _sync_folder(folder)


def _size_of(path: Path) -> int:
    return Checkpoint.parse(Note.parse(_read(path, MAX_LINE)).text).size


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a file of mode 0600 whole, or not at all.

    Raises:
        OSError: it cannot be written; the old one is as it was.
    """
    temporary = path.parent / f".{path.name}.{token_hex(8)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if sync:
        _sync_folder(path.parent)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path, limit: int) -> bytes:
    """A file that is no link, up to a limit. A pipe is read as far as it is written: nobody waits for it."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        return stream.read(limit)


def lines_of(file: int, start: int, end: int) -> Iterator[bytes]:
    """The whole lines between two places of a file, without their line feeds."""
    rest = b""
    while start < end:
        data = os.pread(file, min(_CHUNK, end - start), start)
        if not data:
            return
        start += len(data)
        *whole, rest = (rest + data).split(b"\n")
        yield from whole
        if len(rest) > MAX_LINE:
            raise StateError(f"a line of the log has more than {MAX_LINE:,} bytes")


def _decoded(seq: int, line: bytes) -> dict[str, Any]:
    try:
        return _ENTRY.decode(line)
    except (ValueError, RecursionError) as error:
        raise StateError(f"entry {seq} of the log is damaged: {error}") from error


def _encoded(entry: dict[str, Any]) -> bytes:
    try:
        line = _ENCODE(entry)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise StateError(f"an entry cannot be written as JSON: {error}") from error
    if len(line) > MAX_LINE:
        raise StateError(f"an entry has more than {MAX_LINE:,} bytes")
    return line


def _put(entry: dict[str, Any], path: str, digest: str) -> None:
    """Put a digest in a place of an entry; what lies on the way is copied."""
    *way, last = path_of(path)
    for name in way:
        entry[name] = dict(entry.get(name) or {})
        entry = entry[name]
    entry[last] = digest


def path_of(pointer: str) -> Sequence[str]:
    """The names in a JSON pointer (RFC 6901).

    Raises:
        StateError: it is none.
    """
    if not pointer.startswith("/"):
        raise StateError(f"`{pointer}` is no place in an entry")
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer[1:].split("/")]


def text_of(at: int) -> str:
    """A time as entries have it: microseconds since 1970 as RFC 3339, in UTC."""
    seconds, rest = divmod(at, 1_000_000)
    return f"{_second(seconds)}.{rest:06d}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def moment(text: str) -> int:
    """The time of an entry, in microseconds since 1970.

    Raises:
        ValueError: it is not as entries have it.
    """
    if not isinstance(text, str) or len(text) != 27 or text[10] != "T" or text[19] != "." or text[26] != "Z":
        raise ValueError(f"`{text[:40]}` is no time")
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
