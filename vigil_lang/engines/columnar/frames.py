"""A plan worked out by Polars over a chunk: places are row numbers, a run's those from its first to its last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from vigil_lang.engines.columnar.facts import ROW, TEXT, Facts, accepted_values, passes, scaled
from vigil_lang.engines.columnar.plan import (
    Among,
    AtEnd,
    Before,
    Carried,
    Different,
    Either,
    Events,
    Every,
    Extended,
    Joined,
    Met,
    Near,
    Nearest,
    Neg,
    Paired,
    Place,
    Ranked,
    Relation,
    Selected,
    Some,
    Spread,
    Term,
    Timed,
    Total,
    United,
    ValueMet,
)
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from vigil_lang.engines.columnar.facts import Chunk

_PLACE = "place"


class Frames:
    """The relations and terms of plans over one chunk, each worked out once."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.facts = Facts(chunk)
        self._masks: dict[Term | Relation, pl.Series] = {}
        self._rows: dict[Relation, pl.DataFrame] = {}
        self._places: dict[Place, pl.Series] = {}

    def rows(self, relation: Relation) -> pl.DataFrame:
        """The rows of a relation, each once: the event's place in the chunk, and the variables' values."""
        found = self._rows.get(relation)
        if found is None:
            found = self._rows[relation] = self._worked_out(relation)
        return found

    def _worked_out(self, relation: Relation) -> pl.DataFrame:
        if not relation.variables:
            return pl.DataFrame({ROW: self.mask(relation).arg_true()})
        match relation:
            case Carried(field, variable, at):
                here = None if at == Every(()) else self._ground(at)
                return self.facts.carried(field, here).rename({TEXT: variable})
            case Selected(of, where):
                rows = self.rows(of)
                return rows.filter(self.holds(where, rows))
            case Joined(left, right):
                one, other = self.rows(left), self.rows(right)
                return one.join(other, on=[ROW, *(x for x in left.variables if x in right.variables)])
            case United(items):
                order = [ROW, *relation.variables]
                return pl.concat([self.rows(item).select(order) for item in items]).unique()
            case Extended(of, by):
                one, other = self._with_run(self.rows(of)), self._with_run(self.rows(by))
                shared = ["first", *(x for x in of.variables if x in by.variables)]
                values = other.select("first", *by.variables).unique()
                check_size(one, values, shared)
                return one.join(values, on=shared).drop("first")
            case Spread(at, of, variables):
                values = self._with_run(self.rows(of)).select("first", *variables).unique()
                events = self._with_run(pl.DataFrame({ROW: self._ground(at).arg_true()}))
                check_size(events, values, ["first"])
                return events.join(values, on="first").drop("first")
            case _:
                raise AssertionError(relation)

    def mask(self, relation: Relation) -> pl.Series:
        """The events of a relation without variables, as truth values."""
        found = self._masks.get(relation)
        if found is None:
            match relation:
                case Events():
                    found = self._all(True)
                case Selected(of, where):
                    found = self._ground(where) if of == Events() else self.mask(of) & self._ground(where)
                case United(items):
                    found = self._all(False)
                    for item in items:
                        found = found | self.mask(item)
                case _:
                    raise AssertionError(relation)
            self._masks[relation] = found
        return found

    def _all(self, value: bool) -> pl.Series:
        return pl.repeat(value, len(self.chunk), dtype=pl.Boolean, eager=True)

    # --- terms -----------------------------------------------------------------------------------------------------

    def _ground(self, term: Term) -> pl.Series:
        """A term without variables at every event."""
        found = self._masks.get(term)
        if found is None:
            found = self._masks[term] = self._term(term, None)
        return found

    def holds(self, term: Term, rows: pl.DataFrame) -> pl.Series:
        """A term at some rows."""
        if not term.variables:
            return self._ground(term).gather(rows[ROW])
        return self._term(term, rows)

    def _term(self, term: Term, rows: pl.DataFrame | None) -> pl.Series:
        """`rows` is None where every event is asked about."""

        def inner(item: Term) -> pl.Series:
            return self._ground(item) if rows is None else self.holds(item, rows)

        match term:
            case Met(condition):
                return self.facts.met(condition)
            case ValueMet(condition):
                assert rows is not None
                return accepted_values(rows.select(term.variables), condition)
            case Paired(test):
                assert rows is not None
                return self._paired(test, rows)
            case Total():
                return self._total(term, pl.DataFrame({ROW: self.chunk.row}) if rows is None else rows)
            case Different(relation, field, count):
                return self._different(relation, field, count, rows)
            case Timed():
                return self.chunk.frame["time"].is_not_null()
            case AtEnd():
                return self.chunk.row == self.chunk.last
            case Neg(item):
                return ~inner(item)
            case Every(items) | Either(items):
                whole = isinstance(term, Every)
                found = (
                    self._all(whole) if rows is None else pl.repeat(whole, rows.height, dtype=pl.Boolean, eager=True)
                )
                for item in items:
                    found = found & inner(item) if whole else found | inner(item)
                return found
            case Among(relation):
                assert rows is not None
                known = self.rows(relation).with_columns(pl.lit(True).alias(_PLACE))
                joined = rows.join(known, on=[ROW, *relation.variables], how="left", maintain_order="left")
                return joined[_PLACE].fill_null(False)
            case Some(relation, ahead):
                return self._some(relation, rows, ahead=ahead)
            case Near(place, most):
                return self._near(place, most, rows)
            case Before(first, second):
                return (self.place(first, rows) < self.place(second, rows)).fill_null(False)

    def _some(self, relation: Relation, rows: pl.DataFrame | None, *, ahead: bool) -> pl.Series:
        if not relation.variables:
            found = self._place(Nearest(relation, ahead)).is_not_null()
            return found if rows is None else found.gather(rows[ROW])
        assert rows is not None
        by = ["first", *relation.variables]
        place = pl.col(ROW).max() if ahead else pl.col(ROW).min()
        outermost = self._with_run(self.rows(relation)).group_by(by).agg(place.alias(_PLACE))
        found = self._with_run(rows).join(outermost, on=by, how="left", maintain_order="left")[_PLACE]
        return (found > rows[ROW] if ahead else found < rows[ROW]).fill_null(False)

    def _near(self, place: Place, most: int, rows: pl.DataFrame | None) -> pl.Series:
        found = self.place(place, rows)
        measure = self._measure(place.unit)
        there = measure.gather(found)
        here = measure if rows is None else measure.gather(rows[ROW])
        return ((here - there).abs() <= most).fill_null(False)

    def _measure(self, unit: str) -> pl.Series:
        if unit == "steps":
            return self.chunk.row.cast(pl.Int64)
        return self.chunk.frame["call" if unit == "calls" else "time"].cast(pl.Int64)

    def _paired(self, test: core.Contains | core.ComparesWith | core.Entry, rows: pl.DataFrame) -> pl.Series:
        """A test of a field's texts beside the row's values, asked once for each distinct text and values."""
        variables = list(core.variables_of(test))
        asked = rows.select(ROW, *variables).with_columns(pl.int_range(pl.len(), dtype=pl.UInt32).alias("asked"))
        texts = self.facts.texts(test.field)
        check_size(asked, texts, [ROW])
        pairs = asked.join(texts, on=ROW)
        met = pairs.filter(passes(test, pairs))["asked"]
        return pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True).scatter(met, True)

    def _total(self, term: Total, rows: pl.DataFrame) -> pl.Series:
        """Running totals, each less what it had come to when the window, or what is after the last reset, began."""
        amounts, limit = scaled(self.facts.texts(term.field), term.limit)
        by = ["first", *term.relation.variables]
        known = self._with_run(self.rows(term.relation)).join(amounts, on=ROW).sort(*by, ROW)
        known = known.with_columns(pl.col("amount").cum_sum().over(by).alias(_PLACE))
        here = self._measure("steps").gather(rows[ROW])
        whole = self._asof(known, "steps", by, rows, here).fill_null(0)
        before = pl.repeat(0, rows.height, dtype=pl.Int64, eager=True)
        if term.most < core.FAR:
            start = self._measure(term.unit).gather(rows[ROW]) - (term.most + 1)
            before = greater(before, self._asof(known, term.unit, by, rows, start))
            if term.unit == "times":  # at an event without a time nothing is within a bound
                whole = pl.select(pl.when(start.is_not_null()).then(whole).otherwise(0)).to_series()
        for reset in term.resets:
            place = self.place(Nearest(reset, False), rows).cast(pl.Int64)
            before = greater(before, self._asof(known, "steps", by, rows, place))
        return whole - before > limit

    def _different(self, relation: Relation, field: core.Reads, count: int, rows: pl.DataFrame | None) -> pl.Series:
        """Whether the event at which the `count`-th new text turned up is here or earlier."""
        by = ["first", *relation.variables]
        known = self._with_run(self.rows(relation)).join(self.facts.texts(field).rename({TEXT: "different"}), on=ROW)
        new = known.group_by(*by, "different").agg(pl.col(ROW).min()).sort(ROW)
        reached = new.group_by(by).agg(pl.col(ROW).get(count - 1, null_on_oob=True).alias(_PLACE))
        asked = self._with_run(pl.DataFrame({ROW: self.chunk.row}) if rows is None else rows)
        found = asked.join(reached, on=by, how="left", maintain_order="left")
        return (found[_PLACE] <= found[ROW]).fill_null(False)

    # --- places ----------------------------------------------------------------------------------------------------

    def place(self, place: Place, rows: pl.DataFrame | None) -> pl.Series:
        """The row of a place for some rows, null where there is none."""
        if not place.variables:
            found = self._place(place)
            return found if rows is None else found.gather(rows[ROW])
        assert rows is not None
        return self._looked_up(place, rows)

    def _place(self, place: Place) -> pl.Series:
        """A place without variables, for every event."""
        found = self._places.get(place)
        if found is None:
            if isinstance(place, Nearest) and not place.least:
                found = self._filled(self.mask(place.relation), ahead=place.ahead)
            else:
                found = self._looked_up(place, pl.DataFrame({ROW: self.chunk.row}))
            self._places[place] = found
        return found

    def _filled(self, mask: pl.Series, *, ahead: bool) -> pl.Series:
        """The nearest event strictly on one side: places are carried along, and those of another run dropped."""
        chunk = self.chunk
        here = pl.when(mask).then(chunk.row).otherwise(None)
        carried = here.shift(-1).backward_fill() if ahead else here.shift(1).forward_fill()
        filled = pl.select(carried.alias(_PLACE)).to_series()
        within = filled <= chunk.last if ahead else filled >= chunk.first
        return pl.select(pl.when(within).then(filled).otherwise(None).alias(_PLACE)).to_series()

    def _looked_up(self, place: Place, rows: pl.DataFrame) -> pl.Series:
        """The nearest row of the same run and values, in the order of the place's unit."""
        by = ["first", *place.variables]
        if isinstance(place, Ranked):
            known = self._ranked(self.rows(place.relation), place.count, by)
            return self._asof(known, "steps", by, rows, self._measure("steps").gather(rows[ROW]))
        ahead, least = place.ahead, place.least
        known = self._with_run(self.rows(place.relation)).with_columns(pl.col(ROW).alias(_PLACE))
        unit = place.unit if least else "steps"
        key = self._measure(unit).gather(rows[ROW]) + (least if ahead else -least)
        return self._asof(known, unit, by, rows, key, ahead=ahead, strict=not least)

    def _asof(
        self,
        known: pl.DataFrame,
        unit: str,
        by: list[str],
        rows: pl.DataFrame,
        key: pl.Series,
        *,
        ahead: bool = False,
        strict: bool = False,
    ) -> pl.Series:
        """For each of some rows what the nearest of others has as its place: the last that comes, in a unit, no later
        than the row's key (or the first no earlier); null where the key is null or there is none.

        Those that have no measure are passed over.
        """
        known = known.with_columns(self._measure(unit).gather(known[ROW]).alias("key")).drop_nulls("key")
        known = known.sort("key", ROW)
        if ahead:  # of equal keys the first is nearest
            known = known.unique(subset=[*by, "key"], keep="first", maintain_order=True)
        asked = self._with_run(rows).with_columns(
            key.alias("key"), pl.int_range(rows.height, dtype=pl.UInt32, eager=True).alias("asked")
        )
        nowhere = asked.filter(pl.col("key").is_null()).select("asked", pl.lit(None, known[_PLACE].dtype).alias(_PLACE))
        found = (
            asked.drop_nulls("key")
            .sort("key")
            .join_asof(
                known.select("key", _PLACE, *by),
                on="key",
                by=by,
                strategy="forward" if ahead else "backward",
                allow_exact_matches=not strict,
                check_sortedness=False,
            )
        )
        return pl.concat([found.select("asked", _PLACE), nowhere]).sort("asked")[_PLACE]

    def _ranked(self, rows: pl.DataFrame, count: int, by: list[str]) -> pl.DataFrame:
        """Rows of a relation with the place of the last event, so far, of the `count`-th call back."""
        known = self._with_run(rows).sort(*by, ROW)
        if count == 1:
            return known.with_columns(pl.col(ROW).alias(_PLACE))
        group = self.chunk.frame["group"].gather(known[ROW])
        known = known.with_columns(group.alias("group"))
        slice_ = [pl.col(x).ne_missing(pl.col(x).shift(1)) for x in by]
        known = known.with_columns(
            pl.any_horizontal(*slice_, pl.col("group") != pl.col("group").shift(1))
            .fill_null(True)
            .cum_sum()
            .alias("number")
        )
        calls = known.group_by("number", maintain_order=True).agg(pl.col(ROW).last(), *(pl.col(x).first() for x in by))
        earlier = [pl.col(x).eq_missing(pl.col(x).shift(count - 1)) for x in by]
        calls = calls.with_columns(
            pl.when(pl.all_horizontal(*earlier)).then(pl.col(ROW).shift(count - 1)).alias(_PLACE)
        )
        return known.join(calls.select("number", _PLACE), on="number", how="left", maintain_order="left")

    def _with_run(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns(self.chunk.first.gather(rows[ROW]).alias("first"))


class TooMany(Exception):
    """Values and events of a run would have to be crossed so often that each run is better judged by itself."""


MAX_CROSSED = 20_000_000
"""Rows that a chunk may come to where what a body says is tried for each value."""


def check_size(one: pl.DataFrame, other: pl.DataFrame, by: list[str]) -> None:
    """See that a join does not come to more rows than there is room for.

    Raises:
        TooMany: it would.
    """
    if one.height * other.height <= MAX_CROSSED:
        return
    counts = one.group_by(by).len().join(other.group_by(by).len("other"), on=by)
    size = counts.select((pl.col("len").cast(pl.Int64) * pl.col("other").cast(pl.Int64)).sum()).item()
    if size > MAX_CROSSED:
        raise TooMany


def greater(one: pl.Series, other: pl.Series) -> pl.Series:
    """The greater number in each place; a missing one is less than any."""
    return pl.select(pl.max_horizontal(one, other.cast(pl.Int64).fill_null(0)).alias(_PLACE)).to_series()
