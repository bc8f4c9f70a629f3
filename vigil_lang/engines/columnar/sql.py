"""A plan as SQL: windows, joins and comparisons over truth values, numbers and equal texts.

No test of a text is left to a database. What a plan needs to know of single events is worked out first, by the
functions that all engines share, and lies in tables:

- `events`: `run`, `idx` (the event's place in its run), `id`, `callno`, `grp`, `ts` (microseconds or null), and `f0`,
  `f1`, …, whether it meets each condition;
- `texts`: `run`, `idx`, `field` and `v`, the texts that a field has there, with its views;
- `accepted`: `test` and `v`, the values that a condition of `where` holds of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from vigil_lang.engines.columnar.facts import ROW, TEXT, Facts, accepted_values
from vigil_lang.engines.columnar.listing import condition_text
from vigil_lang.engines.columnar.plan import (
    TRUE,
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
    Plan,
    Relation,
    Selected,
    Some,
    Spread,
    Term,
    Timed,
    Total,
    United,
    ValueMet,
    nodes,
)
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.engines.columnar.facts import Chunk

TYPES: Final = {
    "duckdb": {"integer": "INTEGER", "long": "BIGINT", "text": "VARCHAR", "truth": "BOOLEAN"},
    "postgresql": {"integer": "INTEGER", "long": "BIGINT", "text": 'TEXT COLLATE "C"', "truth": "BOOLEAN"},
    "spark": {"integer": "INT", "long": "BIGINT", "text": "STRING", "truth": "BOOLEAN"},
}
"""The dialects, with the types of the tables' columns in each; the queries are the same."""


def why_not(plan: Plan) -> str | None:
    """Why a plan has no query; None where it has one."""
    for root in (plan.violated, plan.exercised):
        for node in () if root is None else nodes(root):
            match node:
                case Paired():
                    return "a field is compared with a variable by more than equality, which no database is asked to do"
                case ValueMet(variables=names) if len(names) > 1:
                    return "`where` compares two variables, which no database is asked to do"
                case Total():
                    return "it adds up decimal numbers, which no database is asked to do"
    return None


