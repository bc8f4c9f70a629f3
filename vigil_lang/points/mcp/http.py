"""Clients over HTTP: sessions of the handshake era, and the requests of the stateless one, each for itself."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import signal
import socket
from collections import OrderedDict
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import uvicorn
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport, check_accept_headers
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    validate_mcp_param_headers,
)
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import HEADER_MISMATCH, jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from vigil_lang.points.mcp.keeper import note
from vigil_lang.points.mcp.messages import (
    INVALID_REQUEST,
    SUBSCRIPTION_KEY,
    Id,
    Malformed,
    Message,
    checked,
    error,
    line,
    meta,
    read_message,
)
from vigil_lang.points.mcp.names import split_name
from vigil_lang.points.mcp.proxy import Sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from vigil_lang.points.gates import GateLike
    from vigil_lang.points.mcp.proxy import Given
    from vigil_lang.points.mcp.relay import Relay

MAX_BODY = 16_000_000
MAX_SESSIONS = 100
_IDLE = 1800.0
_PING = 15.0
PATH = "/mcp"


async def serve_http(gate: GateLike, given: Given, run: str, host: str, port: int, token: str | None) -> int:
    """Serve clients over HTTP until a signal ends that; gives the exit status. The address is printed once it answers.

    Raises:
        StateError: the run cannot begin.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except OSError as fault:
        note(f"{host}:{port} cannot be listened on: {fault.strerror}")
        return 2
    bound = listening.getsockname()[1]
    app = _App(Sessions(gate, given), run, token, _security(host, bound, token))
    config = uvicorn.Config(
        app, log_level="warning", lifespan="off", access_log=False, timeout_graceful_shutdown=2, ws="none"
    )
    server = _Server(config)

    def end() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    shown = f"[{host}]" if ":" in host else host
    print(f"http://{shown}:{bound}{PATH}", flush=True)
    try:
        await server.serve(sockets=[listening])
    finally:
        await app.close()
    return 0


