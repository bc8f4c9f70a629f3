"""Timings of the gate as a service, each beside its target: part of `make bench`.

`python tests/bench_service.py [RATE]` prints these rows alone. The load is open loop: each request has a time at which
it is due, whether or not those before it were answered, and its latency counts from then. The generator is a process of
its own on the same machine; every decision is in the log, on disk, before its answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.gate.gate_support import World

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
RUNS, RATE, SECONDS = 50, 1_000, 10
DEADLINE = 1.0
LANES = 20
"""Connections of a run where more is asked for than is answered."""


class Connection(asyncio.Protocol):
    """A connection of a run: its requests go over it one after the other."""

    def __init__(self, head: bytes, name: str, found: list[tuple[float, str]]) -> None:
        self._head = head
        self._name = name
        self._found = found
        self._due: deque[tuple[float, int]] = deque()
        self._sent: float | None = None
        self._rest = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def ask(self, due: float, number: int) -> None:
        self._due.append((due, number))
        self._next()

    @property
    def is_done(self) -> bool:
        return self._sent is None and not self._due

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while self._sent is not None:
            head, found, rest = self._rest.partition(b"\r\n\r\n")
            if not found:
                return
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            if len(rest) < length:
                return
            answer, self._rest = json.loads(rest[:length]), rest[length:]
            what = "pass" if answer.get("decision") else answer.get("context", {}).get("reason", "error")
            self._found.append((time.perf_counter() - self._sent, what))
            self._sent = None
            self._next()

    def connection_lost(self, _: Exception | None) -> None:
        if self._sent is not None:
            self._found.append((time.perf_counter() - self._sent, "lost"))
            self._sent = None

    def _next(self) -> None:
        if self._sent is None and self._due:
            self._sent, number = self._due.popleft()
            body = (
                b'{"subject":{"type":"agent","id":"payer"},"action":{"name":"get_invoice","properties":{"invoice":"i%d",'
                b'"path":"/home/ann/invoices/2026","note":"for the treasury"}},"resource":{"type":"tool","id":'
                b'"get_invoice"},"context":{"run":"%b"}}' % (number, self._name.encode())
            )
            self._transport.write(self._head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


async def offered(port: int, token: str, rate: int, seconds: int, lanes: int) -> list[tuple[float, str]]:
    """Latencies and answers of an open loop. A run has so many connections: the first that is free takes its next
    request."""
    loop = asyncio.get_running_loop()
    head = (
        f"POST /access/v1/evaluation HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\n"
    ).encode()
    found: list[tuple[float, str]] = []
    runs: list[list[Connection]] = []
    for at in range(RUNS):
        of_run = []
        for _ in range(lanes):
            _, one = await loop.create_connection(lambda at=at: Connection(head, f"r{at}", found), "127.0.0.1", port)
            of_run.append(one)
        runs.append(of_run)
    count, begun = rate * seconds, time.perf_counter() + 0.2
    for number in range(count):
        due = begun + number / rate
        wait = due - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        of_run = runs[number % RUNS]
        next((one for one in of_run if one.is_done), of_run[number // RUNS % lanes]).ask(due, number)
        if number % 64 == 0:
            await asyncio.sleep(0)
    end = time.perf_counter() + 30
    while not all(one.is_done for of_run in runs for one in of_run) and time.perf_counter() < end:
        await asyncio.sleep(0.01)
    return found


def generate(port: str, token: str, rate: str, seconds: str, lanes: str) -> None:
    """The generator's process: prints what it found as JSON."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(offered(int(port), token, int(rate), int(seconds), int(lanes)))))


class Served:
    """A service in a process of its own, until the block ends."""

    def __init__(self, state: Path, *options: str) -> None:
        command = [sys.executable, "-m", "vigil_lang", "gate", "serve", "--state", str(state), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        said = dict(line.split(maxsplit=1) for line in self._lines(self.process.stdout))
        self.data, self.control, self.token = (said[name].strip() for name in ("data", "control", "token"))

    @staticmethod
    def _lines(stream: Any) -> Iterator[str]:
        for line in stream:
            yield line
            if line.startswith("sign-in"):
                return

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def measured(served: Served, rate: int, seconds: int, lanes: int = 1) -> tuple[list[float], Counter[str]]:
    """Latencies in ms, in order, and the answers by kind."""
    port = served.data.rpartition(":")[2]
    command = [sys.executable, __file__, "--generate", port, served.token, str(rate), str(seconds), str(lanes)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT).stdout)
    return sorted(at * 1000 for at, _ in found), Counter(what for _, what in found)


def service(rate: int = RATE) -> None:
    """All rows."""
    print(f"the gate as a service: {RUNS} runs, open loop, the log on disk")
    with tempfile.TemporaryDirectory() as place:
        world = World(Path(place))
        with (world.state / "gate.toml").open("a", encoding="utf-8") as file:
            file.write(f"\n[service]\ndeadline = {DEADLINE}\n")
        with Served(world.state) as served:
            measured(served, 200, 2)  # everything is loaded then
            usage = cpu(served)
            times, answers = measured(served, rate, SECONDS)
            share = (cpu(served) - usage) / len(times) * 1e6
            p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
            mark = "ok" if len(times) == rate * SECONDS == answers["pass"] and p99 < 20 else "MISS"
            what = f"{rate:,} decisions a second asked for"
            spent = f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, {share:.0f} µs of processor each"
            print(f"{what:<46} {spent}  target p99 20 ms  {mark}", flush=True)
            most = capacity(served, rate)
            overloaded(world, served, 2 * most)


def cpu(served: Served) -> float:
    """Seconds of processor that the service used."""
    found = Path(f"/proc/{served.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


def capacity(served: Served, rate: int) -> int:
    """The highest rate at which every answer is a pass within the deadline: up from `rate` by a quarter, or down."""
    best = rate if in_time(served, rate) else 0
    while best and best < 16 * rate and in_time(served, best * 5 // 4):
        best = best * 5 // 4
    tried = rate
    while not best and tried > 10:
        tried = tried * 4 // 5
        best = tried if in_time(served, tried) else 0
    print(f"{'the most that is answered in time':<46} {best:,} a second")
    return best


def in_time(served: Served, rate: int) -> bool:
    """Whether every answer is a pass, and 99 of 100 come within the deadline."""
    times, answers = measured(served, rate, 4)
    return answers["pass"] == len(times) and times[len(times) * 99 // 100] <= DEADLINE * 1000


def overloaded(world: World, served: Served, rate: int) -> None:
    """At twice the capacity: late answers are blocks, none is lost, and no pass is told that is not in the log."""
    before = sum(each["kind"] == "decision" for each in world.entries())
    times, answers = measured(served, rate, 5, LANES)
    after = sum(each["kind"] == "decision" for each in world.entries())
    right = set(answers) <= {"pass", "cannot_judge"} and len(times) == rate * 5 and after - before >= answers["pass"]
    what = f"{rate:,} a second, twice that"
    found = f"{answers['pass']:,} passes, {answers['cannot_judge']:,} late and blocked, {rate * 5 - len(times)} lost"
    print(f"{what:<46} {found}; {after - before:,} decisions in the log  {'ok' if right else 'MISS'}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--generate"]:
        generate(*sys.argv[2:])
    else:
        service(*map(int, sys.argv[1:2]))
