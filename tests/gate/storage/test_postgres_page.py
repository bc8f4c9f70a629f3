"""docs/postgres.md: its commands, one after the other, print what it shows, and a node needs no more than it grants."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from cli_support import called
from gate_support import World

from vigil_lang.gate.storage.migrating import migrate
from vigil_lang.gate.storage.postgres import connect

if TYPE_CHECKING:
    import pytest
    from database import Databases

PAGE = (Path(__file__).parents[3] / "docs" / "postgres.md").read_text("utf-8")
NAMED = "host=db.example.com dbname=vigil user=vigil"


def test_the_screens_are_what_the_commands_print(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert called("gate", "init", "--workspace", "work", "--state", "state", "--open").status == 0
    (request,) = re.findall(r"^```json large.json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert called("gate", "decide", "--state", "state", stdin=request.encode()).status == 0
    (settings,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    database, file = databases.new(migrated=False), tmp_path / "state" / "gate.toml"
    for screen in re.findall(r"^```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        for command, shown in re.findall(r"^\$ vigil (.*?)\n(.*?)(?=^\$ |\Z)", screen, re.DOTALL | re.MULTILINE):
            result = called(*command.split())
            assert result.status == (1 if shown.startswith("missing") else 0), result
            assert re.sub(r"[A-Za-z0-9+/]{43}=", "ROOT", result.out) == shown
        if NAMED not in file.read_text() and "postgres" not in file.read_text():
            file.write_text(file.read_text() + "\n" + settings.replace(NAMED, database))


def test_a_node_needs_no_more_than_the_page_grants(databases: Databases, tmp_path: Path) -> None:
    database = databases.new(migrated=False)
    schema = database.rpartition("=")[2]
    (grants,) = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    with connect(database) as connection:
        migrate(connection)
        role = f"node_{schema}"
        connection.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}".encode())
        said = grants.replace("SCHEMA vigil", f"SCHEMA {schema}").replace("vigil_node", role)
        connection.execute(said.encode())
    world = World(tmp_path, database=database.replace("user=vigil", f"user={role}"))
    asked = world.ask("payment.transfer", amount=700, recipient="bob")
    world.confirm(asked)
    assert world.ask("payment.transfer", amount=700, recipient="bob").decision.mode == "pass"
    world.gate.checkpoint()
    assert len(world.gate.storage.secret("sessions")) == 32
    assert called("gate", "backup", tmp_path / "copy", "--state", world.state).status == 0


def test_every_table_is_on_the_page(databases: Databases) -> None:
    with connect(databases.new()) as connection:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        assert all(f"`{name}`" in PAGE for (name,) in connection.execute(query))
