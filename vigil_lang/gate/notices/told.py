"""Which notices of holds were told: what the index has of the log's entries `telling`, `told` and `fault`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3

TABLES = """
CREATE TABLE outbox (
    notice TEXT NOT NULL, way TEXT NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL, told INTEGER,
    PRIMARY KEY (notice, way)
) STRICT, WITHOUT ROWID;
"""
"""`due` is when a notice may be told (again), in POSIX seconds: after a claim, or a failure."""


class Untold(NamedTuple):
    """A notice that was not told by some way: its id, its hold, when it may be told, and how often it failed."""

    id: str
    hold: str
    due: int
    tries: int


def apply(base: sqlite3.Connection, seq: int, entry: dict[str, Any]) -> None:
    """Take an entry `telling`, `told` or `fault` of the log into the index."""
    notice, way = entry.get("notice"), entry.get("way")
    if notice is None:
        return  # a fault of something else
    due, told = (0, seq) if entry["kind"] == "told" else (entry["again"], None)
    base.execute(
        "INSERT INTO outbox VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (notice, way) DO UPDATE SET"
        " due = ?3, tries = tries + ?4, told = IFNULL(told, ?5)",
        (notice, way, due, entry["kind"] == "fault", told),
    )


def untold(base: sqlite3.Connection, way: str, at: int) -> Untold | None:
    """What is to be told by a way next, of the holds that wait at a time (POSIX seconds): it may not be due yet."""
    found = base.execute(
        "WITH notice (id, hold, seq) AS ("
        " SELECT id || '.opened', id, seq FROM hold WHERE state = 'pending' AND expires > ?2 UNION ALL"
        " SELECT id || '.escalated', id, escalated FROM hold"
        " WHERE state = 'pending' AND expires > ?2 AND escalated IS NOT NULL)"
        " SELECT id, hold, IFNULL(due, 0), IFNULL(tries, 0) FROM notice LEFT JOIN outbox"
        " ON outbox.notice = id AND way = ?1 WHERE told IS NULL ORDER BY IFNULL(due, 0), seq LIMIT 1",
        (way, at),
    ).fetchone()
    return None if found is None else Untold(*found)
