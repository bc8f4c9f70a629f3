"""Reading files so that bad ones end in a finding, and the project that a file belongs to."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from vigil_lang.base import inputs
from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span

_MARKS = (".git", "pyproject.toml", "vigil.toml")


MAX_BYTES = 16_000_000
"""The size of the largest text that is read whole, where its reader has no smaller limit."""

_PATIENCE = 10.0
"""Seconds that a named pipe has to wait for its first writer."""

_HANDED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""What this process was given open, as a shell's `<(…)` does it."""


def open_input(path: str | Path) -> BinaryIO:
    """Open what is to be read, where that has an end: a file, nothing at all (`/dev/null`), or a pipe that is written.

    Raises:
        OSError: it cannot be opened; a folder, a device, a socket, or a pipe that nobody writes to.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            _refuse_endless(handle, mode, str(path))
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def standard_input() -> BinaryIO:
    """Standard input, where it has an end.

    Raises:
        OSError: it is a folder or a device.
    """
    stream = sys.stdin.buffer
    try:
        handle = stream.fileno()
    except (OSError, ValueError):  # no file at all, as under a test
        return stream
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        _refuse_endless(handle, mode, _HANDED[1])
    return stream


def _refuse_endless(handle: int, mode: int, path: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if path.startswith(_HANDED):
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(handle):
            return
    elif stat.S_ISFIFO(mode):
        if _is_written(handle):
            return
        raise OSError(errno.EAGAIN, "it is a pipe that nobody writes to", path)
    if not os.path.samestat(os.fstat(handle), Path(os.devnull).stat()):
        raise OSError(errno.EINVAL, "it is a device, not a file", path)


def _is_written(handle: int) -> bool:
    import select  # late: pipes are rare

    waiting = select.poll()  # which takes any descriptor, however many files are open
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(_PATIENCE * 1000))


def read_source(path: str, limit: int = MAX_BYTES) -> Source:
    """A text file as a source; `-` is standard input. No more than `limit` bytes are ever read.

    Raises:
        InputError: VGL001 when it cannot be read, VGL002 when it is not UTF-8, VGL003 beyond the limit.
    """
    name = "<stdin>" if path == "-" else path
    inputs.note(path)
    try:
        raw = read_bytes(path, limit)
    except (OSError, ValueError) as error:
        raise InputError([unreadable(name, error)]) from None
    if len(raw) > limit:
        message = f"the file has more than {limit:,} bytes"
        raise InputError([Diagnostic.of("VGL003", message, Source(name, ""))]) from None
    try:
        return Source(name, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        kept = raw.decode("utf-8", errors="replace")
        at = len(raw[: error.start].decode("utf-8"))
        message = f"not UTF-8 text: byte 0x{raw[error.start]:02x} at offset {error.start}"
        raise InputError([Diagnostic.of("VGL002", message, Source(name, kept), Span(at, at + 1))]) from None


def read_bytes(path: str | Path, limit: int = MAX_BYTES) -> bytes:
    """What a file holds, or standard input for `-`: up to one byte more than the limit, by which that is told.

    Raises:
        OSError, ValueError: it cannot be read, as `open_input` has it.
    """
    if str(path) == "-":
        return standard_input().read(limit + 1)
    with open_input(path) as stream:
        return stream.read(limit + 1)


def is_file(path: Path) -> bool:
    """Whether there is a file; nothing is in a folder that may not be entered, or has a name too long for one."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def real_path(path: str | Path) -> str:
    """A path with all links followed, whatever it is: what cannot be followed, or be a path at all, stays as it is."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # the working directory is gone; a NUL, or half a character
        return os.path.normpath(path)


def waits(path: str) -> bool:
    """Whether a path is that of a pipe or a device, which could make us wait for ever."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - texts


def project_root(folder: Path) -> Path:
    """The folder of the project that a folder, given by its real path, is in; the folder itself where none has a mark.

    Nothing outside of it is read unless the command line names it (docs/security.md).
    """
    return marked_root(folder) or folder


def marked_root(folder: Path) -> Path | None:
    """The nearest folder upwards that has a mark of a project."""
    places = (folder, *folder.parents)
    return next((p for p in places if any(os.path.exists(p / mark) for mark in _MARKS)), None)  # noqa: PTH110


def stays(path: str | Path, folder: str | Path) -> bool:
    """Whether a file that was found in a folder lies in the folder's project when all links are followed."""
    return lies_in(path, project_root(Path(real_path(folder))))


def leads_out(path: str, root: Path) -> bool:
    """Whether a file found below a real folder is a link out of the project with this root."""
    return os.path.islink(path) and not lies_in(path, root)  # noqa: PTH114 - a text


def lies_in(path: str | Path, root: Path) -> bool:
    """Whether a file lies in a folder when all links are followed; `root` is the folder's real path."""
    return Path(real_path(path)).is_relative_to(root)


def unreadable(path: str, error: OSError | ValueError) -> Diagnostic:
    """The finding for a file that cannot be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Diagnostic.of("VGL001", f"cannot read `{path}`: {reason.lower()}", Source(path, ""))


def comes_within(handle: int, seconds: float) -> bool:
    """Whether a pipe has something to read, or ends, within a time. Any number of other files may be open."""
    import select  # late: few processes wait for a pipe

    if sys.platform == "win32":
        return bool(select.select([handle], [], [], seconds)[0])
    waiting = select.poll()  # `select` refuses a process with more than 1,024 open files
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
