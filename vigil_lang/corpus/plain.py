"""Vigil's own traces read straight into columns: no object is made of an event.

A line's shape is read once, by the reader of all traces, with `s0`, `s1`, … in place of its texts and 0, 1, … in place
of its numbers. Where these are found in the event that it makes, the texts and numbers of every line of that shape
belong. **What is read so is what the other reader would read, or it is not read so**: `Faulty` says of which lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from vigil_lang.abstraction.bounded_output import bounded
from vigil_lang.corpus.shapes import KEEPS_NUMBERS, Faulty, Shaped, filled, shaped
from vigil_lang.diagnostics import InputError
from vigil_lang.engines.columnar.events import COLUMNS, ordinals
from vigil_lang.ingest.json_text import REFUSED, decode
from vigil_lang.ingest.load import FORMATS, read_records
from vigil_lang.trace import Event, Run
from vigil_lang.trace.event import MESSAGES, STATUSES
from vigil_lang.trace.record import Start
from vigil_lang.trace.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from vigil_lang.corpus.batch import Needs
    from vigil_lang.corpus.shapes import Places

FEW: Final = 1_000
"""Shapes that are never too many."""
COUNTS: Final = ("not_executed", "records", "not_understood")
_OF_RUNS: Final = ("name", "source", "format", "cwd")
_TEXT: Final = re.compile(r"s([0-9]+)")
_USUAL_TIME: Final = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?Z$"


class Slot(NamedTuple):
    """Where a value comes from: the line's text or number at some place among them, or a constant at its place."""

    origin: int
    at: int


CONSTANT, OF_TEXTS, OF_NUMBERS = 0, 1, 2
NOTHING: Final = Slot(CONSTANT, 0)


@dataclass(frozen=True)
class _Shape:
    """What lines of a shape say, be they events or, with `header`, the beginnings of runs."""

    fields: Mapping[str, Slot] = field(default_factory=dict)
    kinds: Sequence[Slot] = ()
    args: Sequence[tuple[str, Sequence[Slot]]] = ()
    about: Sequence[tuple[str, Sequence[Slot]]] = ()
    header: Run | None = None


_BLANK: Final = _Shape()


class _NotPlain(Exception):
    """Lines of a shape are for the other reader."""


class _Shapes:
    """What shapes say, each read once; `constants` are the texts that they have of their own, null first."""

    def __init__(self) -> None:
        self.constants: dict[str | None, int] = {None: NOTHING.at}

    def read(self, shape: bytes) -> _Shape:
        """What the lines of a shape say.

        Raises:
            _NotPlain: the other reader has to read them.
        """
        if not shape.strip():
            return _BLANK
        given: dict[int, bytes] = {}
        try:
            line = filled(shape)
            value = decode(line)
            if type(value) is not dict:  # what is no object means something else on the first line of a recording
                raise _NotPlain
            status = value.get("status")
            if type(status) is str and (found := _TEXT.fullmatch(status)):
                given[int(found[1])] = b"ok"
                line = filled(shape, given)
            *_, record = read_records([line], "", FORMATS[0])
        except (InputError, *REFUSED):
            raise _NotPlain from None
        keeps_numbers = KEEPS_NUMBERS in shape
        if isinstance(record, Event):
            found_ = self._event(record, next(iter(given), None))
            slots = [*found_.fields.values(), *(slot for _, of in found_.args for slot in of)]
            if keeps_numbers and any(slot.origin == OF_NUMBERS for slot in slots):
                raise _NotPlain
            return found_
        assert isinstance(record, Start)
        if not keeps_numbers or record.run.prompt is not None:
            raise _NotPlain
        return self._header(record.run)

    def _event(self, event: Event, status: int | None) -> _Shape:
        time = event.extra.get("time")
        fields = {
            "action": self._slot(event.action),
            "id": self._slot(None if event.id == "e1" else event.id),
            "call": self._slot(None if event.call == event.id else event.call),
            "status": self._constant(event.status) if status is None else Slot(OF_TEXTS, status),
            "time": self._slot(None if time is None else str(time)),
            "output": self._slot(event.output),
        }
        args = [(name, [self._slot(text) for text in texts]) for name, texts in event.args.items()]
        return _Shape(fields, [self._slot(kind) for kind in event.kinds], args)

    def _header(self, run: Run) -> _Shape:
        fields = {name: self._text(getattr(run, name)) for name in _OF_RUNS}
        return _Shape(fields, about=[(key, [self._text(text)]) for key, text in run.about], header=run)

    def _slot(self, text: str | None) -> Slot:
        """Where a value of an event comes from, by what it is in place of it."""
        if text is None or text in ("true", "false"):
            return self._constant(text)
        if text.isascii() and text.isdigit():
            return Slot(OF_NUMBERS, int(text))
        found = self._text(text)
        if found.origin == CONSTANT:
            raise _NotPlain
        return found

    def _text(self, text: str | None) -> Slot:
        """The same for a value of a header, whose numbers are its own."""
        found = _TEXT.fullmatch(text or "")
        return Slot(OF_TEXTS, int(found[1])) if found else self._constant(text)

    def _constant(self, text: str | None) -> Slot:
        return Slot(CONSTANT, self.constants.setdefault(text, len(self.constants)))


