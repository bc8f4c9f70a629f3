"""A recording that is still written: the lines of a file as they are appended to it, or of a pipe as they come."""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from vigil_lang.base.files import comes_within
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.ingest.json_text import BOM, REFUSED, decode
from vigil_lang.ingest.lines import Lines
from vigil_lang.ingest.load import FORMATS, opened, read_records, reader_of, recognised
from vigil_lang.ingest.stream import GZIP, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.trace.record import Record

INTERVAL: Final = 0.1
"""Seconds between two looks at a file that has nothing new."""

_CHUNK = 256 << 10
_PART = 1 << 20
"""Bytes of a line without an end that are handed on, so that one too long is refused before it is whole."""
_TRIED = 50
"""Lines by which a format is recognised."""


class Growing:
    """The lines of a file or pipe, each as soon as it is whole.

    A pipe ends where it is closed. A file ends only by `stop`, or when nothing was appended for `idle` seconds. A last
    line without an end is one at the end of a pipe and after `idle`, not after `stop`: it is still being written.
    """

    def __init__(self, stream: BinaryIO, path: str, *, idle: float | None = None) -> None:
        self.path = path
        self.stopped: bool = False
        """Whether somebody asked for the end."""
        self.at_hand = False
        """Whether another whole line was read already."""
        self.number = 0
        """The line, from 1, that the reader of the recording was handed last."""
        self._stream = stream
        self._idle = inf if idle is None else idle

    def stop(self) -> None:
        """End with what was read: no call waits longer than `INTERVAL`. Signal handlers may call it."""
        self.stopped = True

    def __iter__(self) -> Iterator[bytes]:
        begun: list[bytes] = []
        for chunk in self._chunks():
            if b"\n" not in chunk:
                begun.append(chunk)
                if sum(map(len, begun)) >= _PART:
                    yield b"".join(begun)
                    begun.clear()
                continue
            *lines, last = (b"".join(begun) + chunk).split(b"\n")
            for left, line in enumerate(lines, 1 - len(lines)):
                self.at_hand = left < 0
                yield line + b"\n"
            begun = [last] if last else []
        if begun and not self.stopped:
            yield b"".join(begun)

    def numbered(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines, or parts of one, with `number` at the one that was handed on last."""
        begins = True
        for line in lines:
            self.number += begins
            begins = line.endswith(b"\n")
            yield line

    def _chunks(self) -> Iterator[bytes]:
        try:
            handle = self._stream.fileno()
        except (OSError, ValueError):  # no file at all, as under a test
            yield from iter(lambda: self._stream.read(_CHUNK), b"")
            return
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode) and os.path.exists(self.path):  # noqa: PTH110 - a text
                yield from self._appended(handle)
            else:
                yield from self._sent(handle)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _sent(self, handle: int) -> Iterator[bytes]:
        """What comes through a pipe, or stands in a file that has no name."""
        waited = 0.0
        while not self.stopped:
            if os.name == "posix" and not comes_within(handle, INTERVAL):
                waited += INTERVAL
                if waited >= self._idle:
                    return
                continue
            chunk = os.read(handle, _CHUNK)
            if not chunk:
                return
            waited = 0.0
            yield chunk

    def _appended(self, handle: int) -> Iterator[bytes]:
        """What is appended to a file, which must stay what it is."""
        waited, read = 0.0, 0
        while not self.stopped:
            chunk = os.read(handle, _CHUNK)
            if chunk:
                waited = 0.0
                read += len(chunk)
                yield chunk
                continue
            if waited >= self._idle:
                return
            if fault := self._fault(handle, read):
                yield from iter(lambda: os.read(handle, _CHUNK), b"")  # what was written before that
                raise InputError([Diagnostic.of("VGL001", fault, Source(self.path, ""))])
            time.sleep(INTERVAL)
            waited += INTERVAL

    def _fault(self, handle: int, read: int) -> str | None:
        """Why there is nothing more to come, although nobody said so."""
        here = os.fstat(handle)
        if here.st_size < read:
            return f"`{self.path}` was truncated while it was followed"
        try:
            now = Path(self.path).stat()
        except FileNotFoundError:
            return f"`{self.path}` was removed while it was followed"
        return None if os.path.samestat(here, now) else f"`{self.path}` was replaced while it was followed"


@contextmanager
def growing(path: str, *, idle: float | None = None) -> Iterator[Growing]:
    """The lines of a file, or of standard input for ``-``. Raises as `opened`."""
    with opened(path) as (stream, name):
        yield Growing(stream, name, idle=idle)


def growing_records(
    source: Growing,
    format: str | None = None,  # noqa: A002 - as the option is called
    *,
    endless: bool = True,
) -> Iterator[Record]:
    """The records of a recording that is still written, each as soon as its line is there.

    The format is recognised by what is there when it begins.

    Raises:
        InputError: VGL603 where it cannot be followed: it is packed, one JSON document, or of a format that tells
            nothing before its end; else as `read_records`.
    """
    lines = iter(source)
    begun: list[bytes] = []
    for line in lines:
        begun.append(line)
        if line.strip():
            _refuse_whole(line.removeprefix(BOM), source.path)
            break
    name = format
    while name is None and begun:
        while source.at_hand and len(begun) < _TRIED:
            begun.append(next(lines))
        tried = Lines(begun, source.path)
        found = recognised(tried.head())
        name = found.name if found else None
        if found or tried.fault_ahead or len(begun) >= _TRIED or (line := next(lines, b"")) == b"":
            break
        begun.append(line)
    if name in FORMATS and not reader_of(name).by_line:
        message = f"a run in the format `{name}` cannot be followed: its content is complete only at its end"
        raise _refused(message, source.path)
    return read_records(source.numbered(chain(begun, lines)), source.path, name, endless=endless)


def _refuse_whole(first: bytes, path: str) -> None:
    """Refuse what cannot be read line by line, by its first line."""
    if first.startswith(GZIP):
        raise _refused("a packed file cannot be followed", path, "`gunzip -c FILE | vigil verify --follow … -`")
    document = first.lstrip().startswith(b"[")
    if not document and first.endswith(b"\n"):
        try:
            decode(first)
        except REFUSED as error:
            document = "truncated" in str(error)
    if document:
        raise _refused("the run is one JSON document, which cannot be read line by line", path)


def _refused(message: str, path: str, help_text: str | None = None) -> InputError:
    followed = ", ".join(f"`{name}`" for name in FORMATS if reader_of(name).by_line)
    help_text = help_text or f"judge it without `--follow` when it is complete; what can be followed: {followed}"
    return InputError([Diagnostic.of("VGL603", message, Source(path, ""), help=help_text)])