@dataclass(frozen=True)
class Leaves:
    """What several plans need to know of single events, each by its number."""

    conditions: tuple[core.Condition, ...]
    fields: tuple[core.Reads, ...]
    tests: tuple[ValueMet, ...]
    bound: tuple[frozenset[core.Reads], ...]
    """For each test the fields that give its variable a value."""

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> Leaves:
        """The leaves of plans that have queries."""
        conditions: dict[core.Condition, None] = {}
        fields: dict[core.Reads, None] = {}
        tests: dict[ValueMet, set[core.Reads]] = {}
        for plan in plans:
            giving: dict[str, set[core.Reads]] = {}
            own: list[ValueMet] = []
            for root in (plan.violated, plan.exercised):
                for node in () if root is None else nodes(root):
                    match node:
                        case Met(condition):
                            conditions[condition] = None
                        case Carried(field, variable):
                            fields[field] = None
                            giving.setdefault(variable, set()).add(field)
                        case Different(_, field):
                            fields[field] = None
                        case ValueMet():
                            own.append(node)
            for test in own:
                tests.setdefault(test, set()).update(giving.get(test.variables[0], ()))
        return cls(tuple(conditions), tuple(fields), tuple(tests), tuple(map(frozenset, tests.values())))

    def tables(self, chunk: Chunk) -> dict[str, pl.DataFrame]:
        """The tables of a chunk. Raises `TooCostly` as `Facts` does."""
        facts, frame = Facts(chunk), chunk.frame
        place = pl.DataFrame({"run": frame["run"], "idx": frame["index"]})
        flags = {f"f{number}": facts.met(condition) for number, condition in enumerate(self.conditions)}
        events = place.with_columns(id=frame["id"], callno=frame["call"], grp=frame["group"], ts=frame["time"], **flags)
        texts = [pl.DataFrame(schema={"run": pl.Int64, "idx": pl.Int32, "field": pl.Int32, "v": pl.String})]
        for number, field in enumerate(self.fields):
            found = facts.texts(field).unique()
            here = place.select(pl.all().gather(found[ROW]))
            texts.append(here.with_columns(pl.lit(number, pl.Int32).alias("field"), found[TEXT].alias("v")))
        accepted = [pl.DataFrame(schema={"test": pl.Int32, "v": pl.String})]
        for number, (test, fields) in enumerate(zip(self.tests, self.bound, strict=True)):
            name = test.variables[0]
            for field in fields:
                values = facts.texts(field).select(pl.col(TEXT).alias(name)).unique()
                good = values.filter(accepted_values(values, test.condition))[name]
                accepted.append(
                    pl.DataFrame({"test": pl.repeat(number, len(good), dtype=pl.Int32, eager=True), "v": good})
                )
        return {"events": events, "texts": pl.concat(texts), "accepted": pl.concat(accepted).unique()}

    def definitions(self, dialect: str) -> Iterator[str]:
        """The statements that make the tables, each column with what it says."""
        types = TYPES[dialect]
        flags = [
            f"  f{n} {types['truth']} NOT NULL, -- {_told(condition_text(c))}" for n, c in enumerate(self.conditions)
        ]
        place = f"run {types['long']} NOT NULL, idx {types['integer']} NOT NULL"
        lines = [
            "CREATE TABLE events (",
            f"  {place}, id {types['text']} NOT NULL,",
            *flags,
            f"  callno {types['integer']} NOT NULL, grp {types['integer']} NOT NULL, ts {types['long']}",
            ");",
            *(
                f"-- field {number}: {_told(condition_text(core.Has(field)))}"
                for number, field in enumerate(self.fields)
            ),
            f"CREATE TABLE texts ({place}, field {types['integer']} NOT NULL, v {types['text']} NOT NULL);",
            *(f"-- test {number}: {_told(condition_text(test.condition))}" for number, test in enumerate(self.tests)),
            f"CREATE TABLE accepted (test {types['integer']} NOT NULL, v {types['text']} NOT NULL);",
        ]
        yield from lines


def _told(text: str) -> str:
    """A leaf on one line of a comment."""
    return ascii(text)[1:-1][:200]


def violations(plan: Plan, leaves: Leaves) -> str:
    """The query for what breaks a requirement: `run`, `idx`, and `x0`, `x1`, … for its variables in order of name."""
    return _Query(leaves, plan.violated).text()


def tested(plan: Plan, leaves: Leaves) -> str:
    """The query for the runs that put a requirement to the test; they all do where it has no trigger."""
    assert plan.exercised is not None
    return f"SELECT DISTINCT run FROM (\n{_Query(leaves, plan.exercised).text()}\n) AS tested"


