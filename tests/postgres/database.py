"""Databases for tests: one server a process of the tests, a schema of its own for each test."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.gate.storage.migrating import migrate
from vigil_lang.gate.storage.postgres import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).with_name("server.py")


class Databases:
    """The databases of a server, which `conninfo` names."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._numbers = count(1)

    def new(self, *, migrated: bool = True) -> str:
        """How libpq names a new database, with the tables of a gate."""
        schema = f"t{next(self._numbers)}"
        with connect(self._conninfo) as connection:
            connection.execute(f"CREATE SCHEMA {schema}".encode())
        found = f"{self._conninfo} options=-csearch_path={schema}"
        if migrated:
            with connect(found) as connection:
                migrate(connection)
        return found


@contextmanager
def serving() -> Iterator[Databases | None]:
    """A server that runs meanwhile; None where it cannot be started."""
    command = [sys.executable, SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            conninfo = server.stdout.readline().strip()
            yield Databases(conninfo) if conninfo else None
        finally:
            server.stdin.close()
