"""How fast plans are, beside queries written by hand for Polars and DuckDB, in the same run on the same events.

`python tests/bench_scan.py --events 10000000` (`make bench`). Seven properties over generated events in columns; every
answer is compared. Then recordings, from JSON Lines to the verdict, beside what merely reads the same lines. Where a
machine does other work, too, the seconds of processors tell more than those of the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl

from vigil_lang.corpus.batch import Needs
from vigil_lang.corpus.parts import Slow
from vigil_lang.corpus.reading import Reading
from vigil_lang.corpus.recordings import Recordings, slowly
from vigil_lang.corpus.scanning import scan
from vigil_lang.corpus.store import Store, make_store
from vigil_lang.diagnostics import Source
from vigil_lang.engines.columnar.engine import compiled_rule
from vigil_lang.engines.columnar.facts import ROW, Chunk
from vigil_lang.engines.columnar.frames import Frames
from vigil_lang.engines.interface import Rule
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = """policy bench
statement absent: abs(drop())
statement failed: abs(write() and status = error)
statement before: prec(deploy(), approve())
statement same_file: prec(write(path = x), read(path = x))
statement answered: resp(open(), close())
statement soon: bresp[3 steps](ask(), answer())
statement frozen: until(freeze(), thaw(), write())
"""
ACTIONS = (
    *("read",) * 6,
    *("write",) * 3,
    *("open",) * 2,
    "close",
    "ask",
    "answer",
    "approve",
    "deploy",
    "freeze",
    "thaw",
    "list",
    "drop",
)
CHUNK = 2_000_000
WRITTEN = 100_000


def events(count: int, start: int) -> pl.DataFrame:
    """Generated events: runs of fifty, paths of which each run has a few."""
    row = pl.int_range(start, start + count, dtype=pl.Int64, eager=True).alias("n")
    mixed = pl.DataFrame({"n": row}).with_columns(m=pl.col("n").hash(seed=3))
    return mixed.select(
        run=pl.col("n") // 50,
        index=(pl.col("n") % 50).cast(pl.Int32),
        action=pl.Series(list(ACTIONS)).gather((mixed["m"] % len(ACTIONS)).cast(pl.UInt32)),
        status=pl.when(pl.col("m") // 64 % 50 == 0).then(pl.lit("error")).otherwise(pl.lit("ok")),
        path=pl.format("/src/{}.py", pl.col("m") // 4096 % 12),
    )


def chunk_of(frame: pl.DataFrame) -> Chunk:
    """The same for the engine."""
    return Chunk(
        frame.select("run", "index", "action", "status").with_columns(
            pl.col("index").alias("call"),
            pl.col("index").alias("group"),
            pl.lit(None, pl.Int64).alias("time"),
            pl.lit(None, pl.String).alias("output"),
            pl.lit([], pl.List(pl.String)).alias("kinds"),
        ),
        {"path": frame["path"]},
    )


def by_plan(frame: pl.DataFrame, rules: list[Any]) -> list[int]:
    frames = Frames(chunk_of(frame))
    return [frames.rows(one.plan.violated).get_column(ROW).n_unique() for one in rules]


def by_hand(frame: pl.DataFrame) -> list[int]:
    """What somebody who knows Polars well writes for these properties: sorted once, filled, no window by run."""
    e = frame.with_row_index("row")
    action = pl.col("action")
    first = pl.when(pl.col("run") != pl.col("run").shift(1).fill_null(-1)).then("row").forward_fill()
    last = pl.when(pl.col("run") != pl.col("run").shift(-1).fill_null(-1)).then("row").backward_fill()

    def earlier(name: str) -> pl.Expr:
        return pl.when(action == name).then("row").shift(1).forward_fill()

    def later(name: str) -> pl.Expr:
        return pl.when(action == name).then("row").shift(-1).backward_fill()

    e = e.with_columns(first=first, last=last)
    near = pl.when(later("answer") <= pl.col("last")).then(later("answer"))
    bad, thaw = later("write"), later("thaw")
    counts = e.select(
        absent=(action == "drop").sum(),
        failed=((action == "write") & (pl.col("status") == "error")).sum(),
        before=((action == "deploy") & ~(earlier("approve") >= pl.col("first")).fill_null(False)).sum(),
        answered=((action == "open") & ~(later("close") <= pl.col("last")).fill_null(False)).sum(),
        soon=((action == "ask") & ~(near - pl.col("row") <= 3).fill_null(False)).sum(),
        frozen=((action == "freeze") & (bad <= pl.col("last")).fill_null(False) & ~(thaw < bad).fill_null(False)).sum(),
    ).row(0, named=True)
    reads = e.filter(action == "read").group_by("run", "path").agg(pl.col("row").min().alias("read"))
    writes = e.filter(action == "write").join(reads, on=["run", "path"], how="left")
    same = writes.select((pl.col("read").is_null() | (pl.col("read") > pl.col("row"))).sum()).item()
    order = ("absent", "failed", "before", "same_file", "answered", "soon", "frozen")
    return [{**counts, "same_file": same}[name] for name in order]


SQL = """
WITH w AS (SELECT run, index, action, status, path,
  max(CASE WHEN action = 'approve' THEN index END) OVER (p ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS approve,
  min(CASE WHEN action = 'close' THEN index END) OVER (p ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS close,
  min(CASE WHEN action = 'answer' THEN index END) OVER (p ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS answer,
  min(CASE WHEN action = 'write' THEN index END) OVER (p ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS bad,
  min(CASE WHEN action = 'thaw' THEN index END) OVER (p ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS thaw
  FROM frame WINDOW p AS (PARTITION BY run ORDER BY index)),
r AS (SELECT run, path, min(index) AS read FROM frame WHERE action = 'read' GROUP BY run, path)
SELECT count(*) FILTER (action = 'drop'), count(*) FILTER (action = 'write' AND status = 'error'),
  count(*) FILTER (action = 'deploy' AND approve IS NULL),
  (SELECT count(*) FROM frame f LEFT JOIN r ON f.run = r.run AND f.path = r.path
   WHERE f.action = 'write' AND (read IS NULL OR read > index)),
  count(*) FILTER (action = 'open' AND close IS NULL),
  count(*) FILTER (action = 'ask' AND (answer IS NULL OR answer - index > 3)),
  count(*) FILTER (action = 'freeze' AND bad IS NOT NULL AND (thaw IS NULL OR thaw >= bad))
FROM w
"""


def by_sql(frame: pl.DataFrame) -> list[int]:
    with duckdb.connect() as connection:
        connection.register("frame", frame.to_arrow())
        found = connection.execute(SQL).fetchone()
    assert found is not None
    return list(found)


def columns(count: int, with_sql: bool) -> None:
    """Chunk after chunk, each judged by all: only the sum of the times counts, so that all meet the same noise."""
    policy = read_policy(Source("bench.vgl", POLICY))
    rules: list[Any] = [compiled_rule(Rule(s.name, s.requirement)) for s in policy.statements]
    ways: dict[str, Callable[[pl.DataFrame], list[int]]] = {
        "Polars by hand": by_hand,
        "plans": lambda frame: by_plan(frame, rules),
    }
    if with_sql:
        ways["DuckDB by hand"] = by_sql
    seconds, worked = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    for start in range(0, count, CHUNK):
        frame = events(min(CHUNK, count - start), start)
        expected = by_hand(frame)
        for way, work in ways.items():
            begun, before = time.perf_counter(), processors()
            assert work(frame) == expected, way
            seconds[way] += time.perf_counter() - begun
            worked[way] += processors() - before
    print(f"{count:,} events × {len(rules)} properties, in columns")
    for way in ways:
        line(way, count, seconds[way], worked[way])
    print(f"  peak memory {peak():,.0f} MB, with generating and comparing")


def line(what: str, count: int, seconds: float, worked: float) -> None:
    rate = count / seconds / 1e6
    print(f"  {what:<22} {seconds:>8.2f} s {rate:>6.2f} M events/s {worked:>8.2f} s of processors", flush=True)


def written(folder: Path, count: int) -> list[str]:
    """Generated events as traces, two thousand runs a file."""
    paths = []
    for start in range(0, count, WRITTEN):
        frame = events(min(WRITTEN, count - start), start)
        begins = pl.lit('{"vigil_trace":1,"run":"r') + pl.col("run").cast(pl.String) + pl.lit('"}\n')
        lines = frame.select(
            pl.when(pl.col("index") == 0).then(begins).otherwise(pl.lit(""))
            + pl.lit('{"action":"')
            + pl.col("action")
            + pl.lit('","args":{"path":"')
            + pl.col("path")
            + pl.lit('"},"status":"')
            + pl.col("status")
            + pl.lit('"}\n')
        ).to_series()
        path = folder / f"{start // WRITTEN:05}.jsonl"
        path.write_text("".join(lines))
        paths.append(str(path))
    return paths


PEER_COLUMNS = {"vigil_trace": "BIGINT", "run": "VARCHAR", "action": "VARCHAR", "args": "STRUCT(path VARCHAR)"}


def read_by_duckdb(paths: list[str]) -> int:
    """The same lines, merely read into typed columns, whose names it is told."""
    with duckdb.connect() as connection:
        columns = ", ".join(f"{name}: '{kind}'" for name, kind in {**PEER_COLUMNS, "status": "VARCHAR"}.items())
        query = (
            "SELECT count(action), max(args.path), max(status), max(run) "
            f"FROM read_json({paths!r}, format = 'newline_delimited', columns = {{{columns}}})"
        )
        found = connection.execute(query).fetchone()
    assert found is not None
    return int(found[0])


def read_by_polars(paths: list[str]) -> int:
    schema = {"vigil_trace": pl.Int64, "run": pl.String, "action": pl.String, "args": pl.Struct({"path": pl.String})}
    lines = pl.scan_ndjson(paths, schema=pl.Schema({**schema, "status": pl.String}))
    found = lines.select(pl.col("action").count(), pl.col("args").struct["path"].max(), pl.col("status").max())
    return int(found.collect()["action"][0])


def read_by_vigil(paths: list[str], needs: Needs) -> int:
    return sum(batch.frame.height for batch in Recordings(paths, Reading()).batches(needs))


def read_singly(paths: list[str]) -> int:
    """Event by event, as all other formats are read."""
    return slowly([Slow(path) for path in paths], Reading()).frame.height


def recordings(count: int, singly: int) -> None:
    """From JSON Lines to the verdict, beside others that merely read the same lines; and by way of a store."""
    policy = read_policy(Source("bench.vgl", POLICY))
    rules = [Rule(s.name, s.requirement) for s in policy.statements]
    needs = Needs.of(rule.requirement for rule in rules)
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), count)
        size = sum(Path(path).stat().st_size for path in paths)
        print(f"{count:,} events × {len(rules)} properties, from {size / 1e6:,.0f} MB of JSON Lines")
        told("scan: read and judged", count, lambda: scan(Recordings(paths, Reading()), rules).events)
        told("the same, only read", count, lambda: read_by_vigil(paths, needs))
        told("read by DuckDB", count, lambda: read_by_duckdb(paths))
        told("read by Polars", count, lambda: read_by_polars(paths))
        made = told("made a store", count, lambda: make_store(f"{folder}/s", paths, Reading()).events)
        size = sum(p.stat().st_size for p in Path(folder, "s").rglob("*") if p.is_file())
        told("scan of the store", count, lambda: scan(Store(f"{folder}/s"), rules).events)
        print(f"  the store has {size / made:.1f} bytes an event; peak memory {peak():,.0f} MB")
        if singly:
            (Path(folder) / "few").mkdir()
            few = written(Path(folder, "few"), min(singly, count))
            print(f"{singly:,} events read one by one")
            told("read event by event", min(singly, count), lambda: read_singly(few))


def told(what: str, count: int, work: Callable[[], int]) -> int:
    """Do something with so many events, and say how long it took."""
    begun, worked = time.perf_counter(), processors()
    found = work()
    seconds, worked = time.perf_counter() - begun, processors() - worked
    assert found == count, (what, found)
    line(what, count, seconds, worked)
    return found


def processors() -> float:
    """The seconds that processors worked for this process and those that it started."""
    return sum(os.times()[:4])


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--recorded", type=int, default=2_000_000, help="events in recordings")
    parser.add_argument(
        "--singly", type=int, default=100_000, help="of these, how many are read event by event as well"
    )
    parser.add_argument("--no-sql", action="store_true", help="leave DuckDB out")
    options = parser.parse_args()
    if options.events:
        columns(options.events, not options.no_sql)
    if options.recorded:
        recordings(options.recorded, options.singly)


if __name__ == "__main__":
    main()
