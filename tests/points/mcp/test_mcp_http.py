"""The proxy over HTTP, on either side, with the clients and servers of the package mcp."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from cli_support import called
from mcp import Client, MCPError
from mcp_types import ElicitResult

from tests.points.mcp.mcp_support import MODERN, PROXY, RAW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.points.mcp.mcp_support import Wire

SCRIPTED = [sys.executable, str(Path(__file__).with_name("scripted_server.py"))]
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@contextmanager
def serving(argv: list[str], **env: str) -> Iterator[str]:
    """A proxy that serves over HTTP; gives its URL."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, env={**os.environ, **env}, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", url), url
        yield url
    finally:
        process.terminate()
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.fixture
def url(state: Path) -> Iterator[str]:
    with serving([*PROXY, "--state", str(state), "--name", "raw", "--http", "127.0.0.1:0", "--", *SCRIPTED]) as found:
        yield found


@pytest.fixture(scope="module")
def remote() -> Iterator[str]:
    """A server of the package mcp over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen([*SCRIPTED, "http", str(port)], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def session(client: Client) -> None:
    """What a client of either era does."""
    progress: list[Any] = []

    async def heard(at: float, total: float | None, message: str | None) -> None:
        progress.append((at, total, message))

    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["add", "fail", "count", "sleep", "delete_all", "pay"]
    assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
    assert (await client.call_tool("fail", {"why": "x"})).is_error
    assert not (await client.call_tool("count", {"n": 2}, progress_callback=heard)).is_error
    assert progress == [(0, 2, "at 0"), (1, 2, "at 1")]
    blocked = await client.call_tool("delete_all", {"path": "/"})
    assert blocked.is_error
    assert "never wanted" in str(blocked.content)
    assert "held" in str((await client.call_tool("pay", {"amount": 1})).content)
    assert "note x" in str(await client.read_resource("note://x"))
    assert "Hello x" in str(await client.get_prompt("greet", {"name": "x"}))
    with pytest.raises(MCPError):
        await client.call_tool("nothing", {})


@ERAS
async def test_clients_over_http(url: str, mode: Any) -> None:
    async with Client(url, mode=mode) as client:
        await session(client)


@ERAS
async def test_servers_over_http(state: Path, remote: str, mode: Any) -> None:
    from mcp import StdioServerParameters

    argv = [*PROXY, "--state", str(state), "--name", "raw", "--url", remote]
    async with Client(StdioServerParameters(command=argv[0], args=argv[1:]), mode=mode) as client:
        await session(client)


@pytest.mark.processes
@ERAS
async def test_both_over_http(state: Path, remote: str, mode: Any) -> None:
    given = ["--name", "raw", "--http", "127.0.0.1:0", "--url", remote]
    with serving([*PROXY, "--state", str(state), *given]) as url:
        async with Client(url, mode=mode) as client:
            await session(client)


@pytest.mark.processes
@ERAS
async def test_a_hold_is_confirmed_while_the_user_is_asked(url: str, state: Path, mode: Any) -> None:
    asked = []

    async def answered(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        name = re.search(r"vigil hold approve (\w+)", params.message)
        assert name
        done = called("hold", "approve", name[1], "--state", str(state))
        assert done.status == 0, done.err
        return ElicitResult(action="accept", content={})

    async with Client(url, mode=mode, elicitation_callback=answered) as client:
        found = await client.call_tool("pay", {"amount": 2})
    assert "paid 2" in str(found.content)
    assert len(asked) == 1


@pytest.mark.processes
def test_a_client_that_goes_cancels_its_request(state: Path) -> None:
    headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
    given = [*PROXY, "--state", str(state), "--name", "raw", "--http", "127.0.0.1:0", "--", *RAW, "raw"]
    with serving(given) as url, httpx2.Client() as client:
        for name, seconds in (("echo", 60), ("hang", 2)):
            params = {"name": name, "arguments": {}, "_meta": MODERN}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            try:
                client.post(url, json=body, headers={**headers, "mcp-name": name}, timeout=seconds)
            except httpx2.TimeoutException:
                assert name == "hang"
        end = time.monotonic() + 20
        while '"unknown"' not in (state / "log.jsonl").read_text():
            assert time.monotonic() < end
            time.sleep(0.1)


async def test_requests_of_one_id_do_not_meet(url: str) -> None:
    headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "add"}
    async with httpx2.AsyncClient(timeout=60) as client:
        found = []
        for number in range(20):
            params = {"name": "add", "arguments": {"a": number, "b": 0}, "_meta": MODERN}
            body = {"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params}
            found.append(client.post(url, json=body, headers=headers))
        import asyncio

        answers = [each.json() for each in await asyncio.gather(*found)]
    assert [each["result"]["structuredContent"]["result"] for each in answers] == list(range(20))
    assert {each["id"] for each in answers} == {"same"}


@pytest.mark.processes
def test_what_http_refuses(url: str) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": MODERN}}
    modern = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "ping"}
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with httpx2.Client(timeout=60) as client:
        assert client.post(url, json=ping, headers={**modern, "origin": "http://evil.example"}).status_code == 403
        assert client.post(url, json=ping, headers={**modern, "host": "evil.example"}).status_code == 421
        assert client.post(url, json=listed, headers=ACCEPT).status_code == 400
        assert client.post(url, json=listed, headers={**ACCEPT, "mcp-session-id": "x"}).status_code == 404
        assert client.get(url, headers=modern).status_code == 405
        assert client.post(url, json=ping, headers={**modern, "accept": "text/html"}).status_code == 406
        assert client.post(url, content=b"x" * 17_000_000, headers=modern).status_code == 413
        assert client.post(url.replace("/mcp", "/else"), json=ping, headers=modern).status_code == 404
        wrong = client.post(url, json=ping, headers={**modern, "mcp-method": "tools/call"})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, -32020)
        for body in (b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"result":{}}', b"\xff"):
            assert client.post(url, content=body, headers=modern).status_code >= 400
        note = client.post(url, json={"jsonrpc": "2.0", "method": "notifications/x"}, headers=modern)
        assert note.status_code == 202


def test_a_token_is_asked_for(state: Path) -> None:
    given = [*PROXY, "--state", str(state), "--http", "127.0.0.1:0", "--", *RAW]
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": MODERN}}
    modern = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "ping"}
    with serving(given, VIGIL_MCP_TOKEN="right") as url, httpx2.Client(timeout=60) as client:
        assert client.post(url, json=ping, headers=modern).status_code == 401
        assert client.post(url, json=ping, headers={**modern, "authorization": "Bearer wrong"}).status_code == 401
        found = client.post(url, json=ping, headers={**modern, "authorization": "Bearer right"})
        assert found.json()["result"] == {"resultType": "complete"}


def test_only_loopback_without_a_token(state: Path) -> None:
    for address in ("0.0.0.0:0", "example.com:1", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"):
        done = called("mcp", "proxy", "--state", str(state), "--http", address, "--", "true")
        assert done.status == 2, address


def test_a_url_that_nobody_answers(state: Path, started: Callable[..., Wire]) -> None:
    wire = started([*PROXY, "--state", str(state), "--url", "http://127.0.0.1:9/mcp"])
    found = wire.ask("tools/call", {"name": "x"}, modern=True)
    assert "error" in found
