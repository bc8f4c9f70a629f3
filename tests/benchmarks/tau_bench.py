"""What `examples/benchmarks/tau-bench/retail.vgl` says of recorded runs: `tau_bench.py DATA [--list]`.

DATA is a folder of JSON Lines, one run an object: `prompt`, `events`, and `reward`, which is 1 where the run ended in
the state that its task wants.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import vigil_lang as vigil

POLICY = Path(__file__).parents[2] / "examples" / "benchmarks" / "tau-bench" / "retail.vgl"


def main() -> None:
    """Print how many runs violate and exercise each statement, and with `--list` every violation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--list", action="store_true", help="list the violations")
    options = parser.parse_args()
    policy = vigil.load_policy(POLICY)
    violated: Counter[tuple[str, bool]] = Counter()
    exercised: Counter[str] = Counter()
    runs: Counter[tuple[bool, bool]] = Counter()
    for path in sorted(options.data.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            run = json.loads(line)
            verdict = vigil.verify(policy, vigil.parse_trace(line, format="tool-events", name=run["id"]))
            failed = run["reward"] < 1
            runs[failed, not verdict.safe] += 1
            for result in verdict.statements:
                exercised[result.name] += not result.vacuous
                violated[result.name, failed] += bool(result.offending)
            for statement, offence in verdict.offences() if options.list else ():
                print(f"{run['id']} ({run['reward']:g})  {statement.name} at {offence.event}: {offence.message}")
    print(f"{'statement':16}{'exercised':>10}{'violated':>10}{'in failed runs':>16}")
    for name, number in exercised.items():
        print(f"{name:16}{number:10}{violated[name, True] + violated[name, False]:10}{violated[name, True]:16}")
    for (failed, unsafe), number in sorted(runs.items()):
        print(f"{number:4} runs {'failed' if failed else 'succeeded'}, {'some statement' if unsafe else 'none'} violated")


if __name__ == "__main__":
    main()
