"""Work that is given up when it takes too long."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_ONCE = 0.001


class TooLong(Exception):
    """Something took longer than it may."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A part of the main thread's work that may take so long, where the system can tell.

    Inside another such part it takes no more than what is left of that.

    Raises:
        TooLong: it took longer.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, _give_up)
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    started = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, min(seconds, left) if left else seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, max(_AT_ONCE, left - (time.monotonic() - started)) if left else 0)


def _give_up(*_: object) -> None:
    raise TooLong("this takes too long")
