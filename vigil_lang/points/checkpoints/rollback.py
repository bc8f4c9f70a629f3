"""The way back: what calls of a run changed is undone, and what others changed is left as it is.

Between two checkpoints of a run with a call of it under way the changes are taken to be the run's; else they are
somebody else's. Going back from the last checkpoint, a file is changed only while it is as the run left it.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vigil_lang.points.checkpoints.model import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from vigil_lang.points.checkpoints.history import History, Taken
    from vigil_lang.points.checkpoints.model import Files, Keeper, Kept


@dataclass(frozen=True, slots=True)
class Change:
    """A file that the way back changes: as it is `now`, and as it was `before`; None where there was or is none."""

    path: str
    now: Kept | None
    before: Kept | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the way back to a call would do: `changes`, and the files that it leaves because somebody else changed them
    after the run did. `now` is the tree of the workspace that it starts from."""

    now: str
    changes: tuple[Change, ...]
    left: tuple[str, ...]


def plan(history: History, seq: int | None = None) -> Plan:
    """The way back to before the call of the decision `seq`, the way back of that number, or the run's first call.

    Raises:
        CheckpointError: there is no checkpoint before that call, or one cannot be read.
    """
    taken, keeper = history.taken, history.keeper
    places = [at for at, each in enumerate(taken) if each.when == "before" and seq in (None, each.seq)]
    if not places:
        which = "the run" if seq is None else f"the call {seq}"
        raise CheckpointError(f"no checkpoint was taken before {which}")
    now = history.now()
    return Plan(now, *_undone(_intervals(taken, places[0], keeper, now), keeper.files(now)))


def apply(history: History, planned: Plan) -> None:
    """Do what was planned. The workspace as it was stays kept, under the id `planned.now`.

    Raises:
        CheckpointError: the workspace is not as it was when this was planned, or cannot be written.
    """
    if history.now() != planned.now:
        raise CheckpointError("the workspace has changed since: look at the changes again")
    keeper = history.keeper
    contents = {change.path: keeper.content(change.before) for change in planned.changes if change.before is not None}
    try:
        # What goes makes room first: where a file was, there may be a folder now.
        for change in sorted(planned.changes, key=lambda each: each.before is not None):
            with _folder(history.workspace, change.path, make=change.before is not None) as (folder, name):
                if change.before is None:
                    with suppress(FileNotFoundError):
                        os.unlink(name, dir_fd=folder)
                else:
                    _write(folder, name, change.before, contents[change.path])
            if change.before is None:
                _remove_empty(history.workspace, change.path)
    except OSError as error:
        message = (
            f"{change.path} cannot be changed: {error.strerror}; the workspace before this is kept as {planned.now}"
        )
        raise CheckpointError(message) from error
    finally:
        history.note_way_back(planned.now)


def last_way_back(history: History) -> int:
    """The number of the last way back, by which `plan` undoes it.

    Raises:
        CheckpointError: there is none.
    """
    found = min((each.seq for each in history.taken), default=0)
    if found >= 0:
        raise CheckpointError("the run has no rollback to undo")
    return found


def _intervals(taken: Sequence[Taken], start: int, keeper: Keeper, now: str) -> Iterator[tuple[Files, Files, bool]]:
    """From the newest to the one that begins at `start`: the files before and after; whether the run was at work."""
    under_way: set[int] = set()
    ours: list[bool] = []
    for each in taken:
        if each.when == "before":
            under_way.add(each.seq)
        else:
            under_way.discard(each.seq)
        ours.append(bool(under_way))
    trees = [each.tree for each in taken] + [now]
    for at in range(len(taken) - 1, start - 1, -1):
        if trees[at] != trees[at + 1]:
            yield keeper.files(trees[at]), keeper.files(trees[at + 1]), ours[at]


def _undone(intervals: Iterator[tuple[Files, Files, bool]], now: Files) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    goal: dict[str, Kept | None] = dict(now)
    others: set[str] = set()
    left: set[str] = set()
    for before, after, ours in intervals:
        for path in before.keys() | after.keys():
            was, became = before.get(path), after.get(path)
            if was == became:
                continue
            if not ours:
                others.add(path)
            elif path in others or goal.get(path) != became:
                left.add(path)
                others.add(path)
            else:
                goal[path] = was
    changes = [Change(path, now.get(path), then) for path, then in goal.items() if now.get(path) != then]
    return tuple(sorted(changes, key=lambda change: change.path)), tuple(sorted(left))


@contextmanager
def _folder(workspace: Path, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
    """The folder of a file, opened so that no link leads out of the workspace, and the file's name in it."""
    *parents, name = PurePosixPath(path).parts
    if not name or PurePosixPath(path).is_absolute() or ".." in parents or name == "..":
        raise CheckpointError("a checkpoint names a file that does not lie in the workspace")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(workspace, flags & ~os.O_NOFOLLOW)
    try:
        for parent in parents:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(parent, dir_fd=folder)
            inner = os.open(parent, flags, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder, name
    finally:
        os.close(folder)


def _write(folder: int, name: str, kept: Kept, content: bytes) -> None:
    beside = f".{name}.rollback"
    with suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=folder)
    if kept.kind == "link":
        os.symlink(content, beside, dir_fd=folder)
    else:
        mode = 0o755 if kept.kind == "program" else 0o644
        with suppress(FileNotFoundError):  # what others may do with the file stays as it is
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                mode = stat.S_IMODE(found.st_mode) & ~0o111
                mode |= mode >> 2 & 0o111 if kept.kind == "program" else 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(beside, flags, 0o600, dir_fd=folder), "wb") as stream:
            stream.write(content)
            os.fchmod(stream.fileno(), mode)
            stream.flush()
            os.fsync(stream.fileno())
    os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove_empty(workspace: Path, path: str) -> None:
    """The folders of a file that is gone, from the inside, as long as nothing is in them."""
    for parent in PurePosixPath(path).parents:
        if str(parent) != ".":
            try:
                with _folder(workspace, str(parent), make=False) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
            except OSError:
                return
