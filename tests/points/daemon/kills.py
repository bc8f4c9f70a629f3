"""Hooks and daemons that are killed at random moments: no event is lost, and no verdict is another.

A host makes calls by a script; each hook is a process of its own, killed before it answers, or the daemon is killed
under it, or nothing is. What was killed is asked again, as a host does that resumes. The same script without a kill, in
one process, says what each answer has to be. `python -m tests.points.daemon.kills --count 1000`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.layers import table_of
from vigil_lang.gate.log.derivation import Derivation
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify
from vigil_lang.points.daemon import wire
from vigil_lang.points.daemon.server import stop
from vigil_lang.points.hook import Gates, handle
from vigil_lang.points.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Generator

CLIENT = Path(wire.__file__).with_name("client.py")
POLICY = """
policy shop

/// Tests pass before each push.
statement tested: prec(Bash(command ~ "git push*"), Bash(command ~ "make test*" and status = ok))

/// No more than three deploys.
statement deploys: atmost[3](Bash(command ~ "make deploy*"))

/// What is staged is taken down again.
statement taken_down: resp(Bash(command ~ "make stage*"), Bash(command ~ "make clean*"))
"""
COMMANDS = ("git push", "make test", "make deploy", "make stage", "make clean", "ls -la")
CALLS = 12
"""Calls of a run."""


def script(seed: int) -> Generator[dict[str, Any], bool, None]:
    """The payloads of a run, up to where each depends on the answer to the one before: `yield` gives whether it ran."""
    chance = random.Random(seed)
    for number in range(CALLS):
        call = {
            "session_id": f"run-{seed}",
            "tool_name": "Bash",
            "tool_input": {"command": chance.choice(COMMANDS)},
            "tool_use_id": f"toolu_{number}",
        }
        works = chance.random() < 0.7
        passed = yield {**call, "hook_event_name": "PreToolUse"}
        if passed and works:
            answer = {"stdout": "done", "stderr": "", "interrupted": False}
            yield {**call, "hook_event_name": "PostToolUse", "tool_response": answer}
        elif passed:
            yield {**call, "hook_event_name": "PostToolUseFailure", "error": "Exit code 1"}
    yield {"session_id": f"run-{seed}", "hook_event_name": "Stop", "stop_hook_active": False}


class Host:
    """A host with a state folder and hooks that may be killed."""

    def __init__(self, folder: Path, seed: int, chance_of_kill: float) -> None:
        self.folder = folder
        self.state = folder / "killed"
        self.policy = folder / "shop.vgl"
        self.policy.write_text(POLICY, encoding="utf-8")
        self.done: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._kills = chance_of_kill
        self._reference = Gates()

    def args(self, state: Path) -> tuple[str, ...]:
        return ("--host", "claude", "--state", str(state), "--policy", str(self.policy))

    def play(self, seed: int) -> None:
        """A run from start to end; each answer is held against that of the undisturbed hook."""
        payloads = script(seed)
        payload = next(payloads)
        while True:
            payload["cwd"] = str(self.folder)
            stdin = json.dumps(payload).encode()
            wanted = self._undisturbed(stdin)
            # A reminder that nobody heard counts as told: there the answers may differ.
            found = self._answer(stdin, killing=payload["hook_event_name"] != "Stop")
            assert found == wanted, (payload, found, wanted)
            passed = found == (b"", 0)
            self.done["passed" if passed else "blocked or told"] += 1
            try:
                payload = payloads.send(passed)
            except StopIteration:
                return

    def _undisturbed(self, stdin: bytes) -> tuple[bytes, int]:
        given = Invocation(self.args(self.folder / "whole"), stdin, str(self.folder), dict(os.environ))
        reply = handle(given, self._reference)
        return reply.stdout, reply.status

    def _answer(self, stdin: bytes, *, killing: bool) -> tuple[bytes, int]:
        while True:
            line = [sys.executable, "-I", "-S", str(CLIENT), *self.args(self.state), "--deadline", "60"]
            with subprocess.Popen(
                line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder
            ) as hook:
                assert hook.stdin is not None
                hook.stdin.write(stdin)
                hook.stdin.close()
                kind = self._chance.random()
                if killing and kind < self._kills:
                    longest = 0.08 if (self.state / "daemon.sock").exists() else 1.2
                    time.sleep(self._chance.uniform(0, longest))
                    self._kill(hook, daemon=kind < self._kills * 0.3)
                assert hook.stdout is not None
                found = hook.stdout.read()
                status = hook.wait()
            if status != -signal.SIGKILL:
                return found, status

    def _kill(self, hook: subprocess.Popen[bytes], *, daemon: bool) -> None:
        if not daemon:
            hook.kill()
            self.done["hooks killed"] += 1
        elif (pid := daemon_of(self.state)) is not None:
            os.kill(pid, signal.SIGKILL)
            self.done["daemons killed"] += 1

    def check(self, seeds: range) -> None:
        """Hold the logs against each other, and each against itself."""
        for state in (self.state, self.folder / "whole"):
            derivation = Derivation(state / "policies", table_of, grant_condition)
            audit = verify(LogCopy(state), derivation=derivation)
            assert not audit.problems, audit.problems
        killed, whole = Gate(self.state), Gate(self.folder / "whole")
        for seed in seeds:
            pairs = [
                [(event.action, event.args, event.status) for event in gate.trace(f"run-{seed}").events]
                for gate in (killed, whole)
            ]
            assert pairs[0] == pairs[1], seed
        assert decided(self.state) == decided(self.folder / "whole")
        for gate in (killed, whole):
            gate.store.close()


def decided(state: Path) -> dict[tuple[str, str], str]:
    """What was decided about each call, by the log; the same each time where it was asked for more than once."""
    found: dict[tuple[str, str], str] = {}
    for line in (state / "log.jsonl").read_bytes().splitlines():
        entry = msgspec.json.decode(line)
        if entry["kind"] == "decision":
            assert found.setdefault((entry["run"], entry["call"]), entry["mode"]) == entry["mode"], entry
    return found


def daemon_of(state: Path) -> int | None:
    """The process that answers for a state folder."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(state / "daemon.sock"))
        except OSError:
            return None
        return int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, 17, 12)[:4], sys.byteorder)


def play(folder: Path, count: int, seed: int = 0) -> Counter[str]:
    """Play runs until so many processes were killed; gives how often each thing was done."""
    host = Host(folder, seed, 0.5)
    first = seed
    try:
        while host.done["hooks killed"] + host.done["daemons killed"] < count:
            host.play(seed)
            seed += 1
    finally:
        stop(host.state)
    host.check(range(first, seed))
    return host.done


def main() -> None:
    """Kill so many processes, each hundred over a folder of their own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    left = parser.parse_args().count
    done: Counter[str] = Counter()
    while left > 0:
        with tempfile.TemporaryDirectory() as folder:
            done += play(Path(folder), min(left, 100), left)
        left -= 100
    print(f"no event was lost, no verdict changed: {dict(sorted(done.items()))}")


if __name__ == "__main__":
    main()
