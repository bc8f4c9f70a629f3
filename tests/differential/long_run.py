"""Holds the engines against the oracle on as many random statements and runs as there is time for.

Run by hand: `make differential`, or `python -m tests.differential.long_run --count 1000000 --seed 7`. Every case is one
statement on one run; the oracle, the denotation and the indexed engine judge each of them, the solver every n-th. Four
statements and six runs are drawn together and each is held against each, as drawing takes longer than judging. The
first disagreement is made as small as it can be and ends the run.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.differential.engines import Answer, by_denotation, by_index, by_solver
from tests.differential.oracle import Oracle
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of

if TYPE_CHECKING:
    from tests.strategies.runs import Line


STATEMENTS, RUNS = 4, 6
"""Drawn together; every statement is judged on every run."""

CONSTRUCTS = {
    "views": r"\w\"?:[a-z]",
    "entries": r" with \(",
    "intervals": r"\b(since|until)\b(?!\()",
    "counts in always": r"repeated\[",
    "windows": r"\) in \d",
    "distinct": "distinct",
    "where": " where ",
    "after": " after ",
}
"""How to find them in a statement."""


def judge(texts: list[str], recorded: list[list[Line]], counts: Counter[str], solver_every: int) -> None:
    """Judges each statement on each run by every engine; the counts say what the cases were like."""
    read = [policy_of(text) for text in texts]
    traces = [trace_of(lines) for lines in recorded]
    counts["statements"] += len(read)
    counts["runs"] += len(traces)
    for (policy, lines), trace in zip(product(read, recorded), traces * len(read), strict=True):
        (statement,) = policy.statements
        requirement, oracle = statement.requirement, Oracle(policy.module.file, lines)
        offences = oracle.offences(statement.syntax, requirement.variables)
        expected = Answer(
            tuple((at, tuple(binding[x] for x in requirement.variables)) for at, binding in offences),
            oracle.exercised(statement.syntax, requirement.variables),
        )
        assert by_denotation(requirement, trace) == expected
        assert by_index(requirement, trace) == expected
        counts["cases"] += 1
        if counts["cases"] % 1_000 == 0:
            print(f"{counts['cases']:,} cases agree", flush=True)
        if counts["cases"] % solver_every == 0:
            assert by_solver(requirement, trace, statement.name) == expected
            counts["solver cases"] += 1
        counts[f"{statement.form} cases"] += 1
        counts["violated" if offences else "kept, exercised" if expected.exercised else "kept, not exercised"] += 1
        counts["with variables"] += bool(requirement.variables)
        written = policy.module.source.text.splitlines()[-1]
        counts.update(f"with {name}" for name, look in CONSTRUCTS.items() if re.search(look, written))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="statements on runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver-every", type=int, default=50, help="cases of which one is put to the solver")
    options = parser.parse_args()
    counts: Counter[str] = Counter()

    @seed(options.seed)
    @settings(
        max_examples=-(-options.count // (STATEMENTS * RUNS)),
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.lists(policies(), min_size=STATEMENTS, max_size=STATEMENTS), st.lists(runs(), min_size=RUNS, max_size=RUNS)
    )
    def agree(texts: list[str], recorded: list[list[Line]]) -> None:
        judge(texts, recorded, counts, options.solver_every)

    begun = time.monotonic()
    try:
        agree()
    finally:
        for name, count in sorted(counts.items()):
            print(f"{name:>20} {count:>9,}")
        print(f"{'seconds':>20} {time.monotonic() - begun:>9,.0f}")


if __name__ == "__main__":
    main()
