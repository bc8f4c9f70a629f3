"""Group commit: what waits is decided together, under one lock and with one sync of the log.

A request that cannot be decided in time is answered by a block, and is not decided afterwards.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.gate.answer import Answer, faulty
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.request import Request
    from vigil_lang.service.metrics import Metrics

BATCH = 32
"""So many requests are decided together at most: the first of them waits for the last."""

THREADS = 2
"""While the log of one batch is put on disk, the next is decided."""

_State: TypeAlias = Literal["waiting", "taken", "decided", "late"]


class _Asked:
    """A request that waits for its answer, until a time of the monotonic clock."""

    __slots__ = ("answered", "end", "request", "state")

    def __init__(self, request: Request, answered: asyncio.Future[Answer], end: float) -> None:
        self.request = request
        self.answered = answered
        self.end = end
        self.state: _State = "waiting"


class Decider:
    """Decides requests in threads of its own, all that wait at a time.

    `queue` requests wait at most, each for `deadline` seconds.
    """

    def __init__(self, gate: Gate, metrics: Metrics, *, queue: int, deadline: float) -> None:
        self._gate = gate
        self._metrics = metrics
        self._queue = queue
        self._deadline = deadline
        self._waiting: deque[_Asked] = deque()
        self._changed = threading.Condition()
        self._is_over = False
        self._took = 0.0
        """Seconds of the last batch, with its sync."""
        self._threads = [
            threading.Thread(target=self._work, name=f"vigil-decider-{at}", daemon=True) for at in range(THREADS)
        ]

    def start(self) -> None:
        """Decide from now on."""
        for each in self._threads:
            each.start()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    async def decide(self, request: Request) -> Answer:
        """What becomes of an action, as `Gate.decide` has it. It is in the log before this returns.

        Where too many wait, or it takes too long, the answer blocks and says so; it has no entry in the log.
        """
        return (await self.decide_all((request,)))[0]

    async def decide_all(self, requests: Sequence[Request]) -> list[Answer]:
        """As `decide`, for some requests in their order."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        end = time.monotonic() + self._deadline
        asked = [_Asked(each, loop.create_future(), end) for each in requests]
        with self._changed:
            why = "the service ends" if self._is_over else None
            if len(self._waiting) + len(asked) > max(self._queue, len(asked)):
                why = f"{self._queue} requests wait already"
                self._metrics.full.inc(len(asked))
            if why is None:
                self._waiting.extend(asked)
                self._changed.notify()
        if why is not None:
            blocked = _blocked(why)
            for _ in asked:
                self._metrics.decided(blocked, 0)
            return [blocked for _ in asked]
        timer = loop.call_at(loop.time() + self._deadline, self._end, asked)
        try:
            answers = [await each.answered for each in asked]
            took = loop.time() - begun
            for answer in answers:
                self._metrics.decided(answer, took)
            return answers
        except asyncio.CancelledError:  # who asked is gone
            self._end(asked)
            raise
        finally:
            timer.cancel()

    def stop(self) -> None:
        """Decide what waits, and nothing that comes. Returns when all is decided."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for each in self._threads:
            if each.ident is not None:
                each.join()

    def _end(self, asked: Sequence[_Asked]) -> None:
        """The time of some requests is over: those that are not answered are blocked."""
        late = 0
        with self._changed:
            for each in asked:
                if each.state in ("waiting", "taken"):
                    each.state = "late"
                    late += 1
                    if not each.answered.done():  # nor is who asked gone
                        each.answered.set_result(_blocked(f"it was not decided within {self._deadline:g} s"))
        self._metrics.late.inc(late)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    if self._is_over:
                        return
                    self._changed.wait()
            self._decide_some()

    def _decide_some(self) -> None:
        taken: list[_Asked] = []
        begun = time.monotonic()
        answers = self._gate.decide_many(self._taken(taken))
        if not taken:
            return
        self._took = time.monotonic() - begun
        told, withdrawn = [], []
        with self._changed:
            for each, answer in zip(taken, answers, strict=True):
                if each.state == "taken":
                    each.state = "decided"
                    told.append((each.answered, answer))
                elif answer.decision.mode == "pass" and answer.seq is not None:
                    withdrawn.append((each.request.run, answer.seq))
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            taken[0].answered.get_loop().call_soon_threadsafe(_tell, told)
        for run, seq in withdrawn:
            with suppress(StateError, OSError, ValueError):
                self._gate.withdraw(run, seq)

    def _taken(self, taken: list[_Asked]) -> Iterator[Request]:
        """The requests that wait, each taken when its turn comes. One is left out whose time is over by then, or would
        be before a batch like the last one is on disk."""
        reserve = min(self._took, self._deadline / 2)
        while len(taken) < BATCH:
            with self._changed:
                if not self._waiting:
                    return
                each = self._waiting.popleft()
                if each.state == "late" or time.monotonic() + reserve >= each.end:
                    continue
                each.state = "taken"
            taken.append(each)
            yield each.request


def _tell(answers: Sequence[tuple[asyncio.Future[Answer], Answer]]) -> None:
    for answered, answer in answers:
        if not answered.done():
            answered.set_result(answer)


def _blocked(why: str) -> Answer:
    return faulty(StateError(f"the gate cannot judge now: {why}"))
