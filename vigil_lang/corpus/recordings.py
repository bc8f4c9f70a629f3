"""Recordings abstracted in worker processes: each task is some recordings, its result their runs as columns."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from vigil_lang.abstraction.bounded_output import KEPT
from vigil_lang.abstraction.files import KnownFiles
from vigil_lang.abstraction.run import Options
from vigil_lang.base import cache
from vigil_lang.base.processes import can_spawn, processors, spawned
from vigil_lang.corpus.batch import Batch, Needs, Unreadable, batch_of
from vigil_lang.diagnostics import InputError
from vigil_lang.runs import load_traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import ProcessPoolExecutor

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.trace import Trace

TASK_BYTES: Final = 8 << 20
TASK_FILES: Final = 500
WORTH_A_PROCESS: Final = 4 << 20
"""Bytes of recordings for which other processes pay."""


@dataclass(frozen=True)
class Reading:
    """How recordings are read, as plain data that can be sent to another process."""

    format: str | None = None
    skills: str | None = None
    inferred: bool = True
    kept: int = KEPT
    probe: bool = False
    allow_empty: bool = False
    tools: dict[str, Tool] = field(default_factory=dict)

    def options(self) -> Options:
        """The same for abstraction."""
        from vigil_lang.abstraction import probe

        shipped = None if self.skills is None else Path(self.skills)
        return Options(
            kept=self.kept,
            inferred=self.inferred,
            files=lambda: KnownFiles(shipped),
            probe=probe.probe if self.probe else None,
            tools=self.tools,
            allow_empty=self.allow_empty,
        )


def abstracted(paths: Sequence[str], reading: Reading) -> Batch:
    """The runs of some recordings; of one that cannot be read to its end, those before that."""
    traces: list[Trace] = []
    bad: list[Unreadable] = []
    options = reading.options()
    for path in paths:
        try:
            for trace in load_traces(path, format=reading.format, options=options):
                traces.append(trace)
        except InputError as error:
            bad += [Unreadable(found.source.path or path, found.message) for found in error.diagnostics]
    return batch_of(traces, bad)


def tasks(paths: Sequence[str]) -> list[list[str]]:
    """Recordings, in order, in portions worth a task each."""
    found: list[list[str]] = [[]]
    size = 0
    for path in paths:
        own = _size(path)
        if found[-1] and (size + own > TASK_BYTES or len(found[-1]) >= TASK_FILES):
            found.append([])
            size = 0
        found[-1].append(path)
        size += own
    return [task for task in found if task]


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def content_digest(path: str) -> str:
    """A digest of a recording's bytes; of one that cannot be read, of nothing."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return "unreadable"


@contextmanager
def workers(
    total: int, jobs: int | None, begin: Callable[..., None], *given: object
) -> Iterator[ProcessPoolExecutor | None]:
    """Worker processes for so many bytes of recordings; None where they would not pay."""
    number = processors() if jobs is None else jobs
    if number < 2 or total < WORTH_A_PROCESS or not can_spawn():
        yield None
        return
    with spawned(number, begin, *given) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def begin_worker() -> None:
    """What each worker process does first: it says nothing, and leaves an interrupt to the process that waits."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cache.say_nothing()


class Recordings:
    """Recordings as a source: read as they are asked for, in worker processes where that pays."""

    def __init__(self, paths: Sequence[str], reading: Reading, jobs: int | None = None) -> None:
        self._paths = list(paths)
        self._reading = reading
        self._jobs = jobs
        self._tasks = tasks(self._paths)

    def __len__(self) -> int:
        return len(self._tasks)

    def batches(self, needs: Needs) -> Iterator[Batch]:  # noqa: ARG002 - the protocol's
        """All runs; `needs` is more than met."""
        total = sum(map(_size, self._paths))
        with workers(total, self._jobs, begin_worker) as pool:
            if pool is None:
                for task in self._tasks:
                    yield abstracted(task, self._reading)
                return
            for found in _in_turn(pool, self._tasks, self._reading):
                yield _unpacked(*found)

    def trace(self, run: Mapping[str, Any]) -> Trace:
        """One run, read back."""
        path = str(run["path"])
        # A run of several has its label behind a `#`, of which the label and the recording's path may have more.
        recording = max((p for p in self._paths if f"{path}#".startswith(f"{p}#")), key=len)
        options = self._reading.options()
        for trace in load_traces(recording, format=self._reading.format, options=options):
            if trace.run.path == path:
                return trace
        raise AssertionError(path)


def _in_turn(pool: ProcessPoolExecutor, waiting: Sequence[list[str]], reading: Reading) -> Iterator[_Packed]:
    """The results of tasks in order; no more are under way than there is room for."""
    from collections import deque

    under_way: deque[Any] = deque()
    ahead = 2 * processors()
    for task in waiting:
        under_way.append(pool.submit(_packed, task, reading))
        if len(under_way) >= ahead:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


_Packed = tuple[bytes, bytes, tuple[Unreadable, ...]]


def _packed(task: list[str], reading: Reading) -> _Packed:
    batch = abstracted(task, reading)
    return packed(batch.frame), packed(batch.runs), batch.bad


def _unpacked(frame: bytes, runs: bytes, bad: tuple[Unreadable, ...]) -> Batch:
    return Batch(unpacked(frame), unpacked(runs), bad)


def packed(frame: pl.DataFrame) -> bytes:
    """A frame as bytes, to be sent to another process."""
    stream = BytesIO()
    frame.write_ipc(stream)
    return stream.getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    """The frame that was packed."""
    return pl.read_ipc(BytesIO(data))
