"""What lies between a client and its servers: each call of a tool is decided about, and all else passes through."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.state import StateError
from vigil_lang.points.mcp import several
from vigil_lang.points.mcp.calling import Calling
from vigil_lang.points.mcp.ends import Front, Rules, Server
from vigil_lang.points.mcp.keeper import note
from vigil_lang.points.mcp.link import Link, Pending
from vigil_lang.points.mcp.messages import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Id,
    Message,
    error,
    meta,
    notification,
)
from vigil_lang.points.mcp.pins import as_pinned, hidden
from vigil_lang.points.mcp.servers import connect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.points.mcp.keeper import Call, Keeper
    from vigil_lang.points.mcp.pins import Pins
    from vigil_lang.points.mcp.sealing import Seal
    from vigil_lang.points.mcp.specs import ServerSpec

PAGES = 200
"""Pages of a list of tools that are read at most."""

_WATCHED = frozenset({"tools/call", "tools/list", "initialize"})


@dataclass(slots=True)
class _Asked:
    """A request of the client that is under way."""

    task: asyncio.Task[None] | None = None
    sent: list[tuple[Server, Id]] = field(default_factory=list)
    call: Call | None = None


class Relay:
    """The session of one client (or of all clients, where each request stands alone) with the servers behind it."""

    def __init__(
        self, front: Front, specs: Sequence[ServerSpec], keeper: Keeper, pins: Pins, seal: Seal, rules: Rules
    ) -> None:
        self.front = front
        self.keeper = keeper
        self.pins = pins
        self.rules = rules
        self.servers = {spec.name: Server(spec, connect(spec)) for spec in specs}
        self.is_single = len(self.servers) == 1
        self.capabilities: Message = {}
        self.version: str | None = None
        self.gone = asyncio.Event()
        self.link = Link()
        self._asked: dict[Id, _Asked] = {}
        self._closing = False
        self._calling = Calling(self, seal)

    async def start(self) -> None:
        """Start or reach all servers.

        Raises:
            OSError: one cannot be started.
        """
        for server in self.servers.values():
            await server.connection.start(self._hears(server), self._loses(server))

    async def close(self, patience: float = 0) -> None:
        """End what is under way, and the servers. Calls that were forwarded and not answered end `unknown`.

        What is under way has `patience` seconds to end by itself; after those, the client has an answer all the same.
        """
        tasks = [asked.task for asked in self._asked.values() if asked.task is not None]
        if tasks and patience:
            await asyncio.wait(tasks, timeout=patience)
        for task in tasks:
            task.cancel()
        self._closing = True
        await asyncio.gather(*(server.connection.close() for server in self.servers.values()), return_exceptions=True)
        for number, asked in list(self._asked.items()):
            if asked.call is not None:
                await self.keeper.ended(asked.call, "unknown", None)
            if patience:
                await self.reply(number, error(number, CONNECTION_CLOSED, "the session is over"))

    # --- from the client ----------------------------------------------------------------------------------------

    async def from_client(self, message: Message) -> None:
        """Take a message of the client, as `read_message` gives it."""
        if "method" not in message:
            if (pending := self.link.answered(message)) is not None:
                await pending.reply(message)
        elif "id" not in message:
            await self._notified(message)
        else:
            await self._requested(message)

    async def _requested(self, message: Message) -> None:
        number = message["id"]
        if number in self._asked:
            await self.front.send(error(number, INVALID_REQUEST, "another request has this id"), number)
            return
        asked = self._asked[number] = _Asked()
        if self.is_single and message["method"] not in _WATCHED:
            # What only passes through keeps its order.
            await self.forward(next(iter(self.servers.values())), message)
            return
        asked.task = asyncio.create_task(self._answered(message))

    async def _answered(self, message: Message) -> None:
        number = message["id"]
        try:
            if message["method"] == "tools/call":
                await self._calling.call(message)
            elif self.is_single:
                await self._watched(next(iter(self.servers.values())), message)
            else:
                await self.reply(number, await several.answer(self, message))
        except StateError as fault:
            await self.reply(number, error(number, INVALID_REQUEST, f"Vigil cannot judge: {fault}"))
        except Exception as fault:
            note(f"a request failed: {type(fault).__name__}: {fault}")
            await self.reply(number, error(number, INVALID_REQUEST, "Vigil cannot judge: the proxy failed"))

    async def _watched(self, server: Server, message: Message) -> None:
        if message["method"] == "initialize":
            self.initialized(message)
        answer = await self.ask(server, message["method"], message.get("params"), message["id"])
        if message["method"] == "tools/list" and isinstance(answer.get("result"), dict):
            tools = await self.seen(server, answer["result"].get("tools"))
            answer = {**answer, "result": {**answer["result"], "tools": tools}}
        elif message["method"] == "initialize" and isinstance(answer.get("result"), dict):
            version = answer["result"].get("protocolVersion")
            server.version = self.version = version if isinstance(version, str) else None
        await self.reply(message["id"], answer)

    def initialized(self, message: Message) -> None:
        """Keep what the client says of itself in the handshake."""
        found = message.get("params", {}).get("capabilities")
        self.capabilities = found if isinstance(found, dict) else {}

    async def _notified(self, message: Message) -> None:
        method, params = message["method"], message.get("params", {})
        if method == "notifications/cancelled":
            await self.cancel(params.get("requestId"), message)
        elif method == "notifications/progress":
            found, pending = self.link.restored(message)
            if pending is not None and (server := getattr(pending.reply, "server", None)) is not None:
                await self.tell(server, found)
        else:
            for server in self.servers.values():
                await self.tell(server, message)

    async def cancel(self, number: object, message: Message | None = None) -> None:
        """The client wants a request no more. What was forwarded of it has an outcome that nobody knows."""
        if not isinstance(number, str | int) or (asked := self._asked.get(number)) is None:
            return
        cancelled = message or notification("notifications/cancelled", {"requestId": number})
        for server, sent in asked.sent:
            await self.tell(server, {**cancelled, "params": {**cancelled.get("params", {}), "requestId": sent}})
        if asked.call is not None:
            await self.keeper.ended(asked.call, "unknown", None)
        if not asked.sent:
            self._asked.pop(number, None)
            if asked.task is not None:
                asked.task.cancel()

    # --- to and from the servers --------------------------------------------------------------------------------

    async def forward(self, server: Server, message: Message) -> None:
        """Pass a request on, and its answer back."""

        async def reply(answer: Message) -> None:
            await self.reply(message["id"], answer)

        await self._send(server, message["method"], message.get("params"), Pending(reply, message["id"]))

    async def ask(self, server: Server, method: str, params: Message | None, related: Id | None = None) -> Message:
        """Ask a server something, and wait for its answer. `related` is the client's request that this is for."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        async def reply(found: Message) -> None:
            if not answer.done():
                answer.set_result(found)

        await self._send(server, method, params, Pending(reply, related))
        return await answer

    async def call(self, server: Server, call: Call, params: Message, related: Id) -> Message:
        """Make a call that passed, and wait for its answer."""
        if (asked := self._asked.get(related)) is not None:
            asked.call = call
        return await self.ask(server, "tools/call", params, related)

    async def _send(self, server: Server, method: str, params: Message | None, pending: Pending) -> None:
        if not server.alive:
            await pending.reply(error(0, CONNECTION_CLOSED, f"the server `{server.name}` is gone"))
            return
        headers = self._headers(server, method, params)
        message = server.link.number(method, params, pending)
        if pending.related is not None and (asked := self._asked.get(pending.related)) is not None:
            asked.sent.append((server, message["id"]))
        await server.connection.send(message, headers)

    async def tell(self, server: Server, message: Message) -> None:
        """Send a notification or an answer to a server."""
        if server.alive:
            await server.connection.send(message, self._headers(server, None, message.get("params")))

    async def reply(self, number: Id, answer: Message) -> None:
        """Answer a request of the client."""
        self._asked.pop(number, None)
        await self.front.send({**answer, "id": number}, number)

    async def ask_client(self, method: str, params: Message, related: Id) -> Message:
        """Ask the client something, and wait for its answer; where that is not wanted any more, the client is told."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        async def reply(found: Message) -> None:
            if not answer.done():
                answer.set_result(found)

        asking = self.link.number(method, params, Pending(reply))
        await self.front.send(asking, related)
        try:
            return await answer
        except asyncio.CancelledError:
            self.link.pending.pop(asking["id"], None)
            with suppress(Exception):
                await self.front.send(
                    notification("notifications/cancelled", {"requestId": asking["id"], "reason": "it is over"}),
                    related,
                )
            raise

    def _headers(self, server: Server, method: str | None, params: Message | None) -> dict[str, str]:
        """The HTTP headers that a message has to have, for a server behind a URL."""
        if server.spec.url is None:
            return {}
        from vigil_lang.points.mcp.headers import headers_of

        return headers_of(method, params, server.version, server.tools)

    def _hears(self, server: Server) -> Any:
        async def heard(message: Message) -> None:
            if "method" not in message:
                pending = server.link.answered(message)
                if pending is not None:
                    await pending.reply(message)
            elif "id" in message:
                await self._server_asks(server, message)
            else:
                await self._server_tells(server, message)

        return heard

    async def _server_asks(self, server: Server, message: Message) -> None:
        """A request of a server, as in the older era: it passes to the client."""
        if not self.front.can_ask:
            await self.tell(server, error(message["id"], METHOD_NOT_FOUND, "the client cannot be asked anything"))
            return
        pending = Pending(_Back(self, server, message["id"]), message["id"])
        asking = self.link.number(message["method"], message.get("params"), pending)
        await self.front.send(asking, self._related(server))

    async def _server_tells(self, server: Server, message: Message) -> None:
        if message["method"] == "notifications/cancelled":
            wanted = message.get("params", {}).get("requestId")
            for number, waiting in list(self.link.pending.items()):
                back = waiting.reply
                if isinstance(back, _Back) and back.server is server and back.number == wanted:
                    del self.link.pending[number]
                    params = {**message["params"], "requestId": number}
                    await self.front.send({**message, "params": params}, self._related(server))
            return
        if message["method"] == "notifications/tools/list_changed":
            server.listed = False
        found, pending = server.link.restored(message)
        related = self._related(server) if pending is None else pending.related
        if not self.is_single:
            found = several.renamed(server, found)
        await self.front.send(found, related)

    def _related(self, server: Server) -> Id | None:
        """The client's request that a message of a server belongs to: the only one that is under way there, if so."""
        waiting = [pending.related for pending in server.link.pending.values() if pending.related is not None]
        return waiting[0] if len(waiting) == 1 else None

    def _loses(self, server: Server) -> Any:
        async def gone(why: str) -> None:
            server.alive = False
            if not self._closing:
                note(f"{server.name}: {why}")
            await server.link.fail(f"{server.name}: {why}")
            if not any(each.alive for each in self.servers.values()):
                self.gone.set()

        return gone

    # --- tools --------------------------------------------------------------------------------------------------

    async def tool(self, server: Server, name: str, params: Message) -> dict[str, Any] | None:
        """What a server says of a tool, which is asked for its list where that is not known; None for no such tool."""
        if name not in server.tools and not server.listed:
            await self.list_tools(server, params)
        return server.tools.get(name)

    async def list_tools(self, server: Server, params: Message) -> list[dict[str, Any]]:
        """All tools of a server, page by page, as the client is shown them. `params` are those of any request."""
        about = {name: value for name, value in meta(params).items() if name != "progressToken"}
        cursor: object = None
        seen: set[str] = set()
        found: list[dict[str, Any]] = []
        for _ in range(PAGES):
            asking = ({"_meta": about} if about else {}) | ({} if cursor is None else {"cursor": cursor})
            answer = (await self.ask(server, "tools/list", asking)).get("result")
            if not isinstance(answer, dict):
                break
            found += await self.seen(server, answer.get("tools"))
            cursor = answer.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen:
                server.listed = True
                break
            seen.add(cursor)
        return found

    async def seen(self, server: Server, tools: object) -> list[dict[str, Any]]:
        """Take in what a server says of its tools; gives what the client is shown: a changed tool as it was pinned."""
        if not isinstance(tools, list):
            return []
        known = [each for each in tools if isinstance(each, dict) and isinstance(each.get("name"), str)]
        shown = []
        for each, sighting in zip(known, self.pins.look(server.name, known), strict=True):
            pin = sighting.pin
            server.tools[pin.tool] = each
            unseen = hidden(each)
            if sighting.is_new and unseen:
                note(f"{server.name}: the description of `{pin.tool}` has characters that nobody sees: {unseen}")
            if sighting.is_news:
                accept = f"vigil mcp accept {server.name} {pin.tool}"
                note(f"{server.name}: `{pin.tool}` is described otherwise than before; {accept} accepts that")
                await self.keeper.refused(f"{server.name}: the description of the tool `{pin.tool}` changed")
            shown.append(as_pinned(each, pin) if pin.is_changed else each)
        return shown


class _Back:
    """Takes the client's answer to a request of a server back to it."""

    def __init__(self, relay: Relay, server: Server, number: Id) -> None:
        self._relay = relay
        self.server = server
        self.number = number

    async def __call__(self, answer: Message) -> None:
        await self._relay.tell(self.server, {**answer, "id": self.number})
