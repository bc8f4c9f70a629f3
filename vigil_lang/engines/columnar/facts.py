"""What single events say, over columns: conditions without variables, and the texts that fields carry.

A test of a text is worked out once for each distinct text, by the functions that all engines share.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec.structs import replace

from vigil_lang.engines.functions import compiled
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import as_event, compare
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.semantics.views import MAX_TEXTS, viewed
from vigil_lang.trace import Event
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROW = "row"
TEXT = "text"


@dataclass(frozen=True)
class Chunk:
    """The events of whole runs, run after run, each in its order.

    `frame` has a line an event: `run` (Int64, equal for the events of a run and no others), `call` and `group` (Int32:
    the ordinals of its call as bounds count them, and as counts do), `action` and `status` (String), `kinds`
    (List(String)), `time` (Int64, microseconds or null), `output` (String or null). `args` maps the name of an argument
    to what its events carry: a column like those of the frame, of texts or of lists of texts, null where the argument
    is absent. Without it the frame has `args`, a list of structs `key`, `value`.
    """

    frame: pl.DataFrame
    args: Mapping[str, pl.Series] | None = None

    def __len__(self) -> int:
        return self.frame.height

    @cached_property
    def row(self) -> pl.Series:
        """The place of each event in the chunk."""
        return pl.int_range(len(self), dtype=pl.UInt32, eager=True).alias(ROW)

    @cached_property
    def first(self) -> pl.Series:
        """The place of the first event of each event's run."""
        run, row = self.frame["run"], self.row
        return pl.select(
            pl.when(run.ne_missing(run.shift(1))).then(row).otherwise(None).forward_fill().alias("first")
        ).to_series()

    @cached_property
    def last(self) -> pl.Series:
        """The place of the last event of each event's run."""
        run, row = self.frame["run"], self.row
        return pl.select(
            pl.when(run.ne_missing(run.shift(-1))).then(row).otherwise(None).backward_fill().alias("last")
        ).to_series()

    @cached_property
    def _carried(self) -> pl.DataFrame:
        flat = pl.DataFrame({ROW: self.row, "args": self.frame["args"]}).explode("args").drop_nulls()
        return flat.unnest("args")

    def argument(self, name: str) -> _Column:
        """What the events carry under a name."""
        if self.args is not None:
            found = self.args.get(name)
            return _Column.absent(len(self)) if found is None else _Column.of(found, self.row)
        carried = self._carried.filter(pl.col("key") == name)
        return _Column(
            self.mask(carried[ROW]), None, carried.select(ROW, pl.col("value").alias(TEXT)).explode(TEXT).drop_nulls()
        )

    def mask(self, rows: pl.Series) -> pl.Series:
        """The events at some places, as truth values."""
        return pl.repeat(False, len(self), dtype=pl.Boolean, eager=True).scatter(rows, True)


@dataclass(frozen=True)
class _Column:
    """A field of the events: where it is, and its texts, either one an event or as rows of place and text."""

    has: pl.Series
    single: pl.Series | None
    several: pl.DataFrame | None

    @classmethod
    def absent(cls, length: int) -> _Column:
        return cls(
            pl.repeat(False, length, dtype=pl.Boolean, eager=True),
            None,
            pl.DataFrame(schema={ROW: pl.UInt32, TEXT: pl.String}),
        )

    @classmethod
    def of(cls, column: pl.Series, row: pl.Series) -> _Column:
        if column.dtype == pl.List(pl.String):
            flat = pl.DataFrame({ROW: row, TEXT: column}).explode(TEXT).drop_nulls()
            return cls(column.is_not_null(), None, flat)
        return cls(column.is_not_null(), column, None)

    def rows(self, row: pl.Series) -> pl.DataFrame:
        """Its texts as rows of place and text."""
        if self.several is not None:
            return self.several
        return pl.DataFrame({ROW: row, TEXT: self.single}).drop_nulls()


