"""Serving one client, over a pair of streams or on a port."""

from __future__ import annotations

import asyncio
import gc
import linecache
import os
import signal
import stat
import sys
from typing import TYPE_CHECKING, BinaryIO

from pygls.io_ import StdinAsyncReader, StdoutWriter

from vigil_lsp.framing import messages
from vigil_lsp.server import VigilServer

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader, AsyncWriter, Writer

_SWITCH = 0.001
"""Seconds after which a thread that computes lets another one go on: a request waits for the linter that long."""

_COLLECT = 100_000, 20, 1_000
"""When the collector looks for garbage by itself: through all there is, which takes long enough to be felt, seldom."""

_REST = 1.0
"""Seconds without a message after which it looks through all there is."""


def over_stdio() -> None:
    """Serve the client at the other end of standard input and output until it goes."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what prints by mistake must not break a message in two
    try:
        asyncio.run(_serve_streams(_ready(), sys.stdin.buffer, out))
    except KeyboardInterrupt:
        print("vigil: interrupted", file=sys.stderr, flush=True)
        os._exit(128 + signal.SIGINT)  # the thread that reads standard input cannot be told to stop


def over_tcp(host: str, port: int) -> None:
    """Serve the first client that connects to a port; 0 is one that is free. Standard error says which it is.

    Raises:
        OSError: the port cannot be listened on.
    """
    asyncio.run(_listen(_ready(), host, port))


async def _listen(made: VigilServer, host: str, port: int) -> None:
    served: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listening.close()
        try:
            await _serve(made, reader, writer)
        except (ConnectionError, SystemExit):
            pass
        finally:
            writer.close()
            served.set_result(None)

    listening = await asyncio.start_server(connected, host, port)
    print(f"listening on {host}:{listening.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await served


async def _serve_streams(made: VigilServer, source: BinaryIO, out: BinaryIO) -> None:
    await _serve(made, await _reader(made, source, out), StdoutWriter(out))


async def _reader(made: VigilServer, source: BinaryIO, out: BinaryIO) -> AsyncReader:
    """Reads a pipe or a socket as soon as something comes; anything else, and on Windows, in a thread, line by line."""
    try:
        shared = os.path.sameopenfile(source.fileno(), out.fileno())  # which must not become one that never waits
        mode = os.fstat(source.fileno()).st_mode
        waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or source.isatty()  # `/dev/null` cannot be waited for
        if sys.platform != "win32" and waits and not shared:
            reader = asyncio.StreamReader()
            loop = asyncio.get_running_loop()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
            return reader
    except (OSError, ValueError):  # a file, or a device
        pass
    return StdinAsyncReader(source, made.thread_pool)


async def _serve(made: VigilServer, reader: AsyncReader, writer: AsyncWriter | Writer) -> None:
    made.protocol.set_writer(writer)
    loop = asyncio.get_running_loop()
    rest = loop.call_later(_REST, gc.collect)
    try:
        async for message in messages(reader):
            rest.cancel()
            with made.answering():
                made.protocol.take(message)
            rest = loop.call_later(_REST, gc.collect)
            await asyncio.sleep(0)  # what was asked is begun before the next message changes the text it is about
    finally:
        rest.cancel()
        await made.end()


def _ready() -> VigilServer:
    made = VigilServer()
    sys.setswitchinterval(_SWITCH)
    linecache.clearcache()  # the texts of some thousand generated methods, which only a debugger would show
    gc.collect()
    gc.freeze()  # what was imported stays: looking through it again and again would be felt while typing
    gc.set_threshold(*_COLLECT)
    return made
