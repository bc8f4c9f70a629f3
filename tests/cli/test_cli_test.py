"""`vigil test`: what it finds, how it shows it, and what its status says."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from cli_support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Golden, Vigil, Write

RULES = """\
policy rules

/// Nothing is deployed that was not checked.
@source("SKILL.md", "Check before you deploy.")
statement R0: prec(deploy(target = x), check(target = x, status = ok))
"""
TESTS = """\
test "checked first" {
    run {
        check(target = "A") -> ok
        deploy(target = "A") -> ok
    }
    expect R0 satisfied
}

/// A check of something else is none.
test "checked something else" {
    run {
        check(target = "A") -> ok
        deploy(target = "B") -> ok
    }
    expect R0 satisfied
}
"""
BROKEN = 'test "of nothing" {\n    run "missing.jsonl"\n    expect R0 satisfied\n}\n'


@pytest.fixture(autouse=True)
def project(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, a file of two tests, of which one fails, and a run."""
    write("vigil.toml", "")
    write("rules.vgl", RULES)
    write("rules_test.vgl", TESTS)
    write("run.jsonl", '{"action":"deploy","args":{"target":"A"}}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def timeless(screen: str) -> str:
    return re.sub(r"in \d+\.\d\ds", "in 0.00s", screen)


# --- the screen --------------------------------------------------------------------------------------------


def test_a_failure_shows_what_happened(vigil: Vigil, golden: Golden) -> None:
    result = vigil("test")
    assert (result.status, result.err) == (1, "")
    golden("test-failure.txt", timeless(result.out))


def test_tests_that_pass_are_a_few_lines(vigil: Vigil) -> None:
    result = vigil("test", "-k", "first")
    assert result.status == 0
    lines = [line for line in result.out.splitlines() if line]
    assert lines[1] == "1 test in 1 file · 1 deselected"
    assert re.fullmatch(r"rules_test\.vgl \. +\[100%\]", lines[2])
    assert re.fullmatch(r"=+ 1 passed, 1 deselected in \d\.\d\ds =+", lines[3])
    assert len(lines) == 4


def test_verbose_is_a_line_a_test(vigil: Vigil) -> None:
    lines = vigil("test", "-v").out.splitlines()
    assert re.fullmatch(r"rules_test\.vgl::checked first PASSED +\[ 50%\]", lines[3])
    assert re.fullmatch(r"rules_test\.vgl::checked something else FAILED +\[100%\]", lines[4])


def test_the_first_failure_can_end_it(vigil: Vigil, project: Path) -> None:
    (project / "z_test.vgl").write_text("use .rules\n\n" + TESTS, encoding="utf-8")
    assert "2 failed, 2 passed" in vigil("test").out
    assert "1 failed, 1 passed, 2 not run" in vigil("test", "-x").out


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ("first", 1),
        ("FIRST", 1),
        ("not first", 1),
        ("checked and not else", 1),
        ("first or else", 2),
        ("rules_test", 2),
    ],
)
def test_only_some_tests(vigil: Vigil, wanted: str, number: int) -> None:
    assert len(json.loads(vigil("test", "-k", wanted, "--format", "json").out)["tests"]) == number


def test_a_choice_that_chooses_nothing_is_no_success(vigil: Vigil) -> None:
    result = vigil("test", "-k", "chekced")
    assert (result.status, result.out) == (2, "")
    assert "-k: no test's name fits 'chekced'." in result.err


def test_no_control_character_reaches_the_screen(vigil: Vigil, project: Path) -> None:
    name = 'test "\\u{1b}[31mred" { run { deploy(target = "\\u{1b}]0;x\\u{7}") } expect R0 satisfied }\n'
    (project / "rules_test.vgl").write_text(name, encoding="utf-8")
    result = vigil("test")
    assert result.status == 1
    assert "\x1b" not in result.out
    assert "\x07" not in result.out


# --- what is at fault --------------------------------------------------------------------------------------


def test_one_file_at_fault_does_not_stop_the_others(vigil: Vigil, project: Path, golden: Golden) -> None:
    (project / "a_test.vgl").write_text("use .rules\n\n" + BROKEN, encoding="utf-8")
    (project / "b_test.vgl").write_bytes(b"\xff")
    (project / "c_test.vgl").write_text("statement A: abs(x())\n", encoding="utf-8")
    (project / "d_test.vgl").write_text("use .rulez\n\n" + TESTS, encoding="utf-8")
    result = vigil("test")
    assert result.status == 2
    assert "1 failed, 1 passed, 4 errors" in result.out
    golden("test-errors.txt", timeless(result.out))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere"], "there is no file or folder `nowhere`"),
        (["empty"], "no tests (`*_test.vgl`) in `empty`"),
        (["rules_tests.vgl"], "did you mean `rules_test.vgl`?"),
    ],
)
def test_a_path_that_stands_for_nothing(vigil: Vigil, project: Path, args: list[str], message: str) -> None:
    (project / "empty").mkdir()
    result = vigil("test", *args)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_huge_run_is_refused(vigil: Vigil, project: Path) -> None:
    events = "x(a = 1)\n" * 5000
    (project / "rules_test.vgl").write_text(f'test "t" {{ run {{ {events} }} expect R0 vacuous }}', encoding="utf-8")
    result = vigil("test")
    assert result.status == 2
    assert "VGL003 this item has more than 20,000 tokens" in result.out


