"""Timings of the monitor, each beside its target and beside a peer's: part of `make bench`.

`python tests/bench_monitor.py` prints these rows alone; `--stream 10000000` makes the stream longer. A decision is one
proposal, timed by itself, so that the slow ones are seen; its target holds at the 50th and the 99th percentile. The
peer is reelay (`pip install --group peers`), a monitor in C++ of past temporal logic with quantified data, driven from
Python as the monitor here is; it decides a call by taking it in, and does not look ahead.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from array import array
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from bench import ROOT, _example_calls, row

from vigil_lang.diagnostics import Source
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.engines.monitor import RunMonitor

TOOLS = ("edit", "send", "deploy", "pay", "remove")
PRECEDENCE = "\n".join(
    f"statement S{i}: prec({tool}(target = x), check{i}(target = x, status = ok))" for i, tool in enumerate(TOOLS)
)
SAME_TOOL = "\n".join(f"statement S{i}: prec(edit(target = x), check{i}(target = x, status = ok))" for i in range(5))
OF_20 = {
    "abs": 'abs(use{a}(target ~ "/etc/{i}/*"))',
    "prec": "prec(use{a}(target = x, n = {i}), check(target = x, status = ok))",
    "resp": "resp(use{a}(target = x, n = {i}), check(target = x))",
    "bresp": "bresp[20](use{a}(target = x, n = {i}), check(target = x))",
    "rslv": "rslv(use{a}(target = x, n = {i}), check(target = x, status = ok))",
    "until": "until(use{a}(target = x, n = {i}), check(target = x), drop(target = x))",
    "atmost": "atmost[500](use{a}(target = x, n = {i}))",
    "budget": "budget[1000000](use{a}(target = x), n)",
    "atleast": "atleast[1](use{a}(n = {i}))",
}
SEVEN = {
    "seven forms": "\n".join(
        (
            "statement A: prec(edit(target = x), check0(target = x, status = ok))",
            "statement B: resp(send(target = x), check1(target = x))",
            "statement C: bresp[20](deploy(target = x), check2(target = x))",
            "statement D: rslv(pay(target = x), check3(target = x, status = ok))",
            "statement E: until(remove(target = x), check4(target = x), edit(target = x))",
            "statement F: atmost[500](send(target = x))",
            'statement G: abs(deploy(target ~ "/etc/*"))',
        )
    ),
    "sums, counts, since": "\n".join(
        (
            "statement A: budget[100000](pay(target = x), n)",
            "statement B: budget[100000](pay(), n) in 200 calls",
            "statement C: atmost[3](send(target = x)) since check1(target = x)",
            "statement D: atmost[50](deploy()) in 200 calls",
            "statement E: atmost[10000](edit(), distinct target)",
            "statement F: always edit(target = x) implies not deploy() since check0(target = x)",
            "statement G: always send(target = x) implies not pay() weak since check1(target = x)",
        )
    ),
}
OVERWRITTEN = (
    "always write(target = x) implies not earlier"
    " ((read(target = x, status = ok) or list(target contains x)) and not earlier write(target = x))"
)
NESTED = {
    "contains, in `earlier` in `earlier`": OVERWRITTEN,
    "`later` in `earlier`": "always write(target = x) implies earlier (read(target = x) and later list(target = x))",
    "`later` in `later`": "always write(target = x) implies later (read(target = x) and later list(target = x))",
}
REELAY_OVERWRITTEN = (
    "forall[x]. ({action: write, target: *x} ->"
    " not (once ({action: read, target: *x, status: ok} and not (once {action: write, target: *x}))))"
)
REELAY = "forall[x]. ({{action: {tool}, target: *x}} -> once {{action: check{i}, target: *x, status: ok}})"


def engine_of(text: str) -> MonitorEngine:
    """The engine of a policy's statements."""
    policy = read_policy(Source("p.vgl", text))
    assert not policy.errors, policy.errors
    return MonitorEngine([Rule(statement.name, statement.requirement) for statement in policy.statements])


