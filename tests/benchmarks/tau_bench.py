"""What `examples/benchmarks/tau-bench/retail.vgl` says of recorded runs.

`python -m tests.benchmarks.tau_bench DATA [--list]`

DATA is a folder of JSON Lines, one run an object: `id`, `prompt`, `events`, and `reward`, which is 1 where the run
ended in the state that its task wants.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vigil_lang as vigil
from tests.benchmarks.agentdojo import runs, trace_of

if TYPE_CHECKING:
    from collections.abc import Iterable

POLICY = Path(__file__).parents[2] / "examples" / "benchmarks" / "tau-bench" / "retail.vgl"


@dataclass(slots=True)
class Result:
    """What the policy said of the runs."""

    runs: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """By (the task failed, the policy is violated)."""
    exercised: Counter[str] = field(default_factory=Counter)
    """By statement: runs in which something meets its trigger."""
    violated: Counter[str] = field(default_factory=Counter)
    offences: list[str] = field(default_factory=list)


def evaluate(given: Iterable[dict[str, Any]]) -> Result:
    """Judge the runs."""
    policy, result = vigil.load_policy(POLICY), Result()
    for run in given:
        verdict = vigil.verify(policy, trace_of(run))
        result.runs[run["reward"] < 1, not verdict.safe] += 1
        for statement in verdict.statements:
            result.exercised[statement.name] += not statement.vacuous
            result.violated[statement.name] += bool(statement.offending)
        for found, offence in verdict.offences():
            result.offences.append(f"{run['id']}  {found.name} at {offence.event}: {offence.message}")
    return result


def main() -> None:
    """Print how many runs exercise and violate each statement, and with `--list` every violation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--list", action="store_true", help="list the violations")
    options = parser.parse_args()
    result = evaluate(runs(options.data))
    print(f"{'statement':16}{'exercised':>10}{'violated':>10}")
    for name, number in result.exercised.items():
        print(f"{name:16}{number:10}{result.violated[name]:10}")
    for (failed, unsafe), number in sorted(result.runs.items()):
        print(f"{number:4} runs {'failed' if failed else 'succeeded'}, {'some' if unsafe else 'no'} statement violated")
    for offence in result.offences if options.list else ():
        print(offence)


if __name__ == "__main__":
    main()
