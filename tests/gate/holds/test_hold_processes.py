"""Several processes on one folder: an approval is used once, and a process that is killed leaves nothing half done."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from holds_support import Call, World, create, key_file

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.settings import HoldSettings

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ROUNDS = 100

pytestmark = pytest.mark.slow


@pytest.fixture
def key() -> Key:
    return Key.new()


@pytest.fixture
def world(tmp_path: Path, key: Key) -> World:
    key_file(tmp_path, "alice", key)
    return World(create(tmp_path / "state"), HoldSettings(approvers=(key.public,)))


def started(world: World, kind: str, *more: object) -> subprocess.Popen[str]:
    """A process that stands ready, and goes on when the file `start` is there."""
    given = [kind, world.folder.path, world.folder.path.parent / "start", *more]
    process = subprocess.Popen(
        [sys.executable, HERE / "hold_process.py", *map(str, given)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"},
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_processes_use_an_approval_once(world: World, key: Key) -> None:
    """Both ask for the same hundred calls, each of which was approved once."""
    names = [world.ask(Call(amount=amount)).hold for amount in range(ROUNDS)]
    for at in range(0, ROUNDS, 10):
        world.approve(key, *names[at : at + 10])
    processes = [started(world, "race", ROUNDS) for _ in range(2)]
    (world.folder.path.parent / "start").touch()
    answers = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [Counter(pair) for pair in zip(*answers, strict=True)] == [Counter(("pass", "hold"))] * ROUNDS
    with world.holds.transaction():
        assert [world.holds.get(name or "").used for name in names] == [1] * ROUNDS


@pytest.mark.parametrize("seed", range(10))
def test_a_process_that_is_killed_leaves_nothing_half_done(world: World, key: Key, seed: int) -> None:
    process = started(world, "work")
    (world.folder.path.parent / "start").touch()
    time.sleep(random.Random(seed).uniform(0.005, 0.4))
    process.kill()
    told = [line.split() for line in process.communicate()[0].splitlines(keepends=True) if line.endswith("\n")]
    with world.holds.transaction():
        holds = {hold.id: hold for hold in world.store.holds()}
    for kind, *names in told:
        for name in names:
            assert holds[name].state == "approved"
            assert holds[name].used == 1 if kind == "used" else holds[name].used <= 1
    batches: dict[int, set[str]] = {}
    for hold in holds.values():
        amount = int(world.log.plain(hold.seq, "/inputs")["action"]["input"]["amount"])
        batches.setdefault(amount // 3, set()).add(hold.state)
    assert all(len(states) == 1 for states in batches.values()), "a batch is confirmed whole, or not at all"
    caught_up = world.store.holds()
    world.store.close()
    for path in world.folder.path.glob("index.sqlite*"):
        path.unlink()
    anew = world.again()
    assert anew.holds.listed() == [hold for hold in caught_up if hold.state == "pending"]
    assert anew.store.holds() == caught_up
    last = [hold for hold in caught_up if hold.state == "pending"]
    assert set(anew.approve(key, *(hold.id for hold in last))) <= {"approved"}
