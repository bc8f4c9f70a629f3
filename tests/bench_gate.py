"""Timings of the gate, each beside its target: part of `make bench`.

`python tests/bench_gate.py` prints these rows alone. Whole decisions go by two small policies, each about another
invoice; where they wait for the disk they take turns with a bare `fdatasync` of as many bytes.

The kernel is timed with a rule that holds, an approval that lifts it and what it records. The peer is Cedar
(`pip install --group peers`), with those of the same rules that it can say: it has no holds, layers or approvals, so
that it answers whether some `forbid` speaks to the first event.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.gate.gate_support import World, request
from vigil_lang.gate.decide import Action, Approval, Authority, Rule, Table, Tier, decide
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.revocation import Entry, Revocations
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Glob
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Callable

RULES, EVENTS = 1_000, 6
LAYERS: tuple[Any, ...] = ("organisation", "default", "personal")


def rule(at: int, kinds: int) -> Rule:
    """One of four sorts of rules about a kind: a path, an amount, a recipient, the tier."""
    test: core.Condition = (
        core.Matches(core.Reads("path"), Glob(f"*/secret{at}/*")),
        core.Compares(core.Reads("amount"), ">", Decimal(500 + at)),
        core.In(core.Reads("to"), frozenset({f"acct_{at}"})),
        core.In(core.Reads("context.tier"), frozenset({"2", "3"})),
    )[at // kinds % 4]
    about = core.ActionIn(frozenset({f"kind{at % kinds}.do"}))
    return Rule(f"r{at}", LAYERS[at % 3], "hold", core.AndC((about, test)), record=("path", "amount"))


def given(kinds: int) -> tuple[Action, Authority, Tier, Table, tuple[Approval, ...]]:
    """The arguments of a decision: one rule matches the first event, and an approval lifts its hold."""
    args = {"path": ("/home/u/secret0/f",), "amount": ("400",), "to": ("bob",)}
    other = {**args, "path": ("/home/u/notes/f",)}
    events = tuple(
        Event(f"e{at}", "tool", "c", other if at else args, kinds=(f"kind{at % kinds}.do", "process.run"))
        for at in range(EVENTS)
    )
    names = frozenset(f"kind{at}.do" for at in range(kinds))
    action = Action(events, {"context.agent": ("mailer",)}, "binding", "likeness", 100)
    approval = Approval("h1", "binding", ("organisation.r0",), "organisation", 200, 1)
    table = Table(rule(at, kinds) for at in range(RULES))
    return action, Authority((core.ActionIn(names),)), Tier(0), table, (approval,)


def percentiles(spent: list[int]) -> tuple[float, float]:
    found = sorted(spent)
    return found[len(found) // 2] / 1000, found[len(found) * 99 // 100] / 1000


def show(what: str, times: tuple[float, float], target: float | None = None, note: str = "") -> None:
    mark = "" if target is None else f"target {target:g} µs  {'ok' if times[0] <= target else 'MISS'}"
    print(f"{what:<58}{times[0]:7.1f} µs, p99 {times[1]:7.1f} µs  {mark:<22}{note}", flush=True)


def timed(kinds: int, count: int) -> tuple[float, float]:
    arguments = given(kinds)
    decision = decide(*arguments)
    assert (decision.mode, decision.approvals) == ("pass", ("h1",))
    assert dict(decision.record)["path"] == ("/home/u/secret0/f",)
    spent = []
    for _ in range(count):
        begun = time.perf_counter_ns()
        decide(*arguments)
        spent.append(time.perf_counter_ns() - begun)
    return percentiles(spent)


def kernel() -> None:
    """The kernel's rows, and Cedar's where it is installed."""
    print(f"the gate's kernel: {RULES:,} rules, a call of {EVENTS} events")
    spread = timed(40, 5_000)
    show("rules over 40 kinds, with an approval and a record", spread, 100)
    show("all rules about one kind", timed(1, 300))
    cedar(spread)


def cedar(ours: tuple[float, float]) -> None:
    try:
        import cedarpy
    except ImportError:
        print("  cedarpy is not installed (pip install --group peers): its row is left out")
        return
    policies = ["permit(principal, action, resource);"]
    for at in range(RULES):
        test = (
            f'context.path like "*/secret{at}/*"',
            f"context.amount > {500 + at}",
            f'context.to == "acct_{at}"',
            "context.tier >= 2",
        )[at // 40 % 4]
        policies.append(f'forbid(principal, action == Action::"kind{at % 40}.do", resource) when {{ {test} }};')
    requests = [
        {
            "principal": 'Agent::"mailer"',
            "action": f'Action::"kind{at % 40}.do"',
            "resource": 'Tool::"tool"',
            "context": {"path": f"/home/u/{'notes' if at else 'secret0'}/f", "amount": 400, "to": "bob", "tier": 0},
        }
        for at in range(EVENTS)
    ]
    policy_set = cedarpy.PolicySet.from_str("\n".join(policies))
    answers = cedarpy.is_authorized_batch(requests, policy_set, [])
    assert [answer.allowed for answer in answers] == [False] + [True] * (EVENTS - 1)
    spent = []
    for _ in range(200):
        begun = time.perf_counter_ns()
        cedarpy.is_authorized_batch(requests, policy_set, [])
        spent.append(time.perf_counter_ns() - begun)
    times = percentiles(spent)
    show("cedarpy, the same rules as forbids, the events in a batch", times, None, f"{times[0] / ours[0]:.1f} × ours")


def spent(work: Callable[[int], None], count: int, clock: Callable[[], int] = time.perf_counter_ns) -> list[int]:
    """The nanoseconds of each call."""
    found = []
    for at in range(count):
        begun = clock()
        work(at)
        found.append(clock() - begun)
    return found


def passing(world: World, at: int) -> None:
    world.at += 1000
    answer = world.ask("get_invoice", invoice=f"i{at}", path="/home/ann/invoices/2026", note="for the treasury")
    assert answer.decision.mode == "pass", answer


def holding(world: World, at: int) -> None:
    world.at += 1000
    assert world.ask("pay", amount=1_000 + at, to="acme").decision.mode == "hold"


def opened(place: Path, durability: str) -> World:
    place.mkdir()
    world = World(place)
    settings = world.state / "gate.toml"
    with settings.open("a", encoding="utf-8") as file:
        file.write(f'\n[log]\ndurability = "{durability}"\n')
    world.gate = world.opened()
    passing(world, 0)
    return world


def gate() -> None:
    """All rows."""
    kernel()
    with tempfile.TemporaryDirectory() as name:
        end_to_end(Path(name))


def end_to_end(place: Path) -> None:
    """Whole decisions, in process."""
    print("the gate: a decision end to end, in its log before the answer")
    world = opened(place / "process", "process")
    show("a pass", percentiles(spent(lambda at: passing(world, at), 2_000)), 200)
    processor = percentiles(spent(lambda at: passing(world, at), 1_000, time.thread_time_ns))
    show("a pass, processor time", processor)
    held = percentiles(spent(lambda at: holding(world, at), 100))
    mark = "ok" if held[1] <= 10_000 else "MISS"
    show("a hold that is opened", held, None, f"target p99 10,000 µs  {mark}")
    in_force(world)
    on_disk(place)
    many_runs(place)
    taken_up(place)


def on_disk(place: Path) -> None:
    """With the disk: as a ratio, for disks differ."""
    world = opened(place / "power", "power")
    handle = os.open(place / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def bare(_: int) -> None:
        os.write(handle, b"x" * 1_000)
        os.fdatasync(handle)

    found: list[int] = []
    beside: list[int] = []
    for at in range(200):
        beside += spent(bare, 1)
        found += spent(lambda _, at=at: passing(world, at), 1)  # type: ignore[misc]
    os.close(handle)
    whole, alone = percentiles(found), percentiles(beside)
    ratio = whole[0] / alone[0]
    show("a bare write and fdatasync", alone)
    show("a pass, on disk", whole, None, f"{ratio:.2f} × the bare one, target 1.5  {'ok' if ratio <= 1.5 else 'MISS'}")


def many_runs(place: Path) -> None:
    """A thousand decisions a second from 50 runs, each a thread of one process, on disk: how long each waits."""
    world = opened(place / "many", "power")
    gate, found = Gate(world.state), []
    begun, every, runs = time.perf_counter() + 0.5, 0.001, 50

    def work(number: int) -> None:
        for at in range(number, 3_000, runs):
            due = begun + at * every
            time.sleep(max(0.0, due - time.perf_counter()))
            answer = gate.decide(request("get_invoice", run=f"r{number}", invoice=f"i{at}"))
            assert answer.decision.mode == "pass", answer
            found.append(int((time.perf_counter() - due) * 1e9))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate, times = len(found) / (time.perf_counter() - begun), percentiles(found)
    mark = "ok" if rate >= 950 and times[1] <= 20_000 else "MISS"
    show(
        "1,000 passes a second asked for, 50 runs, on disk", times, None, f"{rate:.0f}/s, target p99 20,000 µs  {mark}"
    )


def taken_up(place: Path) -> None:
    """The first decision of a new process about a run of 3,000 calls, beside one of 10."""
    first = {}
    for calls in (10, 3_000):
        world = opened(place / f"calls{calls}", "process")
        for at in range(calls):
            passing(world, at)
        times = []
        for at in range(5):
            world.gate = world.opened()
            begun = time.perf_counter_ns()
            passing(world, calls + at)
            times.append(time.perf_counter_ns() - begun)
        first[calls] = sorted(times)[2] / 1000
    more = first[3_000] - first[10]
    mark = "ok" if more <= 100_000 else "MISS"
    print(f"{'the first decision after 3,000 calls, more than after 10':<58}{more:7.1f} µs, target 100,000 µs  {mark}")


def in_force(world: World) -> None:
    """From the wish to revoke an agent to the first decision that knows it."""
    lists, key = Revocations(world.gate.storage, world.gate.settings.revocation), world.key("revoker")
    now = world.at // 1_000_000

    def revoke(at: int) -> None:
        lists.publish([Entry("agent", "payer")] if at % 2 == 0 else [], key, now, now + 3600)
        mode = world.ask("get_invoice", invoice="i").decision.mode
        assert mode == ("block" if at % 2 == 0 else "pass")

    show("a revocation that is put in force, and the next decision", percentiles(spent(revoke, 50)))


if __name__ == "__main__":
    gate()
