"""A backup is a state folder: it can be checked and put in place again, and what may have been used counts no more."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from cli_support import called

from vigil_lang.gate.gate import Gate
from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.revocation import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from database import Databases
    from gate_support import World


def lived(world: World) -> World:
    """A world with a pass, a hold that was used, an approval that was not, a hold that waits, and the end of a run."""
    world.ask("get_weather")
    world.ask("get_weather", run="r2")
    world.gate.end("r2")
    for amount in (501, 502):
        world.confirm(world.ask("payment.transfer", amount=amount, recipient="bob"))
    assert world.ask("payment.transfer", amount=501, recipient="bob").decision.mode == "pass"
    world.ask("payment.transfer", amount=503, recipient="bob")
    return world


def backed_up(world: World, *more: str) -> Path:
    found = world.folder / "backup"
    result = called("gate", "backup", found, "--state", world.state, *more)
    assert result.status == 0, result
    return found


@pytest.mark.parametrize("world", ["folder", "postgres"], indirect=True)
def test_a_backup_can_be_checked_and_has_everything(world: World) -> None:
    found = backed_up(lived(world))
    audit = called("audit", "verify", "--state", found, "--format", "json")
    said = json.loads(audit.out)
    assert (audit.status, said["problems"], said["entries"]) == (0, [], len(world.entries()))
    assert said["signed_to"] == said["entries"]
    assert said["decisions"]["derived"] == world.kinds().count("decision")
    for path in (found, *found.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert not (found / "index.sqlite").exists()


def into_another_database(world: World, found: Path, request: pytest.FixtureRequest) -> None:
    """Have a backup go into a database that is empty, where it is of one."""
    if (old := world.gate.settings.storage.postgres) is not None:
        settings = found / "gate.toml"
        settings.write_text(settings.read_text().replace(old, request.getfixturevalue("databases").new()))


@pytest.mark.parametrize("world", ["folder", "postgres"], indirect=True)
def test_a_backup_is_put_in_place_and_what_was_open_counts_no_more(
    world: World, request: pytest.FixtureRequest
) -> None:
    before = lived(world).entries()
    found = backed_up(world)
    state = world.folder / "again"
    into_another_database(world, found, request)
    restored = called("gate", "restore", found, "--state", state)
    assert restored.status == 0, restored
    world.state, world.gate = state, Gate(state)
    world.at = world.gate.now()
    assert world.entries()[: len(before)] == before
    assert {hold.state for hold in world.gate.store.holds()} == {"approved", "cancelled"}
    world.gate = world.opened()
    assert world.ask("payment.transfer", amount=502, recipient="bob").decision.mode == "hold"
    assert world.ask("pay_invoice", invoice="x", amount=1).decision.mode == "block"


def test_a_backup_that_was_changed_is_refused(world: World) -> None:
    found = backed_up(lived(world))
    log = found / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"get_weather", b"get_whether").replace(b'"pass"', b'"hold"', 1))
    refused = called("gate", "restore", found, "--state", world.folder / "again")
    assert refused.status == 2
    assert "damaged" in refused.err
    assert not (world.folder / "again").exists()


def test_nothing_is_put_over_something_else(world: World) -> None:
    found = backed_up(lived(world))
    assert "is there already" in called("gate", "restore", found, "--state", world.state).err
    again = called("gate", "backup", found, "--state", world.state)
    assert (again.status, "is there already" in again.err) == (2, True)
    missing = called("gate", "backup", world.folder / "no" / "such", "--state", world.state)
    assert (missing.status, "cannot be written" in missing.err) == (2, True)


def test_a_database_with_a_log_takes_no_other(world: World, databases: Databases) -> None:
    lived(world)
    new = databases.new()
    world.set("[layers]", f'[storage]\npostgres = "{new}"\n\n[layers]')
    world.gate.close()
    world.set(f'[storage]\npostgres = "{new}"\n\n[layers]', "[layers]")
    found = backed_up(world)
    world.set("[layers]", f'[storage]\npostgres = "{new}"\n\n[layers]')
    assert called("gate", "restore", found, "--state", world.state).status == 0
    world.gate = Gate(world.state)
    world.at = world.gate.now()
    assert world.ask("get_weather", world.opened()).decision.mode == "pass"
    refused = called("gate", "restore", found, "--state", world.state)
    assert (refused.status, "in the database already" in refused.err) == (2, True)


def test_a_backup_without_keys_is_for_checking(world: World) -> None:
    found = backed_up(lived(world), "--without-keys")
    assert not (found / "keys").exists()
    assert called("audit", "verify", "--state", found).status == 0
    assert "not restored" in called("gate", "restore", found, "--state", world.folder / "again").err


@pytest.mark.parametrize("world", ["postgres"], indirect=True)
def test_a_folder_whose_log_is_elsewhere_says_so(world: World) -> None:
    world.ask("get_weather")
    found = called("audit", "verify", "--state", world.state)
    assert (found.status, "vigil gate backup" in found.err) == (2, True)


def test_secrets_that_are_mounted_as_links_are_copied(world: World) -> None:
    mounted = world.folder / "mounted"
    (world.state / "keys").rename(mounted)
    (mounted / "..data").symlink_to(mounted)
    (world.state / "keys").symlink_to(mounted)
    found = backed_up(world)
    assert (found / "keys" / "log.pem").read_bytes() == (mounted / "log.pem").read_bytes()
    assert not (found / "keys" / "..data").exists()


@pytest.mark.parametrize("world", ["folder", "postgres"], indirect=True)
def test_what_was_revoked_stays_revoked(world: World, request: pytest.FixtureRequest) -> None:
    world.ask("get_weather")
    switch = KillSwitch(world.gate.folder, world.gate.settings, wait=0, clock=lambda: world.at)
    assert switch.revoke(Entry("agent", "payer"), world.key("revoker"), 3600).fault is None
    found = backed_up(world)
    into_another_database(world, found, request)
    world.state = world.folder / "again"
    assert called("gate", "restore", found, "--state", world.state).status == 0
    answer = world.ask("get_weather", world.opened())
    assert answer.decision.mode == "block"
    assert "revoked" in answer.decision.reasons[0].message
