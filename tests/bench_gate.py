"""Timings of the gate's kernel, each beside its target: part of `make bench`.

`python tests/bench_gate.py` prints these rows alone. A decision is timed by itself, with a rule that holds, an approval
that lifts it and what it records. The peer is Cedar (`pip install --group peers`), with those of the same rules that it
can say: it has no holds, layers or approvals, so that it answers whether some `forbid` speaks to the first event.
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

from vigil_lang.gate.decide import Action, Approval, Authority, Rule, Table, Tier, decide
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Glob
from vigil_lang.trace import Event

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


if __name__ == "__main__":
    kernel()
