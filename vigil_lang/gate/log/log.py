"""The log of a state folder: entries are appended, one line each, and are on disk before anyone is told.

`log.jsonl` is the truth. A checkpoint, `checkpoints/SIZE`, says what it was at a size and is signed with the folder's
key; `checkpoint` is a copy of the newest. Whoever writes holds the folder's lock.
"""

from __future__ import annotations

import os
import time
from array import array
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.gate.log.kinds import LOG_KEY, OF_RUNS
from vigil_lang.gate.log.notes import Checkpoint, Note, NoteError, Signer, VerifierKey, note_of
from vigil_lang.gate.log.side_store import PlainValue
from vigil_lang.gate.log.tree import Frontier, leaf_hash
from vigil_lang.gate.state import StateError
from vigil_lang.gate.storage.files import MAX_LINE, read, replace, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from vigil_lang.gate.settings import LogSettings
    from vigil_lang.gate.state import StateFolder
    from vigil_lang.gate.storage.storage import Storage

VERSION = 1

CLOCK_SLACK = 5_000_000
"""Microseconds that the clock may go back: the time then stands still for as long."""

WHOLE_BYTES = 16_000_000
"""A log up to this size is read whole when it is opened; of a longer one, what follows its newest checkpoint."""

_ORIGIN = "vigil.local/"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_END = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The first moment that an entry cannot be read with."""
_RUNS = 100_000
"""Runs of which the last entry is remembered."""
_ENCODE = msgspec.json.Encoder(decimal_format="number").encode


class _Head(msgspec.Struct):
    """What appending has to know of an entry."""

    at: str
    kind: str
    run: Any = None
    key: Any = None


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

    `clock` gives microseconds since 1970. It may be used by one thread at a time, but for `on_disk`.

    Raises:
        StateError: there is none.
    """

    def __init__(self, storage: Storage, settings: LogSettings, clock: Callable[[], int] = now) -> None:
        self._storage = storage
        self._folder = storage.folder
        self._settings = settings
        self._clock = clock
        self._is_deferred = False
        self._forget()
        if not self._folder.log_key.exists():
            gone = f"the key of the log, {self._folder.log_key}, is gone"
            raise StateError(f"{gone}: what is decided could not be signed")
        try:
            self._identity = storage.open_log()
        except OSError as error:
            raise StateError(f"the log {self._folder.log} cannot be opened: {error.strerror}") from error
        storage.at_end(self._settled)

    def _forget(self) -> None:
        """Nothing is taken in yet."""
        self._frontier = Frontier()
        self._offset = 0
        self._starts = array("q")
        """Where the last entries begin in the log, of those that were read one by one."""
        self._at = 0
        self._last_kind = ""
        self._last_of: dict[str, int] = {}
        self._forgotten = -1
        self._signed_size = 0
        self._signed_at: int | None = None
        self._signers: list[Signer] = []
        self._named_key: object = None
        """The verifier key that the last `log_key` entry names, of those that were taken in."""
        self._begun = False
        self._torn = False

    def _settled(self, is_kept: bool) -> None:
        if not is_kept:
            self._forget()

    # --- what it has ----------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of entries that were taken in."""
        return self._frontier.size

    @property
    def state(self) -> tuple[int, ...]:
        """What tells what was taken in from what was before: the file, its entries and its bytes."""
        return (*self._identity, self.size, self._offset)

    def root(self) -> bytes:
        """The root of the tree of these entries."""
        return self._frontier.root()

    def at(self) -> int:
        """The time of the last entry, in microseconds since 1970; 0 where there is none."""
        return self._at

    def last_of(self, run: str) -> int:
        """The number behind which nothing was taken in that a run is followed by."""
        return self._last_of.get(run, self._forgotten)

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
            return VerifierKey.parse(read(self._folder.log_vkey, 10_000).decode()).name
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
        found = self._storage.plain(seq, path)
        return None if found is None else msgspec.json.decode(found.value)

    def lines(self, place: int) -> Iterator[bytes]:
        """The lines from a place in the log on, without their line feeds, up to what was taken in."""
        return self._storage.lines(place, self._offset)

    def _lines(self, start: int) -> Iterator[tuple[int, bytes]]:
        first = self.size - len(self._starts)
        if start >= self.size:
            return
        seq, place = (start, self._starts[start - first]) if start >= first else (0, 0)
        try:
            for at, line in enumerate(self._storage.lines(place, self._offset), seq):
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
            identity, end = self._storage.look()
            if identity != self._identity:
                raise StateError(f"the log {self._folder.log} was replaced by another file")
            if self._begun and end == self._offset and not self._torn:
                return
            with self._storage.lock():
                self._take_in()
        except OSError as error:
            raise StateError(f"the log cannot be read: {error.strerror}") from error

    def _take_in(self) -> None:
        if not self._begun:
            self._storage.check_place()
            self._storage.finish_checkpoint()
        covered = self._newest()
        if not self._begun:
            self._start(covered)
        _, end = self._storage.look()
        if end < self._offset:
            raise StateError(f"the log was cut: it had {self._offset:,} bytes, and has {end:,}")
        for line in self._storage.lines(self._offset, end):
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
        self._taken(line, at, head)
        if covered is not None and self.size == covered.size:
            self._signed_size, self._signed_at = self.size, at
            if self.root() != covered.root:
                raise StateError(f"the log was changed: its first {self.size:,} entries are not those that were signed")

    def _taken(self, line: bytes, at: int, head: _Head) -> None:
        kind, run = head.kind, head.run
        if kind == LOG_KEY:
            self._named_key, self._signers = head.key, []
        if kind in OF_RUNS and isinstance(run, str):
            if len(self._last_of) >= _RUNS:
                self._last_of.clear()
                self._forgotten = self.size - 1
            self._last_of[run] = self.size
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

    def _start(self, covered: Checkpoint | None) -> None:
        """Begin at the newest checkpoint, where the log is long and what was kept of it there is right."""
        _, end = self._storage.look()
        if covered is None or end <= WHOLE_BYTES:
            return
        try:
            kept = msgspec.json.decode(read(self._folder.path / "frontier", 100_000), type=Kept)
            frontier = Frontier(kept.size, map(bytes.fromhex, kept.peaks))
        except (OSError, ValueError):
            return
        right = kept.size == covered.size and frontier.root() == covered.root and 0 < kept.offset <= end
        if right and self._storage.is_boundary(kept.offset):
            self._frontier, self._offset, self._at = frontier, kept.offset, kept.at
            self._signed_size, self._signed_at = kept.size, kept.at

    # --- appending ------------------------------------------------------------------------------------------------

    def append(self, kind: str, members: Mapping[str, object], plain: Mapping[str, object] | None = None) -> int:
        """Append an entry and give its number; it is on disk then, but for where that is `deferred`.

        The caller holds the lock and has refreshed.

        `plain` has values by their place in the entry (a JSON pointer, `/inputs`): the entry has their salted digests,
        the side store has them.

        Raises:
            StateError: it cannot be written, or the clock went back; the log is as it was.
        """
        if not self._begun or self._torn:
            raise StateError("the log was not read before it was written")
        self._mend()
        if self._checkpoint_is_due():
            self.checkpoint()
        at, seq = self._moment(), self.size
        entry: dict[str, Any] = {"v": VERSION, "at": text_of(at), "kind": kind, **members}
        if plain:
            rows = [PlainValue.of(seq, path, value) for path, value in plain.items()]
            for row in rows:
                _put(entry, row.path, row.digest())
            self._storage.put_plain(rows)
        line = _encoded(entry)
        self._write(line + b"\n")
        self._taken(line, at, _Head(entry["at"], kind, members.get("run"), members.get("key")))
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

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Meanwhile entries are not on disk when `append` returns, but when `on_disk` does for a place behind them."""
        self._is_deferred = True
        try:
            yield
        finally:
            self._is_deferred = False

    @property
    def place(self) -> int:
        """The place in the file behind the last entry."""
        return self._offset

    def on_disk(self, place: int) -> None:
        """Wait until the log is on disk up to a place; several threads share one sync. Nobody has to hold the lock.

        Raises:
            StateError: a sync failed. Entries that were deferred are in the log all the same: it is as if the process
                had been killed before it told anybody. Nothing is appended before they were written again.
        """
        if self._settings.durability == "power":
            try:
                self._storage.on_disk(place)
            except OSError as error:
                raise StateError(f"the log cannot be written: {error.strerror}") from error

    def _write(self, line: bytes) -> None:
        try:
            wait = self._settings.durability == "power" and not self._is_deferred
            self._storage.append(self._offset, line, wait=wait)
        except OSError as error:
            with suppress(OSError):
                self._cut_back()
            raise StateError(f"the log cannot be written: {error.strerror}") from error

    def _mend(self) -> None:
        """Where a sync failed, write once more what the system forgot. Others may have read it already."""
        try:
            self._storage.mend(self._offset)
        except OSError as error:
            raise StateError(f"the log cannot be written: {error.strerror}") from error

    def _cut_back(self) -> None:
        """Drop what follows the last entry; until that is done nothing is appended."""
        self._torn = True
        self._storage.cut(self._offset)
        self._torn = False

    # --- checkpoints ----------------------------------------------------------------------------------------------

    def checkpoint(self) -> str:
        """Sign what the log is now, where that is not done yet; gives the note. The caller holds the lock.

        Raises:
            StateError: it cannot be signed or written.
        """
        try:
            signers = self.signers()
            known = self._storage.checkpoint(self.size)
            if known is not None:
                note = known.decode()
            else:
                self._storage.on_disk(self._offset)
                note = str(note_of(Checkpoint(self.origin, self.size, self.root()), signers))
            self._storage.publish(self.size, note)
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

    def signers(self) -> list[Signer]:
        """The keys that sign what the log is: one, or while its key is rotated the old one and the new one.

        A key of the folder signs if `log.vkey`, the last `log_key` entry or the newest checkpoint names it.

        Raises:
            OSError, ValueError: the key that has to sign is not in the folder, or is none.
        """
        if not self._signers:
            known = VerifierKey.parse(read(self._folder.log_vkey, 10_000).decode())
            newest = self._storage.newest_checkpoint()
            ids = set() if newest is None else {each.key_id for each in Note.parse(newest).signatures}
            named = str(self._named_key or known)
            there = [signer_of(path, known.name) for path in (self._folder.log_key, self._folder.next_log_key)]
            found = [each for each in there if each is not None and (each.key == known or each.key.id in ids)]
            found += [each for each in there if each is not None and each not in found and str(each.key) == named]
            if named not in [str(each.key) for each in found]:
                raise ValueError(f"the key that signs it, {named}, is not in {self._folder.keys}")
            self._signers = found
        return self._signers

    def keys_changed(self) -> None:
        """Read the keys anew that sign it."""
        self._signers = []

    def _keep(self) -> None:
        kept = Kept(self.size, self._offset, self._at, tuple(peak.hex() for peak in self._frontier.peaks))
        replace(self._folder.path / "frontier", msgspec.json.encode(kept), sync=False)

    def _newest(self) -> Checkpoint | None:
        try:
            found = self._storage.newest_checkpoint()
            return None if found is None else Checkpoint.parse(Note.parse(found).text)
        except NoteError as error:
            raise StateError(f"the newest checkpoint is damaged: {error}") from error

    def close(self) -> None:
        """Let go of the files."""
        self._storage.close()


def create_log(folder: StateFolder) -> None:
    """Make the log of a state folder: its key, the key's public part `log.vkey`, which names the log, and no entry.

    Raises:
        StateError: there is one, or it cannot be written.
    """
    try:
        folder.checkpoints.mkdir(mode=0o700, exist_ok=True)
        folder.keys.mkdir(mode=0o700, exist_ok=True)
        if folder.log.exists() or any(folder.checkpoints.iterdir()):
            raise StateError(f"there is a log in {folder.path} already")
        signer = new_key(folder.log_key, _ORIGIN + os.urandom(16).hex())
        replace(folder.log_vkey, f"{signer.key}\n".encode())
        os.close(os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        sync_folder(folder.path)
    except OSError as error:
        raise StateError(f"the log cannot be made: {error.strerror}") from error


def new_key(path: Path, name: str) -> Signer:
    """Make a key that signs by a name, and write it to a file of mode 0600.

    Raises:
        OSError: it cannot be written.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.PKCS8
    replace(path, private.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return Signer(name, private)


def signer_of(path: Path, name: str) -> Signer | None:
    """The key in a file, which signs by a name; None where there is no such file.

    Raises:
        OSError, ValueError: it cannot be read, or is no Ed25519 key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(read(path, 10_000), None)
    except FileNotFoundError:
        return None
    if not isinstance(private, Ed25519PrivateKey):
        raise ValueError(f"the key {path} is no Ed25519 key")
    return Signer(name, private)


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