class _Query:
    """One query: a chain of named parts."""

    def __init__(self, leaves: Leaves, relation: Relation) -> None:
        self._leaves = leaves
        self._parts: list[tuple[str, str]] = []
        self._known: dict[Relation, str] = {}
        found = {x for node in nodes(relation) for x in getattr(node, "variables", ())}
        self._names = {variable: f"x{number}" for number, variable in enumerate(sorted(found))}
        self._final = self._relation(relation)
        self._columns = ", ".join(["run", "idx", *(self._names[x] for x in sorted(relation.variables))])

    def text(self) -> str:
        chain = ",\n".join(f"{name} AS (\n  {body}\n)" for name, body in self._parts)
        return f"WITH {chain}\nSELECT DISTINCT {self._columns} FROM {self._final}"

    def _part(self, body: str) -> str:
        name = f"p{len(self._parts)}"
        self._parts.append((name, body))
        return name

    def _of(self, variables: Sequence[str], table: str = "") -> str:
        """The columns of variables, each behind a comma."""
        return "".join(f", {table}{self._names[x]}" for x in variables)

    def _relation(self, relation: Relation) -> str:
        """The name of the part with the rows of a relation."""
        found = self._known.get(relation)
        if found is None:
            found = self._known[relation] = self._made(relation)
        return found

    def _made(self, relation: Relation) -> str:
        match relation:
            case Events():
                return self._part("SELECT run, idx FROM events")
            case Carried(field, x, at):
                number = self._leaves.fields.index(field)
                texts = self._part(f"SELECT run, idx, v AS {self._names[x]} FROM texts WHERE field = {number}")
                return texts if at == TRUE else self._selected(texts, (x,), at)
            case Selected(of, where):
                return self._selected(self._relation(of), of.variables, where)
            case Joined(left, right):
                on = self._on([x for x in left.variables if x in right.variables])
                columns = "".join(
                    f", {'a' if x in left.variables else 'b'}.{self._names[x]}" for x in relation.variables
                )
                return self._part(
                    f"SELECT a.run, a.idx{columns} FROM {self._relation(left)} a JOIN {self._relation(right)} b {on}"
                )
            case United(items):
                columns = f"run, idx{self._of(relation.variables)}"
                return self._part(" UNION ".join(f"SELECT {columns} FROM {self._relation(item)}" for item in items))
            case Extended(of, by):
                values = self._part(f"SELECT DISTINCT run{self._of(by.variables)} FROM {self._relation(by)}")
                on = self._on([x for x in of.variables if x in by.variables], event=False)
                columns = "".join(f", {'a' if x in of.variables else 'b'}.{self._names[x]}" for x in relation.variables)
                return self._part(f"SELECT a.run, a.idx{columns} FROM {self._relation(of)} a JOIN {values} b {on}")
            case Spread(at, of, variables):
                values = self._part(f"SELECT DISTINCT run{self._of(variables)} FROM {self._relation(of)}")
                events = self._relation(Selected(Events(), at) if at != TRUE else Events())
                columns = self._of(variables, "b.")
                return self._part(f"SELECT a.run, a.idx{columns} FROM {events} a JOIN {values} b ON a.run = b.run")

    def _on(self, variables: Sequence[str], *, event: bool = True) -> str:
        equal = ["a.run = b.run", *(["a.idx = b.idx"] if event else [])]
        return "ON " + " AND ".join([*equal, *(f"a.{self._names[x]} = b.{self._names[x]}" for x in variables)])

    def _selected(self, rows: str, variables: tuple[str, ...], where: Term) -> str:
        asked = _Asked(self, rows, variables)
        asked.with_own(where)
        condition = asked.condition(where)
        return self._part(f"SELECT run, idx{self._of(variables)} FROM {asked.rows} WHERE {condition}")


