"""Tables of somebody else's as a store: a file says which column holds what (docs/scan.md).

DuckDB reads them, and puts the events of each run in their order; whatever is no text becomes the text that it would be
in a recording, so that a policy says the same of both.
"""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import polars as pl

from vigil_lang.corpus.batch import RUNS, Batch, Needs, lists_of
from vigil_lang.corpus.store import NoStore
from vigil_lang.engines.columnar.events import COLUMNS, ordinals, traces_of
from vigil_lang.trace import Run, Trace
from vigil_lang.trace.values import canonical, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BATCH_EVENTS: Final = 500_000


class Columns(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The columns of what every event has; those that are not named are absent."""

    run: str
    action: str
    order: str | None = None
    """What orders the events of a run; without it they stay as the table has them."""
    id: str | None = None
    call: str | None = None
    kinds: str | None = None
    status: str | None = None
    time: str | None = None
    output: str | None = None


class Declaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A declared store: files, or a table of a DuckDB database, and its columns.

    `args` has the column of each argument, `header` that of each field of a run's header, `status` the words for `ok`
    and `error`.
    """

    columns: Columns
    data: str | None = None
    database: str | None = None
    table: str | None = None
    args: dict[str, str] = {}
    header: dict[str, str] = {}
    status: dict[Literal["ok", "error"], list[str]] = {}


class Declared:
    """A declared store as a source."""

    def __init__(self, path: str) -> None:
        """Raises NoStore where the declaration, or what it names, cannot be read."""
        import duckdb

        self._path = path
        try:
            self._said = msgspec.convert(tomllib.loads(Path(path).read_text(encoding="utf-8")), Declaration)
        except (OSError, UnicodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
            raise NoStore(f"`{path}` declares no store: {error}") from None
        said, folder = self._said, Path(path).parent
        if (said.data is None) == (said.database is None) or (said.database is None) != (said.table is None):
            raise NoStore(f"`{path}` declares no store: it names `data`, or `database` and `table`")
        self._error: Any = duckdb.Error
        try:
            if said.database is not None:
                self._connection: Any = duckdb.connect(str(folder / said.database), read_only=True)
                self._table = _quoted(str(said.table))
            else:
                self._connection = duckdb.connect()
                reader = "read_csv" if str(said.data).lower().endswith((".csv", ".tsv", ".csv.gz")) else "read_parquet"
                self._table = f"{reader}({_literal(str(folder / str(said.data)))})"
            self._connection.execute("SET TimeZone = 'UTC'")
            known = {name for name, *_ in self._connection.execute(f"DESCRIBE SELECT * FROM {self._table}").fetchall()}
        except duckdb.Error as error:
            raise NoStore(f"`{path}`: {str(error).splitlines()[0]}") from None
        for column in self._named():
            if column not in known:
                raise NoStore(f"`{path}`: there is no column `{column}`; there is {', '.join(sorted(known))}")

    def _named(self) -> list[str]:
        own = msgspec.structs.asdict(self._said.columns).values()
        return [c for c in (*own, *self._said.args.values(), *self._said.header.values()) if c is not None]

    def __len__(self) -> int:
        return 0

    def lacks(self, needs: Needs) -> list[str]:
        """What is needed and no column holds."""
        output = ["output"] if needs.output and self._said.columns.output is None else []
        return [*sorted(needs.args - self._said.args.keys()), *output]

    def batches(self, needs: Needs) -> Iterator[Batch]:
        """All runs, by their run column; arguments and outputs that nobody needs are not read."""
        said = self._said
        args = {name: column for name, column in said.args.items() if name in needs.args}
        rest: pl.DataFrame | None = None
        for frame in self._frames(args, output=needs.output, where=""):
            whole = frame if rest is None else pl.concat([rest, frame])
            last = whole["run"][-1]
            rest = whole.filter(pl.col("run").eq_missing(last))
            done = whole.filter(pl.col("run").ne_missing(last))
            if done.height:
                yield self._batch(done, args)
        if rest is not None and rest.height:
            yield self._batch(rest, args)

    def trace(self, run: Mapping[str, Any]) -> Trace:
        """One run, read back."""
        name = str(run["name"])
        column = f"CAST({_quoted(self._said.columns.run)} AS VARCHAR)"
        found = list(self._frames(self._said.args, output=True, where=f" WHERE {column} = {_literal(name)}"))
        batch = self._batch(pl.concat(found), self._said.args)
        from vigil_lang.corpus.scanning import with_args

        return traces_of(with_args(batch), [Run(str(run["path"]), "table", name)])[0]

    def _frames(self, args: Mapping[str, str], *, output: bool, where: str) -> Iterator[pl.DataFrame]:
        """The rows, run by run, each run in order, with a column for each thing that is wanted."""
        said = self._said.columns
        wanted = {"run": f"CAST({_quoted(said.run)} AS VARCHAR)"}
        for name in ("action", "id", "call", "kinds", "status", "time", "output"):
            column = getattr(said, name)
            if column is not None and (name != "output" or output):
                wanted[name] = _quoted(column)
        wanted |= {f"arg.{name}": _quoted(column) for name, column in args.items()}
        wanted |= {f"header.{name}": _quoted(column) for name, column in self._said.header.items()}
        columns = ", ".join(f"{expression} AS {_quoted(name)}" for name, expression in wanted.items())
        query = (
            f"SELECT * EXCLUDE (place, ord) FROM (SELECT {columns}, row_number() OVER () AS place, "
            f"{'NULL' if said.order is None else _quoted(said.order)} AS ord FROM {self._table}{where}) "
            f"ORDER BY run, {'place' if said.order is None else 'ord, place'}"
        )
        try:
            reader = self._connection.sql(query).to_arrow_reader(BATCH_EVENTS)
            for part in reader:
                if part.num_rows:
                    yield pl.DataFrame(pl.from_arrow(part))
        except self._error as error:
            raise NoStore(f"`{self._path}`: {str(error).splitlines()[0]}") from None

    def _batch(self, frame: pl.DataFrame, args: Mapping[str, str]) -> Batch:
        """Whole runs in the engine's columns."""
        if frame["run"].null_count():
            raise NoStore(f"`{self._path}`: an event has no run")
        names = frame["run"].unique(maintain_order=True)
        numbers = frame["run"].replace_strict(names, range(len(names)), return_dtype=pl.Int64)
        index = pl.select(pl.int_range(frame.height, dtype=pl.Int64)).to_series()
        place = pl.DataFrame({"run": numbers, "index": index}).select(
            "run", (pl.col("index") - pl.col("index").min().over("run")).cast(pl.Int32)
        )["index"]
        action = texts(frame["action"]).fill_null("")
        ids = texts(frame["id"]) if "id" in frame else pl.Series([None] * frame.height, dtype=pl.String)
        made = pl.select(pl.format("e{}", place + 1)).to_series()
        ids = ids.fill_null(made) if ids.null_count() else ids
        call = texts(frame["call"]).fill_null(ids) if "call" in frame else ids
        by_call, by_group = ordinals(numbers, call, action, alone="call" not in frame)
        kinds = frame["kinds"] if "kinds" in frame else pl.Series([[]] * frame.height, dtype=pl.List(pl.String))
        done = pl.DataFrame(
            {
                "run": numbers,
                "index": place,
                "call": by_call,
                "group": by_group,
                "id": ids,
                "of": pl.select(pl.when(call != ids).then(call)).to_series(),
                "action": action,
                "kinds": _lists(kinds).fill_null([]),
                "status": self._status(frame["status"]) if "status" in frame else ["unknown"] * frame.height,
                "time": times(frame["time"]) if "time" in frame else [None] * frame.height,
                "output": texts(frame["output"]) if "output" in frame else [None] * frame.height,
                "args": [None] * frame.height,
            },
            schema=COLUMNS,
        )
        columns = {name: _argument(frame[f"arg.{name}"]) for name in args}
        return Batch(done, self._runs(frame, names, done), (), columns)

    def _runs(self, frame: pl.DataFrame, names: pl.Series, done: pl.DataFrame) -> pl.DataFrame:
        by = done.group_by("run", maintain_order=True).agg(
            pl.len().alias("events"), pl.col("time").drop_nulls().first()
        )
        fields = {name: texts(frame[f"header.{name}"]) for name in self._said.header}
        first = done.with_row_index("row").group_by("run", maintain_order=True).agg(pl.col("row").first())["row"]
        about = [
            [{"key": name, "value": column[row]} for name, column in fields.items() if column[row] is not None]
            for row in first
        ]
        return pl.DataFrame(
            {
                "run": by["run"],
                "path": [f"{self._path}#{name}" for name in names],
                "name": names,
                "format": ["table"] * len(names),
                "source": [None] * len(names),
                "cwd": [None] * len(names),
                "events": by["events"],
                "time": by["time"],
                "about": about,
            },
            schema=RUNS,
        )

    def _status(self, column: pl.Series) -> pl.Series:
        words = {word: status for status, of in self._said.status.items() for word in of}
        words = {"ok": "ok", "error": "error", **words}
        return texts(column).replace_strict(
            list(words), list(words.values()), default="unknown", return_dtype=pl.String
        )


def texts(column: pl.Series) -> pl.Series:
    """Scalars as the texts they would be in a recording; null where there is none. Asked once for each distinct value.

    Raises:
        NoStore: the values have no such text.
    """
    if column.dtype == pl.String:
        return column
    if column.dtype.is_integer():
        return column.cast(pl.String)
    if column.dtype == pl.Boolean:
        return column.replace_strict([True, False], ["true", "false"], default=None, return_dtype=pl.String)
    if column.dtype == pl.Null:
        return column.cast(pl.String)
    distinct = column.unique().drop_nulls()
    found = [_text(value) for value in distinct]
    return column.replace_strict(distinct, pl.Series(found, dtype=pl.String), default=None, return_dtype=pl.String)


def _text(value: object) -> str | None:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, float | Decimal):
        try:
            return canonical(value)
        except ValueError:  # not a number, or infinite: no JSON has it
            return None
    raise NoStore(f"a column of {type(value).__name__} values has no texts")


def _lists(column: pl.Series) -> pl.Series:
    """Lists of scalars as lists of texts; a scalar as a list of it."""
    if column.dtype == pl.List(pl.String):
        return column
    if not isinstance(column.dtype, pl.List):
        return lists_of(texts(column))
    flat = pl.DataFrame({"row": range(len(column)), "value": column}).explode("value")
    flat = flat.select("row", texts(flat["value"]).alias("value"))
    found = flat.group_by("row", maintain_order=True).agg(pl.col("value").drop_nulls())["value"]
    return pl.select(pl.when(column.is_not_null()).then(found)).to_series()


def _argument(column: pl.Series) -> pl.Series:
    return _lists(column) if isinstance(column.dtype, pl.List) else texts(column)


def times(column: pl.Series) -> pl.Series:
    """Times in microseconds since 1970 (UTC); of numbers, seconds; of texts, ISO 8601; null where it is none."""
    if isinstance(column.dtype, pl.Datetime):
        return column.dt.epoch("us")
    distinct = column.unique().drop_nulls()
    found = [parse_time(value) for value in distinct]
    return column.replace_strict(distinct, pl.Series(found, dtype=pl.Int64), default=None, return_dtype=pl.Int64)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
