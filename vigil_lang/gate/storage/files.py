"""Files that are written whole and read by nobody's leave."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE = 16_000_000
"""Bytes of the longest entry of a log."""

CHUNK = 1 << 20
"""Bytes of a log that are read at once."""


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a file of mode 0600 whole, or not at all.

    Raises:
        OSError: it cannot be written; the old one is as it was.
    """
    temporary = path.parent / f".{path.name}.{os.urandom(8).hex()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if sync:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Have the names in a folder on disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path, limit: int) -> bytes:
    """A file that is no link, up to a limit. A pipe is read as far as it is written: nobody waits for it."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        return stream.read(limit)


def lines_of(file: int, start: int, end: int) -> Iterator[bytes]:
    """The whole lines between two places of a file, without their line feeds."""
    rest = b""
    while start < end:
        data = os.pread(file, min(CHUNK, end - start), start)
        if not data:
            return
        start += len(data)
        *whole, rest = (rest + data).split(b"\n")
        yield from whole
        if len(rest) > MAX_LINE:
            raise StateError(f"a line of the log has more than {MAX_LINE:,} bytes")
