"""Requests that no honest client sends: how the server and the edge of the service take them."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from security_support import Site, headers_of, status

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

T = TypeVar("T")
POST = b"POST /v1/holds/approve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SMUGGLED = b"0\r\n\r\nGET /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "path",
    [
        b"/../etc/passwd",
        b"/static/../page.py",
        b"/static/..%2f..%2fpage%2frendering.py",
        b"/static/%2e%2e%2fpage.css",
        b"/static/page.css%00.js",
        b"//v1/holds",
        b"/v1//holds",
        b"/v1/holds/",
        b"/v1/./holds",
        b"/v1/runs/..%2f..%2fholds",
        b"/V1/holds",
        b"/v1%2fholds%2f..",
        b"/v1/holds;a=b",
        b"/.git/config",
        b"/log.jsonl",
        b"/%00",
        b"*",
    ],
)
def test_a_path_is_taken_as_it_stands(site: Site, path: bytes) -> None:
    answer = site.get(path)
    assert status(answer) in (404, 421), answer
    assert b"root:" not in answer


@pytest.mark.parametrize("path", [b"/\xc3\xa9", b"/a\x00b", b"/a b", b"v1/holds", b"/a\x1b[2J"])
def test_a_path_with_bytes_that_none_has_is_refused(site: Site, path: bytes) -> None:
    assert status(site.get(path)) == 400


@pytest.mark.parametrize(
    "host",
    [
        b"X: y",
        b"Host: ",
        b"Host: evil.example",
        b"Host: localhost.evil.example",
        b"Host: localhost.",
        b"Host: evil.example@localhost",
        b"Host: localhost@evil.example",
        b"Host: localhost/evil.example",
        b"Host: localhost#@evil.example",
        b"Host: localhost:1:2",
        b"Host: localhost:a",
        b"Host: [::1",
        b"Host: localhost\xff",
        b"Host: localhost evil.example",
        b"Host: localhost,evil.example",
    ],
)
def test_a_host_that_is_not_the_services_reaches_nothing(site: Site, host: bytes) -> None:
    """A name that was bound to this address for a moment makes no page of somebody else's one of ours."""
    assert status(site.get(b"/v1/holds", host=host)) in (400, 421)
    assert status(site.get(b"http://localhost/v1/holds", host=host)) in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        b"Host: localhost\r\nHost: evil.example",
        b"Host: evil.example\r\nHost: localhost",
        b"Host: localhost\r\nHost: localhost",
        b"Host: localhost\r\nAuthorization: Bearer x",
        b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example",
        b"Host: localhost\r\nSec-Fetch-Site: same-origin\r\nsec-fetch-site: cross-site",
        b"Host: localhost\r\nContent-Type: a/b\r\nContent-Type: application/json",
    ],
)
def test_what_decides_is_said_once(site: Site, headers: bytes) -> None:
    assert status(site.get(b"/v1/holds", host=headers)) == 400


@pytest.mark.parametrize(
    "body",
    {
        "length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + SMUGGLED,
        "chunks and length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + SMUGGLED,
        "two lengths": b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + SMUGGLED,
        "two equal lengths": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "a list of lengths": b"Content-Length: 2, 2\r\n\r\n{}",
        "a sign": b"Content-Length: +2\r\n\r\n{}",
        "negative": b"Content-Length: -1\r\n\r\n{}",
        "hexadecimal": b"Content-Length: 0x2\r\n\r\n{}",
        "no number of 64 bits": b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        "space before the colon": b"Content-Length : 2\r\n\r\n{}",
        "unknown coding": b"Transfer-Encoding: xchunked\r\n\r\n" + SMUGGLED,
        "chunked is not last": b"Transfer-Encoding: chunked, identity\r\n\r\n" + SMUGGLED,
        "two codings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + SMUGGLED,
        "folded": b"Transfer-Encoding:\r\n chunked\r\n\r\n" + SMUGGLED,
        "bare line feeds": b"X: y\nTransfer-Encoding: chunked\r\n\r\n" + SMUGGLED,
        "bare carriage return": b"X: y\rTransfer-Encoding: chunked\r\n\r\n" + SMUGGLED,
        "no hexadecimal chunk": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        "a chunk beyond 64 bits": b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff0\r\n{}\r\n",
        "chunks by line feeds": b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
        "chunk longer than it says": b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
        "NUL in a header": b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
    }.items(),
    ids=lambda item: item[0].replace(" ", "_"),
)
def test_no_request_is_read_as_two(site: Site, body: tuple[str, bytes]) -> None:
    """One answer, 400, and the connection is over: nothing that follows is a request."""
    answer = site.raw(POST + b"Authorization: Bearer " + site.token.encode() + b"\r\n" + body[1])
    assert status(answer) == 400, answer
    assert answer.count(b"HTTP/1.1 ") == 1
    assert headers_of(answer)["connection"] == "close"


