"""The page over a state folder of a test's own, served on this machine, with what people come to decide about."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn
from gate_support import World, request

from vigil_lang.gate.entering import Ended
from vigil_lang.gate.gate import Gate
from vigil_lang.service.apps import control_app
from vigil_lang.service.page.rendering import path_of
from vigil_lang.service.service import Origins, Service

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.answer import Answer

ORGANISATION = """
/// What a company asks of its agents that pay.
policy acme.agents

/// What is paid above this is confirmed by the treasury.
param confirm_above: number = 500

/// The treasury confirms a payment above the threshold.
rule large_payment:
    when payment.transfer(amount > confirm_above)
    then hold
    record amount, recipient

/// No payment goes beyond the limit.
rule beyond_the_limit: when payment.transfer(amount > 10000) then block record amount

/// An invoice is looked at before it is paid.
@message("look at the invoice before you pay it")
@on_violation(hold)
statement looked_at: prec(pay_invoice(invoice = x), get_invoice(invoice = x))

/// What was fetched is filed.
statement filed: resp(get_invoice(invoice = x), file_invoice(invoice = x))
"""

PERSONAL = """
/// What Ann wants of her own agents.
policy ann.agents

/// I read what I send.
rule mail: when message.send() then hold record recipient
"""

HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;",
    "bidi": "pay \u202e0001 evah\u202c \u2066hidden\u2069 \u200bzero\u200d \ufeff",
    "nul": "a\x00b\x1b[31mred\x07",
    "long": "x" * 100_000,
    "lines": "first\nsecond\r\nthird\u2028fourth",
}


class Site:
    """The control address of a service over a state folder, on a port of this machine, by the real clock."""

    def __init__(self, folder: Path, *, no_auth: bool = False, **more: str) -> None:
        self.world = World(folder, organisation=ORGANISATION, personal=PERSONAL, **more)
        self.world.gate.close()
        self.gate = Gate(self.world.state)
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.url = f"http://localhost:{self.socket.getsockname()[1]}"
        self.service = Service(self.gate, Origins(self.url, self.url), no_auth=no_auth)
        config = uvicorn.Config(
            control_app(self.service), ws="none", lifespan="off", log_config=None, timeout_graceful_shutdown=1
        )
        self.client = httpx.Client(base_url=self.url, verify=False, timeout=30)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        end = time.monotonic() + 10
        while not self._server.started and time.monotonic() < end:
            time.sleep(0.01)

    async def _run(self) -> None:
        self.service.start()
        try:
            await self._server.serve(sockets=[self.socket])
        finally:
            await self.service.stop()

    def close(self) -> None:
        """End it."""
        self.client.close()
        self.service.drain()
        self._server.should_exit = True
        self._thread.join(10)
        self.gate.close()

    def ask(self, tool: str, /, run: str = "r1", agent: str = "payer", **given: Any) -> Answer:
        """A call that an agent asks for."""
        return self.gate.decide(request(tool, run, agent, **given))

    def made(self, tool: str, /, run: str = "r1", agent: str = "payer", **given: Any) -> None:
        """A call that passes and succeeds."""
        call = f"call-{time.monotonic_ns()}"
        asked = self.ask(tool, run, agent, **given)
        assert asked.decision.mode == "pass", asked
        self.gate.ended(run, Ended(call=None, tool=tool, input=given, status="ok", output=f"done {call}"))

    def held(self, tool: str, /, run: str = "r1", agent: str = "payer", **given: Any) -> str:
        """The id of the hold of a call."""
        hold = self.ask(tool, run, agent, **given).hold
        assert hold is not None
        return hold.id


def settled(site: Site) -> dict[str, str]:
    """Something on every page; gives where each is."""
    site.made("get_invoice", run="monday", invoice="inv-17")
    site.made("file.read", run="monday", path="prices.csv")
    hold = site.held("payment.transfer", run="monday", amount=900, currency="EUR", recipient="Paper Ltd")
    witness = site.held("pay_invoice", run="monday", invoice="inv-18", amount=120)
    site.held(
        "message.send", run="tuesday", agent="mailer", recipient="bob@example.com", body="Dear Bob,\n\nsee \u202eyou\n"
    )
    hostile = site.held(
        "payment.transfer", run=f"run {HOSTILE['bidi']}/../..", agent=HOSTILE["markup"], amount=901, **HOSTILE
    )
    site.gate.checkpoint()
    opened = site.gate.holds.get(hostile)
    return {
        "holds": "/holds",
        "none": "/holds?state=cancelled",
        "hold": f"/holds/{hold}",
        "witness": f"/holds/{witness}",
        "hostile": f"/holds/{hostile}",
        "action": f"/holds/{hostile}/action?part=2",
        "log": "/log?text=mon",
        "entry": f"/log/{opened.seq - 1}",
        "hostile entry": f"/log/{opened.seq}",
        "runs": "/runs",
        "run": "/runs/monday",
        "hostile run": f"/runs/{path_of(opened.opened['run'])}",
        "policies": "/policies",
        "policy": "/policies/0",
        "kill": "/kill",
        "refused": "/holds/nothing",
    }
