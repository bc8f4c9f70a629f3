"""Connections to MCP servers: a process that is started, or a URL."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from vigil_lang.points.mcp.keeper import note
from vigil_lang.points.mcp.messages import MAX_BYTES, Malformed, Message, line, read_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.mcp.specs import Gone, Heard, ServerSpec

_CHUNK = 1 << 16
PATIENCE = 2.0
"""Seconds that a server has to end after its input was closed, and again after it was asked to."""


class Connection(Protocol):
    """What a connection can do; `start` gives what comes to `heard`, and why it ended to `gone`, once."""

    async def start(self, heard: Heard, gone: Gone) -> None: ...

    async def send(self, message: Message, headers: Mapping[str, str]) -> None: ...

    async def close(self) -> None: ...


def connect(spec: ServerSpec) -> Connection:
    """A connection to a server, not started yet."""
    if spec.url is None:
        return ServerProcess(spec)
    from vigil_lang.points.mcp.remote import RemoteServer  # which needs the package mcp

    return RemoteServer(spec)


class ServerProcess:
    """A server that is a process of ours, and speaks lines of JSON on its standard streams.

    It gets the proxy's environment, as it would get the client's, and a process group of its own, which ends with it.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closing = False

    async def start(self, heard: Heard, gone: Gone) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._spec.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, **self._spec.env},
                cwd=self._spec.cwd,
                start_new_session=True,
            )
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise OSError(
                f"the server {self._spec.name} cannot be started by `{self._spec.command[0]}`: {why}"
            ) from error
        self._reading = asyncio.create_task(self._read(heard, gone))

    async def send(self, message: Message, headers: Mapping[str, str]) -> None:  # noqa: ARG002 - only URLs have any
        """Send a message; one to a server that is gone is lost, and `gone` tells."""
        assert self._process is not None
        assert self._process.stdin is not None
        if self._process.stdin.is_closing():
            return
        with suppress(ConnectionError):
            self._process.stdin.write(line(message))
            await self._process.stdin.drain()

    async def close(self) -> None:
        """Close its input, and end it and its children where that does not."""
        self._closing = True
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        with suppress(OSError, RuntimeError):
            process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal(number)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), PATIENCE)
                break
        self._signal(signal.SIGKILL)  # children that it left behind
        if self._reading is not None:
            with suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(self._reading, PATIENCE)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _read(self, heard: Heard, gone: Gone) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        stream, kept, why = self._process.stdout, bytearray(), "the server ended"
        try:
            while chunk := await stream.read(_CHUNK):
                start = len(kept)
                kept += chunk
                while (end := kept.find(b"\n", start)) >= 0:
                    data, start = bytes(kept[:end]), 0
                    del kept[: end + 1]
                    await self._line(data, heard)
                if len(kept) > MAX_BYTES:
                    why = f"the server sent a message of more than {MAX_BYTES:,} bytes"
                    break
        except Exception as error:  # whatever it is, nobody may wait for answers any more
            why = f"the connection failed: {type(error).__name__}"
        if not self._closing:
            self._signal(signal.SIGTERM)
        await gone(why)

    async def _line(self, data: bytes, heard: Heard) -> None:
        if not data.strip():
            return
        try:
            message = read_message(data, strict=False)
        except Malformed as error:
            shown = data[:200].decode("utf-8", "replace")
            note(f"{self._spec.name} printed a line that is no message ({error}): {shown}")
            return
        await heard(message)