class Facts:
    """The conditions that the events of a chunk meet, each worked out once.

    Whatever is asked raises `TooCostly` where a text is longer, or gives more texts, than a view looks at.
    """

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self._met: dict[core.Condition, pl.Series] = {}
        self._columns: dict[core.Reads, _Column] = {}
        self._texts: dict[core.Reads, pl.DataFrame] = {}

    def met(self, condition: core.Condition) -> pl.Series:
        """The events that meet a condition without variables, as truth values."""
        found = self._met.get(condition)
        if found is None:
            found = self._met[condition] = self._worked_out(condition)
        return found

    def _worked_out(self, condition: core.Condition) -> pl.Series:
        match condition:
            case core.NotC(body):
                return ~self.met(body)
            case core.AndC(items) | core.OrC(items):
                whole = isinstance(condition, core.AndC)
                if not items:
                    return pl.repeat(whole, len(self.chunk), dtype=pl.Boolean, eager=True)
                found = self.met(items[0])
                for item in items[1:]:
                    found = found & self.met(item) if whole else found | self.met(item)
                return found
            case core.ActionIn(names):
                return self._named(lambda texts: _among(texts, names))
            case core.ActionMatches(matcher):
                return self._named(lambda texts: accepted(texts, predicate(matcher)))
            case core.StatusIs(status):
                return self.chunk.frame["status"] == status
            case core.Has(field) if not field.views:
                return self._column(field).has
            case core.Has(field):
                return self.chunk.mask(self.texts(field)[ROW])
            case _:
                return self._tested(condition.field, test_of(condition))

    def _named(self, test: Callable[[pl.Series], pl.Series]) -> pl.Series:
        frame = self.chunk.frame
        found, kinds = test(frame["action"]), self._kinds
        return found | self.chunk.mask(kinds.filter(test(kinds["kinds"]))[ROW]) if kinds.height else found

    @cached_property
    def _kinds(self) -> pl.DataFrame:
        kinds = self.chunk.frame["kinds"]
        return pl.DataFrame({ROW: self.chunk.row, "kinds": kinds}).filter(kinds.list.len() > 0).explode("kinds")

    def _tested(self, field: core.Reads, test: Callable[[pl.Series], pl.Series]) -> pl.Series:
        if not field.views:
            column = self._column(field)
            if column.single is not None:
                return test(column.single).fill_null(False)
        texts = self.texts(field)
        return self.chunk.mask(texts.filter(test(texts[TEXT]))[ROW])

    def _column(self, field: core.Reads) -> _Column:
        key = core.Reads(field.name, field.output)
        found = self._columns.get(key)
        if found is None:
            chunk = self.chunk
            found = _Column.of(chunk.frame["output"], chunk.row) if field.output else chunk.argument(field.name)
            self._columns[key] = found
        return found

    def texts(self, field: core.Reads) -> pl.DataFrame:
        """The texts that a field has, with its views, as rows of place and text; one may be there more than once."""
        found = self._texts.get(field)
        if found is None:
            if not field.views:
                found = self._column(field).rows(self.chunk.row)
            else:
                inner = self.texts(core.Reads(field.name, field.output, field.views[:-1]))
                found = self._viewed(field.views[-1], inner)
            self._texts[field] = found
        return found

    def carried(self, field: core.Reads, at: pl.Series | None) -> pl.DataFrame:
        """The same at some events (truth values; None for all), each text of an event once."""
        column = None if field.views else self._column(field).single
        if column is not None:
            if at is None:
                return self.texts(field)
            rows = at.arg_true()
            return pl.DataFrame({ROW: rows, TEXT: column.gather(rows)}).drop_nulls()
        texts = self.texts(field)
        return (texts if at is None else texts.filter(at.gather(texts[ROW]))).unique()

    def _viewed(self, view: core.View, texts: pl.DataFrame) -> pl.DataFrame:
        if view.name == "count":  # it has a text where the field has none, too
            counted = texts.group_by(ROW).len()
            every = pl.DataFrame({ROW: self.chunk.row}).join(counted, on=ROW, how="left", maintain_order="left")
            return every.select(ROW, pl.col("len").fill_null(0).cast(pl.String).alias(TEXT))
        distinct = texts[TEXT].unique()
        seen = [viewed((view,), (text,)) for text in distinct]
        views = pl.DataFrame({TEXT: distinct, "seen": pl.Series(seen, dtype=pl.List(pl.String))})
        joined = texts.join(views, on=TEXT, how="left", maintain_order="left")
        found = joined.select(ROW, pl.col("seen").alias(TEXT)).explode(TEXT).drop_nulls()
        for (row,) in found.group_by(ROW).len().filter(pl.col("len") > MAX_TEXTS).select(ROW).iter_rows():
            viewed((view,), tuple(texts.filter(pl.col(ROW) == row)[TEXT]))  # which raises
        return found


