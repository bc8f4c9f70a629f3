"""Recordings as columns: Vigil's own straight away (`parts.py`), others abstracted, event by event."""

from __future__ import annotations

import hashlib
from collections import deque
from contextlib import ExitStack, contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from msgspec.structs import replace

from vigil_lang.base import cache
from vigil_lang.base.processes import can_spawn, processors, spawned
from vigil_lang.corpus.batch import Batch, Needs, Unreadable, batch_of, joined
from vigil_lang.corpus.parts import PlainReader, Slow
from vigil_lang.diagnostics import InputError
from vigil_lang.runs import load_traces, read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from vigil_lang.corpus.reading import Reading
    from vigil_lang.trace import Trace

TASK_BYTES: Final = 8 << 20
TASK_FILES: Final = 500
WORTH_A_PROCESS: Final = 4 << 20
"""Bytes of recordings for which other processes pay."""


def abstracted(paths: Sequence[str], reading: Reading) -> Batch:
    """The runs of some recordings; of one that cannot be read to its end, those before that."""
    return joined(
        [slowly([it], reading) if isinstance(it, Slow) else it for it in PlainReader(reading, None, 1).read(paths)]
    )


def slowly(recordings: Sequence[Slow], reading: Reading) -> Batch:
    """The same, event by event, without the runs that are known."""
    traces: list[Trace] = []
    bad: list[Unreadable] = []
    options = reading.options()
    for path, done in recordings:
        try:
            traces += islice(load_traces(path, format=reading.format, options=options), done, None)
        except InputError as error:
            bad += [Unreadable(found.source.path or path, found.message) for found in error.diagnostics]
    return batch_of(traces, bad)


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
    """Recordings as a source, read as they are asked for."""

    def __init__(self, paths: Sequence[str], reading: Reading, jobs: int | None = None) -> None:
        self._paths = list(paths)
        self._reading = reading
        self._jobs = processors() if jobs is None else jobs

    def __len__(self) -> int:
        return 0

    def batches(self, needs: Needs) -> Iterator[Batch]:
        """All runs; of those that are not read into columns straight away, more than is needed."""
        aside = _Aside(self._reading, self._jobs)
        try:
            for item in PlainReader(self._reading, needs, self._jobs).read(self._paths):
                yield from aside.put(item)
            yield from aside.rest()
        finally:
            aside.close()

    def trace(self, run: Mapping[str, Any]) -> Trace:
        """One run, read back."""
        path = str(run["path"])
        # A run of several has its label behind a `#`, of which the label and the recording's path may have more.
        recording = max((p for p in self._paths if f"{path}#".startswith(f"{p}#")), key=len)
        options, format_ = self._reading.options(), self._reading.format
        lines = PlainReader(self._reading, Needs(), 1).lines_of(recording, path)
        if lines is not None:  # a run of very many is found without what stands before it
            trace = read_trace(BytesIO(lines), recording, format_, options)
            label = path[len(recording) + 1 :] or None
            return replace(trace, run=replace(trace.run, path=path, label=label))
        for trace in load_traces(recording, format=format_, options=options):
            if trace.run.path == path:
                return trace
        raise AssertionError(path)


class _Aside:
    """Recordings that are read event by event, once there are enough of them in worker processes, and the batches that
    come between: all in the order in which they are put."""

    def __init__(self, reading: Reading, jobs: int) -> None:
        self._reading = reading
        self._jobs = jobs
        self._task: list[Slow] = []
        self._size = self._whole = 0
        self._under_way: deque[Batch | Future[_Packed]] = deque()
        self._stack = ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def put(self, item: Batch | Slow) -> Iterator[Batch]:
        """Take in what comes next; gives what is ready."""
        if isinstance(item, Batch):
            self._begin()
            self._under_way.append(item)
        else:
            size = _size(item.path)
            if self._task and (self._size + size > TASK_BYTES or len(self._task) >= TASK_FILES):
                self._begin()
            self._task.append(item)
            self._size += size
        yield from self._ready(2 * self._jobs)

    def rest(self) -> Iterator[Batch]:
        """All others."""
        self._begin()
        yield from self._ready(0)

    def close(self) -> None:
        """End the worker processes, done or not."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._stack.close()

    def _begin(self) -> None:
        task, self._task = self._task, []
        if not task:
            return
        self._whole += self._size
        self._size = 0
        if self._pool is None:
            if self._jobs < 2 or self._whole < WORTH_A_PROCESS or not can_spawn():
                self._under_way.append(slowly(task, self._reading))
                return
            self._pool = self._stack.enter_context(spawned(self._jobs, begin_worker))
        self._under_way.append(self._pool.submit(_packed, task, self._reading))

    def _ready(self, most: int) -> Iterator[Batch]:
        while self._under_way and (isinstance(self._under_way[0], Batch) or len(self._under_way) > most):
            first = self._under_way.popleft()
            yield first if isinstance(first, Batch) else _unpacked(*first.result())


_Packed = tuple[bytes, bytes, tuple[Unreadable, ...]]


def _packed(task: Sequence[Slow], reading: Reading) -> _Packed:
    batch = slowly(task, reading)
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