@pytest.mark.parametrize("method", [b"TRACE", b"OPTIONS", b"PUT", b"DELETE", b"PATCH", b"PROPFIND", b"CONNECT"])
def test_a_method_that_a_route_does_not_have_is_refused(site: Site, method: bytes) -> None:
    answer = site.get(b"/v1/holds", method=method)
    assert status(answer) == 405
    assert headers_of(answer)["allow"] == "GET, HEAD"
    assert b"Bearer" not in answer


@pytest.mark.parametrize(
    "header", [b"X-HTTP-Method-Override: POST", b"X-HTTP-Method: POST", b"X-Method-Override: POST", b"X: _method=POST"]
)
def test_no_header_makes_a_get_something_else(site: Site, header: bytes) -> None:
    hold = site.held(9_000, run="override").encode()
    for path in (b"/v1/holds/%b/cancel", b"/v1/holds/%b/cancel?_method=POST"):
        assert status(site.get(path % hold, header)) in (404, 405)
    assert site.ask("GET", f"/v1/holds/{hold.decode()}", control=True).json()["state"] == "pending"


def test_all_methods_of_a_path_are_allowed(site: Site) -> None:
    answer = site.get(b"/holds/batch", method=b"DELETE")
    assert headers_of(answer)["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    "header",
    [
        b"X-Forwarded-Host: evil.example",
        b"X-Forwarded-Proto: https",
        b"X-Forwarded-For: 203.0.113.1",
        b"X-Real-IP: 203.0.113.1",
        b"Forwarded: for=203.0.113.1;host=evil.example;proto=https",
        b"X-Original-URL: /v1/runs",
        b"X-Rewrite-URL: /v1/runs",
    ],
)
def test_what_a_proxy_would_say_is_not_believed(site: Site, header: bytes) -> None:
    answer = site.get(b"/sign-in?token=wrong", header)
    assert status(answer) == 403
    assert b"evil.example" not in answer
    assert "strict-transport-security" not in headers_of(answer)
    assert {each["address"] for each in site.entries("access_refused")} == {"127.0.0.1"}
    assert b'"runs"' not in site.get(b"/v1/holds", header)


@pytest.mark.parametrize("upgrade", [b"websocket", b"h2c", b"TLS/1.0"])
def test_a_connection_stays_what_it_is(site: Site, upgrade: bytes) -> None:
    answer = site.raw(
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %b\r\n"
        b"Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n" % upgrade,
        seconds=0.5,
    )
    assert status(answer) in (200, 400)
    assert b" 101 " not in answer


def test_other_protocols_are_refused(site: Site) -> None:
    for first in (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        bytes(range(256)),
    ):
        assert status(site.raw(first, seconds=2)) == 400


def test_tls_has_authenticated_ciphers_alone(tmp_path: Path) -> None:
    import ssl

    from test_serve import certificate

    from vigil_lang.service.serve import Listen, _config

    cert, key = map(str, certificate(tmp_path))
    config = _config(None, Listen(tls_cert=cert, tls_key=key))  # type: ignore[arg-type]
    config.load_app = lambda: None  # type: ignore[method-assign]
    config.load()
    assert config.ssl is not None
    assert config.ssl.minimum_version == ssl.TLSVersion.TLSv1_2
    for each in config.ssl.get_ciphers():
        assert each["aead"], each["name"]
        assert each["name"].startswith(("TLS_", "ECDHE-"))


def test_over_https_a_browser_keeps_to_it(tmp_path: Path) -> None:
    from auth_support import Served

    origin = "https://gate.example"
    served = Served(tmp_path, f'\n[service]\norigin = "{origin}"\n', origin=origin)
    browser = served.browser()
    for path in ("/healthz", "/holds", "/v1/holds", "/nothing", "/static/page.js"):
        assert browser.web.get(path).headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"
    answer = browser.follow(served.auth.sign_in_link(origin))
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("__host-vigil=")
    assert {"secure", "httponly", "path=/", "samesite=strict"} <= {each.strip() for each in cookie.split(";")}
    assert "domain" not in cookie


