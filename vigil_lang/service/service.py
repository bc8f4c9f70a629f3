"""What the two addresses of a gate service share."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from vigil_lang.service.attending import attend
from vigil_lang.service.auth.authentication import Authentication
from vigil_lang.service.changes import Changes
from vigil_lang.service.deciding import Decider
from vigil_lang.service.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.gate.gate import Gate

T = TypeVar("T")

THREADS = 8
"""So many things that wait for the gate's folder are done at a time, beside decisions."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where agents reach decisions, and people the page: scheme, host and port. `local` says whether only programs on
    this machine reach them."""

    data: str
    control: str
    local: bool = True


class Service:
    """A gate, and what answers for it. `start` and `stop` are called in the event loop."""

    def __init__(self, gate: Gate, origins: Origins, *, no_auth: bool = False) -> None:
        self.gate = gate
        self.settings = gate.settings.service
        self.origins = origins
        gate.holds.origin = origins.control
        self.audience = gate.log.origin
        self.metrics = Metrics()
        self.decider = Decider(gate, self.metrics, queue=self.settings.queue, deadline=self.settings.deadline)
        self.changes = Changes(gate.storage.stamp)
        self.auth = Authentication(gate, self.settings, audience=self.audience, no_auth=no_auth)
        self._attending: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="vigil-gate")

    def start(self) -> None:
        """Decide, and tell of changes, from now on."""
        self.changes.start()
        self.decider.start()
        self._attending = asyncio.create_task(attend(self.gate.holds, self.run))

    async def run(self, work: Callable[[], T]) -> T:
        """Do in a thread what waits for the gate's folder. Raises as the work does."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def drain(self) -> None:
        """Nobody waits for changes any more, so that what is under way ends soon."""
        self.changes.stop()

    async def stop(self) -> None:
        """Finish what waits."""
        self.changes.stop()
        if self._attending is not None:
            self._attending.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self.decider.stop)
        self._threads.shutdown(wait=True)
