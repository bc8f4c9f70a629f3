"""Holds the engines over columns against the denotation on as many policies and corpora as there is time for.

Run by hand: `make differential`, or `python -m tests.differential.long_run_columnar --count 1000000 --seed 7`. A case
is one requirement on one run. Six requirements and five runs are drawn together; Polars judges each batch whole, and
cut before each run. DuckDB and the engine of single runs judge every n-th batch. The first disagreement is made as
small as it can be and ends the run.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.differential.columnar import check
from tests.strategies.core import requirements, restricted_requirements
from tests.strategies.corpora import hostile, long_runs
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.semantics.core import Requirement

STATEMENTS, RUNS = 6, 5

of_policies = policies().map(lambda text: policy_of(text).statements[0].requirement)
drawn = st.lists(
    st.one_of(restricted_requirements(), requirements(), of_policies), min_size=STATEMENTS, max_size=STATEMENTS
)
short = runs().flatmap(lambda lines: st.one_of(st.just(lines), hostile(lines)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="requirements on runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--others-every", type=int, default=20, help="batches of which one is judged by every engine")
    parser.add_argument(
        "--long-every", type=int, default=100, help="batches of which one has a run of up to 200 events"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop at the latest")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    begun = time.monotonic()

    def judge(of: list[Requirement], lines: list[list[Line]]) -> None:
        counts["batches"] += 1
        every = counts["batches"] % options.others_every == 0
        planned = check(of, lines, ("polars", "duckdb", "monitor") if every else ("polars",))
        counts["cases"] += len(of) * len(lines)
        counts["cases with a plan"] += planned * len(lines)
        counts["cases judged by every engine"] += len(of) * len(lines) * every
        counts["events"] += sum(map(len, lines))
        if counts["batches"] % 100 == 0:
            print(f"{counts['cases']:,} cases agree", flush=True)

    def run(
        strategy: st.SearchStrategy[list[list[Line]]], batches: int, of: st.SearchStrategy[list[Requirement]]
    ) -> None:
        @seed(options.seed)
        @settings(
            max_examples=batches,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(of, strategy)
        def agree(requirements: list[Requirement], lines: list[list[Line]]) -> None:
            if time.monotonic() - begun < options.seconds:
                judge(requirements, lines)

        agree()

    batches = -(-options.count // (STATEMENTS * RUNS))
    try:
        # Of long runs the denotation is slow: one requirement at a time, on one run.
        run(
            st.lists(long_runs(), min_size=1, max_size=1),
            batches // options.long_every,
            st.lists(restricted_requirements(), min_size=1, max_size=1),
        )
        run(st.lists(short, min_size=RUNS, max_size=RUNS), batches, drawn)
    finally:
        for name, count in sorted(counts.items()):
            print(f"{name:>30} {count:>9,}")
        print(f"{'seconds':>30} {time.monotonic() - begun:>9,.0f}")


if __name__ == "__main__":
    main()