# --- how much, and how long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        b"X: " + b"a" * 1_000_000 + b"\r\n",
        b"X: y\r\n" * 100_000,
        b"Cookie: " + b"vigil=a; " * 20_000 + b"\r\n",
        b"a" * 1_000_000 + b": x\r\n",
    ],
    ids=["a long header", "many headers", "many cookies", "a long name"],
)
def test_headers_have_a_limit(site: Site, head: bytes) -> None:
    answer = site.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n")
    assert status(answer) in (400, 431, 0)  # 0: it was closed while it was sent
    assert status(site.raw(b"GET /healthz?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")) in (400, 431)
    endless = site.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", *[b"X: " + b"a" * 20_000] * 100, seconds=5)
    assert status(endless) in (0, 431)
    assert status(site.get(b"/healthz")) == 200


def test_bodies_have_a_limit_whatever_they_say(site: Site) -> None:
    own = POST + b"Authorization: Bearer " + site.token.encode() + b"\r\n"
    told = site.raw(own + b"Content-Length: 2000000\r\n\r\n" + b"x" * 1000, seconds=2)
    assert (status(told), headers_of(told)["connection"]) == (413, "close")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    assert status(site.raw(own + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 20, seconds=5)) in (0, 413)


def test_nothing_is_unpacked(site: Site) -> None:
    """10 MB of spaces are 10 kB of gzip: a body is taken as it is, or not at all."""
    bomb = gzip.compress(b" " * 10_000_000)
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP"):
        answer = site.ask(
            "POST",
            "/access/v1/evaluation",
            content=bomb,
            headers={"Content-Encoding": coding, "Content-Type": "application/json"},
        )
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "content_encoding"
    assert (
        "content-encoding" not in site.ask("GET", "/v1/log", control=True, headers={"Accept-Encoding": "gzip"}).headers
    )


def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock of the loop, which the test turns on."""
    from uvicorn import Config
    from uvicorn.server import ServerState

    from vigil_lang.service import wire

    monkeypatch.setattr(wire, "HEAD_SECONDS", 0.05)
    config = Config(None, interface="asgi3", ws="none", log_config=None)  # type: ignore[arg-type]
    answered: list[str] = []

    async def app(*_: object) -> None:
        answered.append("x")
        await asyncio.sleep(10)

    config.loaded, config.loaded_app, config.ws_protocol_class = True, app, None

    async def go() -> list[float]:
        found = []
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: wire.BoundedProtocol(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
        )
        port = server.sockets[0].getsockname()[1]
        for first in (b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            began = time.monotonic()
            assert await asyncio.wait_for(reader.read(), 5) == b""
            found.append(time.monotonic() - began)
            writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with pytest.raises(TimeoutError):  # its head is there: it is left alone
            await asyncio.wait_for(reader.read(), 0.3)
        writer.close()
        server.close()
        return found

    assert all(each < 3 for each in apart(go))
    assert answered == ["x"]


def test_a_slow_body_does_not_keep_others(site: Site) -> None:
    slow = []
    try:
        for _ in range(40):
            connection = socket.create_connection(("127.0.0.1", int(site.control.rpartition(":")[2])), timeout=5)
            connection.sendall(
                POST + b"Authorization: Bearer " + site.token.encode() + b"\r\nContent-Length: 900\r\n\r\n{"
            )
            slow.append(connection)
        began = time.monotonic()
        assert site.ask("GET", "/v1/holds", control=True).status_code == 200
        assert time.monotonic() - began < 3
    finally:
        for connection in slow:
            connection.close()


def test_a_body_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.requests import Request

    from vigil_lang.service import limits
    from vigil_lang.service.errors import Refused

    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)

    async def receive() -> dict[str, object]:
        await asyncio.sleep(5)
        return {}

    request = Request({"type": "http", "headers": [], "method": "POST", "path": "/"}, receive)
    with pytest.raises(Refused) as refused:
        apart(lambda: limits.body(request))
    assert refused.value.status == 408


def apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What comes of some work on a loop of its own, in a thread: a browser's loop may run in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(work())).result()
