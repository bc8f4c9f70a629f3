"""Which mutants tests notice, and the tests that are proposed for those they do not."""

from __future__ import annotations

import io
import json
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from rich.console import Console

from tests.strategies.policies import policies, policy_of
from tests.testing.policies_under_test import under_test
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics.denotation import violations
from vigil_lang.testing.distinguishing_runs import Telling, tell
from vigil_lang.testing.expectations import answer, judge
from vigil_lang.testing.mutants import mutants
from vigil_lang.testing.mutate import mutate
from vigil_lang.testing.mutate_report import mutation_json, print_mutation, proposed

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.semantics.core import Requirement
    from vigil_lang.testing.mutate import Mutation

DASHCAM = """\
let WARPS = {affine, perspective}
pattern consumes(x) = action in WARPS and transform = x and status = ok
pattern validates(x) = validate(target = x)

statement R3: prec(consumes(x), validates(x))
statement R4: bresp[2](estimate(), release(file ~ "*.csr"))
"""

WEAK = """\
test "nothing validated" {
    run { affine(transform = "M") -> ok }
    expect R3 violated
}
test "validated" {
    run { validate(target = "M") affine(transform = "M") -> ok }
    expect R3 satisfied
}
test "released at once" {
    run { estimate() release(file = "a.csr") }
    expect R4 satisfied
}
"""


def text_of(mutation: Mutation) -> str:
    stream = io.StringIO()
    print_mutation(mutation, Console(file=stream, width=100, markup=False, highlight=False, soft_wrap=True))
    return stream.getvalue()


def test_what_the_tests_do_not_notice_survives(tmp_path: Path) -> None:
    found = under_test(tmp_path, DASHCAM, WEAK)
    mutation = mutate(found.cases, found.policies)
    assert [(s.statement, s.mutant.told) for s in mutation.survivors] == [
        ("R3", "drops `perspective`"),
        ("R3", "drops `action in WARPS`"),
        ("R3", "drops `status = ok`"),
        ("R3", "drops `target = x`"),
        ("R4", "drops the bound"),
        ("R4", "moves the bound"),
        ("R4", "moves the bound"),
        ("R4", 'drops `file ~ "*.csr"`'),
        ("R4", "widens the glob"),
    ]
    assert len(mutation.killed) == 4
    assert 30 < mutation.percent < 31


def test_a_proposed_test_says_whose_statement_it_means(tmp_path: Path) -> None:
    one = "policy one\nstatement R0: abs(pay(amount > 3))\nstatement R1: abs(get(n > 3))\n"
    two = "policy two\nstatement R0: prec(ship(o = x), pay(o = x))\n"
    tests = """\
    use .one
    use .two
    test "a" {
        run { pay(amount = 1001) }
        expect one.R0 violated
        expect two.R0 vacuous
        expect R1 satisfied
    }
    """
    found = under_test(tmp_path, "", tests, one=one, two=two)
    survivors = mutate(found.cases, found.policies).survivors
    assert {s.statement for s in survivors} == {"one.R0", "two.R0", "R1"}
    new = "\n".join("\n".join(proposed(s)) for s in {s.name: s for s in survivors}.values())
    more = under_test(tmp_path, "", f"{tests}\n{new}", one=one, two=two)
    assert all(judge(case).passed for case in more.cases)
    assert not mutate(more.cases, more.policies).survivors


def test_nothing_to_notice_is_no_success(tmp_path: Path) -> None:
    found = under_test(tmp_path, "", "")
    assert text_of(mutate(found.cases, found.policies)) == "no mutants to notice\n"


def test_the_proposed_tests_notice_every_survivor(tmp_path: Path) -> None:
    found = under_test(tmp_path, DASHCAM, WEAK)
    survivors = mutate(found.cases, found.policies).survivors
    tests = dict.fromkeys("\n".join(proposed(s)) for s in survivors)
    better = under_test(tmp_path, DASHCAM, "\n".join([WEAK, *tests]))
    assert all(judge(case).passed for case in better.cases)
    mutation = mutate(better.cases, better.policies)
    assert mutation.survivors == ()
    assert mutation.percent == 100


