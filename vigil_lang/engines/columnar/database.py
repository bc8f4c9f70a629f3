"""Plans worked out by DuckDB: what single events say is put into tables, which may be larger than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.engines.columnar.sql import Leaves, tested, violations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.engines.columnar.facts import Chunk
    from vigil_lang.engines.columnar.plan import Plan


class Database:
    """The events of many chunks in one database, asked about all at once."""

    def __init__(self, plans: Sequence[Plan], place: str = ":memory:", memory: str | None = None) -> None:
        """`place` is a file that is made for this, or memory; `memory` a limit such as `2GB`, beyond which DuckDB spills."""
        import duckdb

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

    def violations(self, plan: Plan) -> Iterator[tuple[Any, ...]]:
        """The run, the event's index and the values, in order of the variables' names, of all that breaks a plan."""
        yield from self._rows(violations(plan, self._leaves))

    def tested(self, plan: Plan) -> set[int]:
        """The runs that put a plan with a trigger to the test."""
        return {run for (run,) in self._rows(tested(plan, self._leaves))}

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        found = self._connection.execute(query)
        while rows := found.fetchmany(10_000):
            yield from rows

    def close(self) -> None:
        self._connection.close()
