"""That the log grew: a hint for whoever waits for it, never more."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.gate.storage.storage import Stamp

PAUSE = 0.05
"""Seconds between two looks at the log."""


class Changes:
    """Wakes whoever waits when the log grew, which `stamp` tells. One thread looks at it, and only while the service
    runs."""

    def __init__(self, stamp: Callable[[], Stamp]) -> None:
        self._stamp = stamp
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._grown = asyncio.Event()
        self._is_over = False

    def start(self) -> None:
        """Look at the log from now on; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._watch, name="vigil-changes", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the service ends: nobody waits any longer."""
        return self._is_over

    async def wait(self, seconds: float) -> bool:
        """Wait until the log grew, for so many seconds at most; gives whether it did. At the end of the service it
        returns at once."""
        if self._is_over:
            return False
        grown = self._grown
        try:
            async with asyncio.timeout(seconds):
                await grown.wait()
        except TimeoutError:
            return False
        return not self._is_over

    def stop(self) -> None:
        """Nobody waits any longer; called in the event loop."""
        self._is_over = True
        self._stop.set()
        self._tell()

    def _tell(self) -> None:
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

    def _watch(self) -> None:
        assert self._loop is not None
        seen = self._now()
        while not self._stop.wait(PAUSE):
            now = self._now()
            if now != seen:
                seen = now
                try:
                    self._loop.call_soon_threadsafe(self._tell)
                except RuntimeError:  # the loop is closed
                    return

    def _now(self) -> Stamp | None:
        try:
            return self._stamp()
        except (OSError, StateError):
            return None
