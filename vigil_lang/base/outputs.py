"""Writing files, the one way for all verbs: whole or not at all, never through a link, and onto nothing that was read.

A new file beside the old one takes its place when it is complete. Pipes, devices and standard streams, which cannot be
replaced, are written to directly.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from contextlib import contextmanager, suppress
from errno import EISDIR, ENXIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from vigil_lang.base import inputs
from vigil_lang.base.files import lies_in, marked_root, real_path, waits
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from types import FrameType

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = regex(r"/(?:dev|proc/self)/fd/(\d{1,6})")
_PATIENCE = 10.0
"""Seconds that a pipe may take to find its reader."""
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def write_text(path: str, text: str) -> None:
    """Write an output; `-` is standard output. What UTF-8 has no bytes for, parts of strange file names, is escaped.

    Raises:
        InputError: VGL004; the old file, if any, is as it was.
    """
    if path == "-":
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except (OSError, ValueError) as error:
            raise _unwritable(path, error) from None
        return
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A stream for an output, which takes the place of the file, or of the link, that is there when all went well.

    Raises:
        InputError: VGL004; the old file, if any, is as it was.
    """
    check_outputs(path)
    try:
        with _stream(path) as stream:
            yield stream
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    inputs.note(path)


def rewrite(path: str, text: str) -> None:
    """Write a file that may have been read, its new content made from the old one. Its mode stays.

    Raises:
        InputError: VGL004, it cannot be written, is a link, or is no file; the old one is as it was.
    """
    try:
        if os.path.islink(path):  # noqa: PTH114 - a text
            raise _refused(path, "it is a link", "name the file that it leads to")
        status = _status(path)
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise _refused(path, "it is not a file")
        with _beside(path, status) as stream:
            stream.write(text.encode())
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def write_private(path: str, data: bytes, *, replace: bool = False) -> None:
    """Write a file that its owner alone may read, whole or not at all; onto a file that is there only to `replace` it.

    Raises:
        InputError: VGL004, it cannot be written, or something is there; that is as it was.
    """
    import tempfile  # late: it costs start-up time, and most calls write nothing

    try:
        status = _status(path)
        if status is not None and not (replace and stat.S_ISREG(status.st_mode)):
            raise _refused(path, "it exists" if stat.S_ISREG(status.st_mode) else "it exists, and is not a file")
        folder = os.path.dirname(path)  # noqa: PTH120 - a text; `Path` would drop what `..` needs
        with _undone() as undone:
            handle, temporary = tempfile.mkstemp(prefix=".vigil-", dir=folder or ".")  # of mode 0600
            undone.append(temporary)
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            if replace:
                Path(temporary).replace(path)
                undone.clear()
            else:
                os.link(temporary, path)  # which replaces nothing, whoever was quicker
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    inputs.note(path)


def check_outputs(*paths: str | None) -> None:
    """See that nothing that is read is among some outputs, however it is spelled, and that no two are the same file.

    The reading may still be ahead: what arguments stand for is known (`vigil_lang.base.inputs`) before it is read.

    Raises:
        InputError: VGL004.
    """
    seen: list[str] = []
    for path in paths:
        if path is None or path == "-" or _is_stream(path):
            continue
        if inputs.is_noted(path):
            raise _refused(path, "this command also reads or writes it")
        if any(_same(path, other) for other in seen):
            raise _refused(path, "two outputs would go there")
        seen.append(path)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - texts
    except (OSError, ValueError):
        return real_path(one) == real_path(other)


# --- where an output goes ------------------------------------------------------------------------------------------


def _stream(path: str) -> AbstractContextManager[IO[bytes]]:
    """What an output is written to: a stream that is there, else a new file beside the one it replaces."""
    if (number := _descriptor(path)) is not None:
        sys.stdout.flush()
        return os.fdopen(os.dup(number), "wb")
    status = _status(path)
    if Path(path).is_dir() or path.endswith(("/", os.sep)):
        raise OSError(EISDIR, os.strerror(EISDIR))
    if status is None or (stat.S_ISLNK(status.st_mode) and not _among_devices(path)):
        return _beside(path, None)
    if stat.S_ISREG(status.st_mode):
        return _beside(path, status)
    if stat.S_ISFIFO(status.st_mode):
        return os.fdopen(_with_reader(path), "wb")
    return Path(path).open("wb")


def _is_stream(path: str) -> bool:
    """Whether nothing is replaced where an output goes there."""
    return _descriptor(path) is not None or waits(path)


def _descriptor(path: str) -> int | None:
    """The number of a stream that was open when the command was called: to open it anew could empty a log."""
    if path in _STREAMS:
        return _STREAMS[path]
    found = _DESCRIPTOR.fullmatch(path)
    return int(found[1]) if found else None


def _among_devices(path: str) -> bool:
    folder = os.path.join(real_path(Path(path).parent), "")  # noqa: PTH118 - a text
    return folder == "/dev/" or folder.startswith("/proc/")


def _with_reader(pipe: str) -> int:
    """A pipe, opened once somebody reads it. Nobody may ever: a repository can hold a pipe where a report goes."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            found = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != ENXIO or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            os.set_blocking(found, True)
            return found


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


# --- a new file in the place of another ----------------------------------------------------------------------------


@contextmanager
def _beside(path: str, old: os.stat_result | None) -> Iterator[IO[bytes]]:
    """A file that is renamed when it is complete, with the mode of the `old` one where there is one."""
    import tempfile  # late: it costs start-up time, and most calls write nothing

    folder = os.path.dirname(path)  # noqa: PTH120 - a text; `Path` would drop what `..` needs
    if (link := _way_out(folder)) is not None:
        raise _refused(path, f"the link `{link}` leads out of the project")
    mode = 0o666 & ~_umask() if old is None else stat.S_IMODE(old.st_mode)
    with _undone() as undone:
        handle, temporary = tempfile.mkstemp(prefix=".vigil-", dir=folder or ".")
        undone.append(temporary)
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
        undone.clear()


@contextmanager
def _undone() -> Iterator[list[str]]:
    """Files that are removed again where this ends by an error or a signal."""
    files: list[str] = []

    def remove() -> None:
        for file in files:
            with suppress(OSError):
                Path(file).unlink()

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
        remove()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    ours = []
    for number in _ENDING:
        with suppress(ValueError):  # not the main thread, which alone may do this
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, end)
                ours.append(number)
    try:
        yield files
    finally:
        remove()
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _way_out(folder: str) -> str | None:
    """The link among the folders of a path that lies in a project and leads out of it."""
    place = ""
    for part in Path(folder).parts:
        before, place = place or ".", os.path.join(place, part)  # noqa: PTH118 - `..` stays
        if not os.path.islink(place):  # noqa: PTH114
            continue
        above, here = Path(real_path(before)), Path(real_path("."))
        root = marked_root(above) or (here if above.is_relative_to(here) else None)
        if root is not None and not lies_in(place, root):
            return place
    return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(path: str, error: OSError | ValueError) -> InputError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    shown = "the result" if path == "-" else f"`{path}`"
    return InputError([Diagnostic.of("VGL004", f"cannot write {shown}: {reason.lower()}", Source(path, ""))])


def _refused(path: str, why: str, help_text: str | None = None) -> InputError:
    return InputError([Diagnostic.of("VGL004", f"cannot write `{path}`: {why}", Source(path, ""), help=help_text)])
