"""Plans worked out by DuckDB: what single events say is put into tables, which may be larger than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from vigil_lang.engines.columnar.sql import Leaves, tested, violations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.engines.columnar.facts import Chunk
    from vigil_lang.engines.columnar.plan import Plan


class Database:
    """The events of many chunks in one database, asked about all at once."""

    def __init__(self, plans: Sequence[Plan], place: str = ":memory:", memory: str | None = None) -> None:
        """`place` is a file that is made for this, or memory; `memory` a limit (`2GB`) beyond which it spills."""
        import duckdb

        self.runs: set[int] = set()
        """The runs that are in it."""
        self.left_out: dict[int, set[int]] = {}
        """By a plan's place the runs about which it says nothing, as they are out of order."""
        self._leaves = Leaves.of(plans)
        self._connection: Any = duckdb.connect(place)
        if memory is not None:
            self._connection.execute("SET memory_limit = ?", [memory])
        for line in "\n".join(self._leaves.definitions("duckdb")).split(";"):
            if line.strip():
                self._connection.execute(line)

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk; its runs are numbered apart from those of every other."""
        for name, table in self._leaves.tables(chunk).items():
            self._connection.register("added", table.to_arrow())
            columns = ", ".join(table.columns)
            self._connection.execute(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM added")
            self._connection.unregister("added")

    def offences(self, plan: Plan) -> pl.DataFrame:
        """The events that break a plan: `run`, `index`, `event` (its id) and `time`."""
        query = (
            "SELECT DISTINCT e.run, e.idx AS index, e.id AS event, e.ts AS time "
            f"FROM ({violations(plan, self._leaves)}) AS v JOIN events e ON v.run = e.run AND v.idx = e.idx"
        )
        return pl.DataFrame(pl.from_arrow(self._connection.sql(query).to_arrow_table()))

    def tested(self, plan: Plan) -> set[int]:
        """The runs that put a plan with a trigger to the test."""
        return {run for (run,) in self._connection.execute(tested(plan, self._leaves)).fetchall()}

    def close(self) -> None:
        """Forget it all."""
        self._connection.close()
