"""A gate that is killed at random points: what anybody was told is in the log, and no approval is used twice.

A child decides, confirms and reports outcomes in a loop, and says down a pipe what it was answered; it is killed after
a random time. Then another process goes on in the same folder. `python -m tests.gate.crashes --count 1000`.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from gate_support import World, request_of

from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.layers import table_of
from vigil_lang.gate.log.derivation import Derivation
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 0.1
"""Seconds that a child has at most, once it told something."""


def work(world: World, seed: int) -> Iterator[list[Any]]:
    """What a child does for ever: yields each thing that it was told."""
    chance = random.Random(seed)
    gate = world.gate = world.opened()
    reported = "reported"
    while True:
        run = f"r{chance.randrange(3)}"
        tool, given = chance.choice([("get_weather", {}), ("pay", {"amount": 700, "to": chance.choice("ab")})])
        action = {"tool": tool, "input": given}
        answer = gate.decide(request_of({"run": run, "agent": "a", "outcomes": reported, "action": action}))
        yield ["decided", answer.seq, answer.decision.mode, list(answer.decision.approvals)]
        if answer.hold is not None and chance.random() < 0.7:
            words = gate.holds.signed([answer.hold.id], world.key("approver"))
            gate.holds.approve(words)
            yield ["approved", answer.hold.id]
        if answer.decision.mode == "pass" and answer.seq is not None and chance.random() < 0.5:
            gate.outcome(run, answer.seq, "ok", "done")
            yield ["outcome", answer.seq]


def killed(world: World, seed: int) -> list[list[Any]]:
    """Run a child and kill it; gives all that it was told before."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            for told in work(world, seed):
                os.write(write, msgspec.json.encode(told) + b"\n")
        finally:
            os._exit(1)
    os.close(write)
    chance = random.Random(seed)
    if chance.random() < 0.9:  # else it may be killed while it opens the folder
        select.select([read], [], [], 20)
    time.sleep(chance.uniform(0, LONGEST))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    return [msgspec.json.decode(line) for line in data.split(b"\n")[:-1]]


def check(world: World, told: list[list[Any]]) -> None:
    """Hold what was told against the log, and the log against itself."""
    gate = world.opened()
    entries = world.entries(gate)
    uses: Counter[str] = Counter()
    for entry in entries:
        if entry["kind"] == "decision":
            uses.update(entry["approvals"])
    assert all(count == 1 for count in uses.values()), uses
    confirmed = {entry["hold"] for entry in entries if entry["kind"] == "approval"}
    ended = {entry["decision"] for entry in entries if entry["kind"] == "outcome"}
    for each in told:
        match each:
            case ["decided", int() as seq, mode, approvals]:
                assert (entries[seq]["mode"], entries[seq]["approvals"]) == (mode, approvals)
            case ["approved", hold]:
                assert hold in confirmed
            case ["outcome", seq]:
                assert seq in ended
            case _:
                raise AssertionError(each)
    derivation = Derivation(world.state / "policies", table_of, grant_condition)
    audit = verify(LogCopy(world.state), derivation=derivation)
    assert not audit.problems, audit.problems
    assert world.ask("get_weather", gate, run="after").decision.mode == "pass"
    gate.close()


def play(folder: Path, count: int, seed: int = 0) -> Counter[str]:
    """Kill so many children one after the other; gives how often each thing was told."""
    world = World(folder)
    world.gate.close()  # each child is forked: what SQLite has open does not survive that
    done: Counter[str] = Counter()
    told: list[list[Any]] = []
    for number in range(count):
        new = killed(world, seed + number)
        done.update(each[0] if each[0] != "decided" else each[2] for each in new)
        told += new
        if number % 10 == 9 or number == count - 1:
            check(world, told)
            told.clear()
    return done


def main() -> None:
    """Kill a gate so many times, each hundred in a folder of their own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    left = parser.parse_args().count
    done: Counter[str] = Counter()
    while left > 0:
        with tempfile.TemporaryDirectory() as folder:
            done += play(Path(folder), min(left, 100), left)
        left -= 100
    print(f"nothing was lost: {dict(sorted(done.items()))}")


if __name__ == "__main__":
    main()
