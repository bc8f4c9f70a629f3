"""Nodes as processes of their own: one is killed, and what it answered stands; nothing is used twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from cli_support import called
from gate_support import World, request
from storage_support import second

from vigil_lang.gate.gate import Gate, microseconds

if TYPE_CHECKING:
    from database import Databases

NODE = Path(__file__).with_name("node.py")
HERE = Path(__file__).parents[3]


def test_a_node_that_is_killed_loses_nothing_that_it_answered(databases: Databases, tmp_path: Path) -> None:
    world = World(tmp_path, database=databases.new())
    states = [world.state, second(world, tmp_path).state]
    with_clock = Gate(world.state, clock=microseconds)
    asked = [
        with_clock.decide(request("payment.transfer", amount=amount, recipient="bob")) for amount in range(501, 521)
    ]
    names = [answer.hold.id for answer in asked if answer.hold is not None]
    with_clock.holds.approve(with_clock.holds.signed(names, world.key("approver")))
    given = {"env": {**os.environ, "PYTHONPATH": f"{HERE}:{HERE / 'tests' / 'gate'}"}, "text": True}
    nodes = [
        subprocess.Popen([sys.executable, NODE, state, f"node-{at}"], stdout=subprocess.PIPE, **given)  # type: ignore[call-overload]
        for at, state in enumerate(states)
    ]
    for node in nodes:
        assert node.stdout.readline() == "ready\n"
    time.sleep(1.5)
    nodes[0].kill()
    time.sleep(1.0)
    nodes[1].kill()
    told = [node.communicate()[0].split("\n") for node in nodes]
    assert all(len(lines) > 10 for lines in told)
    answered = [json.loads(line) for lines in told for line in lines[:-1]]
    assert not [answer for answer in answered if answer[2]]

    entries = [entry for _, entry in Gate(world.state).log.entries()]
    for seq, mode, _ in answered:
        assert (entries[seq]["kind"], entries[seq]["mode"]) == ("decision", mode)
    uses = Counter(name for entry in entries for name in entry.get("approvals") or ())
    assert len(uses) > 5
    assert set(uses) <= set(names)
    assert set(uses.values()) == {1}

    assert called("gate", "backup", tmp_path / "backup", "--state", world.state).status == 0
    audit = called("audit", "verify", "--state", tmp_path / "backup", "--format", "json")
    assert (audit.status, json.loads(audit.out)["problems"]) == (0, [])
    assert json.loads(audit.out)["entries"] == len(entries)
    assert json.loads(audit.out)["decisions"]["derived"] == sum(entry["kind"] == "decision" for entry in entries)
