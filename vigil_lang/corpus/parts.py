"""Recordings in Vigil's own format, cut into parts of whole runs, which are read into columns (`plain.py`).

Small recordings are read many at a time, large ones part by part. What cannot be read so is named in its place, and for
how many of its runs that was too late.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_right
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate, groupby, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from vigil_lang.base import inputs
from vigil_lang.corpus.batch import RUNS, Batch, Needs, Unreadable
from vigil_lang.corpus.plain import COUNTS, Rows, read_rows
from vigil_lang.corpus.shapes import Faulty
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest import canonical
from vigil_lang.ingest.calls import Keys
from vigil_lang.ingest.json_text import BOM, REFUSED, decode
from vigil_lang.ingest.load import FORMATS, opened, read_records
from vigil_lang.ingest.stream import MAX_TOTAL
from vigil_lang.runs import why_unusable
from vigil_lang.trace import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.corpus.reading import Reading

BLOCK: Final = 4 << 20
"""Bytes that are read into columns at once: what is worked on then stays near the processor."""
_AHEAD: Final = 4
"""Blocks that may be read, or wait, for each thread, while others are judged."""
MOST: Final = 256 << 20
"""Bytes of one run beyond which it is read line by line."""
_FIRST: Final = 1 << 20
"""Bytes of a first line by which a recording is told."""
_HEADER: Final = b'\n{"vigil_trace"'
"""How a line begins that is surely a header, behind the line before it."""


class Slow(NamedTuple):
    """A recording that has to be read event by event, without its first runs, so many of which were handed on."""

    path: str
    done: int = 0


@dataclass
class Recording:
    """What is known of a recording while its parts are read."""

    path: str
    keys: Keys = field(default_factory=Keys)
    runs: int = 0
    done: int = 0
    """Runs that were handed on: all but those that were refused."""
    refused: list[Unreadable] = field(default_factory=list)
    """Runs that are not worth judging: they are told of at its end."""
    given_up: bool = False
    """Whether the rest is for the other reader, and was left to it."""


_Found = Rows | Faulty | None


class Part(NamedTuple):
    """Whole runs of a recording, each line with its end; whether they are its first ones, and its last."""

    of: Recording
    data: bytes
    first: bool
    last: bool


class _NotPlain(Exception):
    """The rest of a recording is for the other reader."""


def parts(of: Recording, format: str | None, block: int) -> Iterator[Part]:  # noqa: A002 - as the option is called
    """The parts of a recording, one behind the other.

    A part ends before a header that is surely one, and only where the other reader accepts this header, too: where it
    does not, the run before it does not count for it either.

    Raises:
        _NotPlain: it is no recording in Vigil's own format, cannot be read twice, or one of its runs is too large.
        InputError: as `opened` does.
    """
    inputs.note(of.path)
    if not _can_be_read_again(of.path):
        raise _NotPlain
    with opened(of.path) as (stream, _):
        begun = stream.readline(_FIRST).removeprefix(BOM)
        if not _is_plain(begun, format):
            raise _NotPlain
        held: Part | None = None
        while True:
            more = stream.read(max(block, len(begun)))
            if not more:
                break
            at = max(len(begun) - len(_HEADER), 0)
            begun += more
            cut = begun.rfind(_HEADER, at) + 1
            if not cut:
                if len(begun) > MOST:
                    raise _NotPlain
                continue
            if held is not None:
                _check_header(begun)
                yield held
            held, begun = Part(of, begun[:cut], held is None, last=False), begun[cut:]
        if held is not None:
            _check_header(begun)
            yield held
        yield Part(of, begun if begun.endswith(b"\n") else begun + b"\n", held is None, last=True)


def _can_be_read_again(path: str) -> bool:
    """Whether a recording is a file, of a size that may be read: what is none, the other reader has to find whole."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a text
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_TOTAL and not path.startswith("/dev/")


def _is_plain(line: bytes, format: str | None) -> bool:  # noqa: A002 - as the option is called
    """Whether a recording that begins with this line is in Vigil's own format, a line an event."""
    if not line.startswith(b"{") or format not in (None, FORMATS[0]):
        return False
    try:
        value = decode(line)
    except REFUSED:
        return False
    return type(value) is dict and (format is not None or canonical.detect([value]))


def _check_header(data: bytes) -> None:
    try:
        list(read_records([data.partition(b"\n")[0]], "", FORMATS[0]))
    except InputError:
        raise _NotPlain from None


