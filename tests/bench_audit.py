"""Timings of the gate's log, each beside its target: `python tests/bench_audit.py`; `--entries 200000` makes it longer.

An append is timed by itself, so that the slow ones are seen. Checking a log is timed with the plain values there and
deleted, and with every decision derived again by one rule and one grant.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent / "gate" / "log"))

from log_support import Clock, append_decision, derivation, new_folder, opened, write_bundle, write_index

from vigil_lang.gate.log.export import ocsf
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.gate.log.log import Log

MEMBERS = {"run": "r1", "agent": "mailer", "mode": "pass", "reasons": [], "approvals": [], "record": {}}


def append_row(what: str, append: Callable[[], Any], count: int, target: float | None = None) -> None:
    """One line of the table: the median and the 99th percentile of so many appends, in microseconds."""
    spent = []
    for _ in range(count):
        begun = time.perf_counter_ns()
        append()
        spent.append((time.perf_counter_ns() - begun) / 1000)
    spent.sort()
    middle, slow = spent[count // 2], spent[count * 99 // 100]
    mark = "" if target is None else f"target {target:g} µs  {'ok' if middle <= target else 'MISS'}"
    print(f"{what:<58}{middle:9.1f} µs, p99 {slow:9.1f} µs  {mark}", flush=True)


def rate_row(what: str, work: Callable[[], Any], entries: int, target: float | None = None) -> None:
    """One line of the table: the entries a second of processor time, the best of three."""
    best = 0.0
    for _ in range(3):
        begun = time.process_time()
        work()
        best = max(best, entries / (time.process_time() - begun))
    mark = "" if target is None else f"target {target:,.0f}  {'ok' if best >= target else 'MISS'}"
    print(f"{what:<58}{best:12,.0f} entries/s  {mark}", flush=True)


def appends(place: Path) -> None:
    """What an entry costs, with and without plain values, and on the disk."""
    for durability, count in (("process", 5000), ("power", 200)):
        folder = new_folder(place / durability)
        log = opened(folder, durability=durability, every=10**9)
        with folder.lock():
            note = "" if durability == "process" else ", on disk"
            append_row(
                f"append{note}", lambda log=log: log.append("decision", MEMBERS), count, 30 if not note else None
            )
            plain = {"/inputs": {"text": "x" * 1500}}
            append_row(
                f"append with plain values{note}", lambda log=log, p=plain: log.append("decision", MEMBERS, p), count
            )
        log.close()


def filled(place: Path, entries: int) -> Log:
    """A log of decisions, with their inputs and an index."""
    folder = new_folder(place / "long")
    write_bundle(folder.path)
    log = opened(folder, clock=Clock())
    with folder.lock():
        for number in range(entries):
            append_decision(log, number)
        log.checkpoint()
    write_index(folder.path, log)
    log.close()
    return opened(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        appends(place)
        log = filled(place, given.entries)
        folder = place / "long"
        size = (folder / "log.jsonl").stat().st_size / given.entries
        print(f"a log of {given.entries:,} decisions, {size:,.0f} bytes each")
        copy = LogCopy(folder)
        rate_row("opened for appending", lambda: opened(type(log._folder)(folder)), given.entries)
        rate_row("exported as OCSF", lambda: sum(1 for _ in ocsf(copy.entries(), "log")), given.entries)

        def checked(with_decisions: bool = False) -> None:
            audit = verify(copy, derivation=derivation(folder) if with_decisions else None)
            assert audit.problems == (), audit.problems[:3]
            assert audit.signed_to == given.entries
            assert not with_decisions or audit.derived["derived"] == given.entries

        rate_row("checked, every decision derived again", lambda: checked(True), given.entries)
        rate_row("checked, with the plain values", checked, given.entries, 50_000)
        (folder / "args.sqlite").unlink()
        rate_row("checked, plain values deleted", checked, given.entries, 50_000)


if __name__ == "__main__":
    main()
