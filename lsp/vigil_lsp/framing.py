"""Messages on a stream: heads with a length, and bodies."""

from __future__ import annotations

import re
from asyncio import IncompleteReadError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pygls.io_ import AsyncReader

MAX_BYTES = 256_000_000
"""A longer message is no document that somebody edits."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,12})[ \t]*", re.IGNORECASE)


async def messages(reader: AsyncReader) -> AsyncIterator[bytes]:
    """The bodies on a stream until it ends, or promises more than `MAX_BYTES`. A head without a length is skipped."""
    while (length := await _length(reader)) is not None and length <= MAX_BYTES:
        try:
            body = await reader.readexactly(length) if length else b""
        except (IncompleteReadError, ConnectionError):
            return
        if len(body) < length:
            return
        yield body


async def _length(reader: AsyncReader) -> int | None:
    """The length that the next head gives; None at the end of the stream."""
    length = None
    while line := await _line(reader):
        if found := _LENGTH.fullmatch(line.rstrip(b"\r\n")):
            length = int(found[1])
        elif not line.strip() and length is not None:
            return length
    return None


async def _line(reader: AsyncReader) -> bytes:
    """A line of a head, empty at the end of the stream, and for one that is no line of any head."""
    try:
        return await reader.readline()
    except (ConnectionError, ValueError):  # the client is gone; or a line longer than the stream holds
        return b""
