"""Reading test files: which policies are under test, which run is meant, and exactly what is wrong where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import InputError
from vigil_lang.testing.expectations import judge
from vigil_lang.testing.read import Suite, read_tests

if TYPE_CHECKING:
    from pathlib import Path

RULES = """\
policy rules

param limit: number = 5

statement R0: abs(send(size > limit))

statement R1: prec(deploy(target = x), check(target = x))
"""
RUN = '{"action":"deploy","args":{"target":"A"}}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a policy and a run of one event."""
    (tmp_path / "vigil.toml").write_text("", encoding="utf-8")
    (tmp_path / "rules.vgl").write_text(RULES, encoding="utf-8")
    (tmp_path / "run.jsonl").write_text(RUN, encoding="utf-8")
    return tmp_path


def read(project: Path, text: str, name: str = "rules_test.vgl") -> Suite:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_tests(str(path))


def body(text: str) -> str:
    return f'test "t" {{ {text} }}'


def said(found: Suite) -> list[tuple[str, str, str | None]]:
    """The findings: what each underlines, what it says and what it advises."""
    return [(f.source.text[f.span.start : f.span.end], f.message, f.help) for f in found.findings]


# --- the policies under test -------------------------------------------------------------------------------


def under_test(found: Suite) -> list[tuple[str, str]]:
    return [(policy.name, statement.name) for policy in found.cases[0].policies for statement in policy.statements]


def test_the_namesake_is_under_test(project: Path) -> None:
    assert under_test(read(project, body('run "run.jsonl" expect R1 violated'))) == [("rules", "R0"), ("rules", "R1")]


def test_what_is_used_whole_is_under_test(project: Path) -> None:
    text = "use .rules\n\n" + body('run "run.jsonl" expect R1 violated')
    assert under_test(read(project, text, "other_test.vgl")) == [("rules", "R0"), ("rules", "R1")]


def test_a_name_that_is_imported_brings_no_statements(project: Path) -> None:
    text = "use .rules: limit\n\nstatement own: abs(send(size = limit))\n\n" + body(
        'run "run.jsonl" expect R1 violated'
    )
    assert said(read(project, text, "other_test.vgl")) == [("R1", "there is no statement `R1`", "there is `own`")]


def test_statements_of_the_file_and_of_what_it_uses(project: Path) -> None:
    text = "use .rules\n\nstatement R0: abs(deploy())\n\n"
    found = read(project, text + body('run "run.jsonl" expect R0 violated'), "other_test.vgl")
    advice = "write one of `other_test.R0`, `rules.R0`"
    assert said(found) == [("R0", "`R0` can be several statements", advice)]
    clear = read(project, text + body('run "run.jsonl" expect rules.R0 satisfied expect R1 violated'), "other_test.vgl")
    assert [(e.statement, e.policy.endswith("rules.vgl")) for e in clear.cases[0].expected] == [
        ("R0", True),
        ("R1", True),
    ]


def test_the_standard_library_is_under_test_by_its_names(project: Path) -> None:
    text = "use std.guard\n\n" + body('run "run.jsonl" expect std.guard.no_force_push, read_before_run satisfied')
    assert read(project, text, "guard_test.vgl").findings == ()


def test_a_param_has_another_value_in_one_test_only(project: Path) -> None:
    run = "run { send(size = 4) } expect R0"
    found = read(project, f'test "low" {{ set limit = 3 {run} violated }} test "as it is" {{ {run} satisfied }}')
    assert [case.policies[0].params for case in found.cases] == [{"limit": 3}, {}]


def test_policies_may_have_params_of_one_name(project: Path) -> None:
    for name in ("one", "two"):
        text = (
            f"policy {name}\nparam lim: number = 3\npattern big = action = {name} and n > lim\nstatement S: abs(big)\n"
        )
        (project / f"{name}.vgl").write_text(text, encoding="utf-8")
    expected = "expect one.S violated expect two.S satisfied"
    test = f'use .one\nuse .two\ntest "t" {{ set lim = 1 run {{ one(n = 2) two(n = 1) }} {expected} }}'
    found = read(project, test)
    assert found.findings == ()
    assert judge(found.cases[0]).passed
    clash = read(project, f"{test}\nstatement own: abs(big)\n")
    assert {f.message for f in clash.findings} == {
        "`lim` is imported from `.one` and from `.two`",
        "`big` is imported from `.one` and from `.two`",
    }


