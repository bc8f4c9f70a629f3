"""The server begins and ends as it should: politely when asked to, and by itself when its client is gone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsp_session import Profile
from lsp_wire import PATIENCE, descendants, error, running
from lsprotocol import types

if TYPE_CHECKING:
    from conftest import Alone, Wired
    from lsp_session import Session
    from lsp_wire import Wire

SECONDS = 10.0
"""In which a server ends: `processId` is looked at every two seconds, and the machine may be busy."""

POLICY = "".join(
    f"statement S{n}: resp(Read(path = x and path !~ /f{n}+x.*y/), Write(path = x)) after Edit(n != {n})\n"
    for n in range(40)
)

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked at in /proc")


def recorded(folder: Path, runs: int = 6, events: int = 400) -> Path:
    """A project that takes some time to compute; its policy."""
    (folder / "vigil.toml").write_text('runs = ["runs/*.jsonl"]\n')
    (folder / "runs").mkdir()
    for run in range(runs):
        lines = (
            json.dumps(
                {"action": ("Read", "Write", "Edit")[n % 3], "args": {"path": f"f{n % 50}", "n": n}, "status": "ok"}
            )
            for n in range(events)
        )
        (folder / "runs" / f"r{run}.jsonl").write_text("\n".join(lines) + "\n")
    policy = folder / "p.vgl"
    policy.write_text(POLICY)
    return policy


async def computing(wire: Wire, folder: Path) -> list[int]:
    """A server made to compute; the processes that it started."""
    policy = recorded(folder)
    await wire.begin(folder, process=None)
    wire.open(policy.as_uri(), POLICY)
    return await _children(wire)


async def _children(wire: Wire) -> list[int]:
    for _ in range(int(PATIENCE / 0.02)):
        found = descendants(wire.process.pid)
        if found and all(map(begun, found)):
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("no process for the recordings was started")


def begun(pid: int) -> bool:
    """Whether a process runs its own program: whoever starts it waits for that, and must not find it stopped before."""
    try:
        return b"recordings.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


async def gone(*pids: int) -> bool:
    """Whether processes end soon."""
    for _ in range(int(SECONDS / 0.05)):
        if not any(map(running, pids)):
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.parametrize("wait", [0.0, 0.2])
async def test_exit_while_the_linter_is_at_work(wired: Wired, tmp_path: Path, wait: float) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    wire.open((tmp_path / "p.vgl").as_uri(), "".join(POLICY.replace("S", letter) for letter in "ABCDEFGH"))
    await wire.notified("textDocument/publishDiagnostics")
    await asyncio.sleep(wait)
    await wire.call("shutdown")
    wire.notify("exit")
    assert await wire.ended(SECONDS) == 0


@pytest.mark.parametrize(("politely", "status"), [(True, 0), (False, 1)])
def test_the_end_leaves_no_traceback(tmp_path: Path, politely: bool, status: int) -> None:
    """Also where a progress bar is being made, hints are asked for and runs are read."""
    uri = recorded(tmp_path).as_uri()
    about = {"textDocument": {"uri": uri}}
    capabilities = {"textDocument": {"diagnostic": {}}, "window": {"workDoneProgress": True}}
    document = {"uri": uri, "languageId": "vigil", "version": 1, "text": POLICY}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 90, "character": 0}}
    show = {"command": "vigil.showStatement", "arguments": [uri, "S1"]}
    messages: list[tuple[str, object, bool]] = [
        ("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": capabilities}, True),
        ("initialized", {}, False),
        ("textDocument/didOpen", {"textDocument": document}, False),
        ("textDocument/diagnostic", about, True),
        ("textDocument/inlayHint", {**about, "range": whole}, True),
        ("workspace/executeCommand", show, True),
    ]
    last: list[tuple[str, object, bool]] = [("shutdown", None, True)] if politely else []
    last.append(("exit", None, False))
    command = [sys.executable, "-m", "vigil_lang", "lsp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path) as server:
        assert server.stdin is not None
        for number, (method, params, asks) in enumerate([*messages, *last]):
            if method == last[0][0]:
                time.sleep(1.5)  # by then the runs are being read
            message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if asks else {})
            body = json.dumps(message).encode()
            server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            server.stdin.flush()
        _, said = server.communicate(timeout=60)
    assert (server.returncode, said.decode()) == (status, "")


async def test_exit_without_shutdown(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    wire.notify("exit")
    assert await wire.ended() == 1


async def test_exit_before_anything(wired: Wired) -> None:
    wire = await wired()
    wire.notify("exit")
    assert await wire.ended() == 1


@linux
async def test_shutdown_while_something_is_asked(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    children = await computing(wire, tmp_path)
    for child in children:
        os.kill(child, signal.SIGSTOP)
    policy = (tmp_path / "p.vgl").as_uri()
    for name in ("S0", "S1"):
        wire.ask("workspace/executeCommand", {"command": "vigil.showStatement", "arguments": [policy, name]})
    answer = await wire.call("shutdown")
    assert (answer["result"], error(answer)) == (None, None)
    wire.notify("exit")
    assert await wire.ended(SECONDS) == 0
    assert await gone(*children)


async def test_what_a_client_asks_wrongly_is_not_logged(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    answer = await wire.call("workspace/executeCommand", {"command": "vigil.showRun", "arguments": [None]})
    assert error(answer) == -32602
    answer = await wire.call("shutdown")
    assert (answer["result"], error(answer)) == (None, None)
    wire.notify("exit")
    assert await wire.ended() == 0
    assert wire.process.stderr is not None
    assert await wire.process.stderr.read() == b""


@linux
async def test_shutdown_ends_the_process_of_the_recordings(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    children = await computing(wire, tmp_path)
    await wire.call("shutdown")
    wire.notify("exit")
    assert await wire.ended(SECONDS) == 0
    assert await gone(*children)


@linux
async def test_the_end_of_the_input_ends_the_server(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    children = await computing(wire, tmp_path)
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert await wire.ended(SECONDS) is not None
    assert await gone(*children)


async def test_the_end_of_the_input_inside_of_a_message(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    wire.raw(b'Content-Length: 1000\r\n\r\n{"jsonrpc":')
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert await wire.ended(SECONDS) is not None


async def test_nobody_reads_what_the_server_says(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    transport = wire.process.stdout._transport  # type: ignore[union-attr]
    transport.close()
    for number in range(20):
        wire.open((tmp_path / f"{number}.vgl").as_uri(), "statement")
        wire.ask("textDocument/hover", {"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}})
    assert wire.process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        wire.process.stdin.close()
        await wire.process.stdin.wait_closed()
    assert await wire.ended(SECONDS) is not None


async def test_an_interrupt_ends_the_server(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    wire.process.send_signal(signal.SIGINT)
    assert await wire.ended(SECONDS) == 130


@linux
async def test_a_client_that_is_gone_although_the_input_is_open(wired: Wired, tmp_path: Path) -> None:
    """As when a wrapper between the two keeps the pipe: `processId` tells."""
    policy = recorded(tmp_path)
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    wire = await wired()
    await wire.begin(tmp_path, process=editor.pid)
    wire.open(policy.as_uri(), POLICY)
    children = await _children(wire)
    editor.kill()
    editor.communicate()
    assert await wire.ended(SECONDS) is not None
    assert await gone(*children)


CLIENT = """
import json, os, subprocess, sys
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(method, params, **more):
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    server.stdin.flush()
root, uri, text = json.loads(sys.argv[2])
folders = [{"uri": root, "name": "w"}]
send("initialize", {"processId": os.getpid(), "rootUri": root, "workspaceFolders": folders, "capabilities": {}}, id=1)
send("initialized", {})
send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "vigil", "version": 1, "text": text}})
print(server.pid, flush=True)
while server.stdout.read1(65536):
    pass
