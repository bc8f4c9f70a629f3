"""What every request passes first and every answer last: its id, its host, its headers, and errors as JSON."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

from vigil_lang.diagnostics.secrets import one_output
from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.state import StateError
from vigil_lang.service import tracing
from vigil_lang.service.errors import Refused, error_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from vigil_lang.service.service import Service

Handler: TypeAlias = "Callable[[Request], Awaitable[Response]]"

_logger = logging.getLogger(__name__)
_ENCODE = msgspec.json.Encoder().encode
_ID = re.compile(rb"[\t\x20-\x7e\x80-\xff]+")
_OF_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST_HOSTS = 100
_PROBES = ("/healthz", "/readyz")
_HOST = re.compile(rb"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_ONCE = frozenset({b"host", b"authorization", b"content-type", b"content-encoding", b"origin", b"sec-fetch-site"})
"""Headers that decide something: of two of them others may take the one that is not taken here."""
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_TLS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


SHOWN = b"secrets=shown"
"""What the address of a page says where texts that look like secrets are not masked."""


class Edge:
    """Wraps an application: echoes `X-Request-ID`, refuses a host that is not the service's, and adds headers.

    A page of somebody else's that a browser was led to by a name of its own reaches nothing here: the host is checked.
    `direct` has the handlers of POST that are asked often, by path: for them the application looks nothing up.
    """

    def __init__(self, app: ASGIApp, service: Service, direct: Mapping[str, Handler]) -> None:
        self._app = app
        self._direct = direct
        self._tracer = tracing.tracer()
        self._hosts = frozenset(_host(each) for each in (service.origins.data, service.origins.control))
        self._local = service.origins.local
        self._headers = [*_HEADERS, *([_TLS] if service.origins.control.startswith("https://") else ())]
        self._known: set[bytes] = set()
        """Headers that name a host of the service, with its port, as they came."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with one_output(show=SHOWN in scope["query_string"].split(b"&")):
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, host, is_twice = None, b"", False
        once: set[bytes] = set()
        for header, value in scope["headers"]:
            if header == b"x-request-id" and _ID.fullmatch(value):
                name = value
            elif header in _ONCE:
                is_twice = is_twice or header in once
                once.add(header)
                if header == b"host":
                    host = value

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                said = {each[0] for each in headers}
                headers += [each for each in self._headers if each[0] not in said]
                if name is not None:
                    headers.append((b"x-request-id", name))
                if not any(each[0] == b"cache-control" for each in headers):
                    headers.append((b"cache-control", b"no-store"))
            await send(message)

        if self._tracer is None:
            await self._passed_on(scope, receive, sending, host, is_twice=is_twice)
            return
        with tracing.span(self._tracer, scope) as span:

            async def seen(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await sending(message)

            await self._passed_on(scope, receive, seen, host, is_twice=is_twice)

    async def _passed_on(self, scope: Scope, receive: Receive, sending: Send, host: bytes, *, is_twice: bool) -> None:
        if is_twice:
            await json_response(error_json("header", "a header is there twice"), 400)(scope, receive, sending)
        elif host not in self._known and not self._is_known(host) and scope["path"] not in _PROBES:
            await json_response(error_json("host", "this is not the host of the service"), 421)(scope, receive, sending)
        elif scope["method"] == "POST" and (handler := self._direct.get(scope["path"])) is not None:
            await (await _answered(handler, Request(scope, receive)))(scope, receive, sending)
        else:
            await self._app(scope, receive, sending)

    def _is_known(self, header: bytes) -> bool:
        host = _host("//" + header.decode("latin-1"))
        if _HOST.fullmatch(header) is None:
            return False
        if host not in self._hosts and not (self._local and host in _OF_THIS_MACHINE):
            return False
        if len(self._known) < _MOST_HOSTS:
            self._known.add(header)
        return True


async def _answered(handler: Handler, request: Request) -> Response:
    """A handler's answer, or that to its error."""
    try:
        return await handler(request)
    except Refused as error:
        return await refused(request, error)
    except StateError as error:
        return await cannot_judge(request, error)
    except ClientDisconnect as error:
        return await gone(request, error)
    except Exception as error:
        return await failed(request, error)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def json_response(content: object, status: int = 200, *, media: str = "application/json") -> Response:
    """An answer in JSON."""
    return Response(_ENCODE(content), status, media_type=media)


async def refused(_: Request, error: Exception) -> Response:
    """A refusal as JSON."""
    assert isinstance(error, Refused)
    response = json_response(error_json(error.code, error.message), error.status)
    response.headers.update(error.headers)
    return response


async def not_found(request: Request, error: Exception) -> Response:
    """No such address, or no such method there, as JSON."""
    status = getattr(error, "status_code", 404)
    word = {404: "not_found", 405: "method"}.get(status, "refused")
    response = json_response(error_json(word, str(getattr(error, "detail", "")) or "there is nothing here"), status)
    response.headers.update(getattr(error, "headers", None) or {})
    if status == 405:  # of routes with one path the library knows the methods of the first
        routes = [each for each in request.app.routes if each.matches(request.scope)[0] is not Match.NONE]
        response.headers["allow"] = ", ".join(sorted({method for each in routes for method in each.methods}))
    return response


async def cannot_judge(_: Request, error: Exception) -> Response:
    """The state cannot be read or written: nothing passes meanwhile."""
    return json_response(error_json("state", str(error)[:500]), 503)


async def gone(_: Request, __: Exception) -> Response:
    """Who asked is gone, and reads no answer."""
    return Response(status_code=400)


async def failed(request: Request, error: Exception) -> Response:
    """Something that nobody thought of; what it was is for the operator's eyes."""
    _logger.error("%s %s failed", request.method, visible(request.url.path[:200]), exc_info=error)
    return json_response(error_json("failed", "the service failed"), 500)


HANDLERS = (
    (Refused, refused),
    (StateError, cannot_judge),
    (ClientDisconnect, gone),
    (404, not_found),
    (405, not_found),
    (Exception, failed),
)
"""How errors are answered, by their type or status."""
