"""Reading files so that bad ones end in a finding, and the project that a file belongs to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from vigil_lang import inputs
from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span

_MARKS = (".git", "pyproject.toml", "vigil.toml")


def read_source(path: str, limit: int | None = None) -> Source:
    """A text file as a source; `-` is standard input. With a `limit`, in bytes, no more than that is ever read.

    Raises:
        InputError: VGL001 when it cannot be read, VGL002 when it is not UTF-8, VGL003 beyond the limit.
    """
    name = "<stdin>" if path == "-" else path
    inputs.note(path)
    wanted = -1 if limit is None else limit + 1
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(wanted)
        else:
            with Path(path).open("rb") as stream:
                raw = stream.read(wanted)
    except (OSError, ValueError) as error:
        raise InputError([unreadable(name, error)]) from None
    if limit is not None and len(raw) > limit:
        message = f"the file has more than {limit:,} bytes"
        raise InputError([Diagnostic.of("VGL003", message, Source(name, ""))]) from None
    try:
        return Source(name, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        kept = raw.decode("utf-8", errors="replace")
        at = len(raw[: error.start].decode("utf-8"))
        message = f"not UTF-8 text: byte 0x{raw[error.start]:02x} at offset {error.start}"
        raise InputError([Diagnostic.of("VGL002", message, Source(name, kept), Span(at, at + 1))]) from None


def is_file(path: Path) -> bool:
    """Whether there is a file; nothing is in a folder that may not be entered, or has a name too long for one."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


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
    return lies_in(path, project_root(Path(os.path.realpath(folder))))


def leads_out(path: str, root: Path) -> bool:
    """Whether a file found below a real folder is a link out of the project with this root."""
    return os.path.islink(path) and not lies_in(path, root)  # noqa: PTH114 - a text


def lies_in(path: str | Path, root: Path) -> bool:
    """Whether a file lies in a folder when all links are followed; `root` is the folder's real path."""
    return Path(os.path.realpath(path)).is_relative_to(root)


def unreadable(path: str, error: OSError | ValueError) -> Diagnostic:
    """The finding for a file that cannot be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Diagnostic.of("VGL001", f"cannot read `{path}`: {reason.lower()}", Source(path, ""))
