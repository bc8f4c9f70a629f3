"""A server on loopback that answers whatever a test says, byte for byte."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    Reply = Callable[[dict[str, Any], socket.socket], bytes | None]


class FaultyServer:
    """Answers each request by what `reply` makes of its JSON: bytes, which are sent as they are, or None, where it did
    all that is done. The connection is closed afterwards."""

    def __init__(self, reply: Reply, tls: ssl.SSLContext | None = None) -> None:
        self._reply = reply
        self._tls = tls
        self.seen: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._listener.getsockname()[1]}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> FaultyServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(5)
        self._listener.close()

    def _serve(self) -> None:
        while not self._over.is_set():
            with suppress(OSError):
                connection = self._listener.accept()[0]
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(5)
            head, body = b"", b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(65536)
                if not part:
                    return
                head += part
            head, _, body = head.partition(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            while len(body) < length:
                body += connection.recv(65536)
            self.seen.append(head)
            said = self._reply(json.loads(body) if body else {}, connection)
            if said is not None:
                connection.sendall(said)


def http(body: object, status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    """A whole answer of HTTP."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def trickle(data: bytes, connection: socket.socket) -> None:
    """Send some data one byte at a time, for ever."""
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)
