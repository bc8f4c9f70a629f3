"""Reading a recording whatever its format: the registry of readers and the choice among them."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.collector import collector_paused
from vigil_lang.diagnostics import Diagnostic, InputError, Source, nearest
from vigil_lang.ingest import canonical, claude_code
from vigil_lang.ingest.lines import Lines, unreadable
from vigil_lang.trace import Run, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.ingest.reader import Reader

READERS: tuple[Reader, ...] = (canonical.READER, claude_code.READER)
"""Every reader, in the order in which they are asked whether a recording is theirs."""

FORMATS = tuple(reader.name for reader in READERS)

STDIN = "<stdin>"
_HEAD_LINES = 50
_HEAD_BYTES = 1 << 20


def load_trace(path: str | Path, *, format: str | None = None) -> Trace:  # noqa: A002 - as the option is called
    """The trace of a recording on disk, or on standard input for ``-``. An empty file is one without events.

    Raises:
        InputError: VGL001 unreadable, VGL002 no UTF-8, VGL601 a line at fault, VGL602 an event id used twice,
            VGL603 a format that is unknown or not recognised.
    """
    if str(path) == "-":
        return read_trace(sys.stdin.buffer, STDIN, format=format)
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - closed below; only opening may fail as VGL001
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(str(path), error) from error
    with stream:
        return read_trace(stream, str(path), format=format)


def read_trace(
    stream: Iterable[bytes],
    path: str,
    format: str | None = None,  # noqa: A002 - as the option is called
) -> Trace:
    """The trace of a binary stream, or of any lines of bytes; `path` is what messages call it.

    Every line but the last must end in a line break. Raises as `load_trace` does.
    """
    lines = iter(stream)
    head: list[bytes] = []
    try:
        while len(head) < _HEAD_LINES and sum(map(len, head)) < _HEAD_BYTES:
            head.append(next(lines))
    except StopIteration:
        pass
    except OSError as error:
        raise unreadable(path, error) from error
    reader = _named(format, path) if format else _detected(head, path)
    # What is read is kept: looking for garbage in it again and again would double the time of a long run.
    with collector_paused():
        return reader.read(Lines(chain(head, lines), path), Run(path, reader.name))


def _named(name: str, path: str) -> Reader:
    for reader in READERS:
        if reader.name == name:
            return reader
    close = nearest(name, FORMATS, 1)
    help_text = f"did you mean `{close[0]}`?" if close else _known()
    raise InputError([Diagnostic.of("VGL603", f"unknown format `{name}`", Source(path, ""), help=help_text)])


def _detected(head: list[bytes], path: str) -> Reader:
    """The reader that recognises the first lines. Where none does, a line at fault is the better message."""
    objects: list[dict[str, Any]] = []
    fault: InputError | None = None
    try:
        for line in Lines(head, path):
            objects.append(line)
    except InputError as error:
        fault = error
    for reader in READERS:
        if reader.detect(objects):
            return reader
    if fault:
        raise fault
    if not objects:
        return canonical.READER
    message = "the format of the run is not recognised"
    raise InputError([Diagnostic.of("VGL603", message, Source(path, ""), help=_known())])


def _known() -> str:
    return "readable formats: " + ", ".join(f"`{reader.name}` ({reader.title})" for reader in READERS)
