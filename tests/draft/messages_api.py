"""A loopback server that speaks the Messages API, so that the real SDK is put to the test.

What it answers is scripted: a list of answers, one for each request in turn, or a callable that gets the body of the
request. An answer is `Says` (a message of the model), `Fails` (an error with its status), `Breaks` (a reply that breaks
off) or `Raw` (any bytes). A text is short for `Says(text)`, and a `dict` for its JSON. Requests the real API would
refuse for their form are refused as it does, so a wrong request fails its test.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias

from messages_form import fault
from messages_said import Says, events, message

KEY = "sk-ant-test-not-a-key"
REQUEST_ID = "req_011CScripted"


@dataclass(frozen=True)
class Fails:
    """An error. `type` defaults to what the API says at that status."""

    status: int
    message: str = "scripted"
    type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Breaks:
    """A message that does not arrive whole; `after` is how many of its events (of a stream) do.

    `drop` resets the connection, `end` closes it as if all had been sent, `error` sends an error event of `type`,
    `stall` sends nothing more for `seconds`, `ping` nothing but signs of life, `garbage` sends an event that is no
    JSON. Of a reply that is no stream half of the bytes are sent; an `error` is there a status, 529.
    """

    message: Says
    how: Literal["drop", "end", "error", "stall", "ping", "garbage"] = "drop"
    after: int = 3
    type: str = "overloaded_error"
    seconds: float = 5.0


@dataclass(frozen=True)
class Raw:
    """Any response, or with an empty status no response at all: the connection is closed."""

    body: bytes = b""
    status: int | None = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


Answer: TypeAlias = Says | Fails | Breaks | Raw | str | dict[str, Any]
Script: TypeAlias = Sequence[Answer] | Callable[[dict[str, Any]], Answer]

_AT_ONCE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Request:
    """A request as it came; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float


