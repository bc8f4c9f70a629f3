"""The log in a database: what fails blocks, what was answered is kept, and several nodes are one gate."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import called
from gate_support import World
from storage_support import second

from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.revocation import Entry, Revocations
from vigil_lang.gate.state import StateError
from vigil_lang.gate.storage.postgres import PostgresStorage, connect

if TYPE_CHECKING:
    from pathlib import Path

    from database import Databases


def conninfo(world: World) -> str:
    found = world.gate.settings.storage.postgres
    assert found is not None
    return found


@pytest.fixture
def world(databases: Databases, tmp_path: Path) -> World:
    return World(tmp_path, database=databases.new())


def invoke(*words: str | Path, status: int = 0) -> str:
    found = called(*words)
    assert found.status == status, found
    return found.out + found.err


def end_connections(world: World) -> None:
    """As a server does that is restarted."""
    with connect(conninfo(world)) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vigil' "
            "AND pid <> pg_backend_pid()"
        )


def test_a_connection_that_was_lost_is_made_again(world: World) -> None:
    world.ask("get_weather")
    end_connections(world)
    assert world.ask("get_weather").decision.mode == "pass"


def test_what_was_not_committed_never_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.ask("get_weather")
    before = world.kinds()
    append = world.gate.log.append

    def lost(*given: Any) -> int:
        seq = append(*given)
        world.gate.store.catch_up()
        end_connections(world)
        return seq

    with monkeypatch.context() as patched:
        patched.setattr(world.gate.log, "append", lost)
        with pytest.raises(StateError, match="cannot be written"):
            world.gate.refuse("nobody is told of this")
    assert world.kinds() == before
    asked = world.ask("payment.transfer", amount=700, recipient="bob")
    world.confirm(asked)
    assert world.ask("payment.transfer", amount=700, recipient="bob").decision.mode == "pass"
    assert [seq for seq, _ in world.gate.store.page(None, 99)][::-1] == list(range(len(world.kinds())))


def test_a_decision_whose_commit_fails_is_a_block(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.ask("get_weather")
    before = world.kinds()

    def lost(*_: object) -> None:
        end_connections(world)

    with monkeypatch.context() as patched:
        patched.setattr(world.gate.store, "policy_digest", lost)
        answer = world.ask("get_weather")
    assert (answer.decision.mode, answer.is_fault) == ("block", True)
    assert [kind for kind in world.kinds()[len(before) :] if kind != "fault"] == []
    assert world.ask("get_weather").decision.mode == "pass"


def test_a_database_that_is_gone_blocks_at_once(world: World) -> None:
    world.ask("get_weather")
    storage = world.gate.storage
    assert isinstance(storage, PostgresStorage)
    storage.close()
    storage._conninfo = "host=/nowhere dbname=nothing"
    began = time.monotonic()
    for _ in range(3):
        answer = world.ask("get_weather")
        assert (answer.decision.mode, answer.is_fault) == ("block", True)
        assert "cannot be reached" in answer.decision.reasons[0].message
    assert time.monotonic() - began < 2
    storage._conninfo = conninfo(world)
    time.sleep(1.1)
    assert world.ask("get_weather").decision.mode == "pass"


def test_a_log_that_forgot_entries_blocks(world: World) -> None:
    """As that of a standby that took over without them, or of a backup that was put back."""
    for _ in range(3):
        world.ask("get_weather")
    with connect(conninfo(world)) as connection:
        connection.execute("DELETE FROM gate_log WHERE seq = (SELECT max(seq) FROM gate_log)")
        connection.execute(
            "UPDATE gate_head SET entries = entries - 1, bytes = (SELECT start + length(line) + 1 FROM gate_log "
            "ORDER BY seq DESC LIMIT 1)"
        )
    answer = world.ask("get_weather")
    assert answer.decision.mode == "block"
    assert "cut" in answer.decision.reasons[0].message
    with pytest.raises(StateError, match="cut"):
        world.opened()


def test_an_entry_that_was_changed_blocks(world: World) -> None:
    for _ in range(3):
        world.ask("get_weather")
    with connect(conninfo(world)) as connection:
        connection.execute(
            "UPDATE gate_log SET line = overlay(line PLACING 'x' FROM 9) WHERE seq = (SELECT max(seq) FROM gate_log)"
        )
    with pytest.raises(StateError, match=r"changed|damaged"):
        world.opened()


def test_deleted_arguments_block_what_rests_on_them(world: World) -> None:
    world.ask("get_invoice", invoice="i7")
    with connect(conninfo(world)) as connection:
        connection.execute("TRUNCATE gate_plain")
    answer = world.ask("pay_invoice", world.opened(), invoice="i7", amount=100)
    assert answer.decision.mode == "block"


def test_nodes_are_one_gate(world: World, tmp_path: Path) -> None:
    other = second(world, tmp_path)
    assert world.ask("get_invoice", invoice="i7").decision.mode == "pass"
    assert other.ask("pay_invoice", invoice="i7", amount=100).decision.mode == "pass"
    asked = world.ask("payment.transfer", amount=700, recipient="bob")
    other.confirm(asked)
    assert other.ask("payment.transfer", amount=700, recipient="bob").decision.mode == "pass"
    assert world.ask("payment.transfer", amount=700, recipient="bob").decision.mode == "hold"
    assert world.gate.storage.secret("sessions") == other.gate.storage.secret("sessions")
    assert world.entries() == other.entries()


def test_a_node_with_another_key_of_the_log_is_refused(world: World, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    stranger = World(tmp_path / "other")
    stranger.set("[layers]", f'[storage]\npostgres = "{conninfo(world)}"\n\n[layers]')
    with pytest.raises(StateError, match="another name"):
        stranger.opened()


def test_what_happens_on_one_node_is_seen_by_the_other_within_100_ms(world: World, tmp_path: Path) -> None:
    other = second(world, tmp_path)
    asked = world.ask("payment.transfer", amount=700, recipient="bob")
    before = world.gate.stamp()
    other.confirm(asked)
    began = time.monotonic()
    while world.gate.stamp() == before and time.monotonic() < began + 5:
        time.sleep(0.001)
    assert time.monotonic() - began < 0.5  # 100 ms where nothing else runs
    assert world.gate.holds.get(asked.hold.id if asked.hold else "").state != "denied"


def revoke(world: World, name: str) -> None:
    switch = KillSwitch(world.gate.folder, world.gate.settings, wait=0, clock=lambda: world.at)
    assert switch.revoke(Entry("agent", name), world.key("revoker"), 3600).fault is None


def test_a_revocation_on_one_node_is_in_force_on_the_other_at_once(world: World, tmp_path: Path) -> None:
    other = second(world, tmp_path)
    assert other.ask("get_weather").decision.mode == "pass"
    revoke(world, "payer")
    answer = other.ask("get_weather")
    assert answer.decision.mode == "block"
    assert "revoked" in answer.decision.reasons[0].message
    for name in ("a", "b"):  # both nodes count on
        revoke(other, name)
        revoke(world, name.upper())
    assert Revocations(world.gate.storage, world.gate.settings.revocation).current(world.at // 10**6).seq == 5


def test_a_database_without_tables_is_migrated_by_the_verb(databases: Databases, tmp_path: Path) -> None:
    world = World(tmp_path)
    assert "names no database" in invoke("gate", "migrate", "--state", world.state, status=2)
    world.set("[layers]", f'[storage]\npostgres = "{databases.new(migrated=False)}"\n\n[layers]')
    with pytest.raises(StateError, match="vigil gate migrate"):
        world.opened()
    assert "missing  0001 log" in invoke("gate", "migrate", "--check", "--state", world.state, status=1)
    assert "made  0001 log" in invoke("gate", "migrate", "--state", world.state)
    assert "of this version" in invoke("gate", "migrate", "--state", world.state)
    (world.state / "index.sqlite").unlink()
    assert world.ask("get_weather", world.opened()).decision.mode == "pass"


def test_a_database_of_a_later_version_is_refused(world: World) -> None:
    with connect(conninfo(world)) as connection:
        connection.execute("INSERT INTO gate_migration VALUES (9999, 'later')")
    with pytest.raises(StateError, match="later version"):
        world.opened()
    assert "later version" in invoke("gate", "migrate", "--state", world.state, status=2)


def test_without_the_driver_the_extra_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StateError, match=r"vigil-lang\[postgres\]"):
        world.opened()


def test_lines_that_are_taken_for_others_are_not_read(world: World) -> None:
    for _ in range(3):
        world.ask("get_weather")
    with connect(conninfo(world)) as connection:
        connection.execute("DELETE FROM gate_log WHERE seq = 1")
    with pytest.raises(StateError, match="no line begins at"):
        list(world.gate.log.entries())
    with pytest.raises(StateError, match="no line begins at"):
        world.gate.store.page(None, 9)


def test_a_wait_on_one_node_ends_with_the_word_on_the_other(world: World, tmp_path: Path) -> None:
    other = second(world, tmp_path)
    held = world.ask("payment.transfer", amount=700, recipient="bob").hold
    assert held is not None
    assert other.gate.holds.wait(held.id, 0.2).state == "pending"
    with ThreadPoolExecutor(1) as pool:
        waited = pool.submit(other.gate.holds.wait, held.id, 20)
        world.gate.holds.approve(world.gate.holds.signed([held.id], world.key("approver")))
        assert waited.result(10).state == "approved"


def test_others_who_keep_the_log_locked_are_not_waited_for_for_ever(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = second(world, tmp_path)
    monkeypatch.setattr("vigil_lang.gate.storage.postgres.LOCK_WAIT", 0.3)
    world.gate.close()
    world.gate = world.opened()
    with other.gate.storage.lock():
        answer = world.ask("get_weather")
    assert (answer.decision.mode, answer.is_fault) == ("block", True)
    assert "kept the log locked" in answer.decision.reasons[0].message
    assert world.ask("get_weather").decision.mode == "pass"


def test_the_key_of_the_log_is_rotated_on_all_nodes(world: World, tmp_path: Path) -> None:
    world.ask("get_weather")
    old = (world.state / "log.vkey").read_text().strip()
    invoke("gate", "rotate-key", "--prepare", "--state", world.state)
    other = second(world, tmp_path)
    (other.state / "keys" / "log.next.pem").write_bytes((world.state / "keys" / "log.next.pem").read_bytes())
    (other.state / "keys" / "log.next.pem").chmod(0o600)
    invoke("gate", "rotate-key", "--state", world.state)
    for node in (world, other):
        world.at = time.time_ns() // 1000  # the verb goes by the system's clock
        assert node.ask("get_weather").seq is not None
        node.gate.checkpoint()
    invoke("gate", "backup", tmp_path / "copy", "--state", world.state)
    new = (world.state / "log.vkey").read_text().strip()
    for key in (old, new):
        assert "in order" in invoke("audit", "verify", "--key", key, "--state", tmp_path / "copy")
