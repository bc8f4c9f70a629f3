"""Whether the log is what its key signed: looked at line by line, beside what the service does, as the log grows."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.gate.log.notes import NoteError
from vigil_lang.gate.log.reading import CannotRead, LogCopy, signed
from vigil_lang.gate.log.tree import Frontier, leaf_hash
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.gate.gate import Gate

_SLICE = 500
"""Lines that are read before others have their turn."""


class Checked(NamedTuple):
    """How far the log was checked, of `entries`: the first `to` are those that the checkpoint of that size signs, and
    `signed_to` is the newest checkpoint. `problem` says what does not fit, and from where on nothing was checked."""

    entries: int
    signed_to: int
    to: int
    problem: str | None
    busy: bool


class LogCheck:
    """Checks the log of a gate against its checkpoints. Threads may share it.

    What `vigil audit verify` does beside is not done: no decision is derived again, no witness is asked.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._copy = LogCopy(gate.folder.path)
        self._mutex = threading.Lock()
        self._frontier = Frontier()
        self._place = 0
        self._to = 0
        self._problem: str | None = None
        self._worker: threading.Thread | None = None

    def look(self, wait: float = 0.05) -> Checked:
        """How far it is; what was signed since is checked meanwhile, and waited for so many seconds."""
        if self._problem is None and self._to < self._gate.log.signed_to:
            self._start().join(wait)
        worker = self._worker
        busy = worker is not None and worker.is_alive()
        return Checked(self._gate.log.size, self._gate.log.signed_to, self._to, self._problem, busy)

    def _start(self) -> threading.Thread:
        with self._mutex:
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="vigil-log-check", daemon=True)
                self._worker.start()
            return self._worker

    def _work(self) -> None:
        try:
            self._catch_up()
        except (CannotRead, StateError, NoteError, OSError) as error:
            self._problem = f"it cannot be read from entry {self._frontier.size:,} on: {error}"

    def _catch_up(self) -> None:
        key = self._copy.key()
        lines: Iterator[bytes] = self._gate.log.lines(self._place)
        for size, note in self._gate.storage.checkpoints(self._to):
            if size < self._frontier.size:
                continue
            while self._frontier.size < size:
                line = next(lines, None)
                if line is None:
                    self._problem = f"the checkpoint of {size:,} entries signs more than the log has"
                    return
                self._frontier.push(leaf_hash(line))
                self._place += len(line) + 1
                if self._frontier.size % _SLICE == 0:
                    time.sleep(0.001)
            found = signed(note)
            if not found.note.signed_by(key) or found.checkpoint.origin != key.name:
                self._problem = f"the checkpoint of {size:,} entries is not signed by the log's key"
                return
            if found.checkpoint.size != size or found.checkpoint.root != self._frontier.root():
                told = f"the entries from {self._to:,} to {size - 1:,} are not those that were signed"
                self._problem = f"the log was changed: {told}"
                return
            self._to = size
