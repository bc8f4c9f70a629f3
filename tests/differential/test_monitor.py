"""The protocol of a monitor, by one as small as can be: along a run it says what the denotation says of each prefix."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings

from tests.differential.engines import by_denotation
from tests.differential.toy_monitor import ToyMonitor, looks_back_only
from tests.strategies.core import restricted_requirements
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.interface import Rule
from vigil_lang.trace import Trace

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.engines.interface import Monitor
    from vigil_lang.semantics.core import Requirement


@settings(max_examples=50, deadline=None)
@given(restricted_requirements(), runs(max_size=5))
def test_a_monitor_says_of_every_prefix_what_the_denotation_says(requirement: Requirement, lines: list[Line]) -> None:
    # spec R7.11-3, R7.11-4
    assume(looks_back_only(requirement.theta))
    trace = trace_of(lines)
    monitor: Monitor = ToyMonitor(Rule("S", requirement))
    found = []
    for end, event in enumerate(trace.events, 1):
        ahead = monitor.propose([event])
        progress = monitor.step([event])
        if event.status == "ok":
            assert ahead.violations == progress.violations
        found += progress.violations
        expected = by_denotation(requirement, Trace(trace.events[:end]))
        assert [(v.event, v.binding) for v in found] == list(expected.offences)
        assert progress.verdict == ("violated" if expected.offences else "holding")
    outcome = monitor.close()
    whole = by_denotation(requirement, trace)
    assert [(v.event, v.binding) for v in outcome.violations] == list(whole.offences)
    assert outcome.exercised == whole.exercised


@settings(max_examples=50, deadline=None)
@given(restricted_requirements(), runs(max_size=4))
def test_nothing_remembers_what_was_proposed(requirement: Requirement, lines: list[Line]) -> None:
    assume(looks_back_only(requirement.theta))
    asked, silent = (ToyMonitor(Rule("S", requirement)) for _ in range(2))
    events = trace_of(lines).events
    for event in events:
        for other in events:
            asked.propose([replace(other, id=f"p{other.id}", call=f"p{other.call}")])
        assert asked.step([event]) == silent.step([event])
    assert asked.close() == silent.close()


def test_it_needs_no_solver() -> None:
    program = "import sys, tests.differential.toy_monitor; sys.exit(any(m in sys.modules for m in ('z3', 'pysmt')))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
