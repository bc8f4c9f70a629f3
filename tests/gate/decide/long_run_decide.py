"""Holds the kernel of the gate to the naive decision on as many generated cases as there is time for.

Run by hand: `make differential`, or `python -m tests.gate.decide.long_run_decide --count 1000000 --seed 7`. It prints
how often each thing came up that the cases are there to try.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import product
from random import Random

from tests.gate.decide import naive
from tests.gate.decide.decisions import IMPLIED, Case, case, table
from vigil_lang.gate.decide import Table, decide

SQUARE = 10
"""Cases drawn together."""


def agree(one: Case, compiled: Table) -> set[str]:
    """Decides a case twice and compares; what came up in it."""
    decision = decide(one.action, one.authority, one.tier, compiled, one.approvals)
    expected = naive.decide(one.action, one.authority, one.tier, one.rules, IMPLIED, one.approvals)
    assert naive.said(decision) == expected, (one, decision, expected)
    came_up = {decision.mode, *(each.kind for each in decision.reasons), *(["records"] if decision.record else [])}
    for each in decision.reasons:
        if each.lifted is not None and each.lifted not in decision.approvals:
            came_up.add(f"{each.kind} relaxed")
    if decision.approvals:
        came_up.add(f"passes by {len(decision.approvals)} approvals")
    if one.authority.grants and all(each.name not in ("open", "outside") for each in decision.reasons):
        came_up.add("authority allows")
    if decision.mode == "hold":
        came_up.add(f"held for the {decision.who}")
    return came_up


def run(count: int, seed: int) -> Counter[str]:
    """Compares that many cases; how many had what. Of some that are drawn, every action meets every set of rules."""
    random, counts = Random(seed), Counter[str]()
    while counts["cases"] < count:
        drawn = [case(random) for _ in range(SQUARE)]
        tables = [table(one) for one in drawn]
        for about, (other, compiled) in product(drawn, zip(drawn, tables, strict=True)):
            counts.update(agree(about._replace(rules=other.rules, authority=other.authority), compiled))
            counts["cases"] += 1
            if counts["cases"] % 50_000 == 0:
                print(f"{counts['cases']:,} cases agree", flush=True)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begun = time.monotonic()
    counts = run(options.count, options.seed)
    for name, count in sorted(counts.items()):
        print(f"{name:>28} {count:>9,} {count / counts['cases']:>7.1%}")
    print(f"{'seconds':>28} {time.monotonic() - begun:>9,.0f}")


if __name__ == "__main__":
    main()