@dataclass(frozen=True)
class Rows:
    """What some bytes hold: `frame` has the events in the engine's columns, `runs` a line a run in those of `RUNS`.

    In place of its path a run has the place of its `part`, and besides where it begins and the counts of its header.
    """

    frame: pl.DataFrame
    runs: pl.DataFrame
    args: dict[str, pl.Series] | None


def read_rows(data: bytes, starts: Sequence[int], needs: Needs | None, kept: int) -> Rows:
    """The runs in parts of recordings that stand one behind the other and begin at `starts`.

    Of outputs `kept` code points stay. With `needs` there are only those arguments, each a column of its own.

    Raises:
        Faulty: some lines have to be read by the other reader.
    """
    lines = shaped(data)
    if len(lines.shapes) > FEW + len(lines.ends) // 8:
        raise Faulty(np.flatnonzero(np.bincount(lines.shape)[lines.shape] < 8))
    known = _Shapes()
    shapes: list[_Shape] = []
    wrong = []
    for place, shape in enumerate(lines.shapes):
        try:
            shapes.append(known.read(shape))
        except _NotPlain:
            wrong.append(place)
    if wrong:
        raise Faulty(np.flatnonzero(np.isin(lines.shape, wrong)))
    reading = _Reading(lines, shapes, list(known.constants), needs, kept)
    return reading.rows(np.searchsorted(lines.ends, starts))


