"""The tables of the database, made by numbered SQL files: `vigil gate migrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    import psycopg

_FOLDER = Path(__file__).parent / "migrations"
_ALONE = 0x7669_6769_6C
"""The advisory lock of who migrates."""


class Migration(NamedTuple):
    """A step from one version of the tables to the next."""

    number: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All steps, in order."""
    found = []
    for path in sorted(_FOLDER.glob("*.sql")):
        number, _, name = path.stem.partition("_")
        found.append(Migration(int(number), name, path.read_text("utf-8")))
    return found


def missing(connection: psycopg.Connection[Any]) -> list[Migration]:
    """The steps that a database lacks, in order.

    Raises:
        StateError: its tables are of a later version of Vigil.
    """
    ((there,),) = connection.execute("SELECT to_regclass('gate_migration') IS NOT NULL").fetchall()
    done = {row[0] for row in connection.execute("SELECT number FROM gate_migration")} if there else set()
    steps = migrations()
    if done and max(done) > steps[-1].number:
        raise StateError(f"the database is of a later version: it has migration {max(done)}, this one {len(steps)}")
    return [step for step in steps if step.number not in done]


def migrate(connection: psycopg.Connection[Any]) -> list[Migration]:
    """Make the steps that a database lacks, all or none; gives them. Several may do so at once.

    Raises:
        StateError: the database refuses one, or is of a later version.
    """
    import psycopg

    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ALONE,))
            steps = missing(connection)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS gate_migration ("
                "number integer PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())"
            )
            for step in steps:
                connection.execute(step.sql.encode())
                connection.execute("INSERT INTO gate_migration VALUES (%s, %s)", (step.number, step.name))
    except psycopg.Error as error:
        raise StateError(f"the database cannot be migrated: {' '.join(str(error).split())}") from error
    return steps


def check_schema(connection: psycopg.Connection[Any]) -> None:
    """Refuse a database whose tables are of another version.

    Raises:
        StateError: it lacks a migration, or has one that this version does not know.
    """
    import psycopg

    try:
        lacks = missing(connection)
    except psycopg.Error as error:
        raise StateError(f"the database cannot be asked: {' '.join(str(error).split())}") from error
    if lacks:
        raise StateError(f"the database lacks migration {lacks[0].number}: run `vigil gate migrate`")
