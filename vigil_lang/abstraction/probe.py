"""Asking a program outside the catalogue for its `--help`: only where the user opts in.

What runs is the file that a name stands for in an absolute directory of PATH, never one that lies, links followed, in
the working directory or its project: without a shell, with such directories alone for an environment, nothing on
standard input, in an empty directory, in a session of its own that is killed after `SECONDS` or `MOST_BYTES`. On Linux
what has left the session is killed, too. What was learned is kept in the user's cache under the file's path, time and
size.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.base import cache
from vigil_lang.base.files import project_root, real_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.abstraction.catalogue.programs import Program

SECONDS = 2.0
"""How long a program may take to answer."""

MOST_BYTES = 256 * 1024
"""How much of its answer is read."""

_ROUNDS = 100
"""How often it is looked for what is left of a program: each kill may bring to light what that one had started."""

_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]{0,99}\Z", re.ASCII)


def probe(name: str) -> Program | None:
    """What the program's own help says of its options and operands; None where it cannot be asked or tells nothing."""
    from vigil_lang.abstraction.helptext import Usage, parse_help

    path = find(name)
    if path is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    key = f"{path}\0{status.st_mtime_ns}\0{status.st_size}"
    entry = f"help-{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.json"
    usage = _stored(cache.read(entry))
    if usage is None:
        text = ask(path)
        usage = Usage() if text is None else parse_help(text)
        cache.write(entry, json.dumps(usage))
    return usage.program(name) if usage.options or usage.operands else None


def find(name: str) -> Path | None:
    """The file that would run: the first in a directory of PATH, if nobody but its owner can write either."""
    if os.name != "posix" or not _NAME.match(name):
        return None
    for place in _places():
        with suppress(OSError, ValueError):
            path = (place / name).resolve(strict=True)
            status = path.stat()
            if stat.S_ISREG(status.st_mode) and os.access(path, os.X_OK):
                return None if status.st_mode & stat.S_IWOTH or _is_here(path) else path
    return None


def _places() -> list[Path]:
    """The directories of PATH that are absolute, not open to all, and not part of what is looked at."""
    found: list[Path] = []
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        place = Path(entry)
        if not entry or not place.is_absolute():
            continue
        with suppress(OSError, ValueError):
            if not place.stat().st_mode & stat.S_IWOTH and not _is_here(place):
                found.append(place)
    return found


def _is_here(path: Path) -> bool:
    """Whether a path leads, links followed, into the working directory or the project that it is in.

    Raises:
        OSError: the working directory is gone.
    """
    here = Path.cwd()
    return any(Path(real_path(path)).is_relative_to(Path(real_path(place))) for place in (here, project_root(here)))


def ask(path: Path) -> str | None:
    """What ``PROGRAM --help`` writes, on either stream; None if it cannot be run."""
    import subprocess
    import tempfile

    environment = {"PATH": os.pathsep.join(map(str, _places()))}
    try:
        with tempfile.TemporaryDirectory(prefix="vigil-", ignore_cleanup_errors=True) as empty, _orphans_killed():
            process = subprocess.Popen(
                [str(path), "--help"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=empty,
                env=environment,
                start_new_session=True,
            )
            assert process.stdout is not None
            with process.stdout:
                try:
                    answer = _read(process.stdout.fileno())
                finally:
                    _end(process)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return answer.decode("utf-8", "replace")


def _read(stream: int) -> bytes:
    """What comes until the end, the time or the size is reached."""
    import time

    from vigil_lang.base.files import comes_within

    end = time.monotonic() + SECONDS
    answer = bytearray()
    while len(answer) < MOST_BYTES and (left := end - time.monotonic()) > 0:
        if not comes_within(stream, left):
            break
        piece = os.read(stream, 65536)
        if not piece:
            break
        answer += piece
    return bytes(answer[:MOST_BYTES])


def _end(process: Any) -> None:
    """Kill the program and what it started, and wait for it."""
    import signal

    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def _orphans_killed() -> Iterator[None]:
    """Kill what a program that is started within leaves behind, whatever session it moved to: on Linux, as its heir."""
    import signal

    before = _children()
    if before is None or not _inherit(orphans=True):
        yield
        return
    try:
        yield
    finally:
        for _ in range(_ROUNDS):
            left = (_children() or set()) - before
            if not left:
                break
            for child in left:
                with suppress(OSError):
                    os.kill(child, signal.SIGKILL)
                with suppress(OSError):
                    os.waitpid(child, 0)
        _inherit(orphans=False)


def _children() -> set[int] | None:
    """The processes that this one has to wait for; None where that is not to be found out."""
    try:
        threads = list(Path("/proc/self/task").iterdir())
        return {int(child) for thread in threads for child in (thread / "children").read_text("ascii").split()}
    except OSError:
        return None


def _inherit(*, orphans: bool) -> bool:
    """Whether processes whose parent ends become children of this one from now on."""
    import ctypes

    set_child_subreaper = 36
    try:
        return bool(ctypes.CDLL(None).prctl(set_child_subreaper, int(orphans), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _stored(text: str | None) -> Any:
    """What the cache has, None where that is nothing or not what it should be."""
    from vigil_lang.abstraction.helptext import Usage

    if text is None:
        return None
    try:
        options, operands = json.loads(text)
        return Usage(
            tuple((tuple(map(str, names)), str(takes)) for names, takes in options),
            tuple((str(role), bool(required), bool(repeated)) for role, required, repeated in operands),
        )
    except (ValueError, TypeError):
        return None
