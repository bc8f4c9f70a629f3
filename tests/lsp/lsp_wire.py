"""The server at the level of bytes, for what a well-behaved client would never send."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 30.0
"""Seconds after which something is taken never to happen."""


@dataclass
class Wire:
    """A server's process; `notifications` has what it sent that is no response."""

    process: asyncio.subprocess.Process
    notifications: list[dict[str, Any]] = field(default_factory=list)
    responses: list[dict[str, Any]] = field(default_factory=list)
    """Every response in order; to have exactly one for each request is tested on this."""
    _number: int = 0

    @classmethod
    async def start(cls, *command: str, cwd: Path, env: dict[str, str]) -> Wire:
        """Starts a server."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env, limit=2**26
        )
        return cls(process)

    def raw(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, message: Any) -> None:
        """Sends a message, or a body of bytes as one."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> int:
        """Sends a request; its id."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    async def receive(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout is not None
        length = 0
        while line := (await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            said = await self.process.stderr.read() if self.process.stderr is not None else b""
            raise EOFError(f"the server ended: {said.decode(errors='replace')}")
        body = await asyncio.wait_for(self.process.stdout.readexactly(length), PATIENCE)
        message: dict[str, Any] = json.loads(body)
        if "method" not in message:
            self.responses.append(message)
        elif "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})  # whatever the server asks of a client
        else:
            self.notifications.append(message)
        return message

    async def response(self, request: int | str | None) -> dict[str, Any]:
        """The response to a request, None for one whose id the server could not know."""
        while True:
            message = await self.receive()
            if "method" not in message and message["id"] == request:
                return message

    async def call(self, method: str, params: Any = None) -> dict[str, Any]:
        """The response to a request that is sent now."""
        return await self.response(self.ask(method, params))

    async def notified(self, method: str) -> dict[str, Any]:
        """The parameters of the next notification of a method."""
        while True:
            message = await self.receive()
            if message.get("method") == method and "id" not in message:
                found: dict[str, Any] = message["params"]
                return found

    async def begin(self, root: Path | None = None, *, process: int | None = None, **able: Any) -> dict[str, Any]:
        """Initialize as a client that is able to do nothing more than is given; the server's capabilities."""
        uri = root.as_uri() if root is not None else None
        folders = [{"uri": uri, "name": "w"}] if root is not None else None
        params = {"processId": process, "rootUri": uri, "workspaceFolders": folders, "capabilities": able}
        answer = await self.call("initialize", params)
        self.notify("initialized", {})
        found: dict[str, Any] = answer["result"]["capabilities"]
        return found

    def open(self, uri: str, text: str, language: str = "vigil") -> None:
        """Opens a document."""
        self.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}},
        )

    async def ended(self, within: float = PATIENCE) -> int | None:
        """The status with which the server ended; None where it still runs."""
        drained = asyncio.ensure_future(self._drain())
        try:
            return await asyncio.wait_for(self.process.wait(), within)
        except TimeoutError:
            return None
        finally:
            drained.cancel()

    async def _drain(self) -> None:
        assert self.process.stdout is not None
        while await self.process.stdout.read(65536):
            pass

    async def kill(self) -> None:
        """Ends the process where it still is, with what it started."""
        for pid in (*descendants(self.process.pid), self.process.pid):
            if self.process.returncode is None or pid != self.process.pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
        await self.process.wait()


def error(message: dict[str, Any]) -> int | None:
    """The code of an error response."""
    code: int | None = message.get("error", {}).get("code")
    return code


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and theirs (where `/proc` says)."""
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, listed.read_text().split()):
                found += [child, *descendants(child)]
    return found


def running(pid: int) -> bool:
    """Whether a process is there and not only waiting to be looked after."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
