"""Runs as they are, in the state folder: a process that takes one up reads only what the log has of it since.

`runs/SHA256-OF-THE-NAME` is a line with a MAC, one that says what the snapshot is bound to, and the snapshot itself.
The key of the MAC comes of the log's own, which no agent may read: nobody else's file is believed. One that is damaged
or does not fit is as good as none, for the log has all of it; an older one leaves more of the log to be read.
"""

from __future__ import annotations

import hmac
import os
import time
from contextlib import suppress
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.storage.files import replace
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.storage.storage import Storage

LARGEST = 64_000_000
"""Bytes; of a run whose snapshot would be larger there is none."""

MOST = 1_000_000_000
"""Bytes of all snapshots together; the oldest are dropped first."""

LONGEST = 30 * 86400
"""Seconds that a snapshot is kept of a run that does not go on."""

_SWEPT_EVERY = 200
"""So many snapshots are written between two sweeps."""


class Bound(msgspec.Struct, frozen=True):
    """What a snapshot is bound to: the run, its policies and whether they are its own, the last entry that it took in
    and the hash of that, and the file that the plain values were read from. `live` is what the gate itself knows."""

    run: str
    policies: str
    own: bool
    upto: int
    leaf: str
    plain: tuple[int, int]
    live: msgspec.Raw
    program: str = __version__


class RunSnapshots:
    """The snapshots of a state folder. Several processes may write them: each file is whole, and the last one stays."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._path = storage.folder.path / "runs"
        self._log_key = storage.folder.log_key
        self._key: bytes | None = None
        self._written = 0

    def read(self, run: str) -> tuple[Bound, bytes] | None:
        """The snapshot of a run and what it is bound to, None where there is none that can be believed."""
        try:
            data = read_bytes(self._place(run), LARGEST)
            first = data.index(b"\n")
            second = data.index(b"\n", first + 1)
            snapshot = data[second + 1 :]
            if not hmac.compare_digest(data[:first], self._mac(data[first + 1 : second], snapshot)):
                return None
            bound = _DECODE(data[first + 1 : second])
            if (bound.run, bound.program, bound.plain) != (run, __version__, self._storage.plain_identity()):
                return None
        except (OSError, ValueError):
            return None
        return bound, snapshot

    def write(self, bound: Bound, snapshot: bytes) -> None:
        """Keep the snapshot of a run; where that cannot be done, the older one stays."""
        with suppress(OSError):
            line = _ENCODE(bound)
            data = b"\n".join([self._mac(line, snapshot), line, snapshot])
            if len(data) <= LARGEST:
                self._path.mkdir(mode=0o700, exist_ok=True)
                replace(self._place(bound.run), data, sync=False)
            if self._written % _SWEPT_EVERY == 0:
                self.sweep()
            self._written += 1

    def bound(self, run: str, policies: str, own: bool, upto: int, leaf: bytes, live: object) -> Bound:
        """What a snapshot is bound to that is taken now.

        Raises:
            OSError: the side store is not there.
        """
        return Bound(run, policies, own, upto, leaf.hex(), self._storage.plain_identity(), msgspec.Raw(_ENCODE(live)))

    def forget(self, run: str) -> None:
        """Drop the snapshot of a run."""
        with suppress(OSError):
            self._place(run).unlink()

    def sweep(self, now: float | None = None) -> None:
        """Drop what is too old, and the oldest of what is too much."""
        before = (time.time() if now is None else now) - LONGEST
        left = MOST
        with suppress(OSError):
            found = [(entry.stat(follow_symlinks=False), entry.path) for entry in os.scandir(self._path)]
            for status, path in sorted(found, key=lambda each: -each[0].st_mtime):
                left -= status.st_size
                if left < 0 or status.st_mtime < before:
                    with suppress(OSError):
                        os.unlink(path)  # noqa: PTH108 - a text

    def _place(self, run: str) -> Path:
        return self._path / sha256(run.encode("utf-8", "surrogatepass")).hexdigest()

    def _mac(self, line: bytes, snapshot: bytes) -> bytes:
        """Of what the snapshot is bound to, and of its first line, which is the digest of all others."""
        if self._key is None:
            self._key = sha256(b"vigil: snapshots of runs\n" + read_bytes(self._log_key, 10_000)).digest()
        said = line + b"\n" + snapshot[: snapshot.find(b"\n") + 1]
        return blake2b(said, key=self._key, digest_size=32).hexdigest().encode()


_DECODE = msgspec.json.Decoder(Bound).decode
_ENCODE = msgspec.json.Encoder().encode
