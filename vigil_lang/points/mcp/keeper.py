"""The gate as the proxy asks it: one thread asks it one thing after the other, so that nothing waits in the loop."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.entering import Ended
from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import TypeVar

    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.store import Hold
    from vigil_lang.points.gates import GateLike
    from vigil_lang.points.session import Session
    from vigil_lang.trace import Status

    T = TypeVar("T")
    Confirming = Callable[[str, bool], object]

_PAUSE = 0.2
_OUTPUT = 1_000_000
"""Characters of an output that the gate is told."""


@dataclass(slots=True)
class Call:
    """A call of a tool: `id` is unique in the run, `tool` the name that policies know."""

    id: str
    tool: str
    arguments: dict[str, Any]
    is_over: bool = False


class Keeper:
    """Asks the gate in a thread of its own. `confirming` takes in what a client's user answers to a hold, if any."""

    def __init__(self, gate: GateLike, session: Session, confirming: Confirming | None = None) -> None:
        self._gate = gate
        self._session = session
        self._confirming = confirming
        self._thread = ThreadPoolExecutor(1, "vigil-mcp")

    @property
    def confirms(self) -> bool:
        """Whether the answer of a client's user confirms a hold."""
        return self._confirming is not None

    async def decide(self, call: Call) -> Answer:
        """What becomes of a call. One that passes when nobody waits for that any more was not made."""
        deciding = self._thread.submit(self._session.before, call.tool, call.arguments, call=call.id)
        try:
            return await asyncio.wrap_future(deciding)
        except asyncio.CancelledError:
            deciding.add_done_callback(lambda done: self._not_made(call, done))
            raise

    def _not_made(self, call: Call, done: Future[Answer]) -> None:
        if not done.cancelled() and done.result().decision.mode == "pass":
            with suppress(StateError, ValueError):
                self._session.after(Ended(call.tool, call.arguments, call=call.id, executed=False))

    async def ended(self, call: Call, status: Status, output: str | None, *, executed: bool = True) -> None:
        """Tell the gate how a call ended, once. Where that cannot be written, it is told on standard error."""
        if call.is_over:
            return
        call.is_over = True
        text = None if output is None else output[:_OUTPUT]
        told = Ended(call.tool, call.arguments, status, text, call=call.id, executed=executed)
        try:
            await asyncio.shield(self._asked(lambda: self._session.after(told)))  # it is noted, whoever waits for that
        except (StateError, ValueError) as error:
            note(f"the outcome of {call.tool} could not be noted: {error}")

    async def refused(self, message: str) -> None:
        """Note in the log that something was refused before the gate was asked."""
        try:
            await self._asked(lambda: self._gate.refuse(message))
        except StateError as error:
            note(f"a refusal could not be noted: {error}")

    async def waited(self, hold: Hold, seconds: float | None) -> Hold:
        """A hold when it waits no more, or after so many seconds.

        Raises:
            StateError: it cannot be read.
        """
        end = None if seconds is None else time.monotonic() + seconds
        name = hold.id
        while True:
            hold = await self._asked(lambda: self._gate.hold(name))
            left = _PAUSE if end is None else end - time.monotonic()
            if hold.state != "pending" or left <= 0:
                return hold
            await asyncio.sleep(min(_PAUSE, left))

    async def confirm(self, hold: str, *, approve: bool) -> str | None:
        """Confirm or deny a hold as its client's user answered; why that cannot be, or None."""
        confirming = self._confirming
        if confirming is None:
            return "the answers of a client's user confirm nothing here"
        return await self._tried(lambda: confirming(hold, approve))

    async def withdraw(self, hold: str) -> str | None:
        """Cancel a hold: its call is not wanted any more; why that cannot be, or None."""
        return await self._tried(lambda: self._gate.cancel(hold, "the client's user took it back"))

    async def close(self) -> None:
        """The run is over."""
        try:
            await self._asked(self._session.close)
        except (StateError, ValueError) as error:
            note(f"the end of the run could not be noted: {error}")
        self._thread.shutdown(wait=False)

    async def _tried(self, work: Callable[[], object]) -> str | None:
        try:
            await self._asked(work)
        except (HoldError, StateError) as error:
            return str(error)
        return None

    async def _asked(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def note(message: str) -> None:
    """Tell the operator something, on standard error, which clients keep as the server's log."""
    import sys

    from vigil_lang.diagnostics.visible import visible

    print(f"vigil mcp: {visible(message)[:2000]}", file=sys.stderr, flush=True)
