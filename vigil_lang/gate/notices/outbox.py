"""The outbox: which notices of holds were told by which way, and telling those that were not.

The log is the queue. A notice waits as long as its hold does and no entry `told` names it. Who tells it claims it by an
entry `telling` before, so that of several processes and nodes one does. Whoever dies in between leaves a claim that
ends, and the notice is told then: at least once, by the same id each time.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from vigil_lang.gate import notify
from vigil_lang.gate.notices.notice import clipped
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.notices.notice import Notice
    from vigil_lang.gate.notices.told import Untold
    from vigil_lang.gate.notify import Way
    from vigil_lang.gate.settings import Notify
    from vigil_lang.gate.store import Store

_logger = logging.getLogger(__name__)

CLAIM = round(2 * notify.SECONDS)
"""Seconds that a claim lasts: longer than telling takes."""

SHORTEST_PAUSE = 2.0
LONGEST_PAUSE = 60.0
"""Seconds before a notice is told again, after the first failure and after many."""

_LOOK = 1.0
"""Seconds between two looks for what other processes left untold."""


def pause(tries: int, asked: float | None = None) -> float:
    """Seconds until a notice that failed so often is told again: twice as long each time, half of it by chance.

    `asked` is how long the other side asks to be left alone, which counts up to the longest pause.
    """
    longest = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(tries, 30))
    drawn = longest / 2 + random.uniform(0, longest / 2)
    return max(drawn, min(asked or 0.0, LONGEST_PAUSE))


class Outbox:
    """Tells what waits to be told, a thread for each way, one notice after the other.

    `transaction` and `now` are those of the holds; `made` makes the notice of an event of a hold.
    """

    def __init__(
        self,
        log: Log,
        store: Store,
        settings: Notify,
        transaction: Callable[[], AbstractContextManager[None]],
        now: Callable[[], int],
        made: Callable[[str, str], Notice],
    ) -> None:
        self._log = log
        self._store = store
        self._settings = settings
        self._transaction = transaction
        self._now = now
        self._made = made
        self._ways = notify.ways(settings)
        self._guard = threading.Lock()
        self._busy: dict[Way, bool] = {}
        """The ways that a thread tells by now; True where it has to look once more before it ends."""
        self._timers: dict[Way, threading.Timer] = {}
        self._looked = 0.0
        self._closed = False

    def look(self, *, new: bool) -> list[threading.Thread]:
        """Start telling what is due, and give the threads that do so. Where nothing is new, what others left untold is
        looked for once a second. Nobody has to hold the lock."""
        if not self._ways:
            return []
        if not new:
            if time.monotonic() < self._looked + _LOOK:
                return []
            self._looked = time.monotonic()
            if not self._store.is_any_pending():
                return []
        return [thread for way in self._ways if (thread := self._started(way)) is not None]

    def close(self) -> None:
        """Try nothing again. What is being told is told to its end."""
        with self._guard:
            self._closed = True
            for timer in self._timers.values():
                timer.cancel()

    def _started(self, way: Way) -> threading.Thread | None:
        with self._guard:
            if self._closed:
                return None
            if way in self._busy:
                self._busy[way] = True
                return None
            self._busy[way] = False
            thread = threading.Thread(target=self._work, args=(way,), name="vigil-notify")
            with suppress(RuntimeError):  # the process ends: another one tells it
                thread.start()
                return thread
            del self._busy[way]
            return None

    def _work(self, way: Way) -> None:
        while True:
            seconds: float | None
            try:
                while (told := self._claimed(way)) is not None:
                    self._tell(way, *told)
                seconds = self._next(way)
            except StateError as error:
                _logger.warning("a notice was not told: %s", error)
                seconds = SHORTEST_PAUSE
            with self._guard:
                if self._busy[way]:
                    self._busy[way] = False
                    continue
                del self._busy[way]
                if seconds is not None and not self._closed:
                    self._again(way, seconds)
                return

    def _again(self, way: Way, seconds: float) -> None:
        if way in self._timers:
            self._timers[way].cancel()
        timer = self._timers[way] = threading.Timer(max(0.1, seconds), self._started, (way,))
        timer.daemon = True  # a process that ends does not wait for it
        with suppress(RuntimeError):
            timer.start()

    def _claimed(self, way: Way) -> tuple[Untold, Notice, int] | None:
        """Claim the notice that is due next, and give it with the end of the claim."""
        with self._transaction():
            at = self._now()
            found = self._store.untold(way, at)
            if found is None or found.due > at:
                return None
            end = at + CLAIM
            self._log.append("telling", {"notice": found.id, "way": way, "again": end})
            return found, self._made(found.id.rpartition(".")[2], found.hold), end

    def _next(self, way: Way) -> float | None:
        """Seconds until something is due, None where nothing waits."""
        with self._transaction():
            at = self._now()
            found = self._store.untold(way, at)
        return None if found is None else float(max(0, found.due - at))

    def _tell(self, way: Way, untold: Untold, notice: Notice, end: int) -> None:
        if self._now() > end - notify.SECONDS:
            return  # the machine slept: somebody else may be telling it
        failed = notify.send(self._settings, way, notice)
        with self._transaction():
            if failed is None:
                self._log.append("told", {"notice": untold.id, "way": way})
                return
            at = self._now()
            again = end + 10**9 if failed.for_good else at + round(pause(untold.tries, failed.wait))
            message = clipped(f"{untold.hold} was not told: {failed.message}")
            _logger.warning(message)
            members = {"message": message, "hold": untold.hold, "notice": untold.id, "way": way, "again": again}
            self._log.append("fault", members)
