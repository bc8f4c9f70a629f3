"""What is to be done when nobody asks: holds end, escalate, and people are told of what other nodes left untold."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vigil_lang.gate.holds import Holds

SECONDS = 1.0
"""How often it is looked for."""

_logger = logging.getLogger(__name__)


async def attend(holds: Holds, run: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
    """Look once a second, until it is cancelled; `run` does in a thread what waits. Where the gate cannot be used,
    decisions say so."""

    def look() -> None:
        with holds.transaction():
            holds.settle()
        holds.tell()

    while True:
        await asyncio.sleep(SECONDS)
        try:
            await run(look)
        except StateError as error:
            _logger.debug("holds could not be looked at: %s", error)