class _Reading:
    """The lines of one block, on their way to columns."""

    def __init__(
        self, lines: Shaped, shapes: Sequence[_Shape], constants: Sequence[str | None], needs: Needs | None, kept: int
    ) -> None:
        self._lines = lines
        self._shapes = shapes
        self._needs = needs
        self._kept = kept
        texts, numbers = len(lines.texts), len(lines.numbers)
        self._pool = pl.concat([lines.texts, lines.numbers, pl.Series(constants, dtype=pl.String)])
        """All texts that there are."""
        self._begins = (np.full(len(lines.ends), texts + numbers), lines.first_text, texts + lines.first_number)
        """By where they come from, the place of the first text of each line."""

    def rows(self, first_lines: Places) -> Rows:
        """All runs, of parts that begin on these lines."""
        lines = self._lines
        part_of = np.zeros(len(lines.ends), np.int64)
        part_of[first_lines[1:]] = 1
        part_of = np.cumsum(part_of)
        says = np.flatnonzero(np.array([shape is not _BLANK for shape in self._shapes])[lines.shape])
        is_header = np.array([shape.header is not None for shape in self._shapes])[lines.shape[says]]
        part = part_of[says]
        begins = np.diff(part, prepend=-1) > 0
        begins |= is_header
        events = says[~is_header]
        run = (np.cumsum(begins) - 1)[~is_header]
        counts = np.bincount(run, minlength=np.count_nonzero(begins))
        index = np.arange(len(run)) - (np.cumsum(counts) - counts)[run]
        frame = self._frame(events, run, index)
        args = None if self._needs is None else {n: self._argument(n, events) for n in sorted(self._needs.args)}
        return Rows(frame, self._runs(says[begins], part[begins], counts, frame), args)

    # --- values of lines -------------------------------------------------------------------------------------

    def _values(self, lines: Places, of: NDArray[Any], slots: Sequence[Slot]) -> pl.Series:
        """The values at slots, each of a line: `of` has their places among `slots`."""
        origins, places = np.array(slots, np.int64).reshape(-1, 2).T
        at = places[of]
        used = np.unique(origins[np.bincount(of, minlength=len(origins)) > 0])
        if len(used) == 1:
            at = at + self._begins[used[0]][lines]
        elif len(used):
            at = at + np.choose(origins[of], [begin[lines] for begin in self._begins])
        return _gathered(self._pool, at)

    def _field(self, name: str, lines: Places) -> pl.Series:
        """A field of lines."""
        slots = [shape.fields.get(name, NOTHING) for shape in self._shapes]
        return self._values(lines, self._lines.shape[lines], slots)

    def _has(self, name: str) -> bool:
        """Whether there is a shape of events with this field."""
        return any(shape.fields.get(name, NOTHING) != NOTHING for shape in self._shapes if shape.header is None)

    def _several(self, lines: Places, slots: Sequence[Sequence[Slot]]) -> tuple[Places, pl.Series]:
        """The values at all slots of the shape of each line: how many these are, and the values."""
        each, flat = self._spread(lines, [len(of) for of in slots])
        return each, self._values(np.repeat(lines, each), flat, [slot for of in slots for slot in of])

    def _spread(self, lines: Places, counts: Sequence[int]) -> tuple[Places, Places]:
        """Things of which each shape has so many, of each line: how many, and their places among all of all shapes."""
        of = self._lines.shape[lines]
        many = np.array(counts, np.int64)
        each = many[of]
        ends = np.cumsum(each)
        before = (np.cumsum(many) - many)[of] - (ends - each)
        return each, np.repeat(before, each) + np.arange(ends[-1] if ends.size else 0)

    def _entries(
        self, lines: Places, entries: Sequence[Sequence[tuple[str, Sequence[Slot]]]], *, single: bool = False
    ) -> pl.Series:
        """Names and values of each line, of which each shape has these; values are lists, unless each is a `single`."""
        each, flat = self._spread(lines, [len(of) for of in entries])
        names = pl.Series([name for of in entries for name, _ in of], dtype=pl.String)
        _, values = self._several(lines, [[slot for _, slots in of for slot in slots] for of in entries])
        if not single:
            sizes = np.array([len(slots) for of in entries for _, slots in of], np.int64)
            values = _nested(sizes[flat], values)
        return _nested(each, pl.DataFrame({"key": _gathered(names, flat), "value": values}).to_struct())

    # --- events ----------------------------------------------------------------------------------------------

    def _frame(self, lines: Places, run: Places, index: Places) -> pl.DataFrame:
        nulls = pl.repeat(None, len(lines), dtype=pl.String, eager=True)
        action = self._field("action", lines)
        ids = self._ids(lines, run, index)
        of = nulls
        if self._has("call"):
            given = self._field("call", lines)
            of = pl.select(pl.when((given != "") & (given != ids)).then(given)).to_series()
        if of.null_count() < len(of):
            call, group = ordinals(pl.Series(run), of.fill_null(ids), action, alone=False)
        else:
            called = np.cumsum(~_among(action, MESSAGES).to_numpy())
            before = np.concatenate(([0], called))[np.arange(len(run)) - index]  # in the runs before
            call, group = pl.Series(called - before - 1), pl.Series(index)
        needs = self._needs
        has_output = self._has("output") and (needs is None or needs.output)
        columns: dict[str, Any] = {
            "run": run,
            "index": index,
            "call": call,
            "group": group,
            "id": ids,
            "of": of,
            "action": action,
            "kinds": _nested(*self._several(lines, [shape.kinds for shape in self._shapes])),
            "status": self._status(lines),
            "time": self._time(lines) if self._has("time") else nulls,
            "output": self._output(lines) if has_output else nulls,
            "args": self._entries(lines, [shape.args for shape in self._shapes]) if needs is None else nulls,
        }
        return pl.DataFrame(
            {
                name: pl.Series(column).cast(COLUMNS[name]) if column is not nulls else nulls.cast(COLUMNS[name])
                for name, column in columns.items()
            }
        )

    def _ids(self, lines: Places, run: Places, index: Places) -> pl.Series:
        usual = _gathered(_usual_ids(int(index.max(initial=0)).bit_length()), index)
        if not self._has("id"):
            return usual
        given = self._field("id", lines)
        ids = pl.select(pl.when(given != "").then(given).otherwise(usual)).to_series()
        if not (ids == usual).all():
            twice = pl.DataFrame({"run": run, "id": ids}).is_duplicated()
            if twice.any():
                raise Faulty(lines[twice.to_numpy()])
        return ids

    def _status(self, lines: Places) -> pl.Series:
        found = self._field("status", lines)
        known = _among(found, STATUSES)
        if not known.all():
            raise Faulty(lines[~known.to_numpy()])
        return found

    def _time(self, lines: Places) -> pl.Series:
        """Times in their usual text are read by Polars, others one by one."""
        is_number = np.array([shape.fields.get("time", NOTHING).origin == OF_NUMBERS for shape in self._shapes])
        frame = pl.DataFrame({"text": self._field("time", lines), "is_number": is_number[self._lines.shape[lines]]})
        usual = pl.when(pl.col("text").str.contains(_USUAL_TIME)).then("text")
        read = usual.str.to_datetime("%Y-%m-%dT%H:%M:%S%.fZ", time_unit="us", strict=False).dt.epoch("us")
        frame = frame.with_columns(time=read)
        others = (
            frame.filter(pl.col("text").is_not_null() & pl.col("time").is_null()).select("text", "is_number").unique()
        )
        if others.is_empty():
            return frame["time"]
        found = [parse_time(decode(text.encode()) if number else text) for text, number in others.iter_rows()]
        told = others.with_columns(other=pl.Series(found, dtype=pl.Int64))
        joined = frame.join(told, on=["text", "is_number"], how="left", maintain_order="left")
        return joined.select(pl.coalesce("time", "other")).to_series()

    def _output(self, lines: Places) -> pl.Series:
        found = self._field("output", lines)
        rows = (found.str.len_chars() > self._kept).arg_true()
        return (
            found.scatter(rows, [bounded(text, self._kept)[0] for text in found.gather(rows)]) if len(rows) else found
        )

    def _argument(self, name: str, lines: Places) -> pl.Series:
        """An argument of events: texts where none has several, else lists of them; null where it is absent."""
        slots = [dict(shape.args).get(name) for shape in self._shapes]
        of = self._lines.shape[lines]
        if all(each is None or len(each) == 1 for each in slots):
            return self._values(lines, of, [each[0] if each else NOTHING for each in slots])
        lists = _nested(*self._several(lines, [each or () for each in slots]))
        has = pl.Series(np.array([each is not None for each in slots])[of])
        return pl.select(pl.when(has).then(lists)).to_series()

    # --- runs ------------------------------------------------------------------------------------------------

    def _runs(self, lines: Places, part: Places, counts: Places, frame: pl.DataFrame) -> pl.DataFrame:
        """The runs that begin on these lines, of so many events."""
        usual = Run("")
        headers = [shape.header or usual for shape in self._shapes]
        of = self._lines.shape[lines]
        known = {name: np.array([getattr(header, name) for header in headers])[of] for name in COUNTS}
        texts = {name: self._field(name, lines) for name in _OF_RUNS}
        timed = frame.select("run", "time").drop_nulls("time")
        first = timed.unique("run", keep="first", maintain_order=True)
        about = self._entries(lines, [shape.about for shape in self._shapes], single=True)
        at = np.concatenate(([0], self._lines.ends + 1))[lines]
        runs = pl.DataFrame({"part": part, "at": at, "events": counts, "about": about, **known, **texts})
        return runs.with_columns(
            pl.col("format").replace("", None).fill_null(usual.format), run=pl.int_range(pl.len(), dtype=pl.Int64)
        ).join(first, on="run", how="left", maintain_order="left")


def _gathered(values: pl.Series, places: Places) -> pl.Series:
    return values[pl.Series(places.astype(np.uint32))]


def _among(values: pl.Series, few: Iterable[str]) -> pl.Series:
    """Which values are one of a few."""
    return reduce(or_, (values == one for one in few))


def _nested(sizes: Places, values: pl.Series) -> pl.Series:
    """Lists of so many of the values each."""
    ends = pa.array(np.concatenate(([0], np.cumsum(sizes))))
    return pl.Series(pa.LargeListArray.from_arrays(ends, values.to_arrow()))


@lru_cache(maxsize=64)
def _usual_ids(bits: int) -> pl.Series:
    """The ids of events that have none of their own, for all indices of so many bits."""
    return pl.select(pl.format("e{}", pl.int_range(1, 2**bits + 1))).to_series()
