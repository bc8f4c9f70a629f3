"""`vigil lsp` as a command: what it takes, and both ways to reach it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli_support import Vigil

NOBODY = {"capabilities": {}, "processId": None, "rootUri": None}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": NOBODY}
SHUTDOWN = {"jsonrpc": "2.0", "id": 2, "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}


def send(stream: IO[bytes], *messages: object) -> None:
    for message in messages:
        body = json.dumps(message).encode()
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, object]:
    length = 0
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name == b"Content-Length" else length
    answer = json.loads(stream.read(length))
    assert isinstance(answer, dict)
    return answer


def start(*args: str) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "vigil_lang", "lsp", *args], **pipes)


@pytest.mark.parametrize("args", [(), ("--stdio",)])
def test_over_standard_streams(args: tuple[str, ...]) -> None:
    with start(*args) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        send(process.stdin, INITIALIZE)
        result = receive(process.stdout)["result"]
        assert isinstance(result, dict)
        assert result["serverInfo"]["name"] == "vigil"
        send(process.stdin, SHUTDOWN, EXIT)
        assert receive(process.stdout)["id"] == 2
        assert process.wait(10) == 0
        assert process.stderr.read() == b""


def test_input_that_nobody_can_wait_for_is_read_to_its_end() -> None:
    with Path(os.devnull).open("rb") as nothing:
        command = [sys.executable, "-m", "vigil_lang", "lsp"]
        done = subprocess.run(command, stdin=nothing, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_over_a_port() -> None:
    with start("--tcp", "0") as process:
        assert process.stderr is not None
        assert process.stdin is not None
        said = process.stderr.readline().decode()
        assert said.startswith("listening on 127.0.0.1:")
        with socket.create_connection(("127.0.0.1", int(said.rpartition(":")[2])), 10) as connection:
            stream = connection.makefile("rwb")
            send(stream, INITIALIZE)
            assert receive(stream)["id"] == 1
            send(stream, SHUTDOWN, EXIT)
            assert receive(stream)["id"] == 2
        assert process.wait(10) == 0


@pytest.mark.processes
def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "vigil_lang", "lsp", "--tcp", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "address already in use" in done.stderr.lower()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--tcp", "x"), "--tcp: 'x' is no [HOST:]PORT."),
        (("--tcp", "70000"), "--tcp: '70000' is no [HOST:]PORT."),
        (("--tcp", "1", "--stdio"), "Give either --stdio or --tcp."),
        (("--log-level", "loud"), "'loud' is not one of"),
    ],
)
def test_what_cannot_be_served(vigil: Vigil, args: tuple[str, ...], said: str) -> None:
    done = vigil("lsp", *args)
    assert done.status == 2
    assert said in done.err