def test_a_survivor_is_shown_with_the_test_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy = 'statement R1: prec(release(file ~ "*.csr"), validate())'
    tests = 'test "t" { run { release(file = "a.csr") validate() } expect R1 violated at e1 }'
    found = under_test(tmp_path, policy, tests)
    assert text_of(mutate(found.cases)) == (
        'p.vgl:1:28  R1: drops `file ~ "*.csr"`\n'
        '  - statement R1: prec(release(file ~ "*.csr"), validate())\n'
        "  + statement R1: prec(release(), validate())\n"
        '  no test has an event that meets `release()` and not `file ~ "*.csr"`\n'
        "  this one would notice, if the policy is as it should be:\n"
        "\n"
        '    test "R1 allows release(file = other) -> ok" {\n'
        "        run {\n"
        '            release(file = "other") -> ok\n'
        "        }\n"
        "        expect R1 satisfied\n"
        "    }\n"
        "\n"
        "p.vgl:1:35  R1: widens the glob\n"
        '  - statement R1: prec(release(file ~ "*.csr"), validate())\n'
        '  + statement R1: prec(release(file ~ "*.csr*"), validate())\n'
        '  no test has a value with more at its end than `"*.csr"` matches\n'
        "  this one would notice, if the policy is as it should be:\n"
        "\n"
        '    test "R1 allows release(file = a.csra) -> ok" {\n'
        "        run {\n"
        '            release(file = "a.csra") -> ok\n'
        "        }\n"
        "        expect R1 satisfied\n"
        "    }\n"
        "\n"
        "2 of 4 mutants noticed (50 %) · 2 survived\n"
    )


def test_a_test_that_fails_notices_nothing(tmp_path: Path) -> None:
    found = under_test(tmp_path, "statement S: abs(rm(force = true))", 'test "t" { run { mv() } expect S violated }')
    mutation = mutate(found.cases)
    assert (len(mutation.killed), len(mutation.untested)) == (0, 2)


def test_statements_that_no_test_names_count_against_the_score(tmp_path: Path) -> None:
    policy = "statement A: abs(rm(force = true))\nstatement B: abs(mv(force = true))"
    tests = """\
    test "forced" { run { rm(force = true) } expect A violated }
    test "not forced" { run { rm(force = false) } expect A satisfied }
    """
    found = under_test(tmp_path, policy, tests)
    mutation = mutate(found.cases, found.policies)
    assert (len(mutation.killed), len(mutation.untested), mutation.percent) == (2, 2, 50)
    assert "B, 2 mutants" in text_of(mutation)


def test_a_mutant_the_solver_knows_to_be_the_same_does_not_count(tmp_path: Path) -> None:
    # Whatever begins with `rm -` begins with `rm`, so nothing is lost without the second test.
    policy = 'statement S: abs(sh(command ~ "rm -*", command ~ "rm*"))'
    tests = 'test "t" { run { sh(command = "rm -f") } expect S violated }'
    found = under_test(tmp_path, policy, tests)
    mutation = mutate(found.cases)
    assert 'drops `command ~ "rm*"`' in [m.told for m in mutation.equivalent]


def test_params_take_part_with_the_values_that_tests_set(tmp_path: Path) -> None:
    policy = "param most: number = 6\nstatement S: abs(sample(fps > most))"
    tests = 'test "t" { set most = 3 run { sample(fps = 4) } expect S violated }'
    found = under_test(tmp_path, policy, tests)
    mutation = mutate(found.cases)
    shown = [line.strip() for survivor in mutation.survivors for line in proposed(survivor)]
    assert "set most = 3" in shown
    assert "sample(fps = 3) -> ok" in shown


def test_the_limit_leaves_mutants_untried_in_the_same_way_each_time(tmp_path: Path) -> None:
    found = under_test(tmp_path, DASHCAM, WEAK)
    first, second = (mutate(found.cases, limit=12) for _ in range(2))
    assert first.skipped
    assert [m.told for m in first.skipped] == [m.told for m in second.skipped]
    assert "not tried" in text_of(first)


def test_as_json(tmp_path: Path) -> None:
    found = under_test(tmp_path, DASHCAM, WEAK)
    read = json.loads(json.dumps(mutation_json(mutate(found.cases, found.policies))))
    assert (read["schema"], read["killed"], read["survived"]) == ("vigil.mutation/1", 4, 9)
    assert read["survivors"][0]["before"] == "let WARPS = {affine, perspective}"
    assert read["survivors"][0]["after"] == "let WARPS = {affine}"
    assert read["survivors"][0]["test"].startswith('test "R3 forbids perspective(')


# --- runs that tell two statements apart -------------------------------------------------------------------


