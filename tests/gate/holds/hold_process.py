"""A process of the tests of holds: `race` uses up approvals, `work` asks and confirms until it is killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from holds_support import Call, World

from vigil_lang.gate.authority.keys import Key, load_key
from vigil_lang.gate.settings import HoldSettings
from vigil_lang.gate.state import StateFolder


def race(world: World, rounds: int) -> None:
    """Ask for each of some calls once and say which of them pass."""
    for amount in range(rounds):
        print(world.ask(Call(amount=amount)).mode, flush=True)


def work(world: World, key: Key) -> None:
    """Confirm and use holds, one batch after the other; a line says what was answered, and when it was."""
    for number in range(10_000):
        calls = [Call(amount=3 * number + more) for more in range(3)]
        names = [world.ask(call).hold for call in calls]
        world.approve(key, *names)
        print("approved", *names, flush=True)
        for call, name in zip(calls, names, strict=True):
            if world.ask(call).mode == "pass":
                print("used", name, flush=True)


def main() -> None:
    kind, state, start = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    key = load_key(state.parent / "alice.pem")
    world = World(StateFolder(state), HoldSettings(approvers=(key.public,)))
    print("ready", flush=True)
    while not start.exists():
        time.sleep(0.001)
    if kind == "race":
        race(world, int(sys.argv[4]))
    else:
        work(world, key)


if __name__ == "__main__":
    main()
