"""The lines of a file as bytes: unpacked where it is packed, within limits, and refused where it is no UTF-8 text."""

from __future__ import annotations

import zlib
from functools import partial
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.ingest.json_text import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_SIZE = 512 << 20
"""Bytes that one line, or a file that is one JSON document, may have."""

MAX_TOTAL = 4 << 30
"""Bytes that a recording may have: what has no end, such as a pipe that is always written, ends here."""

GZIP = b"\x1f\x8b"
_CHUNK = 16 << 10
"""Bytes unpacked at once: at most a thousand times as much comes out."""

MAX_RATIO = 25
_ALWAYS_FINE = 8 << 20
"""What is packed may unpack to so many bytes, or to so many times its size."""

_UNPACK = "where you trust it, unpack it first: `gunzip -c FILE | vigil … -`"

_PART = 1 << 20
"""Bytes of a line that are read at once."""


def lines_of(stream: Iterable[bytes], path: str, *, endless: bool = False) -> Iterator[bytes]:
    """The lines of a binary stream, or of an iterable of such lines, without a byte order mark.

    With `endless` there may be any number of them.

    Raises:
        InputError: VGL001 the stream cannot be read or unpacked, VGL002 UTF-16, VGL003 beyond the limits.
    """
    readline: Any = getattr(stream, "readline", None)
    lines: Iterator[bytes] = iter(partial(readline, _PART), b"") if readline else iter(stream)
    try:
        first = next(lines, b"")
        if first.startswith(GZIP):
            read: Any = getattr(stream, "read", None)
            rest = iter(partial(read, _CHUNK), b"") if read else lines
            lines = _split(_unpacked(chain([first], rest), path))
            first = next(lines, b"")
        if first.startswith((b"\xff\xfe", b"\xfe\xff", b"\0{", b"\0[", b"{\0", b"[\0")):
            message = "the file is UTF-16 text, not UTF-8"
            raise InputError([Diagnostic.of("VGL002", message, Source(path, ""))])
        yield from _whole(chain([first.removeprefix(BOM)], lines), path, inf if endless else MAX_TOTAL)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: str, error: OSError | ValueError) -> InputError:
    """VGL001 for a file that is missing, a directory, or otherwise not to be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    message = f"cannot read `{path}`: {reason[:1].lower()}{reason[1:]}"
    return InputError([Diagnostic.of("VGL001", message, Source(path, ""))])


def too_large(path: str, what: str, help_text: str | None = None) -> InputError:
    """VGL003 for a line or a file beyond the limits."""
    return InputError([Diagnostic.of("VGL003", what, Source(path, ""), help=help_text)])


def unpacks_too_far(given: int, taken: int) -> bool:
    """Whether so many bytes are more than so many packed ones may hold."""
    return given > _ALWAYS_FINE and given > MAX_RATIO * taken


def _whole(parts: Iterable[bytes], path: str, most: float) -> Iterator[bytes]:
    """Lines, of which long ones come in parts, up to so many bytes together."""
    begun: list[bytes] = []
    size = total = 0
    for part in parts:
        total += len(part)
        if total > most:
            raise too_large(path, f"the recording is larger than {MAX_TOTAL >> 30} GB")
        if not begun and (len(part) < _PART or part.endswith(b"\n")) and len(part) <= MAX_SIZE:
            yield part
            continue
        if b"\0" in part:
            raise InputError([Diagnostic.of("VGL002", "the file is not text: it has NUL bytes", Source(path, ""))])
        begun.append(part)
        size += len(part)
        if size > MAX_SIZE:
            raise too_large(path, f"a line is longer than {MAX_SIZE >> 20} MB")
        if part.endswith(b"\n"):
            yield b"".join(begun)
            begun.clear()
            size = 0
    if begun:
        yield b"".join(begun)


def _unpacked(chunks: Iterable[bytes], path: str) -> Iterator[bytes]:
    """What a gzip file of one or more members holds, a little at a time."""
    unpack = zlib.decompressobj(31)
    taken = given = 0
    for whole in chunks:
        for at in range(0, len(whole), _CHUNK):
            chunk = whole[at : at + _CHUNK]
            taken += len(chunk)
            while chunk:
                try:
                    data = unpack.decompress(chunk)
                except zlib.error as error:
                    raise unreadable(path, ValueError("its gzip data is damaged")) from error
                chunk = unpack.unused_data.lstrip(b"\0")
                if unpack.eof and chunk:
                    unpack = zlib.decompressobj(31)
                given += len(data)
                if unpacks_too_far(given, taken):
                    raise too_large(path, f"the file unpacks to more than {MAX_RATIO} times its size", _UNPACK)
                yield data
    if not unpack.eof:
        raise unreadable(path, ValueError("its gzip data was cut off"))


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of bytes as lines, each with its line break; long ones come in parts."""
    begun: list[bytes] = []
    size = 0
    for block in blocks:
        *whole, last = block.split(b"\n")
        for part in whole:
            yield b"".join((*begun, part, b"\n"))
            begun.clear()
            size = 0
        begun.append(last)
        size += len(last)
        if size >= _PART:
            yield b"".join(begun)
            begun.clear()
            size = 0
    if size:
        yield b"".join(begun)