def requirements(*texts: str) -> list[Requirement]:
    return [policy_of(f"statement S: {text}").statements[0].requirement for text in texts]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("atmost[3](a(f = x))", "atmost[4](a(f = x))"),
        ("bresp[5](a(), b())", "bresp[6](a(), b())"),
        ("bresp[10m](a(), b())", "bresp[11m](a(), b())"),
        ("prec(a(), b()) after c()", "prec(a(), b())"),
        ("until(a(), b(), c())", "until(a(), action in {}, c())"),
        ("rslv(a(), b())", "resp(a(), b())"),
        ("abs(a(f = x, g = x))", "abs(a(f = x, g = y))"),
        ("prec(a(f = x, g = y), b(f = x, g = y))", "prec(a(f = y, g = x), b(f = x, g = y))"),
        ("abs(sh(command ~ /^rm\\b/))", "abs(sh(command ~ /^rm/))"),
        ("abs(post(text contains x)) after read(secret = x)", "abs(post(has text)) after read(secret = x)"),
        ("abs(output contains \"key\")", "abs(has output)"),
        ("abs(a(n >= 2.5))", "abs(a(n > 2.5))"),
    ],
)  # fmt: skip
def test_a_run_that_tells_two_statements_apart(before: str, after: str) -> None:
    one, two = requirements(before, after)
    found = tell(one, two)
    assert isinstance(found, Telling)
    assert [at for at, _ in violations(one, found.trace)] == list(found.before)
    assert [at for at, _ in violations(two, found.trace)] == list(found.after)
    assert found.before != found.after


def test_statements_that_say_the_same_are_not_told_apart() -> None:
    assert tell(*requirements('abs(a(f = "1"))', 'abs(a(f = "1", has f))')) == "same"
    assert tell(*requirements("abs(a())", "always not a()")) == "unknown"


@given(text=policies())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_run_that_is_proposed_tells_them_apart_by_both_engines(text: str) -> None:
    for mutant in mutants([policy_of(text)])[0][:5]:
        for mutated in mutant.mutated:
            found = tell(mutated.statement.requirement, mutated.mutant.requirement)
            if isinstance(found, Telling):
                before = tuple(at for at, _ in violations(mutated.statement.requirement, found.trace))
                after = tuple(at for at, _ in violations(mutated.mutant.requirement, found.trace))
                assert (before, after) == (found.before, found.after)
                assert before != after
                assert tuple(at for at, _ in answer(mutated.statement, RunIndex(found.trace)).offending) == before
                assert tuple(at for at, _ in answer(mutated.mutant, RunIndex(found.trace)).offending) == after


def test_a_killed_mutant_differs_on_a_run_of_some_test(tmp_path: Path) -> None:
    found = under_test(tmp_path, DASHCAM, WEAK)
    for mutant in mutate(found.cases).killed:
        assert any(
            violations(m.statement.requirement, case.trace) != violations(m.mutant.requirement, case.trace)
            for case in found.cases
            for m in mutant.mutated
        )


@pytest.mark.parametrize(
    "statement",
    [
        "atmost[999999999](a(f = x))",
        "bresp[999999999d](a(f = x, g = y, h = z), b(f = x, g = y, h = z))",
        "abs(a(f ~ /(((a|b){1,30}){1,30})*$/))",
        "abs(a(n > 1e9999, m < -1e-9999))",
        f"abs(a({', '.join(f'f{n} = x{n}' for n in range(40))}) or a({', '.join(f'g{n} = x{n}' for n in range(40))}))",
        f"abs({' or '.join(f'(f{n} ~ /x{n}/ and not g{n} contains y)' for n in range(60))}) after a(g = y)",
    ],
)  # fmt: skip
def test_odd_statements_take_little_time(statement: str) -> None:
    made, _ = mutants([policy_of(f"statement S: {statement}")])
    started = time.process_time()
    for mutant in made[:3]:
        tell(mutant.mutated[0].statement.requirement, mutant.mutated[0].mutant.requirement)
    assert time.process_time() - started < 30


def test_a_long_run_is_judged_once_a_mutant(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"action": "affine", "args": {"transform": f"M{n}"}}) for n in range(5_000))
    (tmp_path / "long.jsonl").write_text(lines, encoding="utf-8")
    found = under_test(tmp_path, DASHCAM, 'test "t" { run "long.jsonl" expect R3 vacuous }')
    started = time.process_time()
    mutation = mutate(found.cases, limit=30_000)
    assert time.process_time() - started < 20
    assert mutation.skipped
