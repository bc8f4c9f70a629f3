"""What a proposal costs, counted in calls of functions: no clock, so no machine is too busy for it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.monitor.test_monitor_forms import rule_of
from vigil_lang.diagnostics import Source
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.engines.monitor.rules import Sliced
from vigil_lang.engines.monitor.unrolled import Unrolled
from vigil_lang.runs import read_trace
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
WRITTEN = sorted(path for folder in ("stdlib", "examples") for path in (ROOT / folder).rglob("*.vgl"))
AGENTS_MD = ROOT / "examples" / "skills" / "agents-md" / "agents-md.vgl"
LONG = ROOT / "examples" / "skills" / "glm-backup" / "repaired.jsonl"
REREAD = (
    "prec(a(f = x), b(output contains x))",
    "always a(f = x) implies not earlier ((b(f = x) or c(output contains x)) and not earlier d(f = x))",
)


def work(done: Callable[[], object]) -> int:
    """The calls that something makes."""
    count = 0

    def note(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        done()
    finally:
        sys.setprofile(before)
    return count


def rules_of(path: Path) -> list[Rule]:
    policy = read_policy(Source(str(path), path.read_text(encoding="utf-8")))
    return [Rule(statement.name, statement.requirement) for statement in policy.statements]


def event(number: int, action: str, values: int = 10**9) -> Event:
    value = f"v{number % values}"
    args = {"f": value, "g": value, "text": "long"}
    return Event.of(action, args, id=f"{action}{number}", call=f"c{number}", status="ok", output=f"in {value}.")


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_no_statement_that_comes_with_it_is_unrolled(path: Path) -> None:
    for rule in rules_of(path):
        assert isinstance(MonitorEngine([rule]).run()._judged[0], Sliced), rule.name


def test_a_long_run_of_the_examples_costs_little() -> None:
    # It once took a million calls an event: each value of the run at each event, anew for every proposal.
    trace = read_trace(LONG.read_bytes().splitlines(keepends=True), str(LONG))
    monitor = MonitorEngine(rules_of(AGENTS_MD)).run()
    for each in trace.events:
        assert work(lambda each=each: monitor.propose([each])) < 400, each
        assert work(lambda each=each: monitor.step([each])) < 400, each


@pytest.mark.parametrize("body", REREAD)
def test_events_are_read_once_for_each_value(body: str) -> None:
    monitor = MonitorEngine([rule_of(body)[0]]).run()
    costs = []
    for number in range(400):
        monitor.step([event(number, "bcdh"[number % 4])])
        if number % 200 == 199:
            new = work(lambda number=number: monitor.propose([event(number, "a")]))
            again = work(lambda number=number: monitor.propose([event(number, "a")]))
            several = work(lambda number=number: monitor.propose([event(number, "a"), event(number + 1, "h")]))
            costs.append((new, again, several))
    (few, once, both), (many, twice, after) = costs
    assert many < 2.5 * few, "no more than the run is long"
    assert (twice, after) <= (once + 5, both + 20), "what was read for a value is not read again"


def test_what_concerns_no_value_is_not_kept() -> None:
    looks = '(b(f contains x, g ~ "w*") or d(f contains x) or c(output contains x))'
    run = MonitorEngine([rule_of(f"always a(f = x) implies not earlier {looks}")[0]]).run()
    for number in range(400):
        run.step([event(number, "bcdh"[number % 4])])
    judged = run._judged[0]
    assert isinstance(judged, Sliced)
    (journal,) = judged.tables
    kept = {(now[0].action, *now[0].args, now[0].output is not None) for now in journal.state()}
    assert kept == {("c", "f", "g", True), ("d", "f", "g", False)}, "what is printed is kept where it is looked at"


UNROLLED = (
    "always a() implies later (b() and later c())",
    "always a(f = x) implies earlier (b(f = x) and later d(f = x))",
    "always a(f = x) implies not (not c() until b(f = x))",
    "always a(f = x, g = y) implies later (b(f = x) and later c(g = y))",
    "always later b() implies not (c() since later[1] d())",
)


@pytest.mark.parametrize("body", UNROLLED)
def test_what_is_unrolled_is_not_unrolled_again(body: str) -> None:
    # Once all events were asked about under all values, anew for each event: what a proposal took grew with the square.
    monitor, costs = MonitorEngine([rule_of(body)[0]]).run(), []
    assert isinstance(monitor._judged[0], Unrolled)
    for number in range(480):
        several = [event(number, action, 40) for action in "ab"]
        costs.append(work(lambda several=several: monitor.propose(several)))
        monitor.step([event(number, "abcdehhh"[number % 8], 40)])
    few, many = max(costs[80:160]), max(costs[400:])
    assert many < 5 * few, "no more than the run is long"
    assert many < 50 * len(costs)


@pytest.mark.unmeasured  # a thousand events, each after a proposal
@pytest.mark.parametrize("body", UNROLLED)
def test_what_is_unrolled_is_forgotten_once_it_is_certain(body: str) -> None:
    run, kept = MonitorEngine([rule_of(body)[0]]).run(), []
    judged = run._judged[0]
    assert isinstance(judged, Unrolled)
    for number in range(900):
        run.step([event(number, "abcd"[number % 4], 4)])
        run.propose([event(number, "a", 4), event(number, "b", 8)])
        kept.append(judged._past._kept)
    assert kept[-1] - kept[0] <= len(kept) * 2
