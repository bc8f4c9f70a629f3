"""Expected bindings: whether an event is at fault under them, though the run's verdict names others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from tests.testing.policies_under_test import under_test
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics.denotation import bindings, holds
from vigil_lang.testing.expectations import judge
from vigil_lang.testing.substitution import at_fault

if TYPE_CHECKING:
    from pathlib import Path

    from tests.strategies.runs import Line


@given(text=policies(), lines=runs(max_size=4))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_given_value_is_one_of_a_binding_by_the_denotation(text: str, lines: list[Line]) -> None:
    requirement, trace = policy_of(text).statements[0].requirement, trace_of(lines)
    for variable in requirement.variables:
        for value in islice(trace.values, 4):
            wanted = {
                at
                for at in range(len(trace))
                for binding in bindings(requirement, trace)
                if binding[variable] == value and not holds(requirement.theta, trace, at, binding)
            }
            assert at_fault(requirement, {variable: value}, RunIndex(trace)) == wanted


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("violated at e1 with x = 3", None),
        ("violated with x = 4", None),
        ("violated with x = 5", "`T` is violated at `e1` with x = `3`; x = `4`, not with x = `5`"),
        ("violated with x = 6", "`T` is violated at `e1` with x = `3`; x = `4`, not with x = `6`"),
    ],
)
def test_any_value_that_what_is_forbidden_has_is_one(tmp_path: Path, expected: str, message: str | None) -> None:
    """The trigger says nothing of x: what follows it does."""
    policy = "statement T: until(use(), chk(), edit(k = x))"
    run = "run { use() edit(k = 3) edit(k = 4) chk() edit(k = 5) }"
    found = under_test(tmp_path, policy, f'test "t" {{ {run} expect T {expected} }}')
    assert [f.message for f in judge(found.cases[0]).failures] == ([message] if message else [])
