"""What coverage counts, and what it takes to have all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from tests.testing.policies_under_test import under_test
from vigil_lang.base.resources import resource
from vigil_lang.diagnostics.diagnostic import NOWHERE
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import bindings, exercised, meets, violations
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.testing import coverage as coverage_module
from vigil_lang.testing.case import Case, Expected
from vigil_lang.testing.coverage import measure
from vigil_lang.testing.read import read_tests

if TYPE_CHECKING:
    from pathlib import Path

    from tests.strategies.runs import Line
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.testing.coverage import Coverage
    from vigil_lang.trace import Trace

DASHCAM = """\
pattern consumes(x) = action in {affine, perspective} and transform = x and status = ok
pattern validates(x) = validate(target = x)

statement R3: prec(consumes(x), validates(x))
"""

EVERYTHING = """\
test "validated first" {
    run {
        validate(target = "M") -> ok
        affine(transform = "M") -> ok
    }
    expect R3 satisfied
}
test "another artifact was validated, and one warp failed" {
    run {
        affine(transform = "N") -> error
        validate(target = "N") -> ok
        affine(transform = "M") -> ok
    }
    expect R3 violated at e3
}
"""


def missing(coverage: Coverage) -> list[str]:
    """`status = ok: decides` for everything that was not seen."""
    return [f"{part.text}: {seen}" for file in coverage.files for part in file.parts for seen in part.missing]


def test_tests_that_show_everything_cover_everything(tmp_path: Path) -> None:
    found = under_test(tmp_path, DASHCAM, EVERYTHING)
    coverage = measure(found.cases, found.policies)
    assert missing(coverage) == []
    assert coverage.percent == 100
    assert coverage.complete


@pytest.mark.parametrize(
    ("run", "expected", "unseen"),
    [
        (  # nothing of a statement is seen where nothing puts it to the test
            "look()",
            "R3 vacuous",
            ["consumes(x): true", "R3: satisfied", "R3: violated", "R3: exercised"],
        ),
        (  # a guard is asked for the values of the trigger: another artifact's validation is none
            'validate(target = "N") affine(transform = "M") -> ok',
            "R3 violated",
            ["validates(x): true", "status = ok: decides", "R3: satisfied"],
        ),
        (
            'validate(target = "M") affine(transform = "M") -> ok',
            "R3 satisfied",
            ["target = x: decides", "status = ok: decides", "R3: violated"],
        ),
    ],
)
def test_what_is_not_seen_is_named(tmp_path: Path, run: str, expected: str, unseen: list[str]) -> None:
    found = under_test(tmp_path, DASHCAM, f'test "t" {{ run {{ {run} }} expect {expected} }}')
    assert set(unseen) <= set(missing(measure(found.cases)))


def test_each_alternative_should_be_true_and_false(tmp_path: Path) -> None:
    policy = 'statement S: abs(delete() and (force = true or path ~ "/etc/*" or not has reason))'
    tests = """\
    test "forced" { run { delete(force = true, path = "/tmp/x", reason = "old") } expect S violated }
    test "harmless" { run { delete(path = "/tmp/x", reason = "old") } expect S satisfied }
    """
    found = under_test(tmp_path, policy, tests)
    assert missing(measure(found.cases)) == ['path ~ "/etc/*": true', "not has reason: true"]


def test_a_pattern_counts_in_its_own_file_and_the_standard_library_does_not(tmp_path: Path) -> None:
    policy = 'use .shared\nuse std.files: writes\nstatement S: prec(danger(), calm())\nstatement T: abs(writes("/x"))'
    tests = 'test "t" { run { rm(force = true) } expect S violated }'
    found = under_test(tmp_path, policy, tests, shared="pattern danger = rm(force = true)\npattern calm = ask()")
    files = {file.source.path.rsplit("/", 1)[-1]: file for file in measure(found.cases).files}
    assert sorted(files) == ["p.vgl", "shared.vgl"]
    bodies = {part.text: part.missing for part in files["shared.vgl"].parts}
    assert bodies["rm(force = true)"] == ("false",)
    assert bodies["ask()"] == ("true",)


def test_a_statement_that_no_expectation_names_is_not_covered(tmp_path: Path) -> None:
    policy = "statement A: abs(rm())\nstatement B: abs(mv())"
    found = under_test(tmp_path, policy, 'test "t" { run { rm() mv() } expect A violated }')
    assert missing(measure(found.cases)) == [
        "A: satisfied", "B: satisfied", "B: violated", "mv(): true", "mv(): false",
    ]  # fmt: skip


def test_policies_without_any_test_count(tmp_path: Path) -> None:
    found = under_test(tmp_path, "statement A: abs(rm())", "")
    assert measure((), found.policies).percent == 0
    assert measure(()).percent == 100


def test_a_variable_that_is_only_searched_for_has_the_values_of_the_others(tmp_path: Path) -> None:
    policy = "statement S: prec(post(text contains x), read(secret = x)) after get(secret = x)"
    tests = (
        'test "t" { run { get(secret = "k1") read(secret = "k1") post(text = "see k1") post(text = "k2") } '
        "expect S satisfied }"
    )
    found = under_test(tmp_path, policy, tests)
    seen = {part.text: part.seen for file in measure(found.cases).files for part in file.parts}
    assert seen["post(text contains x)"] == ("true", "false")
    assert seen["read(secret = x)"] == ("true", "false")


def test_an_endless_run_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_module, "MAX_WORK", 50)
    events = "\n".join(f'affine(transform = "{n}")' for n in range(100))
    found = under_test(tmp_path, DASHCAM, f'test "t" {{ run {{ {events} }} expect R3 vacuous }}')
    assert not measure(found.cases).complete


# --- against the denotation --------------------------------------------------------------------------------


def case_of(policy: Policy, trace: Trace) -> Case:
    """A test that names the policy's only statement."""
    expected = Expected(policy.path, policy.statements[0].name, "satisfied", None, (), NOWHERE)
    return Case("t", "t", NOWHERE, policy.module.source, (policy,), trace, trace, (expected,))


@given(text=policies(), lines=runs(max_size=4))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_seen_is_so_by_the_denotation(text: str, lines: list[Line]) -> None:
    policy, trace = policy_of(text), trace_of(lines)
    requirement = policy.statements[0].requirement
    coverage = measure([case_of(policy, trace)])
    parts = {(p.kind, p.span): p for p in coverage.files[0].parts}
    (statement,) = (p for p in parts.values() if p.kind == "statement")
    assert ("violated" in statement.seen) == bool(violations(requirement, trace))
    held = not violations(requirement, trace) and exercised(requirement, trace) and bool(trace.events)
    assert ("satisfied" in statement.seen) == held
    for holds in core.conditions(requirement.theta):
        assert holds.span is not None
        seen = parts["condition", holds.span].seen
        values = {
            meets(holds.condition, event, binding) for event in trace.events for binding in bindings(requirement, trace)
        }
        words = {"true" if value else "false" for value in values}
        assert set(seen) <= words
        if not requirement.variables:
            assert set(seen) == words


def test_the_standard_library_counts_in_its_own_tests() -> None:
    tests = resource("stdlib", "std") / "guard_test.vgl"
    found = read_tests(str(tests))
    coverage = measure(found.cases, found.policies)
    assert "guard.vgl" in [file.source.path.rsplit("/", 1)[-1] for file in coverage.files if file.counted[0]]
    assert all(is_shipped(file.source.path) for file in coverage.files)
