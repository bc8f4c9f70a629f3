"""HTTP/1.1 as it comes from a connection: the head of a request has a limit in bytes and in time.

The server library has neither: whoever connects could fill the memory with one header, or keep connections for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio
    from typing import Any

MOST_HEAD = 65_536
"""Bytes of the address and the headers of a request."""

HEAD_SECONDS = 20.0
"""How long a connection may take to send them, from when it was made or from their first byte on."""


class _TooLarge(Exception):
    pass


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections whose heads are too long, or take too long."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._is_in_head = True
        self._head = 0
        self._unparsed = 0
        self._slow: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._slow = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_in_head:
            self._in_time()
            return
        self._unparsed += len(data)
        if self._unparsed > MOST_HEAD:
            self.send_400_response("")
        elif self._slow is None:
            self._slow = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head, self._head, self._unparsed = True, 0, 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count(len(name) + len(value) + 4)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if max(self._head, self._unparsed) <= MOST_HEAD:
            super().send_400_response(msg)
        elif not self.transport.is_closing():
            self.transport.write(STATUS_LINE[431] + b"content-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > MOST_HEAD:
            raise _TooLarge

    def _in_time(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None
