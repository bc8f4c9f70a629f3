"""A store scanned by Spark: executors work out what single events say, part by part, and Spark runs the queries.

An executor needs this package, and the store under the same path as here.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from vigil_lang.corpus.alone import judged
from vigil_lang.corpus.batch import Batch, Needs, Unreadable
from vigil_lang.corpus.scanning import OFFENCES, Scan, planned
from vigil_lang.corpus.store import Store
from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.columnar.engine import disordered
from vigil_lang.engines.columnar.events import traces_of
from vigil_lang.engines.columnar.facts import Chunk
from vigil_lang.engines.columnar.sql import Leaves, tested, violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.engines.columnar.engine import Compiled
    from vigil_lang.engines.interface import Rule

_TYPES: Final = {pl.Int64: "BIGINT", pl.Int32: "INT", pl.String: "STRING", pl.Boolean: "BOOLEAN"}
_ALONE: Final = {"run": pl.Int64, "rule": pl.Int32, "index": pl.Int32, "exercised": pl.Boolean, "why": pl.String}


def scan_on_spark(store: Store, rules: Sequence[Rule], master: str) -> Scan:
    """Judge all runs of a store on the cluster whose master is at this URL.

    Raises:
        ModuleNotFoundError: PySpark is not installed.
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    compiled = planned(rules, "spark")
    work = _Work(store.folder, compiled)
    result = Scan(rules, vacuous=[set() for _ in rules])
    parts: list[tuple[int, int]] = []
    runs: list[pl.DataFrame] = []
    start = 0
    for at, (of, bad) in enumerate(store.runs()):
        runs.append(of.with_columns(pl.col("run") + start))
        result.bad += [Unreadable(*one) for one in bad]
        parts.append((at, start))
        start += of.height
    result.runs = pl.concat(runs) if runs else result.runs
    result.events = store.manifest.events
    spark: Any = (
        SparkSession.builder.master(master)
        .appName("vigil scan")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    try:
        asked = spark.createDataFrame(parts or [(0, 0)], "part INT, start BIGINT")
        asked = asked.repartition(max(len(parts), 1), "part") if parts else asked.limit(0)
        for name, schema in work.schemas().items():
            columns = ", ".join(f"{column} {_TYPES[kind]}" for column, kind in schema.items())
            asked.mapInArrow(work.of(name), columns).persist().createOrReplaceTempView(name)
        _collect(spark, compiled, work, result)
    finally:
        spark.stop()
    return result


def _collect(spark: Any, compiled: Sequence[Compiled], work: _Work, result: Scan) -> None:
    """Ask the queries."""
    everything = set(result.runs["run"])
    refused = {row.run for row in spark.sql("SELECT run FROM disorder WHERE kind = 'refused'").collect()}
    out: dict[str, set[int]] = {}
    for row in spark.sql("SELECT kind, run FROM disorder").collect():
        out.setdefault(row.kind, set()).add(row.run)
    offences: list[pl.DataFrame] = []
    for at, one in enumerate(compiled):
        if one.plan is None:
            continue
        left = refused.union(*(out.get(order, set()) for order in one.plan.ordered))
        rows = spark.sql(
            f"SELECT DISTINCT e.run, e.idx, e.id, e.ts FROM ({violations(one.plan, work.leaves)}) AS v "
            "JOIN events e ON v.run = e.run AND v.idx = e.idx"
        ).collect()
        found = [(at, row.run, row.idx, row.id, row.ts) for row in rows if row.run not in left]
        offences.append(pl.DataFrame(found, schema=OFFENCES, orient="row"))
        if one.plan.exercised is not None:
            met = {row.run for row in spark.sql(tested(one.plan, work.leaves)).collect()}
            result.vacuous[at] |= everything - met - {run for _, run, *_ in found} - left
    rows = spark.sql(
        "SELECT a.*, n.id, n.ts FROM alone a LEFT JOIN names n ON a.run = n.run AND a.index = n.idx"
    ).collect()
    offences.append(
        pl.DataFrame(
            [(row.rule, row.run, row["index"], row.id, row.ts) for row in rows if row["index"] is not None],
            schema=OFFENCES,
            orient="row",
        )
    )
    for row in rows:
        if row.why:
            result.unjudged.append((row.rule, row.run, row.why))
        elif not row.exercised:
            result.vacuous[row.rule].add(row.run)
    empty = set(result.runs.filter(pl.col("events") == 0)["run"])
    for at, one in enumerate(compiled):
        if one.plan is None and one.rule.requirement.trigger is not None:
            result.vacuous[at] |= empty
    result.offences = pl.concat(offences).sort("rule", "run", "index")


class _Work:
    """What executors do: the tables of parts."""

    def __init__(self, folder: str, compiled: Sequence[Compiled]) -> None:
        self._folder = folder
        self._compiled = compiled
        self.leaves = Leaves.of([one.plan for one in compiled if one.plan is not None])

    def schemas(self) -> dict[str, Any]:
        """The tables with the types of their columns."""
        empty = Chunk(pl.DataFrame(schema=_empty()))
        tables = {name: dict(table.schema) for name, table in self.leaves.tables(empty).items()}
        names = {"run": pl.Int64, "idx": pl.Int32, "id": pl.String, "ts": pl.Int64}
        return {**tables, "disorder": {"run": pl.Int64, "kind": pl.String}, "alone": _ALONE, "names": names}

    def of(self, name: str) -> Any:
        """What makes one table of the parts that are asked for."""

        def made(batches: Iterable[Any]) -> Iterator[Any]:
            for asked in batches:
                for part, start in zip(asked["part"].to_pylist(), asked["start"].to_pylist(), strict=True):
                    table = self._made(name, part, start)
                    yield from table.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()

        return made

    def _made(self, name: str, part: int, start: int) -> pl.DataFrame:
        needs = Needs.of(one.rule.requirement for one in self._compiled)
        batch = Store(self._folder).part(part, needs)
        frame = batch.frame.with_columns(pl.col("run") + start)
        batch = Batch(frame, batch.runs, batch.bad)
        try:
            tables = self.leaves.tables(batch.chunk)
        except TooCostly:
            tables = None
        if name == "names":
            return frame.select("run", pl.col("index").alias("idx"), "id", pl.col("time").alias("ts"))
        if name == "disorder":
            return self._disorder(frame, refused=tables is None)
        if name == "alone":
            return self._alone(frame, refused=tables is None)
        if tables is None:
            return self.leaves.tables(Chunk(frame.clear()))[name]
        return tables[name]

    def _disorder(self, frame: pl.DataFrame, *, refused: bool) -> pl.DataFrame:
        found = [frame.select("run").unique().with_columns(pl.lit("refused").alias("kind"))] if refused else []
        for order, rows in disordered(Chunk(frame)).items():
            found.append(pl.DataFrame({"run": frame["run"].gather(rows)}).with_columns(pl.lit(order).alias("kind")))
        return pl.concat(found)

    def _alone(self, frame: pl.DataFrame, *, refused: bool) -> pl.DataFrame:
        """What no plan says, run by run: a line for each event at fault, one for a run without any."""
        wrong = {order: set(frame["run"].gather(rows)) for order, rows in disordered(Chunk(frame)).items()}
        rules = [one.rule for one in self._compiled]
        rows: list[tuple[Any, ...]] = []
        for part in frame.partition_by("run", maintain_order=True) if frame.height else ():
            run = part["run"][0]
            chosen = [
                at
                for at, one in enumerate(self._compiled)
                if refused or one.plan is None or any(run in wrong[order] for order in one.plan.ordered)
            ]
            if not chosen:
                continue
            (trace,) = traces_of(part)
            for one in judged([rules[at] for at in chosen], run, trace):
                rows += [(run, chosen[one.rule], event, one.exercised, one.why) for event in one.events or (None,)]
        return pl.DataFrame(rows, schema=_ALONE, orient="row")


def _empty() -> dict[str, Any]:
    from vigil_lang.engines.columnar.events import COLUMNS

    return COLUMNS