class MessagesAPI:
    """The server. `script` what it shall say; `counts` is the answer of `count_tokens`, None for a guess."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.counts: int | Fails | Raw | None = None
        self.second: Callable[[str], Answer] = lambda _: {"obligations": []}
        """What the second reader answers to a question: that nothing else obliges, unless a test has it say more."""
        self._script: Script = ()
        self._next = 0
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *answers: Answer | Callable[[dict[str, Any]], Answer]) -> None:
        """Answers for the next requests in turn; a callable, given alone, answers them all."""
        with self._lock:
            self._next = 0
            only = answers[0] if len(answers) == 1 else None
            self._script = only if callable(only) else [a for a in answers if not callable(a)]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the requests for messages, in order, but not those to the second reader."""
        return [body for body in self._sent if not self._is_reading(body)]

    @property
    def read_again(self) -> list[dict[str, Any]]:
        """The bodies of the requests to the second reader, in order."""
        return [body for body in self._sent if self._is_reading(body)]

    @property
    def _sent(self) -> list[dict[str, Any]]:
        return [r.body for r in self.requests if r.path == "/v1/messages"]

    def _is_reading(self, body: dict[str, Any]) -> bool:
        return any("<sentences>" in text for text in self.texts(body))

    @property
    def counted(self) -> list[dict[str, Any]]:
        """The bodies of the requests for a count of tokens."""
        return [r.body for r in self.requests if r.path == "/v1/messages/count_tokens"]

    @staticmethod
    def texts(body: dict[str, Any]) -> list[str]:
        """The texts of the messages of a request, in order."""
        contents = [message["content"] for message in body["messages"]]
        return [c if isinstance(c, str) else "".join(block["text"] for block in c) for c in contents]

    def answer(self, request: Request) -> Says | Fails | Breaks | Raw:
        """What to answer; what the API refuses by itself comes before the script."""
        with self._lock:
            self.requests.append(request)
        given = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key")
        if given != KEY:
            return Fails(401, "invalid authentication credentials")
        if (wrong := fault(request.body, counting=request.path.endswith("count_tokens"))) is not None:
            return Fails(400, wrong)
        if request.path == "/v1/messages/count_tokens":
            return self._count(request.body)
        if request.path != "/v1/messages":
            return Fails(404, f"no such path: {request.path}")
        reads = self._is_reading(request.body)
        answer = self.second(self.texts(request.body)[-1]) if reads else self._scripted(request.body)
        if isinstance(answer, dict):
            answer = json.dumps(answer)
        return Says(answer) if isinstance(answer, str) else answer

    def _scripted(self, body: dict[str, Any]) -> Answer:
        if callable(self._script):
            return self._script(body)
        with self._lock:
            at, self._next = self._next, self._next + 1
        return self._script[at] if at < len(self._script) else Fails(400, "the script of this test is over")

    def _count(self, body: dict[str, Any]) -> Fails | Raw:
        if isinstance(self.counts, Fails | Raw):
            return self.counts
        tokens = len(json.dumps(body)) // 4 if self.counts is None else self.counts
        return Raw(json.dumps({"input_tokens": tokens}).encode())

    @contextlib.contextmanager
    def running(self) -> Iterator[MessagesAPI]:
        """Serve until the block ends."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.closing.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: MessagesAPI

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Nothing on the screen."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.api.answer(Request(self.path.partition("?")[0], headers, body, time.monotonic()))
        match answer:
            case Says():
                self.server.api.closing.wait(answer.delay)
                if body.get("stream"):
                    self._stream(events(answer, body["model"]))
                else:
                    self._send(200, json.dumps(message(answer, body["model"])).encode())
            case Fails():
                self._fail(answer)
            case Breaks():
                self._break(answer, body)
            case Raw(status=None):
                self._reset()
            case Raw(body=raw, status=int(status)):
                self._send(status, raw, answer.content_type, answer.headers)

    def _send(
        self, status: int, body: bytes, content_type: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        self._head(status, {"content-type": content_type, "content-length": str(len(body)), **(headers or {})})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"request-id": REQUEST_ID, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _fail(self, failure: Fails) -> None:
        kind = failure.type or _TYPES.get(failure.status, "api_error")
        body = {"type": "error", "error": {"type": kind, "message": failure.message}, "request_id": REQUEST_ID}
        self._send(failure.status, json.dumps(body).encode(), headers=failure.headers)

    def _stream(self, events: Sequence[dict[str, Any]], *, last: bool = True) -> None:
        self._head(200, {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"})
        for event in events:
            self._chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        if last:
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _break(self, broken: Breaks, body: dict[str, Any]) -> None:
        if not body.get("stream"):
            self._break_whole(broken, body)
            return
        self._stream(events(broken.message, body["model"])[: broken.after], last=False)
        match broken.how:
            case "drop":
                self._reset()
            case "end":
                self._chunk(b"")
            case "error":
                error = {"type": "error", "error": {"type": broken.type, "message": "Overloaded"}}
                self._chunk(f"event: error\ndata: {json.dumps(error)}\n\n".encode())
                self._chunk(b"")
            case "stall":
                self.server.api.closing.wait(broken.seconds)
                self._reset()
            case "ping":
                self._ping(time.monotonic() + broken.seconds)
            case "garbage":
                self._chunk(b"event: content_block_delta\ndata: {not json\n\n")
                self._chunk(b"")

    def _ping(self, until: float) -> None:
        while time.monotonic() < until and not self.server.api.closing.wait(0.02):
            self._chunk(b'event: ping\ndata: {"type": "ping"}\n\n')
        self._reset()

    def _break_whole(self, broken: Breaks, body: dict[str, Any]) -> None:
        whole = json.dumps(message(broken.message, body["model"])).encode()
        half = whole[: len(whole) // 2]
        match broken.how:
            case "error":
                self._fail(Fails(529, "Overloaded", broken.type))
            case "end" | "garbage":
                self._send(200, half)
            case "drop" | "stall" | "ping":
                self._head(200, {"content-type": "application/json", "content-length": str(len(whole))})
                self.wfile.write(half)
                self.wfile.flush()
                if broken.how != "drop":
                    self.server.api.closing.wait(broken.seconds)
                self._reset()

    def _reset(self) -> None:
        """Close the connection so that the other side sees it broken rather than ended."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.connection.close()