class _Asked:
    """Rows of which a term is asked: parts that follow each other, each with one more column."""

    def __init__(self, query: _Query, rows: str, variables: tuple[str, ...]) -> None:
        self._query = query
        self.rows = rows
        self._variables = variables
        self._columns: list[str] = []
        self._places: dict[Place, tuple[str, str]] = {}

    def with_own(self, term: Term) -> None:
        """Give the rows what their events say by themselves, as far as a term needs it."""
        query = self._query
        needed = {"callno", "ts"}
        for node in _own(term):
            if isinstance(node, Met):
                needed.add(f"f{query._leaves.conditions.index(node.condition)}")
        columns = sorted(needed)
        of_events = "".join(f", e.{column}" for column in columns)
        carried = query._of(self._variables, "q.")
        events = "events"
        if any(isinstance(node, AtEnd) for node in _own(term)):
            columns.append("ended")
            of_events += ", e.ended"
            events = "(SELECT *, idx = MAX(idx) OVER (PARTITION BY run) AS ended FROM events)"
        self.rows = query._part(
            f"SELECT q.run, q.idx{carried}{of_events} FROM {self.rows} q "
            f"JOIN {events} e ON q.run = e.run AND q.idx = e.idx"
        )
        self._columns = columns

    def _kept(self, table: str) -> str:
        columns = [*(self._query._names[x] for x in self._variables), *self._columns]
        return "".join(f", {table}{column}" for column in columns)

    def _add(self, column: str, join: str, variables: Sequence[str], value: str, *, event: bool = False) -> None:
        on = " AND ".join(
            [
                "q.run = j.run",
                *(["q.idx = j.idx"] if event else []),
                *(f"q.{self._query._names[x]} = j.{self._query._names[x]}" for x in variables),
            ]
        )
        self.rows = self._query._part(
            f"SELECT q.run, q.idx{self._kept('q.')}, {value} AS {column} FROM {self.rows} q LEFT JOIN {join} j ON {on}"
        )
        self._columns.append(column)

    def condition(self, term: Term) -> str:
        """A term as a condition on the rows, which get columns for it; it is never null."""
        query, new = self._query, f"c{len(self._columns)}"
        match term:
            case Met(condition):
                return f"f{query._leaves.conditions.index(condition)}"
            case ValueMet(variables=(x,)):
                number = query._leaves.tests.index(term)
                return f"{query._names[x]} IN (SELECT v FROM accepted WHERE test = {number})"
            case Timed():
                return "ts IS NOT NULL"
            case AtEnd():
                return "ended"
            case Neg(item):
                return f"NOT {self.condition(item)}"
            case Every(items):
                return f"({' AND '.join(map(self.condition, items)) or 'TRUE'})"
            case Either(items):
                return f"({' OR '.join(map(self.condition, items)) or 'FALSE'})"
            case Among(relation):
                known = f"(SELECT DISTINCT run, idx{query._of(relation.variables)} FROM {query._relation(relation)})"
                self._add(new, known, relation.variables, "j.run IS NOT NULL", event=True)
                return new
            case Some(relation, ahead):
                outermost, compared = ("MAX", ">") if ahead else ("MIN", "<")
                columns = f"run{query._of(relation.variables)}"
                known = f"(SELECT {columns}, {outermost}(idx) AS m FROM {query._relation(relation)} GROUP BY {columns})"
                self._add(new, known, relation.variables, f"COALESCE(j.m {compared} q.idx, FALSE)")
                return new
            case Different(relation, field, count):
                number = query._leaves.fields.index(field)
                columns = f"run{query._of(relation.variables)}"
                of = query._of(relation.variables, "r.")
                first = (
                    f"SELECT r.run{of}, t.v, MIN(r.idx) AS idx FROM {query._relation(relation)} r "
                    f"JOIN texts t ON t.run = r.run AND t.idx = r.idx AND t.field = {number} GROUP BY r.run{of}, t.v"
                )
                order = f"ROW_NUMBER() OVER (PARTITION BY {columns} ORDER BY idx)"
                ranked = f"SELECT {columns}, idx, {order} AS n FROM ({first}) AS f"
                known = f"(SELECT {columns}, idx AS m FROM ({ranked}) AS r WHERE n = {count})"
                self._add(new, known, relation.variables, "COALESCE(j.m <= q.idx, FALSE)")
                return new
            case Near(place, most):
                at, measure = self._place(place)
                here = {"steps": "idx", "calls": "callno", "times": "ts"}[place.unit]
                ahead = isinstance(place, Nearest) and place.ahead
                apart = f"{measure} - {here}" if ahead else f"{here} - {measure}"
                return f"COALESCE({at} IS NOT NULL AND {apart} <= {most}, FALSE)"
            case Before(one, other):
                first, _ = self._place(one)
                second, _ = self._place(other)
                return f"COALESCE({first} < {second}, FALSE)"
            case _:
                raise AssertionError(term)

    def _place(self, place: Place) -> tuple[str, str]:
        """The columns with the `idx` of a place and its measure; the rows get them."""
        found = self._places.get(place)
        if found is not None:
            return found
        query, variables = self._query, place.relation.variables
        unit = {"steps": "idx", "calls": "callno", "times": "ts"}[place.unit]
        own = query._of(variables, "r.")
        known = query._part(
            f"SELECT r.run, r.idx{own}, e.callno, e.ts, e.grp FROM {query._relation(place.relation)} r "
            "JOIN events e ON r.run = e.run AND r.idx = e.idx"
        )
        slice_ = f"run{query._of(variables)}"
        if isinstance(place, Nearest):
            chosen, ahead, far, order = known, place.ahead, place.least or 1, unit if place.least else "idx"
            values = ("idx", unit)
        else:
            chosen, ahead, far, order, values = (
                self._ranked(known, slice_, variables, place.count, unit),
                False,
                0,
                "idx",
                ("m", "u"),
            )
        window = f"{far} FOLLOWING AND UNBOUNDED FOLLOWING" if ahead else f"UNBOUNDED PRECEDING AND {far} PRECEDING"
        if not far:
            window = "UNBOUNDED PRECEDING AND CURRENT ROW"
        at, measure = f"a{len(self._columns)}", f"u{len(self._columns)}"
        names = [query._names[x] for x in variables]
        empty = "".join(
            f", {name}" if name in names else f", NULL AS {name}"
            for name in [*(query._names[x] for x in self._variables), *self._columns]
            if name not in ("callno", "ts")
        )
        mine = "".join(
            f", {name}"
            for name in [*(query._names[x] for x in self._variables), *self._columns]
            if name not in ("callno", "ts")
        )
        both = query._part(
            f"SELECT run, idx{mine}, callno, ts, TRUE AS asked, CAST(NULL AS BIGINT) AS m, CAST(NULL AS BIGINT) AS u "
            f"FROM {self.rows} UNION ALL SELECT run, idx{empty}, callno, ts, FALSE, CAST({values[0]} AS BIGINT), "
            f"CAST({values[1]} AS BIGINT) FROM {chosen}"
        )
        best = "MIN" if ahead else "MAX"
        over = f"OVER (PARTITION BY {slice_} ORDER BY {order} RANGE BETWEEN {window})"
        seen = query._part(
            f"SELECT run, idx{mine}, callno, ts, asked, {best}(m) {over} AS {at}, {best}(u) {over} AS {measure} "
            f"FROM {both}"
        )
        guard = " AND ts IS NOT NULL" if order == "ts" else ""
        at_, measure_ = (f"CASE WHEN ts IS NULL THEN NULL ELSE {c} END AS {c}" if guard else c for c in (at, measure))
        self.rows = query._part(f"SELECT run, idx{mine}, callno, ts, {at_}, {measure_} FROM {seen} WHERE asked")
        self._columns += [at, measure]
        self._places[place] = at, measure
        return at, measure

    def _ranked(self, known: str, slice_: str, variables: Sequence[str], count: int, unit: str) -> str:
        """Rows of a relation with the last event of the `count`-th call back."""
        query = self._query
        if count == 1:
            return query._part(f"SELECT {slice_}, idx, callno, ts, idx AS m, {unit} AS u FROM {known}")
        over = f"OVER (PARTITION BY {slice_} ORDER BY idx)"
        begun = query._part(f"SELECT *, CASE WHEN grp = LAG(grp) {over} THEN 0 ELSE 1 END AS begun FROM {known}")
        numbered = query._part(f"SELECT *, SUM(begun) {over} AS n FROM {begun}")
        calls = query._part(f"SELECT {slice_}, n, MAX(idx) AS m, MAX({unit}) AS u FROM {numbered} GROUP BY {slice_}, n")
        on = " AND ".join(["r.run = k.run", *(f"r.{query._names[x]} = k.{query._names[x]}" for x in variables)])
        return query._part(
            f"SELECT r.run{query._of(variables, 'r.')}, r.idx, r.callno, r.ts, k.m, k.u FROM {numbered} r "
            f"LEFT JOIN {calls} k ON {on} AND k.n = r.n - {count - 1}"
        )


def _own(term: Term) -> Iterator[Term]:
    """A term and those it is made of that speak of the same rows."""
    yield term
    if isinstance(term, Neg | Every | Either):
        for part in term.parts:
            yield from _own(part)  # type: ignore[arg-type]