def test_a_value_is_of_the_type_of_every_param_of_its_name(project: Path) -> None:
    for name, kind in (("one", "number = 3"), ("two", 'text = "3"')):
        text = f"policy {name}\nparam lim: {kind}\nstatement {name}: abs(a(n = lim))\n"
        (project / f"{name}.vgl").write_text(text, encoding="utf-8")
    test = 'use .one\nuse .two\ntest "t" { set lim = 1 run {} expect one, two satisfied }'
    assert said(read(project, test)) == [("1", "param `lim` is a text, not a number", None)]


# --- what is wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('run "run.jsonl" expect R7 satisfied', ("R7", "there is no statement `R7`", "there is `R0`, `R1`")),
        ('run "run.jsonl" expect rules.RR1 satisfied', ("rules.RR1", "there is no statement `rules.RR1`", "…")),
        ('run "run.jsonl" expect R1 violated at e2', ("e2", "the run has no event `e2`", "there is `e1`")),
        ('run "run.jsonl" expect R1 violated at e1, e1', ("e1", "`e1` is named twice", None)),
        ('run "run.jsonl" expect R1 violated with y = 1', ("y", "`R1` has no variable `y`", "there is `x`")),
        ('run "run.jsonl" expect R1 violated with x = 1, x = 2', ("x", "`x` has two values", None)),
        (
            "run { { x() y() } z() } expect R1 violated at e1.3",
            ("e1.3", "the run has no event `e1.3`", "there is `e1.1`, `e1.2`"),
        ),
        (
            "run {} expect R0 vacuous",
            ("R0", "`R0` is never vacuous: it has no trigger", "a run that keeps it makes it `satisfied`"),
        ),
        ('run "run.jsonl" expect R1, R1 violated', ("R1", "`R1` is expected twice", None)),
        (
            'run "rum.jsonl" expect R1 violated',
            ('"rum.jsonl"', "`rum.jsonl` does not exist", "did you mean `run.jsonl`?"),
        ),
        ('run "." expect R1 violated', ('"."', "`.` is a folder, not a run", "there is `./run.jsonl`")),
        (
            'run "rules.vgl" expect R1 violated',
            ('"rules.vgl"', "`rules.vgl` is no run: not valid JSON: invalid character", None),
        ),
        (
            'run "../x.jsonl" expect R1 violated',
            ('"../x.jsonl"', "`../x.jsonl` leads out of the project's folder", None),
        ),
        (
            'run "/etc/passwd" expect R1 violated',
            ('"/etc/passwd"', "`/etc/passwd` leads out of the project's folder", None),
        ),
        ('run "a\\u{0}b" expect R1 violated', ('"a\\u{0}b"', "`a\0b` does not exist", "…")),
        ('run "\\q" expect R1 violated', ("\\q", "unknown escape `\\q`", "…")),
        ("expect R1 violated", ('"t"', "the test has no run", "…")),
        ('run "run.jsonl"', ('"t"', "the test expects nothing", "…")),
        (
            'run "run.jsonl" run {} expect R1 violated',
            ("run", "a test has one run", "a second one is a test of its own"),
        ),
        (
            'set limits = 3 run {} expect R1 vacuous',
            ("limits", "no policy has a param `limits`", "did you mean `limit`?"),
        ),
        ('set limit = 3 set limit = 4 run {} expect R1 vacuous', ("limit", "`limit` is set twice", None)),
        ('set limit = "3" run {} expect R1 vacuous', ('"3"', "param `limit` is a number, not a text", None)),
        ('set limit = {3} run {} expect R1 vacuous', ("{3}", "param `limit` is a number, not a set", None)),
        ('set limit = limit run {} expect R1 vacuous', ("limit", "`limit` is not a value: write the values out", None)),
        ("run { a: x() a: x() } expect R1 vacuous", ("a", "two events are called `a`", None)),
        ("run { e2: x() x() } expect R1 vacuous", ("x", "two events are called `e2`", None)),
        ("run { x(a = 1, a = 2) } expect R1 vacuous", ("a", "the argument `a` is given twice", None)),
        ("run { x(a = 1e99999999999999999999) } expect R1 vacuous", ("1e99999999999999999999", "…", None)),
        ("run {} expect R1 violated with x = 1e99999999999999999999", ("1e99999999999999999999", "…", None)),
        ("set limit = 1e99999999999999999999 run {} expect R1 vacuous", ("1e99999999999999999999", "…", None)),
        ("set limit = {1e99999999999999999999} run {} expect R1 vacuous", ("1e99999999999999999999", "…", None)),
        ("run { x(a = {1, b = 2}) } expect R1 vacuous", ("{1, b = 2}", "…", None)),
        ("run { x() at 99999999d } expect R1 vacuous", ("99999999d", "no run is a million days long", None)),
        ("calls { x(): file.read } expect R1 vacuous", ("file.read", "…", None)),
        ("calls { user.message(say = 1) } expect R1 vacuous", ("user.message(say = 1)", "…", None)),
    ],
)  # fmt: skip
def test_each_fault_is_pointed_at(project: Path, text: str, expected: tuple[str, str, str | None]) -> None:
    found = read(project, body(text))
    assert found.cases == ()
    ((span, message, advice),) = said(found)
    assert span == expected[0]
    assert message == expected[1] or expected[1] == "…"
    assert advice == expected[2] or (expected[2] == "…" and advice)


