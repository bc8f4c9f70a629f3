"""What a gate needs of the place where its log lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from vigil_lang.gate.log.side_store import PlainValue
    from vigil_lang.gate.state import StateFolder

Identity: TypeAlias = tuple[int, int]
"""Which log it is: another one has another identity."""

Stamp: TypeAlias = tuple[int, ...]
"""What tells something as it is from what it was."""


class Storage(Protocol):
    """Where a log lies, its checkpoints, plain values and policy bundles, and the revocation list.

    A place in the log is the number of bytes before it, whether it lies in a file or not. What cannot be read or
    written raises OSError, or StateError where nothing can be judged.
    """

    folder: StateFolder
    """The node's own: its settings, keys and caches."""

    is_transactional: bool
    """Whether what is written under the lock is there when the lock is given back, all or nothing; else it is there at
    once."""

    def lock(self) -> AbstractContextManager[None]:
        """Nobody else writes meanwhile. Within it, taking it again changes nothing.

        Raises:
            StateError: it is not to be had, or what was written under it is not kept.
        """

    def at_end(self, settled: Callable[[bool], None]) -> None:
        """Whenever the lock is given back, say whether what was written under it is kept. Only where that is open."""

    def stamp(self) -> Stamp:
        """Another one whenever the log grew. Cheap: it may be asked for many times a second."""

    def wait(self, stamp: Stamp, seconds: float) -> None:
        """Wait until there is another stamp than one, or for so many seconds."""

    # --- the log --------------------------------------------------------------------------------------------------

    def open_log(self) -> Identity:
        """Open the log that is there."""

    def check_place(self) -> None:
        """Refuse a log that others may read or write."""

    def look(self) -> tuple[Identity, int]:
        """Which log is there now, and its bytes."""

    def lines(self, start: int, end: int) -> Iterator[bytes]:
        """The whole lines between two places, without their line feeds."""

    def lines_at(self, starts: Sequence[int]) -> Iterator[bytes]:
        """The lines that begin at places, in that order, without their line feeds."""

    def is_boundary(self, place: int) -> bool:
        """Whether a line begins at a place or the log ends there; the first place is none."""

    def append(self, place: int, line: bytes, *, wait: bool) -> None:
        """Append a line, which ends with a line feed, at a place, the end. With `wait` it is on disk then."""

    def cut(self, place: int) -> None:
        """Drop what follows a place."""

    def on_disk(self, place: int) -> None:
        """Wait until the log is on disk up to a place. Nobody has to hold the lock."""

    def mend(self, end: int) -> None:
        """Write again, up to a place, what nobody knows to be on disk, where a sync failed."""

    # --- beside the log -------------------------------------------------------------------------------------------

    def newest_checkpoint(self) -> bytes | None:
        """The newest checkpoint, None where there is none."""

    def checkpoint(self, size: int) -> bytes | None:
        """The checkpoint of a size, None where there is none."""

    def finish_checkpoint(self) -> None:
        """End what a crash interrupted."""

    def publish(self, size: int, note: str) -> None:
        """Write a checkpoint, or another one of that size with more signatures."""

    def checkpoints(self, above: int = -1) -> Iterator[tuple[int, bytes]]:
        """The checkpoints above a size, or all, in order, each with its size."""

    def put_plain(self, rows: Iterable[PlainValue]) -> None:
        """Write plain values, in the place of those that an entry left that was never written."""

    def plain(self, seq: int, path: str) -> PlainValue | None:
        """A plain value, None where it was deleted."""

    def all_plain(self, before: int) -> Iterator[PlainValue]:
        """The plain values of the entries before a number, by entry."""

    def plain_identity(self) -> Identity:
        """Which store the plain values are in: who deletes it wants them forgotten."""

    def bundle(self, digest: str) -> bytes:
        """The policies of a digest. Raises ValueError too, where they are others."""

    def bundles(self) -> Iterator[tuple[str, bytes]]:
        """All policies, each with its digest."""

    def keep_bundle(self, digest: str, data: bytes) -> None:
        """Keep policies; those that are there already stay."""

    # --- the revocation list --------------------------------------------------------------------------------------

    def revocation_stamp(self) -> Stamp | None:
        """Another one whenever there is another list, None where there is none."""

    def revocations(self) -> tuple[Stamp, bytes]:
        """The list, with its stamp."""

    def put_revocations(self, data: bytes) -> None:
        """Put a list in force."""

    def publishing(self) -> AbstractContextManager[None]:
        """Nobody else puts a list in force meanwhile. The log's lock is another one.

        Raises:
            StateError: somebody else does, for `LOCK_WAIT` seconds.
        """

    def secret(self, name: str) -> bytes:
        """32 bytes that all nodes share and nobody else knows, made when they are first asked for."""

    def renew_secret(self, name: str) -> None:
        """Make a secret anew: each node has it when it starts the next time."""

    def close(self) -> None:
        """Let go of what is open."""
