"""Runs as they are handed from one step to the next: their events and what is known of each, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import polars as pl

from vigil_lang.engines.columnar.events import frame_of
from vigil_lang.engines.columnar.facts import Chunk
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vigil_lang.trace import Trace

RUNS: Final[dict[str, Any]] = {
    "run": pl.Int64,
    "path": pl.String,
    "name": pl.String,
    "format": pl.String,
    "source": pl.String,
    "cwd": pl.String,
    "events": pl.Int64,
    "time": pl.Int64,
    "about": pl.List(pl.Struct({"key": pl.String, "value": pl.String})),
}
"""What is known of a run: its number, where it was read, the time of its first event, what else its header says."""


BYTES: Final = 512 << 20
"""Bytes of events that are worked on together, at most, unless a single batch has more."""


class Unreadable(NamedTuple):
    """A recording, or a run of one, of which there are no events, and why."""

    path: str
    why: str


@dataclass(frozen=True)
class Batch:
    """Some whole runs: `frame` has their events in the engine's columns, `runs` a line for each, by its number.

    `args` are the arguments by name, where the frame has none of its own.
    """

    frame: pl.DataFrame
    runs: pl.DataFrame
    bad: tuple[Unreadable, ...] = ()
    args: Mapping[str, pl.Series] | None = None

    @property
    def chunk(self) -> Chunk:
        """The events for the engine."""
        return Chunk(self.frame, self.args)


@dataclass(frozen=True)
class Needs:
    """What requirements read of events: the arguments with these names, and whether outputs."""

    args: frozenset[str] = frozenset()
    output: bool = False

    @classmethod
    def of(cls, requirements: Iterable[core.Requirement]) -> Needs:
        args: set[str] = set()
        output = False
        for requirement in requirements:
            for field_ in _read(requirement.theta):
                output |= field_.output
                args |= set() if field_.output else {field_.name}
        return cls(frozenset(args), output)


def _read(theta: core.Theta) -> Iterator[core.Reads]:
    for body in core.bodies(theta):
        match body:
            case core.Holds(condition):
                yield from _fields(condition)
            case core.Repeated(distinct=core.Reads() as read) | core.Exceeds(field=read):
                yield read


def _fields(condition: core.Condition) -> Iterator[core.Reads]:
    match condition:
        case core.NotC(body):
            yield from _fields(body)
        case core.AndC(items) | core.OrC(items):
            for item in items:
                yield from _fields(item)
        case core.Entry(read, body):
            yield read
            yield from (f for f in _fields(body) if f.output)
        case core.ActionIn() | core.ActionMatches() | core.StatusIs():
            pass
        case _:
            yield condition.field


class Source(Protocol):
    """Where runs come from."""

    def batches(self, needs: Needs) -> Iterator[Batch]:
        """All runs, batch after batch, with at least what is needed; a batch numbers its runs from 0."""

    def trace(self, run: Mapping[str, Any]) -> Trace:
        """One run, given by its line, read back with everything that is known of it."""

    def __len__(self) -> int:
        """How many batches there are, at a guess; 0 where nobody knows."""


def batch_of(traces: Sequence[Trace], bad: Sequence[Unreadable] = ()) -> Batch:
    """Runs as columns; one whose texts are no UTF-8 is not readable."""
    good: list[Trace] = []
    frames: list[pl.DataFrame] = []
    wrong = list(bad)
    try:
        frames, good = [frame_of(enumerate(traces))], list(traces)
    except (ValueError, UnicodeError):
        for trace in traces:
            try:
                frames.append(frame_of([(len(good), trace)]))
                good.append(trace)
            except (ValueError, UnicodeError):
                wrong.append(Unreadable(trace.run.path, "a text has half a character in it"))
    rows = [
        {
            "run": at,
            "path": trace.run.path,
            "name": trace.run.name,
            "format": trace.run.format,
            "source": trace.run.source,
            "cwd": trace.run.cwd,
            "events": len(trace),
            "time": next((event.time for event in trace.events if event.time is not None), None),
            "about": [{"key": key, "value": value} for key, value in trace.run.about],
        }
        for at, trace in enumerate(good)
    ]
    frame = pl.concat(frames) if frames else frame_of([])
    return Batch(frame, pl.DataFrame(rows, schema=RUNS), tuple(wrong))


def joined(batches: Sequence[Batch]) -> Batch:
    """Several batches as one, their runs numbered on: all have arguments of their own, or all have none."""
    if len(batches) == 1:
        return batches[0]
    frames: list[pl.DataFrame] = []
    runs: list[pl.DataFrame] = []
    bad: list[Unreadable] = []
    start = 0
    for batch in batches or [batch_of([])]:
        frames.append(batch.frame.with_columns(pl.col("run") + start))
        runs.append(batch.runs.with_columns(pl.col("run") + start))
        bad += batch.bad
        start += batch.runs.height
    args = [batch.args for batch in batches if batch.args is not None]
    columns = {name: _on_end([of[name] for of in args]) for name in args[0]} if args else None
    return Batch(pl.concat(frames), pl.concat(runs), tuple(bad), columns)


def _on_end(columns: Sequence[pl.Series]) -> pl.Series:
    """Columns of texts, or of lists of texts, as one; of lists where one is."""
    if len({column.dtype for column in columns}) > 1:
        columns = [lists_of(column) for column in columns]
    return pl.concat(columns)


def lists_of(column: pl.Series) -> pl.Series:
    """Texts as lists of one; lists, and null, as they are."""
    if isinstance(column.dtype, pl.List):
        return column
    return pl.select(pl.when(column.is_not_null()).then(pl.concat_list(column))).to_series()


def gathered(batches: Iterable[Batch], events: int) -> Iterator[Batch]:
    """Batches joined until each has so many events, or as many bytes as should be in memory at once."""
    waiting: list[Batch] = []
    size = weight = 0
    try:
        for batch in batches:
            if waiting and (waiting[0].args is None) != (batch.args is None):
                yield joined(waiting)
                waiting, size, weight = [], 0, 0
            waiting.append(batch)
            size += batch.frame.height
            weight += int(batch.frame.estimated_size())
            if size >= events or weight >= BYTES:
                yield joined(waiting)
                waiting, size, weight = [], 0, 0
    except KeyboardInterrupt:  # what was read is not lost
        if waiting:
            yield joined(waiting)
        raise
    if waiting:
        yield joined(waiting)
