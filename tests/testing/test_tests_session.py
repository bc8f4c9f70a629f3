"""What `vigil test` makes of its arguments and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click import UsageError
from click.testing import CliRunner

from vigil_lang.cli.test import command
from vigil_lang.testing.name_filter import name_filter

if TYPE_CHECKING:
    from pathlib import Path

POLICY = "statement A: abs(bad(k = 1 or k = 2))\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, which is the working directory."""
    (tmp_path / "vigil.toml").write_text("", encoding="utf-8")
    (tmp_path / "p.vgl").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def vigil_test(*args: str) -> tuple[int, str]:
    """The status and the screen."""
    result = CliRunner().invoke(command, args, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.output


@pytest.mark.parametrize(
    ("wanted", "fitting"),
    [
        ("", "deploys late|Deploys early|a not b"),
        ("LATE", "deploys late"),
        ("not late", "Deploys early|a not b"),
        ("not not late", "deploys late"),
        ("deploys and not late", "Deploys early"),
        ("late or a", "deploys late|Deploys early|a not b"),
        ("deploys  early", "Deploys early"),
        ("(late)", ""),
    ],
)
def test_which_tests_an_expression_chooses(wanted: str, fitting: str) -> None:
    fits = name_filter(wanted)
    names = ["deploys late", "Deploys early", "a not b"]
    assert [name for name in names if fits(name)] == [name for name in fitting.split("|") if name]


@pytest.mark.parametrize("wanted", ["good or", "and", "not", "a and not", "a and and b", "a or or b", "or a"])
def test_an_expression_that_lacks_a_part_chooses_nothing(wanted: str) -> None:
    with pytest.raises(ValueError, match="a part of a name is missing"):
        name_filter(wanted)
    with pytest.raises(UsageError, match="-k: a part of a name is missing"):
        vigil_test("-k", wanted)


def test_a_policy_is_no_file_of_tests(project: Path) -> None:
    status, screen = vigil_test("p.vgl")
    assert status == 2
    assert "the tests of a policy stand beside it: `p_test.vgl`" in screen
    (project / "p_test.vgl").write_text("", encoding="utf-8")
    assert 'write `test "…" { … }`' in vigil_test("p_test.vgl")[1]


def test_a_standard_module_stands_for_its_tests() -> None:
    status, screen = vigil_test("std.confirmation", "-v")
    assert status == 0
    assert "confirmation_test.vgl::" in screen


def test_only_what_was_run_is_covered(project: Path) -> None:
    tests = """\
    test "fails" { run { bad(k = 1) } expect A satisfied }
    test "another" { run { bad(k = 2) } expect A violated }
    test "none" { run { x() bad() } expect A satisfied }
    """
    (project / "p_test.vgl").write_text(tests, encoding="utf-8")
    assert "100 %" in vigil_test("--coverage")[1]
    status, screen = vigil_test("-x", "--coverage")
    assert status == 1
    assert "100 %" not in screen


def test_a_test_that_could_not_be_run_noticed_no_mutant(project: Path) -> None:
    tests = 'test "a" { run { bad(k = 1) } expect A violated }\ntest "b" { run "none.jsonl" expect A violated }\n'
    (project / "p_test.vgl").write_text(tests, encoding="utf-8")
    status, screen = vigil_test("--mutate")
    assert status == 2
    assert "MUTANTS tests that could not be run noticed nothing" in screen
