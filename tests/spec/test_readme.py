"""The README shows what happens: its policy checks clean, its screen is the screen, its Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vigil_lang.cli.main import run
from vigil_lang.diagnostics import Source
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax.format import format_text

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")


def test_the_policy_is_right_and_formatted() -> None:
    text, rules, tests = blocks("vgl")
    for each in (text, rules):
        source = Source("readme.vgl", each)
        assert not read_policy(source).diagnostics
        assert format_text(source) == each
    assert tests in (ROOT / "examples" / "dashcam" / "dashcam_test.vgl").read_text(encoding="utf-8")


SCREENS = [block for block in blocks("console") if block.count("$ ") == 1]


@pytest.mark.parametrize(("block", "status"), list(zip(SCREENS, [1, 0, 1, 0], strict=True)))
def test_the_screen_is_what_the_command_prints(block: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    command, _, screen = block.partition("\n")
    assert run(command.removeprefix("$ vigil ").split()) == status
    assert _timeless(capsys.readouterr().out) == _timeless(screen)


def _timeless(screen: str) -> str:
    """A screen, however long what it shows took."""
    return re.sub(r"in [0-9.]+s", "in 0.00s", screen.strip())


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = blocks("python")
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out == "R3 e5 `M` was consumed before anything validated it\n"


@pytest.mark.parametrize(
    "verb",
    [
        "abstract",
        "verify",
        "replay",
        "gate",
        "check",
        "draft",
        "run",
        "test",
        "eval",
        "fmt",
        "signature",
        "compile",
        "explain",
    ],
)
def test_every_verb_it_names_exists(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"$ vigil {verb}" in README
    assert run([verb, "--help"]) == 0
    assert capsys.readouterr().out