"""


@linux
async def test_a_killed_client_ends_the_server(
    server: tuple[str, ...], tmp_path: Path, environment: dict[str, str]
) -> None:
    policy = recorded(tmp_path)
    told = json.dumps([tmp_path.as_uri(), policy.as_uri(), POLICY])
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, json.dumps(server), told, stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert client.stdout is not None
    pid = int(await asyncio.wait_for(client.stdout.readline(), PATIENCE))
    try:
        for _ in range(int(PATIENCE / 0.02)):
            if children := descendants(pid):
                break
            await asyncio.sleep(0.02)
        assert children
        await asyncio.sleep(0.5)
        client.kill()
        await client.wait()
        assert await gone(pid, *children)
    finally:
        for left in (*children, pid):
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)


# What offers one encoding alone is served in it wherever tests share a server.
@pytest.mark.parametrize("profile", [Profile("vscode"), Profile("neovim"), Profile("emacs")], ids=str)
async def test_every_editor_is_served_in_an_encoding_that_it_offers(alone: Alone, profile: Profile) -> None:
    session = await alone(profile)
    general = profile.params(session.root).capabilities.general
    offered = general.position_encodings if general is not None else None
    assert session.encoding in (offered or ["utf-16"])
    page = await session.open('statement S: pr«»ec(Send(to = "𝔸", x = y), Ask())\n')
    found = await page.diagnostics(lambda sent: any(one.code == "VGL301" for one in sent))
    assert "VGL301" in [one.code for one in found]
    assert await page.ask(types.TEXT_DOCUMENT_HOVER) is not None
    await session.end()
    assert session.process.returncode == 0


async def test_capabilities_that_no_editor_has(wired: Wired, tmp_path: Path) -> None:
    """A client that says it can do nothing is sent nothing that it would have to be able to do."""
    wire = await wired()
    capabilities = await wire.begin(tmp_path)
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["change"] == types.TextDocumentSyncKind.Incremental
    wire.open((tmp_path / "p.vgl").as_uri(), "statement S: prec(")
    shown = await wire.notified("textDocument/publishDiagnostics")
    assert [found["code"] for found in shown["diagnostics"]] == ["VGL101"]
    await wire.call("shutdown")
    assert {message["method"] for message in wire.notifications} == {"textDocument/publishDiagnostics"}


async def test_no_workspace_at_all(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(None)
    wire.open((tmp_path / "p.vgl").as_uri(), "statement S: prec(")
    shown = await wire.notified("textDocument/publishDiagnostics")
    assert [found["code"] for found in shown["diagnostics"]] == ["VGL101"]


async def test_a_closed_document_has_no_findings(session: Session) -> None:
    page = await session.open("statement S: prec(")
    assert await page.findings(("VGL101", "(")) == [("VGL101", "(")]
    page.close()
    if not session.pulls:
        assert await session.until(lambda: not session.published[page.uri][-1].diagnostics)
    page = await session.open("statement S: abs(Send())")
    assert await page.findings() == []