def members(values: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """A run without end over so many values: each tool's checks and uses, one in a hundred values unchecked."""
    random = Random(seed)
    at = 0
    while True:
        i, value = at // 2 % len(TOOLS), at // 2 % values
        action = TOOLS[i] if at % 2 else f"check{i}"
        status = "error" if random.random() < 0.01 else "ok"
        yield {"action": action, "target": f"artifact-{value}", "n": str(at % 20), "status": status}
        at += 1


def event_of(at: int, line: dict[str, Any]) -> Event:
    """A line of a run as an event that is a call of its own."""
    args = {"target": (line["target"],), "n": (line["n"],)}
    return Event(f"e{at}", line["action"], f"c{at}", args, line["status"])


def decide(monitor: RunMonitor, proposed: Sequence[Event], count: int) -> tuple[float, float]:
    """The 50th and the 99th percentile of a proposal's time, in microseconds."""
    calls = [[event] for event in proposed]
    spent, clock, propose = array("q", bytes(8 * count)), time.perf_counter_ns, monitor.propose
    for at in range(-min(count, 1_000), count):
        call = calls[at % len(calls)]
        begun = clock()
        propose(call)
        spent[at] = clock() - begun
    found = sorted(spent)
    return found[count // 2] / 1000, found[count * 99 // 100] / 1000


def decision_row(what: str, times: tuple[float, float], targets: tuple[float, float] | None, note: str = "") -> None:
    """One line of the table: the median and the 99th percentile."""
    mark = ""
    if targets is not None:
        met = times[0] <= targets[0] and times[1] <= targets[1]
        mark = f"target {targets[0]:g} and {targets[1]:g} µs  {'ok' if met else 'MISS'}"
    print(f"{what:<58}{times[0]:7.2f} µs, p99 {times[1]:7.2f} µs  {mark:<28}{note}", flush=True)


def proposals(lines: Iterator[dict[str, Any]], seen: int, values: int) -> list[Event]:
    """Pending calls about values of all ages."""
    random, found = Random(7), []
    for at, line in enumerate(islice(lines, 1_000)):
        line = {**line, "target": f"artifact-{random.randrange(max(min(seen // 2, values), 1))}", "status": "unknown"}
        found.append(event_of(10**9 + at, line))
    return found


def decisions(sizes: Sequence[int]) -> None:
    """Five rules that bind a value and ask how a call ended, along a run that goes on remembering."""
    print("decision on a pending call by 5 value- and outcome-bound precedence rules")
    for title, text in (("each about another tool", PRECEDENCE), ("all about one tool", SAME_TOOL)):
        engine, first = engine_of(text), 0.0
        monitor, lines, seen = engine.run(), members(10**9), 0
        for size in sizes:
            while seen < size:
                monitor.step([event_of(seen, next(lines))])
                seen += 1
            times = decide(monitor, proposals(members(10**9, 3), seen, 10**9), 20_000)
            grown = f"{times[0] / first:.2f} × the first (at most 2)" if first else ""
            first = first or times[0]
            decision_row(f"{title}, {size:,} events", times, (2, 8) if title.startswith("each") else None, grown)
    _reelay_decisions(sizes)


def _reelay_decisions(sizes: Sequence[int]) -> None:
    try:
        import reelay
    except ImportError:
        print("  reelay is not installed (pip install --group peers): its rows are left out")
        return
    monitors = [
        reelay.discrete_timed_monitor(pattern=REELAY.format(tool=tool, i=i), condense=False)
        for i, tool in enumerate(TOOLS)
    ]
    lines, seen = members(10**9), 0
    for size in [size for size in sizes if size <= 100_000]:
        spent = array("q")
        while seen < size:
            line = next(lines)
            begun = time.perf_counter_ns()
            for monitor in monitors:
                monitor.update(line)
            spent.append(time.perf_counter_ns() - begun)
            seen += 1
        found = sorted(spent[-size // 2 :])
        times = found[len(found) // 2] / 1000, found[len(found) * 99 // 100] / 1000
        decision_row(f"reelay, the same five, {size:,} events", times, None, "to take an event in")


def forms(size: int = 10_000) -> None:
    """Twenty statements of each form, of which a call concerns five."""
    print(f"decision on a pending call by 20 statements of a form, after {size:,} events")
    for form, body in OF_20.items():
        text = "\n".join(f"statement S{i}: " + body.format(i=i, a=i % 4) for i in range(20))
        monitor, random = engine_of(text).run(), Random(2)
        events = []
        for at in range(size):
            action = ("check", *(f"use{i}" for i in range(4)))[at % 5]
            line = {"action": action, "target": f"v{random.randrange(size)}", "n": str(at % 20), "status": "ok"}
            events.append(event_of(at, line))
        begun = time.process_time()
        for event in events:
            monitor.step([event])
        stepped = (time.process_time() - begun) / size * 1e6
        pending = [Event(f"p{e.id}", e.action, f"p{e.id}", e.args) for e in events[-1_000:]]
        decision_row(form, decide(monitor, pending, 5_000), None, f"an event taken in: {stepped:.1f} µs")


def nested(sizes: Sequence[int] = (250, 500, 1_000)) -> None:
    """Operators inside operators that cannot be sliced by value: events are read again, or unrolled (at most 1,000)."""
    print("decision on a pending call by a statement that cannot be sliced")
    actions = ("read", "run", "list", "run", "write")
    lines = [
        {**line, "action": actions[at % 5], "target": f"artifact-{Random(at).randrange(100)}"}
        for at, line in enumerate(islice(members(100), max(sizes)))
    ]
    peer = _reelay_nested(lines, sizes)
    for title, text in NESTED.items():
        monitor, seen, first = engine_of(f"statement S: {text}").run(), 0, 0.0
        for size in sizes:
            for at in range(seen, size - 1):
                monitor.step([event_of(at, lines[at])])
            seen = size - 1
            pending = proposals(iter([{**lines[0], "action": "write"}] * 1_000), 200, 100)
            times = decide(monitor, pending, 1_000)
            first = first or times[0]
            beside = (
                f", {times[0] / peer[size]:.1f} × reelay's without contains" if text == OVERWRITTEN and peer else ""
            )
            note = f"  {times[0] / first:.1f} × the first{beside}"
            decision_row(f"{title}, {size:,} events", times, (20_000, 20_000), note)


def _reelay_nested(lines: Sequence[dict[str, Any]], sizes: Sequence[int]) -> dict[int, float]:
    """Of each size what the peer takes to take in a write, in microseconds."""
    try:
        import reelay
    except ImportError:
        return {}
    monitor = reelay.discrete_timed_monitor(pattern=REELAY_OVERWRITTEN, condense=False)
    found: dict[int, float] = {}
    spent: list[int] = []
    for at, line in enumerate(lines, 1):
        begun = time.perf_counter_ns()
        monitor.update(line)
        if line["action"] == "write":
            spent.append(time.perf_counter_ns() - begun)
        if at in sizes:
            found[at] = sorted(spent[-50:])[25] / 1000
    return found


def memory(size: int = 100_000) -> None:
    """What one more value costs that a rule remembers, its text included."""
    print("memory")
    engine = engine_of(PRECEDENCE)
    monitor, lines = engine.run(), members(10**9)
    for at in range(1_000):
        monitor.step([event_of(at, next(lines))])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for at in range(1_000, 1_000 + size):
        monitor.step([event_of(at, next(lines))])
    spent = (tracemalloc.get_traced_memory()[0] - before) / (size / 2)
    tracemalloc.stop()
    print(f"{'a value remembered':<58}{spent:8.0f} bytes  target     300     {'ok' if spent <= 300 else 'MISS'}")


STREAM = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from bench_monitor import PRECEDENCE, engine_of, event_of, members
monitor, lines = engine_of(PRECEDENCE).run(), members(20_000)
for at in range(int(sys.argv[2])):
    monitor.step([event_of(at, next(lines))])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def stream(size: int) -> None:
    """A run that goes on and on over some values."""
    begun = time.perf_counter()
    args = [sys.executable, "-c", STREAM, str(ROOT / "tests"), str(size)]
    ended = subprocess.run(args, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    if ended.returncode:
        print(f"{f'a stream of {size:,} events':<58}failed: {ended.stderr.strip().splitlines()[-1]}")
        return
    most = float(ended.stdout)
    mark = "ok" if most <= 200 else "MISS"
    what = f"a stream of {size:,} events over 20,000 values"
    print(f"{what:<58}{most:8.0f} MB     target     200     {mark}     {seconds:.0f} s in all")


def recorded(size: int = 100_000) -> None:
    """A file of events, start-up included, with all that is wrong with it."""
    print(f"{size:,} events of JSON Lines under 7 statements, all offences, start-up included")
    vigil = str(Path(sys.executable).parent / "vigil")
    with tempfile.TemporaryDirectory() as name:
        run, policy = Path(name) / "run.jsonl", Path(name) / "p.vgl"
        with run.open("w", encoding="utf-8") as file:
            for line in islice(members(1_000), size):
                args = {"target": line["target"], "n": line["n"]}
                file.write(json.dumps({"action": line["action"], "args": args, "status": line["status"]}) + "\n")
        for title, text in SEVEN.items():
            policy.write_text(text + "\n", encoding="utf-8")
            row(
                title,
                min(_piped(run, vigil, "verify", "--follow", "--format", "json", str(policy), "-") for _ in range(3)),
                0.8,
            )


def _piped(data: Path, *args: str) -> float:
    """Seconds of wall clock for a command that reads a file through a pipe."""
    begun = time.perf_counter()
    with subprocess.Popen(["cat", str(data)], stdout=subprocess.PIPE) as source:
        ended = subprocess.run(args, stdin=source.stdout, stdout=subprocess.DEVNULL, check=False, timeout=600)
    assert ended.returncode in (0, 1)
    return time.perf_counter() - begun


def shell() -> None:
    """What a pending shell command would do, in a run of the examples."""
    from vigil_lang.abstraction.run import Abstraction
    from vigil_lang.trace.record import Call

    spent: list[int] = []
    for uses in _example_calls():
        abstraction = Abstraction()
        calls = [
            Call(f"toolu_{number}", use["name"], use["input"])
            for number, use in enumerate(uses)
            if use["name"] == "Bash"
        ]
        for call in calls:
            abstraction.propose(call)
            times = []
            for _ in range(5):
                begun = time.perf_counter_ns()
                abstraction.propose(call)
                times.append(time.perf_counter_ns() - begun)
            spent.append(min(times))
            abstraction.add(call)
    found = sorted(spent)
    print("abstraction")
    median, most = found[len(found) // 2] / 1000, found[len(found) * 99 // 100] / 1000
    decision_row(f"a pending shell command, warm, of {len(found)}", (median, most), (1000, float("inf")))


def monitors(size: int = 1_000_000) -> None:
    """Print the rows."""
    decisions([10**exponent for exponent in range(3, 7)])
    forms()
    nested()
    memory()
    recorded()
    shell()
    stream(size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stream", type=int, default=1_000_000, help="events of the long stream")
    monitors(parser.parse_args().stream)
