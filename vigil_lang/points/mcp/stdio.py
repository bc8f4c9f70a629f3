"""A client on our own standard streams."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from vigil_lang.points.mcp.messages import MAX_BYTES, Id, Malformed, Message, error, line, read_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_CHUNK = 1 << 16
_AHEAD = 64
"""Messages that are read before the ones before them are taken."""


class StdioFront:
    """The client that started us: it writes lines to our input, and reads lines from our output.

    What else is printed in this process goes to standard error.
    """

    can_ask = True

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._writing = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ahead = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._read, name="vigil-stdin", daemon=True).start()

    async def send(self, message: Message, related: Id | None = None) -> None:  # noqa: ARG002 - there is one stream
        """Write a message; one to a client that is gone is lost."""
        data = line(message)
        async with self._writing:
            if len(data) <= 4096:  # a pipe takes that at once, or its reader is busy with as much
                self._write(data)
            else:
                await asyncio.to_thread(self._write, data)

    async def messages(self) -> AsyncIterator[Message]:
        """What the client says, until it is gone. What is no message is answered here."""
        while (data := await self._queue.get()) is not None:
            self._ahead.release()
            if not data.strip():
                continue
            try:
                yield read_message(data)
            except Malformed as fault:
                await self.send(error(fault.id, fault.code, str(fault)))

    def _write(self, data: bytes) -> None:
        with suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._out, data) :]

    def _read(self) -> None:
        """Read lines, in a thread: input may be a file, a pipe or a terminal."""
        kept = bytearray()
        with suppress(OSError, RuntimeError):
            while chunk := os.read(0, _CHUNK):
                start = len(kept)
                kept += chunk
                while (end := kept.find(b"\n", start)) >= 0:
                    self._give(bytes(kept[:end]))
                    del kept[: end + 1]
                    start = 0
                if len(kept) > MAX_BYTES:
                    print("vigil mcp: the client sent a message that is too long", file=sys.stderr)
                    break
        with suppress(RuntimeError):
            if kept and len(kept) <= MAX_BYTES:
                self._give(bytes(kept))
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    def _give(self, data: bytes) -> None:
        self._ahead.acquire()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, data)