def test_a_link_out_of_the_project_is_not_followed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "run.jsonl"
    outside.write_text(RUN, encoding="utf-8")
    (project / "link.jsonl").symlink_to(outside)
    (finding,) = read(project, body('run "link.jsonl" expect R1 violated')).findings
    assert finding.message == "`link.jsonl` leads out of the project's folder"


def test_a_file_of_tests_is_no_pipe(project: Path) -> None:
    os.mkfifo(project / "pipe_test.vgl")
    with pytest.raises(InputError) as caught:
        read_tests(str(project / "pipe_test.vgl"))
    assert caught.value.diagnostics[0].code == "VGL001"


def test_links_out_of_the_project_are_not_read(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.vgl").write_text("statement R9: abs(a())\n", encoding="utf-8")
    (project / "link_test.vgl").symlink_to(outside / "secret.vgl")
    (project / "loop_test.vgl").symlink_to(project / "loop_test.vgl")
    for name, code in (("link", "VGL610"), ("loop", "VGL001")):
        with pytest.raises(InputError) as caught:
            read_tests(str(project / f"{name}_test.vgl"))
        assert caught.value.diagnostics[0].code == code
    (project / "name.vgl").symlink_to(outside / "secret.vgl")
    (finding,) = read(project, body("run {} expect R9 satisfied"), "name_test.vgl").findings
    assert finding.message == "there is no statement `R9`"


def test_the_run_of_another_folder_of_the_project(project: Path) -> None:
    text = "use .rules\n\n" + body('run "../run.jsonl" expect R1 violated')
    (project / "sub").mkdir()
    (project / "sub" / "rules.vgl").write_text(RULES, encoding="utf-8")
    assert read(project, text, "sub/rules_test.vgl").findings == ()


def test_what_is_wrong_in_a_run_is_shown_there(project: Path) -> None:
    (project / "bad.jsonl").write_text('{"vigil_trace":1}\n{"action":3}\n', encoding="utf-8")
    (finding,) = read(project, body('run "bad.jsonl" expect R1 violated')).findings
    assert finding.message == "`bad.jsonl` is no run: `action` must be a string, not `3`"
    assert finding.notes[0].source.position(finding.notes[0].span.start)[0] == 2


def test_two_tests_of_one_name(project: Path) -> None:
    found = read(project, 'test "t" { run {} expect R1 vacuous }\ntest "t" { run {} expect R0 satisfied }')
    assert [f.message for f in found.findings] == ["two tests have this name"]
    assert len(found.cases) == 1


@pytest.mark.parametrize("name", ["", "  "])
def test_a_test_has_a_name(project: Path, name: str) -> None:
    found = read(project, f'test "{name}" {{ run {{}} expect R1 vacuous }}')
    assert said(found) == [(f'"{name}"', "the test has no name", "say what it shows")]


def test_a_broken_test_hides_no_other(project: Path) -> None:
    found = read(project, 'test "a" { run { x( }\n\ntest "b" { run {} expect R1 vacuous }\n')
    assert [case.name for case in found.cases] == ["b"]
    assert [f.code for f in found.findings] == ["VGL101"]


def test_a_policy_with_errors_is_not_tested(project: Path) -> None:
    (project / "rules.vgl").write_text("statement R1: abs(a(x ~ /(/))\n", encoding="utf-8")
    found = read(project, body('run "run.jsonl" expect R1 violated'))
    assert (found.cases, [f.code for f in found.findings]) == ((), ["VGL305"])


def test_a_param_without_a_value_is_given_one(project: Path) -> None:
    (project / "rules.vgl").write_text("param n: number\n\nstatement R0: abs(send(size > n))\n", encoding="utf-8")
    assert read(project, body("set n = 3 run {} expect R0 satisfied")).findings == ()
    (finding,) = read(project, body("run {} expect R0 satisfied")).findings
    assert (finding.message, finding.help) == (
        "param `n` has no value",
        "the test can give it one: `set NAME = …`",
    )


def test_a_test_in_a_policy_is_run_by_nobody(project: Path) -> None:
    found = read(project, RULES + body("run {} expect R1 vacuous"), "rules.vgl")
    assert [f.message for f in found.findings] == ["a test stands in a file whose name ends in `_test.vgl`"]