def _among(texts: pl.Series, values: frozenset[str]) -> pl.Series:
    """Which texts are in a set; to compare with a single one is faster."""
    return texts == next(iter(values)) if len(values) == 1 else texts.is_in(list(values))


def accepted(texts: pl.Series, accepts: Callable[[str], bool]) -> pl.Series:
    """Which texts a function accepts, asked once for each distinct text; null stays null."""
    distinct = texts.unique().drop_nulls()
    return texts.is_in([text for text in distinct if accepts(text)])


def test_of(test: core.Condition) -> Callable[[pl.Series], pl.Series]:
    """Which of some texts a field has to have one of for a test without variables."""
    match test:
        case core.In(_, values, negated):
            return lambda texts: ~_among(texts, values) if negated else _among(texts, values)
        case core.Matches(_, matcher, negated):
            matches = predicate(matcher)
            return lambda texts: accepted(texts, lambda text: matches(text) != negated)
        case core.Compares(_, operator, limit):
            return lambda texts: accepted(texts, lambda t: (n := number(t)) is not None and compare(n, operator, limit))
        case core.ContainsText(_, part):
            return lambda texts: texts.str.contains(part, literal=True) & bool(part)
        case core.Entry(_, body):
            # One text of the field at a time, so that it is the only one that there is to be an entry.
            check = compiled(core.Entry(core.Reads("entry"), body))
            return lambda texts: accepted(texts, lambda text: check(_entry(text), {}))
        case _:
            raise AssertionError(test)


def _entry(text: str) -> Event:
    return Event("entry", "", "entry", {"entry": (text,)})


def accepted_values(values: pl.DataFrame, condition: core.Condition) -> pl.Series:
    """Which values of variables, a column each, a condition of `where` holds of: asked once for each combination."""
    check: Callable[[Event, Any], bool] = compiled(condition)
    names = values.columns

    def holds(of: tuple[str, ...]) -> bool:
        binding = dict(zip(names, of, strict=True))
        return check(as_event(dict(binding)), binding)

    return _asked(values, holds)


def passes(test: core.Contains | core.ComparesWith | core.Entry, pairs: pl.DataFrame) -> pl.Series:
    """Which texts pass a test beside the values of its variables."""
    variables = list(core.variables_of(test))
    if isinstance(test, core.Contains):
        value = pairs[test.variable]
        held = pairs.select(pl.col(TEXT).str.contains(pl.col(test.variable), literal=True)).to_series()
        return held & (value != "")
    alone = core.Reads("entry")
    check: Callable[[Event, Any], bool] = compiled(replace(test, field=alone))

    def holds(of: tuple[str, ...]) -> bool:
        return check(_entry(of[0]), dict(zip(variables, of[1:], strict=True)))

    return _asked(pairs.select(TEXT, *variables), holds)


def _asked(values: pl.DataFrame, holds: Callable[[tuple[str, ...]], bool]) -> pl.Series:
    distinct = values.unique()
    found = distinct.with_columns(pl.Series("met", [holds(of) for of in distinct.iter_rows()], dtype=pl.Boolean))
    return values.join(found, on=values.columns, how="left", maintain_order="left")["met"]


class Inexact(Exception):
    """Numbers that a column of integers cannot add up exactly."""


def scaled(texts: pl.DataFrame, limit: Decimal) -> tuple[pl.DataFrame, int]:
    """The sum of the positive numbers among the texts of each event, and a limit, as integers of one unit.

    Raises:
        Inexact: there is no unit in which all of them, and their total, are integers of 64 bits.
    """
    distinct = texts[TEXT].unique()
    numbers = [found if (found := number(text)) is not None and found > 0 else Decimal(0) for text in distinct]
    exponents = [n.as_tuple().exponent for n in (*numbers, limit)]
    if any(not isinstance(e, int) or e < -_PLACES or e > _PLACES for e in exponents):
        raise Inexact
    places = max(0, *(-e for e in exponents if isinstance(e, int)))
    units = [int(n.scaleb(places)) for n in numbers]
    if max(units, default=0) * max(texts.height, 1) >= _INTEGERS or limit.scaleb(places) >= _INTEGERS:
        raise Inexact
    values = pl.DataFrame({TEXT: distinct, "amount": pl.Series(units, dtype=pl.Int64)})
    amounts = texts.join(values, on=TEXT).group_by(ROW).agg(pl.col("amount").sum())
    return amounts, int(limit.scaleb(places))


_PLACES = 12
_INTEGERS = 2**62