def test_deep_values_are_refused(vigil: Vigil, project: Path) -> None:
    deep = "{" * 500 + "}" * 500
    (project / "rules_test.vgl").write_text(
        f'test "t" {{ run {{ x(a = {deep}) }} expect R0 vacuous }}', encoding="utf-8"
    )
    result = vigil("test")
    assert (result.status, result.err) == (2, "")
    assert "VGL104" in result.out


# --- results for machines ----------------------------------------------------------------------------------


def test_json(vigil: Vigil, project: Path) -> None:
    # spec RD.4-2
    (project / "a_test.vgl").write_text("use .rules\n\n" + BROKEN, encoding="utf-8")
    found: dict[str, Any] = json.loads(vigil("test", "--format", "json").out)
    assert found["schema"] == "vigil.test/1"
    assert [(t["name"], t["outcome"], t["line"]) for t in found["tests"]] == [
        ("checked first", "passed", 1),
        ("checked something else", "failed", 10),
    ]
    assert found["tests"][1]["failures"] == [
        {
            "policy": "rules.vgl",
            "statement": "R0",
            "message": "`R0` is violated at `e2`, not satisfied",
            "line": 15,
            "column": 12,
        }
    ]
    assert [(e["code"], e["file"], e["start"]) for e in found["errors"]] == [
        ("VGL610", "a_test.vgl", {"line": 4, "column": 9})
    ]
    summary = found["summary"]
    assert (summary["passed"], summary["failed"], summary["errors"]) == (1, 1, 1)


def test_junit_beside_the_screen(vigil: Vigil, project: Path) -> None:
    result = vigil("test", "--format", "junit", "-o", "report.xml")
    assert "1 failed, 1 passed" in result.out
    root = ElementTree.parse(project / "report.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "0")
    cases = {case.get("name"): case.find("failure") for case in root.iter("testcase")}
    assert cases["checked first"] is None
    failure = cases["checked something else"]
    assert failure is not None
    assert failure.get("message") == "`R0` is violated at `e2`, not satisfied"


def test_the_screen_goes_to_a_file(vigil: Vigil, project: Path) -> None:
    assert vigil("test", "-o", "out.txt").out == ""
    assert "1 failed, 1 passed" in (project / "out.txt").read_text(encoding="utf-8")


# --- coverage and mutation ---------------------------------------------------------------------------------


def test_too_little_coverage_is_a_failure(vigil: Vigil) -> None:
    # spec RD.4-1
    args = ("test", "-k", "first", "--coverage", "--fail-under")
    assert vigil(*args, "1").status == 0
    result = vigil(*args, "100")
    assert result.status == 1
    assert "COVERAGE" in result.out


def test_the_configuration_sets_the_threshold(vigil: Vigil, project: Path) -> None:
    (project / "vigil.toml").write_text("[test]\nfail-under = 100\n", encoding="utf-8")
    assert vigil("test", "-k", "first").status == 1
    assert vigil("test", "-k", "first", "--isolated").status == 0


def test_coverage_as_json(vigil: Vigil, project: Path) -> None:
    assert vigil("test", "-k", "first", "--coverage-json", "coverage.json").status == 0
    assert json.loads((project / "coverage.json").read_text(encoding="utf-8"))["schema"] == "vigil.coverage/1"
    found = json.loads(vigil("test", "--coverage", "--format", "json").out)
    assert found["coverage"]["schema"] == "vigil.coverage/1"


def test_mutants_that_survive_are_a_failure(vigil: Vigil) -> None:
    result = vigil("test", "-k", "first", "--mutate")
    assert result.status == 1
    assert "MUTANTS" in result.out


def test_mutants_are_not_tried_where_tests_fail(vigil: Vigil) -> None:
    result = vigil("test", "--mutate")
    assert result.status == 1
    assert "none were tried" in result.out


# --- other verbs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args", [("verify", "rules_test.vgl", "run.jsonl"), ("compile", "rules_test.vgl", "--length", "2")]
)
def test_a_file_of_tests_is_no_policy(vigil: Vigil, args: tuple[str, ...]) -> None:
    result = vigil(*args)
    assert (result.status, result.out) == (2, "")
    assert "a test file is not a policy to judge runs by" in result.err
    assert "`vigil test rules_test.vgl` runs its tests" in result.err


def test_a_folder_is_judged_without_its_tests(vigil: Vigil) -> None:
    result = vigil("verify", ".", "--format", "concise")
    assert (result.status, result.err) == (1, "")
    assert len(result.out.splitlines()) == 1


def test_tests_are_checked_and_formatted_with_the_rest(vigil: Vigil, project: Path) -> None:
    (project / "a_test.vgl").write_text("use .rules\n" + BROKEN, encoding="utf-8")
    checked = vigil("check", ".", "--format", "concise")
    assert checked.status == 1
    assert checked.out == "./a_test.vgl:3:9: VGL610 `missing.jsonl` does not exist\n"
    assert vigil("fmt", ".", "--check").out == "would reformat ./a_test.vgl\n"


def test_tests_of_the_examples_and_of_the_library_pass(vigil: Vigil) -> None:
    result = vigil("test", ROOT / "examples", ROOT / "stdlib")
    assert (result.status, result.err) == (0, "")
