"""Holds the kernel of the gate to the naive decision on as many generated cases as there is time for.

Run by hand: `make differential`, or `python -m tests.gate.decide.long_run --count 1000000 --seed 7`. It prints how
often each thing came up that the cases are there to try.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from random import Random

from tests.gate.decide import naive
from tests.gate.decide.cases import IMPLIED, Case, case, table
from vigil_lang.gate.decide import decide


def agree(one: Case) -> Counter[str]:
    """Decides a case twice and compares; what came up in it."""
    decision = decide(one.action, one.authority, one.tier, table(one), one.approvals)
    expected = naive.decide(one.action, one.authority, one.tier, one.rules, IMPLIED, one.approvals)
    assert naive.said(decision) == expected, (one, decision, expected)
    came_up = {
        decision.mode,
        *(each.kind for each in decision.reasons),
        *(f"{each.kind} relaxed" for each in decision.reasons if each.lifted and each.lifted not in decision.approvals),
        *(f"passes by {len(decision.approvals)} approvals" for _ in decision.approvals[:1]),
        *("authority allows" for _ in one.authority.grants[:1] if "outside" not in {e.name for e in decision.reasons}),
        *("held for the organisation" for _ in "1" if decision.mode == "hold" and decision.who == "organisation"),
        *("records" for _ in decision.record[:1]),
    }
    return Counter(came_up)


def run(count: int, seed: int) -> Counter[str]:
    """Compares that many cases; how many had what."""
    random, counts = Random(seed), Counter[str]()
    for at in range(1, count + 1):
        counts += agree(case(random))
        if at % 50_000 == 0:
            print(f"{at:,} cases agree", flush=True)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begun = time.monotonic()
    for name, count in sorted(run(options.count, options.seed).items()):
        print(f"{name:>28} {count:>9,} {count / options.count:>7.1%}")
    print(f"{'seconds':>28} {time.monotonic() - begun:>9,.0f}")


if __name__ == "__main__":
    main()
