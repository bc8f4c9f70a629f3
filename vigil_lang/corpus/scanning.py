"""A scan: what rules say of all runs of a source, batch after batch, and how to work it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import polars as pl

from vigil_lang.corpus.alone import Alone, Found
from vigil_lang.corpus.batch import RUNS, Batch, Needs, Source, Unreadable, gathered
from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.columnar.engine import Compiled, compiled_rule, disordered
from vigil_lang.engines.columnar.facts import ROW, Chunk, Inexact
from vigil_lang.engines.columnar.frames import Frames, TooMany
from vigil_lang.engines.columnar.sql import why_not

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vigil_lang.engines.columnar.plan import Plan
    from vigil_lang.engines.interface import Rule

Engine: TypeAlias = Literal["polars", "duckdb", "spark", "monitor"]
CHUNK_EVENTS: Final = 1_000_000
OFFENCES: Final[dict[str, Any]] = {
    "rule": pl.Int32,
    "run": pl.Int64,
    "index": pl.Int32,
    "event": pl.String,
    "time": pl.Int64,
}
"""An event at fault: by which rule, in which run, where in it, its id and its time."""


def planned(rules: Sequence[Rule], engine: Engine) -> list[Compiled]:
    """Rules with the plans that an engine follows, or with why each run has to be judged by itself."""
    if engine == "monitor":
        return [Compiled(rule, None, "the engine judges each run by itself") for rule in rules]
    found = [compiled_rule(rule) for rule in rules]
    if engine == "polars":
        return found
    return [Compiled(one.rule, None, why) if one.plan and (why := why_not(one.plan)) else one for one in found]


@dataclass
class Scan:
    """What came of a scan: `offences` and `runs` as columns, and for each rule the runs that never put it to the test.

    `unjudged` has the runs about which a rule says nothing, with the reason.
    """

    rules: Sequence[Rule]
    offences: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=OFFENCES))
    runs: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RUNS))
    vacuous: list[set[int]] = field(default_factory=list)
    unjudged: list[tuple[int, int, str]] = field(default_factory=list)
    """Rule, run, why."""
    bad: list[Unreadable] = field(default_factory=list)
    events: int = 0
    interrupted: bool = False


def scan(
    source: Source,
    rules: Sequence[Rule],
    *,
    engine: Engine = "polars",
    jobs: int | None = None,
    memory: str | None = None,
    told: Callable[[int], object] = lambda _: None,
    chunk_events: int = CHUNK_EVENTS,
) -> Scan:
    """Judge all runs of a source; `told` hears how many batches are done. An interrupt ends it with what was done."""
    compiled = planned(rules, engine)
    needs = Needs.of(rule.requirement for rule in rules)
    result = Scan(rules, vacuous=[set() for _ in rules])
    alone = Alone(rules, jobs)
    database: Any = None
    plans = [one.plan for one in compiled if one.plan is not None]
    if engine == "duckdb" and plans:
        from vigil_lang.engines.columnar.database import Database

        database = Database(plans, memory=memory)
    offences: list[pl.DataFrame] = []
    runs: list[pl.DataFrame] = []
    start = 0
    try:
        for count, batch in enumerate(gathered(source.batches(needs), chunk_events), 1):
            job = _Job(batch, compiled, alone, start, result)
            if database is not None:
                offences += job.fed(database)
            else:
                offences += job.worked_out()
            runs.append(batch.runs.with_columns(pl.col("run") + start))
            result.bad += batch.bad
            result.events += batch.frame.height
            start += batch.runs.height
            told(count)
        if database is not None:
            offences += _asked(database, compiled, result)
    except KeyboardInterrupt:
        result.interrupted = True
        if database is not None:
            offences += _asked(database, compiled, result)
    finally:
        alone.close()
        if database is not None:
            database.close()
    result.runs = pl.concat(runs) if runs else result.runs
    result.offences = pl.concat(offences).sort("rule", "run", "index") if offences else result.offences
    return result


class _Job:
    """One batch: each rule by its plan as far as that goes, the rest run by run."""

    def __init__(self, batch: Batch, compiled: Sequence[Compiled], alone: Alone, start: int, result: Scan) -> None:
        self._batch = batch
        self._compiled = compiled
        self._alone = alone
        self._start = start
        self._result = result
        self._chunk = batch.chunk
        wrong = disordered(self._chunk)
        run = batch.frame["run"]
        self._wrong = {order: frozenset(run.gather(rows)) for order, rows in wrong.items()}
        self._all = frozenset(batch.runs["run"])

    def worked_out(self) -> Iterator[pl.DataFrame]:
        """The offences, plans worked out by Polars."""
        frames = Frames(self._chunk)
        wanted: dict[int, frozenset[int] | None] = {}
        for at, one in enumerate(self._compiled):
            try:
                if one.plan is None:
                    wanted[at] = None
                    continue
                out = self._out_of_order(one.plan)
                yield self._planned(frames, at, one.plan, out)
                if out:
                    wanted[at] = out
            except (TooCostly, TooMany, Inexact):
                wanted[at] = None
        yield from self._judged(wanted)

    def fed(self, database: Any) -> Iterator[pl.DataFrame]:
        """The offences of rules without a plan; what the others rest on goes into a database."""
        wanted: dict[int, frozenset[int] | None] = {}
        for at, one in enumerate(self._compiled):
            if one.plan is None:
                wanted[at] = None
            elif out := self._out_of_order(one.plan):
                wanted[at] = out
        frame = self._batch.frame.with_columns(pl.col("run") + self._start)
        try:
            database.add(Chunk(frame, self._batch.args))
        except TooCostly:  # nothing of the batch is in the database: all of it is judged run by run
            wanted = dict.fromkeys(range(len(self._compiled)))
        else:
            database.runs.update(self._shifted(self._all))
            for at, runs in wanted.items():
                database.left_out.setdefault(at, set()).update(self._shifted(runs or frozenset()))
        yield from self._judged(wanted)

    def _shifted(self, runs: frozenset[int]) -> set[int]:
        return {run + self._start for run in runs}

    def _out_of_order(self, plan: Plan) -> frozenset[int]:
        return frozenset().union(*(self._wrong[order] for order in plan.ordered))

    def _planned(self, frames: Frames, at: int, plan: Plan, out: frozenset[int]) -> pl.DataFrame:
        rows = frames.rows(plan.violated).get_column(ROW).unique().sort()
        found = self._offences(at, rows)
        if plan.exercised is not None:
            tested = frames.rows(plan.exercised).get_column(ROW)
            run = self._batch.frame["run"]
            met = set(run.gather(tested).unique()) | set(run.gather(rows).unique())
            self._result.vacuous[at] |= self._shifted(self._all - met - out)
        return found.filter(~pl.col("run").is_in(list(self._shifted(out)))) if out else found

    def _offences(self, at: int, rows: pl.Series) -> pl.DataFrame:
        frame = self._batch.frame
        return (
            frame.select(
                pl.lit(at, pl.Int32).alias("rule"),
                pl.col("run") + self._start,
                "index",
                pl.col("id").alias("event"),
                "time",
            )
            .select(pl.all().gather(rows))
            .cast(OFFENCES)  # type: ignore[arg-type]
        )

    def _judged(self, wanted: Mapping[int, frozenset[int] | None]) -> Iterator[pl.DataFrame]:
        """What is judged run by run."""
        if not wanted:
            return
        first = dict(
            zip(
                *self._batch.frame.with_row_index(ROW).group_by("run").agg(pl.col(ROW).min()).get_columns(), strict=True
            )
        )
        rows: dict[int, list[int]] = {}
        result = self._result
        for one in self._alone.judge(with_args(self._batch), wanted):
            rows.setdefault(one.rule, []).extend(first[one.run] + event for event in one.events)
            _noted(one, self._start, result)
        for at, runs in wanted.items():  # a run without events is in no frame
            empty = self._all - first.keys()
            if result.rules[at].requirement.trigger is not None:
                result.vacuous[at] |= self._shifted(empty if runs is None else empty & runs)
        for at, of in rows.items():
            yield self._offences(at, pl.Series(of, dtype=pl.UInt32))


def _noted(one: Found, start: int, result: Scan) -> None:
    if one.why:
        result.unjudged.append((one.rule, one.run + start, one.why))
    elif not one.exercised:
        result.vacuous[one.rule].add(one.run + start)


def with_args(batch: Batch) -> pl.DataFrame:
    """The events of a batch with their arguments in the frame."""
    if batch.args is None:
        return batch.frame
    found: list[list[dict[str, Any]]] = [[] for _ in range(batch.frame.height)]
    for name, column in batch.args.items():
        for row, value in enumerate(column):
            if value is not None:
                found[row].append({"key": name, "value": [value] if isinstance(value, str) else list(value)})
    from vigil_lang.engines.columnar.events import ARGS

    return batch.frame.with_columns(pl.Series("args", found, dtype=ARGS))


def _asked(database: Any, compiled: Sequence[Compiled], result: Scan) -> Iterator[pl.DataFrame]:
    """What a database says of all that was put into it."""
    for at, one in enumerate(compiled):
        if one.plan is None:
            continue
        out = database.left_out.get(at, set())
        found = database.offences(one.plan).filter(~pl.col("run").is_in(list(out)))
        if one.plan.exercised is not None:
            met = database.tested(one.plan) | set(found["run"])
            result.vacuous[at] |= database.runs - met - out
        yield found.with_columns(pl.lit(at, pl.Int32).alias("rule")).select(list(OFFENCES)).cast(OFFENCES)
