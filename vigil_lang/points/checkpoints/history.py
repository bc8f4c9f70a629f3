"""The checkpoints of a run in order: one before each call that may change the workspace, and one after it."""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from vigil_lang.points.checkpoints.copies import Copies
from vigil_lang.points.checkpoints.model import CheckpointError, Keeper, Kind
from vigil_lang.points.checkpoints.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Taken(msgspec.Struct, frozen=True):
    """A checkpoint: the tree of the workspace before or after the call that passed by the decision `seq`.

    `call` is the host's id of it. Ways back are numbered -1, -2 and so on.
    """

    seq: int
    when: Literal["before", "after"]
    tree: str
    call: str | None = None


class _Head(msgspec.Struct, frozen=True):
    run: str
    workspace: str
    kind: Kind


class History:
    """The checkpoints of one run, in the state folder, by the digest of its name: names of runs are data, not paths."""

    def __init__(self, state: Path, run: str) -> None:
        self._run = run
        self._folder = state / "checkpoints-of-runs" / hashlib.sha256(run.encode()).hexdigest()
        self._file = self._folder / "taken.jsonl"

    def take_before(self, seq: int, call: str | None, workspace: Path, kind: Kind) -> None:
        """Keep the workspace before a call. The first one of a run settles which workspace, and how.

        Raises:
            CheckpointError: it cannot be kept.
        """
        with self._locked():
            head, _ = self._read()
            if head is None:
                head = _Head(self._run, str(workspace), kind)
                self._append(head)
            self._append(Taken(seq, "before", self._keeper(head.kind).take(Path(head.workspace)), call))

    def take_after(self, call: str | None) -> None:
        """Keep the workspace after a call: the one of that id, else the oldest that is not over.

        Raises:
            CheckpointError: it cannot be kept.
        """
        self._end(lambda waiting: [each for each in waiting if each.call == call][-1:] if call else waiting[:1])

    def end_turn(self) -> None:
        """Keep the workspace after all calls: none is under way any more.

        Raises:
            CheckpointError: it cannot be kept.
        """
        self._end(lambda waiting: waiting)

    def _end(self, which: Callable[[list[Taken]], list[Taken]]) -> None:
        if not self._file.exists():
            return
        with self._locked():
            over = {each.seq for each in self.taken if each.when == "after"}
            ending = which([each for each in self.taken if each.seq not in over])
            if ending:
                tree = self.keeper.take(self.workspace)
            for each in ending:
                self._append(Taken(each.seq, "after", tree))

    def note_way_back(self, before: str) -> None:
        """The workspace was brought back from the tree `before` to what it is now.

        Raises:
            CheckpointError: that cannot be noted.
        """
        with self._locked():
            seq = min(0, *(each.seq for each in self.taken)) - 1
            after = self.keeper.take(self.workspace)
            self._append(Taken(seq, "before", before))
            self._append(Taken(seq, "after", after))

    def now(self) -> str:
        """Keep the workspace as it is now, for the way back; gives its tree.

        Raises:
            CheckpointError: the run has no checkpoint, or this one cannot be kept.
        """
        with self._locked():
            return self.keeper.take(self.workspace)

    @property
    def taken(self) -> tuple[Taken, ...]:
        """The checkpoints, oldest first.

        Raises:
            CheckpointError: they cannot be read.
        """
        return self._read()[1]

    @property
    def workspace(self) -> Path:
        """The folder that the run works in.

        Raises:
            CheckpointError: the run has no checkpoint.
        """
        return Path(self._known().workspace)

    @property
    def keeper(self) -> Keeper:
        """What keeps the contents.

        Raises:
            CheckpointError: the run has no checkpoint.
        """
        return self._keeper(self._known().kind)

    def _known(self) -> _Head:
        head, _ = self._read()
        if head is None:
            raise CheckpointError(
                f"the run {self._run} has no checkpoint: `vigil hook install --checkpoint` has them taken"
            )
        return head

    def _keeper(self, kind: Kind) -> Keeper:
        return Repository(self._folder / "git") if kind == "git" else Copies(self._folder / "copies")

    def _read(self) -> tuple[_Head | None, tuple[Taken, ...]]:
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            return None, ()
        except OSError as error:
            raise CheckpointError(f"the checkpoints of the run cannot be read: {error.strerror}") from error
        whole, _, _ = data.rpartition(b"\n")  # a torn last line was never told to anybody
        first, *lines = whole.split(b"\n")
        try:
            if not first:
                return None, ()
            head = msgspec.json.decode(first, type=_Head)
            return head, tuple(msgspec.json.decode(line, type=Taken) for line in lines)
        except (msgspec.MsgspecError, ValueError) as error:
            raise CheckpointError(f"the list of checkpoints of the run is damaged: {error}") from error

    def _append(self, what: _Head | Taken) -> None:
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "r+b") as stream:
                data = stream.read()
                stream.truncate(len(data) if data.endswith(b"\n") or not data else data.rfind(b"\n") + 1)
                stream.seek(0, os.SEEK_END)
                stream.write(msgspec.json.encode(what) + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise CheckpointError(f"the checkpoint cannot be noted: {error.strerror}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CheckpointError(f"the checkpoints of the run cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