class _Server(uvicorn.Server):
    """A server that leaves signals to us: its own handling ends the process by the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _security(host: str, port: int, token: str | None) -> TransportSecuritySettings:
    """Without a token nothing but this machine may ask, and no web page that somebody opened on it."""
    if token:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = ["127.0.0.1", "localhost", "[::1]", host]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )


class _App:
    """The service, as ASGI has it."""

    def __init__(self, sessions: Sessions, run: str, token: str | None, security: TransportSecuritySettings) -> None:
        self._sessions = sessions
        self._run = run
        self._token = token
        self._security = security
        self._open: OrderedDict[str, _Session] = OrderedDict()
        self._stateless: _Stateless | None = None
        self._starting = asyncio.Lock()
        self._limited = RequestBodyLimitMiddleware(self._serve, MAX_BODY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] != PATH:
            await Response(status_code=404)(scope, receive, send)
        elif not self._is_allowed(scope):
            await Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})(scope, receive, send)
        else:
            await self._limited(scope, receive, send)

    async def close(self) -> None:
        """End all sessions."""
        for session in list(self._open.values()):
            await session.close()
        if self._stateless is not None:
            await self._stateless.close()

    def _is_allowed(self, scope: Scope) -> bool:
        if not self._token:
            return True
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {self._token}".encode())

    @property
    def _principal(self) -> str:
        return "loopback" if not self._token else hashlib.sha256(self._token.encode()).hexdigest()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            refused = await TransportSecurityMiddleware(self._security).validate_request(
                request, is_post=request.method == "POST"
            )
            if refused is not None:
                await refused(scope, receive, send)
                return
            async with self._starting:
                if self._stateless is None:
                    self._stateless = _Stateless()
                    await self._stateless.start(self._sessions, self._run, self._principal)
            await self._stateless.serve(request, scope, receive, send)
            return
        named = request.headers.get(MCP_SESSION_ID_HEADER)
        session = None if named is None else self._open.get(named)
        if named is not None and session is None:
            await _failed(404, "Session not found")(scope, receive, send)
            return
        if session is None:
            body = await request.body()
            if request.method != "POST" or not _is_handshake(body):
                await _failed(400, "Missing session ID")(scope, receive, send)
                return
            session = await self._opened()
            if session is None:
                await _failed(503, "Too many open sessions")(scope, receive, send)
                return
            receive = _again(body, receive)
        await session.serve(scope, receive, send)

    async def _opened(self) -> _Session | None:
        async with self._starting:
            for name, each in list(self._open.items()):
                if each.is_over:
                    del self._open[name]
            if len(self._open) >= MAX_SESSIONS:
                return None
            session = _Session(self._security)
            try:
                await session.start(self._sessions, f"{self._run}-{session.name[:8]}", self._principal)
            except OSError as fault:
                note(str(fault))
                return None
            self._open[session.name] = session
            return session


class _Session:
    """A session of the handshake era, by the transport of the package mcp; its servers are its own."""

    can_ask = True

    def __init__(self, security: TransportSecuritySettings) -> None:
        self.name = uuid4().hex
        self._transport = StreamableHTTPServerTransport(mcp_session_id=self.name, security_settings=security)
        self._write: Any = None
        self._task: asyncio.Task[None] | None = None
        self._touched = asyncio.get_running_loop().time()

    @property
    def is_over(self) -> bool:
        """Whether it ended."""
        return self._task is not None and self._task.done()

    async def start(self, sessions: Sessions, run: str, principal: str) -> None:
        """Start its servers.

        Raises:
            OSError: one cannot be started.
            StateError: the run cannot begin.
        """
        relay = sessions.relay(self, run, principal)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(relay, ready))
        await ready

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one HTTP request."""
        self._touched = asyncio.get_running_loop().time()
        await self._transport.handle_request(scope, receive, send)

    async def send(self, message: Message, related: Id | None = None) -> None:
        """Send a message on the stream of the request that it belongs to, else on the one for all others."""
        found = jsonrpc_message_adapter.validate_python(message, by_name=False)
        metadata = None if related is None else ServerMessageMetadata(related_request_id=related)
        with suppress(Exception):  # the client is gone
            await self._write.send(SessionMessage(found, metadata=metadata))

    async def close(self) -> None:
        """End it."""
        with suppress(Exception):
            await self._transport.terminate()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, relay: Relay, ready: asyncio.Future[None]) -> None:
        try:
            async with self._transport.connect() as (read, self._write):
                try:
                    await relay.start()
                except OSError as fault:
                    ready.set_exception(fault)
                    return
                ready.set_result(None)
                reading = asyncio.create_task(self._read(relay, read))
                ends = [reading, asyncio.create_task(relay.gone.wait()), asyncio.create_task(self._idle())]
                try:
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in ends:
                        task.cancel()
                    await asyncio.gather(*ends, return_exceptions=True)
                    await self._transport.terminate()
        finally:
            await relay.close()
            await relay.keeper.close()

    async def _idle(self) -> None:
        clock = asyncio.get_running_loop().time
        while (left := self._touched + _IDLE - clock()) > 0:
            await asyncio.sleep(left)

    async def _read(self, relay: Relay, read: Any) -> None:
        async for found in read:
            if isinstance(found, Exception):
                continue
            message = found.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            try:
                await relay.from_client(checked(message))
            except Malformed as fault:
                if fault.id is not None:
                    await self.send(error(fault.id, fault.code, str(fault)), fault.id)


