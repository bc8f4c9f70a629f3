"""Holds the monitor to the denotation on as many random statements and runs as there is time for.

Run by hand: `make differential`, or `python -m tests.differential.long_run_monitor --count 1000000 --seed 7`. Every
case is one statement on one run: each prefix has its verdict, and the end is the denotation's. Of the others in
`tests/differential/following.py`, each case has one in turn: calls that end late, proposals, restarts, several rules.
The first disagreement is made as small as it can be and ends the run; `--only` draws statements whose text has a word.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.differential.engines import by_denotation, by_solver
from tests.differential.following import follow, follow_in_flight, follow_proposing, follow_together
from tests.strategies.core import restricted_requirements
from tests.strategies.monitored import plain_policies, plain_runs
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.trace import Trace

if TYPE_CHECKING:
    from vigil_lang.semantics.core import Requirement

STATEMENTS, RUNS = 4, 6
"""Drawn together; every statement is judged on every run."""

traces = st.one_of(runs().map(trace_of), runs().map(trace_of), plain_runs().map(Trace))


@st.composite
def named(draw: st.DrawFn) -> tuple[str | None, str, Requirement]:
    """The form, the text and the requirement of a statement; none of the first two for one made in the core."""
    if draw(st.integers(0, 3)) == 0:
        return None, "", draw(restricted_requirements())
    text = draw(st.one_of(policies(), policies(), plain_policies()))
    (statement,) = policy_of(text).statements
    return statement.form, text, statement.requirement


def judge(
    some: list[tuple[str | None, str, Requirement]], recorded: list[Trace], counts: Counter[str], solver_every: int
) -> None:
    """Follows each statement along each run."""
    rules = [Rule(f"S{at}", requirement) for at, (_, _, requirement) in enumerate(some)]
    engines = [MonitorEngine([rule]) for rule in rules]
    together = MonitorEngine(rules)
    for (at, (form, _, requirement)), trace in product(enumerate(some), recorded):
        expected = by_denotation(requirement, trace)
        judged = follow(engines[at], trace, expected, form, Random(len(trace)))
        counts["cases"] += 1
        counts[f"{form or 'core'} cases"] += 1
        counts["with variables"] += bool(requirement.variables)
        counts["violated" if expected.offences else "kept"] += 1
        counts[f"not judged, {form or 'core'}"] += not judged
        if counts["cases"] % 1_000 == 0:
            print(f"{counts['cases']:,} cases agree", flush=True)
        if counts["cases"] % solver_every == 0:
            assert by_solver(requirement, trace) == expected
            counts["solver cases"] += 1
    for number, trace in enumerate(recorded):
        follow_in_flight(together, trace, Random(number))
        follow_proposing(together, trace, Random(number))
        if number == 0:
            follow_together(rules, trace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000, help="statements on runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver-every", type=int, default=500, help="cases of which one is put to the solver")
    parser.add_argument("--only", default="", help="a word that the statements have")
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
        st.lists(named().filter(lambda one: options.only in one[1]), min_size=STATEMENTS, max_size=STATEMENTS),
        st.lists(traces, min_size=RUNS, max_size=RUNS),
    )
    def agree(some: list[tuple[str | None, str, Requirement]], recorded: list[Trace]) -> None:
        judge(some, recorded, counts, options.solver_every)

    begun = time.monotonic()
    try:
        agree()
    finally:
        for name, count in sorted(counts.items()):
            print(f"{name:>24} {count:>9,}")
        print(f"{'seconds':>24} {time.monotonic() - begun:>9,.0f}")


if __name__ == "__main__":
    main()
