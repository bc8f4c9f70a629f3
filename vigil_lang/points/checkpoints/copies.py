"""Checkpoints by copying: contents under their digests, and a list of files a tree. Needs no other program."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.points.checkpoints.model import CheckpointError, Files, Kept

if TYPE_CHECKING:
    from pathlib import Path

MOST_FILES = 100_000
MOST_BYTES = 2 << 30
"""Of a workspace: beyond either it is not kept."""

_SETTLED = 2 * 10**9
"""Nanoseconds after which a file whose times are unchanged is taken to be unchanged."""

_Seen = dict[str, tuple[int, int, int, int, str]]
"""By path: inode, size, times of change of content and of status in nanoseconds, and the digest."""


class Copies:
    """Copies in a folder of their own, which nobody else can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen_at = folder / "seen.json"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def take(self, workspace: Path) -> str:
        """Keep the workspace as it is now. Raises as `Keeper.take`."""
        seen, known, began = {}, self._seen(), time.time_ns()
        files: dict[str, Kept] = {}
        room = MOST_BYTES
        try:
            for path, found in _walk(workspace):
                name = os.path.relpath(path, workspace)
                if len(files) == MOST_FILES:
                    raise CheckpointError(f"{workspace} has more than {MOST_FILES:,} files")
                room -= found.st_size
                if room < 0:
                    raise CheckpointError(f"{workspace} holds more than {MOST_BYTES >> 30} GiB")
                if stat.S_ISLNK(found.st_mode):
                    files[name] = Kept("link", self._keep(os.fsencode(os.readlink(path))))  # noqa: PTH115 - a text
                    continue
                of = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                before = known.get(name)
                content = before[4] if before is not None and before[:4] == of else self._copy(path)
                if found.st_ctime_ns < began - _SETTLED:
                    seen[name] = (*of, content)
                files[name] = Kept("program" if found.st_mode & stat.S_IXUSR else "file", content)
            tree = self._keep(_encoded(files))
            _replace(self._seen_at, msgspec.json.encode({_text(name): row for name, row in seen.items()}))
        except OSError as error:
            raise CheckpointError(f"{error.filename or workspace} cannot be kept: {error.strerror}") from error
        return tree

    def files(self, tree: str) -> Files:
        """The files of a tree. Raises as `Keeper.files`."""
        try:
            found = msgspec.json.decode(self.content(Kept("file", tree)), type=dict[str, Kept])
        except (msgspec.MsgspecError, ValueError) as error:
            raise CheckpointError(f"the list of files {tree} is damaged: {error}") from error
        return {_name(text): kept for text, kept in found.items()}

    def content(self, kept: Kept) -> bytes:
        """What a file held. Raises as `Keeper.content`."""
        if len(kept.content) != 64 or not kept.content.isalnum():
            raise CheckpointError("this is no id of a content")
        try:
            data = self._place(kept.content).read_bytes()
        except OSError as error:
            raise CheckpointError(f"the content {kept.content} cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != kept.content:
            raise CheckpointError(f"the content {kept.content} is damaged")
        return data

    def _seen(self) -> _Seen:
        """What was seen at the last take; nothing where that cannot be read: then all is read again."""
        try:
            found = msgspec.json.decode(self._seen_at.read_bytes(), type=_Seen)
        except (OSError, msgspec.MsgspecError, ValueError):
            return {}
        return {_name(text): row for text, row in found.items() if self._place(row[4]).exists()}

    def _copy(self, path: str) -> str:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            return self._keep(stream.read(MOST_BYTES))

    def _keep(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        place = self._place(name)
        if not place.exists():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            _replace(place, data)
        return name

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / name[2:]


def _walk(workspace: Path) -> list[tuple[str, os.stat_result]]:
    """The files and links below a folder in order, without what lies in a `.git`; sockets and pipes have no content."""
    found: list[tuple[str, os.stat_result]] = []
    waiting = [str(workspace)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    if entry.name != ".git":
                        waiting.append(entry.path)
                elif entry.name != ".git" and (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                    found.append((entry.path, status))
    return sorted(found, key=lambda each: each[0])


def _encoded(files: dict[str, Kept]) -> bytes:
    return msgspec.json.encode({_text(name): kept for name, kept in files.items()}, order="deterministic")


def _text(name: str) -> str:
    """The name of a file as a text of JSON: a byte that is no UTF-8 is told by its value."""
    return os.fsencode(name).decode("latin-1")


def _name(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))


def _replace(place: Path, data: bytes) -> None:
    beside = place.with_name(f"{place.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(place)