class _Stateless:
    """The requests of the stateless era: all share the servers, none knows of another."""

    can_ask = False

    def __init__(self) -> None:
        self._relay: Relay | None = None
        self._count = 0
        self._waiting: dict[Id, asyncio.Queue[Message]] = {}

    async def start(self, sessions: Sessions, run: str, principal: str) -> None:
        """Start the servers. Raises as `_Session.start`."""
        self._relay = sessions.relay(self, run, principal)
        await self._relay.start()

    async def send(self, message: Message, related: Id | None = None) -> None:
        """Give a message to the request that it belongs to; one that belongs to none has no way to a client."""
        if related is not None and (queue := self._waiting.get(related)) is not None:
            queue.put_nowait(message)

    async def close(self) -> None:
        """End the servers."""
        if self._relay is not None:
            await self._relay.close()
            await self._relay.keeper.close()

    async def serve(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one HTTP request."""
        assert self._relay is not None
        if request.method != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        if check_accept_headers(request) != (True, True):
            await Response(status_code=406)(scope, receive, send)
            return
        try:
            message = read_message(await request.body())
        except Malformed as fault:
            await _written(error(fault.id, fault.code, str(fault)))(scope, receive, send)
            return
        if "method" not in message:
            await _written(error(None, INVALID_REQUEST, "a client sends requests"))(scope, receive, send)
            return
        if "id" not in message:
            await Response(status_code=202)(scope, receive, send)
            return
        rejected = self._rejection(request, message)
        if rejected is not None:
            found = error(message["id"], rejected.code, rejected.message, rejected.data)
            await _written(found)(scope, receive, send)
            return
        await self._exchange(message, scope, receive, send)

    def _rejection(self, request: Request, message: Message) -> InboundLadderRejection | None:
        """What is wrong with the headers of a request, None where they say what its body says."""
        assert self._relay is not None
        doubled = find_duplicated_routing_header(request.headers.items())
        if doubled is not None:
            return InboundLadderRejection(code=HEADER_MISMATCH, message=f"{doubled} header appears more than once")
        verdict = classify_inbound_request(message, headers=dict(request.headers))
        if isinstance(verdict, InboundLadderRejection):
            return verdict
        params = message.get("params", {})
        arguments = params.get("arguments")
        if message["method"] != "tools/call" or not isinstance(arguments, dict):
            return None
        name, server = str(params.get("name")), next(iter(self._relay.servers.values()))
        if not self._relay.is_single:
            label, name = split_name(name) or ("", name)
            server = self._relay.servers.get(label, server)
        schema = server.tools.get(name, {}).get("inputSchema")
        return None if schema is None else validate_mcp_param_headers(schema, arguments, dict(request.headers))

    async def _exchange(self, message: Message, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._relay is not None
        self._count += 1
        own, given = self._count, message["id"]
        queue = self._waiting[own] = asyncio.Queue()
        watching = asyncio.create_task(_disconnected(receive))
        committed = False
        try:
            await self._relay.from_client({**message, "id": own})
            while True:
                getting = asyncio.create_task(queue.get())
                done, _ = await asyncio.wait({getting, watching}, timeout=_PING, return_when=asyncio.FIRST_COMPLETED)
                if watching in done:
                    getting.cancel()
                    await self._relay.cancel(own)
                    return
                if getting not in done:
                    getting.cancel()
                found = _restored(getting.result(), own, given) if getting in done else None
                is_last = found is not None and "method" not in found
                if is_last and not committed:
                    await _written(found)(scope, receive, send)
                    return
                if not committed:
                    committed = True
                    await send({"type": "http.response.start", "status": 200, "headers": _SSE})
                data = b": ping\r\n\r\n" if found is None else b"event: message\r\ndata: %s\r\n\r\n" % line(found)[:-1]
                await send({"type": "http.response.body", "body": data, "more_body": not is_last})
                if is_last:
                    return
        finally:
            self._waiting.pop(own, None)
            watching.cancel()


_SSE = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


def _restored(message: Message, own: Id, given: Id) -> Message:
    """A message with the id that the client gave its request."""
    if "method" not in message:
        return {**message, "id": given}
    params = message.get("params", {})
    if meta(params).get(SUBSCRIPTION_KEY) == own:
        return {**message, "params": {**params, "_meta": {**params["_meta"], SUBSCRIPTION_KEY: given}}}
    return message


async def _disconnected(receive: Receive) -> None:
    while (await receive()).get("type") != "http.disconnect":
        pass


def _written(message: Message | None) -> Response:
    code = message["error"].get("code") if message is not None and "error" in message else None
    status = 200 if code is None else ERROR_CODE_HTTP_STATUS.get(code, 200)
    return JSONResponse(message, status_code=status)


def _failed(status: int, why: str) -> Response:
    return JSONResponse(error(None, INVALID_REQUEST, why), status_code=status)


def _is_handshake(body: bytes) -> bool:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("method") == "initialize"


def _again(body: bytes, receive: Receive) -> Receive:
    """What an application receives whose body was read already."""
    given = False

    async def received() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received
