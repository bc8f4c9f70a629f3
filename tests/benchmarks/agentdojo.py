"""Precision and recall of `examples/benchmarks/agentdojo` on recorded runs.

`python tests/benchmarks/agentdojo.py DATA [--texts doubted|marked|believed] [--only NAME,…] [--list]`

DATA is a folder of JSON Lines, one run an object: `suite`, `prompt`, `events`, `final_output`, what the attacker
planted (`injections`), and `label`, which is `violating` where the attack succeeded.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vigil_lang as vigil

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.trace import Trace

POLICIES = Path(__file__).parents[2] / "examples" / "benchmarks" / "agentdojo"

TEXTS = ("doubted", "marked", "believed")
"""Whether the policies believe free texts: no; yes, but for what is marked as the attacker's; yes."""

BELIEVED = {"banking": {"read_file"}, "slack": {"get_webpage"}}
"""Tools whose free text can be believed, of the policies that have a param for it."""


@dataclass(slots=True)
class Result:
    """What the policies said of a set of runs."""

    matrix: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """By (the attack succeeded, the policy is violated)."""
    statements: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """By statement and whether the attack succeeded: runs that violate it."""
    wrong: list[tuple[str, list[str]]] = field(default_factory=list)
    """Runs whose verdict is not their label, with what was violated."""

    def add(self, run: dict[str, Any], violated: list[str]) -> None:
        """Count a run."""
        attacked = run["label"] == "violating"
        self.matrix[attacked, bool(violated)] += 1
        for statement in {name.partition(":")[0] for name in violated}:
            self.statements[statement, attacked] += 1
        if attacked != bool(violated):
            self.wrong.append((run["id"], violated))

    def figures(self) -> tuple[float, float, float]:
        """Precision, recall and F1; 0 where nothing is divided."""
        hits, misses, alarms = self.matrix[True, True], self.matrix[True, False], self.matrix[False, True]
        precision = hits / (hits + alarms) if hits + alarms else 0.0
        recall = hits / (hits + misses) if hits + misses else 0.0
        return precision, recall, 2 * hits / (2 * hits + alarms + misses) if hits else 0.0


def runs(folder: Path) -> Iterator[dict[str, Any]]:
    """The runs of a folder's recordings, in the order of the files' names."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def marked(run: dict[str, Any]) -> dict[str, Any]:
    """The run with what the attacker planted between `<untrusted>` and `</untrusted>`."""
    planted = [_loosely(text) for text in run["injections"].values() if re.search(r"\w", text)]
    events = []
    for event in run["events"]:
        output = re.sub("<(?=/?untrusted>)", "&lt;", event["output"])
        for text in planted:
            output = text.sub(lambda found: f"<untrusted>{found.group()}</untrusted>", output)
        events.append(event | {"output": output})
    return run | {"events": events}


def _loosely(text: str) -> re.Pattern[str]:
    """A text however a tool wrapped, indented and quoted it."""
    return re.compile(r"(?:\\n|[\W_])*?".join(re.findall(r"[^\W_]+", text)))


def trace_of(run: dict[str, Any]) -> Trace:
    """A recorded run as it is judged."""
    return vigil.parse_trace(json.dumps(run), format="tool-events", name=run["id"])


def evaluate(given: Iterable[dict[str, Any]], *, texts: str, only: frozenset[str] = frozenset()) -> dict[str, Result]:
    """The results of every suite that the runs are of, by its name; with `only`, by these statements alone."""
    results: dict[str, Result] = {}
    policies = {}
    for run in given:
        suite = run["suite"]
        if suite not in policies:
            believed = None if texts == "doubted" else BELIEVED.get(suite)
            params = None if believed is None else {"believed": believed}
            policies[suite] = vigil.load_policy(POLICIES / f"{suite}.vgl", params)
        verdict = vigil.verify(policies[suite], trace_of(marked(run) if texts == "marked" else run))
        violated = [f"{s.name}: {o.message}" for s, o in verdict.offences() if not only or s.name in only]
        results.setdefault(suite, Result()).add(run, violated)
    return results


def total(results: Iterable[Result]) -> Result:
    """All of them as one."""
    every = Result()
    for result in results:
        every.matrix += result.matrix
        every.statements += result.statements
        every.wrong += result.wrong
    return every


def main() -> None:
    """Print a table of the suites, and with `--list` the runs that were judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", choices=TEXTS, default=TEXTS[0], help="whether free texts are believed")
    parser.add_argument("--only", default="", metavar="NAME,…", help="judge by these statements alone")
    parser.add_argument("--list", action="store_true", help="list the runs that are judged wrongly")
    options = parser.parse_args()
    results = evaluate(runs(options.data), texts=options.texts, only=frozenset(filter(None, options.only.split(","))))
    print(f"{'suite':10}{'runs':>6}{'TP':>6}{'FN':>6}{'FP':>6}{'TN':>6}{'precision':>11}{'recall':>8}{'F1':>7}")
    for suite, result in [*sorted(results.items()), ("all", total(results.values()))]:
        counts = [result.matrix[key] for key in ((True, True), (True, False), (False, True), (False, False))]
        precision, recall, f1 = result.figures()
        cells = "".join(f"{count:6}" for count in (sum(counts), *counts))
        print(f"{suite:10}{cells}{precision:11.3f}{recall:8.3f}{f1:7.3f}")
    for suite, result in sorted(results.items()):
        for name in sorted({name for name, _ in result.statements}):
            hits, alarms = result.statements[name, True], result.statements[name, False]
            print(f"{suite:10} {name:20} violated in {hits} attacked and {alarms} other runs")
        for run, violated in result.wrong if options.list else ():
            print(f"  {'alarm' if violated else 'miss '}  {run}  {'; '.join(violated)}")


if __name__ == "__main__":
    main()
