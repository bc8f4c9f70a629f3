"""Keys are changed by settings and grants: the new one counts beside the old one, which then is taken out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from gate_support import World, request

from vigil_lang.gate.authority.chain import Limits
from vigil_lang.gate.authority.issue import issue
from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.revocation import Entry
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.revocation import Kind

NEW = Key.new()


def both(world: World, role: str) -> str:
    """Name a new key beside the one of a role, and give the setting as it was."""
    old = world.key(role).public
    world.set(f'["{old}"]', f'["{old}", "{NEW.public}"]')
    return old


def without(world: World, old: str) -> None:
    world.set(f'["{old}", "{NEW.public}"]', f'["{NEW.public}"]')


def test_an_approver(world: World) -> None:
    old = both(world, "approver")
    gate = world.opened()
    first = world.ask("pay", gate, amount=900, currency="EUR", to="Paper Ltd")
    second = world.ask("pay", gate, amount=901, currency="EUR", to="Paper Ltd")
    assert first.hold is not None
    assert second.hold is not None
    gate.holds.approve(gate.holds.signed([first.hold.id], NEW))
    gate.holds.approve(gate.holds.signed([second.hold.id], world.key("approver")))
    without(world, old)
    after = world.opened()
    assert world.ask("pay", after, amount=901, currency="EUR", to="Paper Ltd").decision.mode == "hold"
    assert world.ask("pay", after, amount=900, currency="EUR", to="Paper Ltd").decision.mode == "pass"
    third = world.ask("pay", after, amount=902, currency="EUR", to="Paper Ltd")
    assert third.hold is not None
    with pytest.raises(HoldError, match="is none of the"):
        after.holds.approve(after.holds.signed([third.hold.id], world.key("approver")))


@pytest.fixture
def chained(tmp_path: Path) -> World:
    """A gate whose agents act under chains."""
    found = World(tmp_path)
    found.set('mode = "open"', 'mode = "chain"')
    return found


def grant(world: World, root: Key, to: Key, name: str) -> None:
    """Put a chain from a root to a holder in the place of the agent's."""
    at = world.at // 1_000_000
    text = issue(
        root, to.public, "get_invoice()", audience=world.gate.log.origin, begins=at - 10, ends=at + 3600,
        limits=Limits(1000, at + 3600, "run"),
    )  # fmt: skip
    path = world.folder / f"{name}.json"
    path.write_bytes(text)
    file = world.state / "gate.toml"
    lines = [each for each in file.read_text("utf-8").splitlines() if not each.startswith('"payer" = ')]
    at_line = lines.index("[authority.chains]")
    lines.insert(at_line + 1, f'"payer" = {json.dumps(str(path))}')
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def revoke(world: World, key: Key, kind: Kind, name: str) -> None:
    gate = world.opened()
    try:
        switch = KillSwitch(gate.folder, gate.settings, wait=0, clock=lambda: world.at)
        switch.revoke(Entry(kind, name), key, 3600)
    finally:
        gate.close()


def asked(world: World) -> str:
    gate = world.opened()
    try:
        return str(gate.decide(request("get_invoice", agent="payer", invoice="i1")).decision.mode)
    finally:
        gate.close()


def test_a_root(chained: World) -> None:
    old = both(chained, "root")
    grant(chained, chained.key("root"), Key.new(), "old")
    assert asked(chained) == "pass"
    without(chained, old)
    assert asked(chained) == "block"
    grant(chained, NEW, Key.new(), "new")
    assert asked(chained) == "pass"


def test_an_agent(chained: World) -> None:
    holder, next_ = Key.new(), Key.new()
    grant(chained, chained.key("root"), holder, "old")
    assert asked(chained) == "pass"
    revoke(chained, chained.key("revoker"), "key", holder.public)
    assert asked(chained) == "block"
    grant(chained, chained.key("root"), next_, "new")
    assert asked(chained) == "pass"


def test_a_revoker(chained: World) -> None:
    grant(chained, chained.key("root"), Key.new(), "chain")
    revoke(chained, chained.key("revoker"), "agent", "other")
    old = both(chained, "revoker")
    assert asked(chained) == "pass"
    revoke(chained, NEW, "agent", "third")
    without(chained, old)
    assert asked(chained) == "pass"  # the list in force is the new key's
    with pytest.raises(StateError, match="the settings do not name"):
        revoke(chained, chained.key("revoker"), "agent", "payer")
    revoke(chained, NEW, "agent", "payer")
    assert asked(chained) == "block"