class PlainReader:
    """Reads recordings into columns, `jobs` blocks of them at once: in threads, for libraries do the work."""

    def __init__(self, reading: Reading, needs: Needs | None, jobs: int, block: int | None = None) -> None:
        self._reading = reading
        self._needs = needs
        self._jobs = jobs
        self._block = BLOCK if block is None else block

    def read(self, paths: Sequence[str]) -> Iterator[Batch | Slow]:
        """The runs of recordings in their order, and where some are for the other reader, which."""
        if self._jobs < 2:
            for block in self._blocks(paths):
                yield from self._done(block, self._rows(block))
            return
        pool = ThreadPoolExecutor(self._jobs)
        under_way: deque[tuple[Sequence[Part] | Recording, Future[_Found]]] = deque()
        try:
            for block in self._blocks(paths):
                under_way.append((block, pool.submit(self._rows, block)))
                if len(under_way) > _AHEAD * self._jobs:
                    first, rows = under_way.popleft()
                    yield from self._done(first, rows.result())
            for first, rows in under_way:
                yield from self._done(first, rows.result())
        finally:
            pool.shutdown(cancel_futures=True)

    def _blocks(self, paths: Sequence[str]) -> Iterator[Sequence[Part] | Recording]:
        """Parts to be read together, and recordings whose rest is for the other reader."""
        waiting: list[Part] = []
        size = 0
        for path in paths:
            of = Recording(path)
            try:
                for part in parts(of, self._reading.format, self._block):
                    size += len(part.data)
                    if waiting and size > self._block:
                        yield waiting
                        waiting, size = [], len(part.data)
                    if of.given_up:
                        break
                    waiting.append(part)
            except (_NotPlain, InputError, OSError):
                if waiting:
                    yield waiting
                    waiting = []
                yield of
        if waiting:
            yield waiting

    def _rows(self, block: Sequence[Part] | Recording) -> _Found:
        if isinstance(block, Recording):
            return None
        starts = [0, *accumulate(len(part.data) for part in block)]
        try:
            return read_rows(b"".join(part.data for part in block), starts[:-1], self._needs, self._reading.kept)
        except Faulty as fault:
            return fault

    def _done(self, block: Sequence[Part] | Recording, found: _Found) -> Iterator[Batch | Slow]:
        """What comes of a block; where parts of it are at fault, of what stands before, between and behind them."""
        if isinstance(block, Recording):
            yield from _given_up(block)
        elif any(part.of.given_up for part in block):
            some = [part for part in block if not part.of.given_up]
            yield from self._done(some, self._rows(some)) if some else ()
        elif isinstance(found, Rows):
            yield self._batch(block, found)
        elif found is not None:
            ends = list(accumulate(part.data.count(b"\n") for part in block))
            wrong = {bisect_right(ends, line) for line in found.lines.tolist()}
            for is_wrong, group in groupby(range(len(block)), wrong.__contains__):
                some = [block[at] for at in group]
                if is_wrong:
                    for part in some:
                        yield from _given_up(part.of)
                else:
                    yield from self._done(some, self._rows(some))

    def lines_of(self, path: str, run: str) -> bytes | None:
        """The lines of one run of a recording, given by its path; None where the other reader has to find it."""
        for block in self._blocks([path]):
            found = self._rows(block)
            if isinstance(block, Recording) or not isinstance(found, Rows):
                return None
            runs = _named(block, found.runs)
            place = runs["path"].index_of(run)
            if place is not None:
                data = b"".join(part.data for part in block)
                return data[runs["at"][place] : [*runs["at"], len(data)][place + 1]]
        return None

    def _batch(self, block: Sequence[Part], rows: Rows) -> Batch:
        """Runs with their paths, without those that are not worth judging."""
        runs = _named(block, rows.runs)
        frame, args = rows.frame, rows.args
        empty = (pl.col("events") == 0) & (pl.col("not_executed") == 0)
        refused = runs.filter(empty | (2 * pl.col("not_understood") > pl.col("records")))
        if refused.height and not self._reading.allow_empty:
            for run in refused.iter_rows(named=True):
                doubt = why_unusable(Run(run["path"], run["format"], **{n: run[n] for n in COUNTS}), run["events"])
                assert doubt is not None
                block[run["part"]].of.refused.append(Unreadable(run["path"], doubt.message))
            gone = frame["run"].is_in(refused["run"].implode())
            runs = runs.join(refused, on="run", how="anti", maintain_order="left")
            number = pl.DataFrame({"run": runs["run"], "new": range(runs.height)})
            frame = frame.filter(~gone).join(number, on="run", how="left", maintain_order="left")
            frame = frame.with_columns(run=pl.col("new").cast(pl.Int64)).drop("new")
            args = None if args is None else {name: column.filter(~gone) for name, column in args.items()}
            runs = runs.with_columns(run=pl.int_range(pl.len(), dtype=pl.Int64))
        for at in runs["part"]:
            block[at].of.done += 1
        bad = [each for part in block if part.last for each in part.of.refused]
        return Batch(
            frame, pl.DataFrame({name: runs[name].cast(kind) for name, kind in RUNS.items()}), tuple(bad), args
        )


def _named(block: Sequence[Part], runs: pl.DataFrame) -> pl.DataFrame:
    """Runs with their paths: that of the recording, and where that has several, the name of the run."""
    counts = [0] * len(block)
    for at in runs["part"]:
        counts[at] += 1
    paths: list[str] = []
    names = iter(runs["name"])
    for part, count in zip(block, counts, strict=True):
        of = part.of
        several = count > 1 or not (part.first and part.last)
        for name in islice(names, count):
            of.runs += 1
            paths.append(f"{of.path}#{of.keys.new(name or str(of.runs))}" if several else of.path)
    return runs.with_columns(pl.Series("path", paths, dtype=pl.String))


def _given_up(of: Recording) -> Iterator[Slow]:
    """The rest of a recording is for the other reader, unless that was said already."""
    if not of.given_up:
        of.given_up = True
        yield Slow(of.path, of.done)
