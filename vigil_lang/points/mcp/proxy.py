"""Running the proxy: one client on standard streams, or many over HTTP."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.gate.entering import Entering
from vigil_lang.points.mcp.ends import Rules
from vigil_lang.points.mcp.keeper import Keeper, note
from vigil_lang.points.mcp.pins import Pins
from vigil_lang.points.mcp.relay import Relay
from vigil_lang.points.mcp.sealing import Seal
from vigil_lang.points.own_files import guarding_files
from vigil_lang.points.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.points.gates import GateLike
    from vigil_lang.points.mcp.ends import Front
    from vigil_lang.points.mcp.keeper import Confirming
    from vigil_lang.points.mcp.specs import ServerSpec

PATIENCE = 5.0
"""Seconds that calls under way have to be decided about and answered when one side closed its end."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the proxy was called with. `run` names the run, None for one of its own a session; `confirming` takes in
    what a client's user answers to a hold."""

    servers: Sequence[ServerSpec]
    agent: str = "mcp"
    run: str | None = None
    policies: tuple[str, ...] = ()
    wait: float = 0
    observe: bool = False
    confirming: Confirming | None = None


class Sessions:
    """Makes the relays of one proxy: they share the gate, the pins and the seal."""

    def __init__(self, gate: GateLike, given: Given) -> None:
        self._gate = gate
        self._given = given
        self._pins = Pins(gate.state)
        self._seal = Seal()

    def relay(self, front: Front, run: str, principal: str) -> Relay:
        """A relay for a client, in a run of its own.

        Raises:
            StateError: the run cannot begin.
        """
        given = self._given
        entering = Entering(
            given.run or run,
            given.agent,
            host="mcp",
            cwd=_directory(),
            policies=given.policies,
            protected=guarding_files(self._gate.state, _files(given.policies)),
        )
        for remark in self._gate.enter(entering):
            note(remark)
        session = Session(self._gate, entering, observe=given.observe)
        keeper = Keeper(self._gate, session, given.confirming)
        return Relay(front, given.servers, keeper, self._pins, self._seal, Rules(given.wait, principal, given.observe))


def _files(policies: tuple[str, ...]) -> list[str]:
    return [each for each in policies if not each.startswith("std.")]


def _directory() -> str | None:
    with suppress(OSError):
        return os.getcwd()  # noqa: PTH109 - a text
    return None


async def serve_stdio(gate: GateLike, given: Given, run: str) -> int:
    """Serve the client on our standard streams until it is gone, or all servers are; gives the exit status."""
    from vigil_lang.points.mcp.stdio import StdioFront

    relay = Sessions(gate, given).relay(front := StdioFront(), run, f"uid:{os.getuid()}")
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    try:
        await relay.start()
    except OSError as error:
        note(str(error))
        await relay.close()
        await relay.keeper.close()
        return 2

    async def listen() -> None:
        async for message in front.messages():
            await relay.from_client(message)

    tasks = [asyncio.create_task(work) for work in (listen(), relay.gone.wait(), over.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    closed, lost = tasks[0].done(), tasks[1].done()
    for task in tasks:
        task.cancel()
    await relay.close(PATIENCE if closed or lost else 0)
    await relay.keeper.close()
    failed = closed and not tasks[0].cancelled() and tasks[0].exception() is not None
    if failed:
        note(f"the session failed: {tasks[0].exception()}")
    return 3 if failed else 1 if lost else 0
