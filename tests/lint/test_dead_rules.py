"""Deny rules of the kinds that other engines accept without a word, although they can never fire: each is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from vigil_lang.cli.main import run

FOLDER = Path(__file__).parent / "dead_rules"

ALONE = {"no_rm_rf": {"VGL317"}, "no_large_payment": {"VGL324"}, "no_secret_scripts": {"VGL302"}}
"""What is found without knowing the tools."""

WITH_TOOLS = ALONE | {
    "no_large_payment": {"VGL324", "VGL404"},
    "no_outside_mail": {"VGL402"},
    "no_wide_rollout": {"VGL404"},
    "reviewed": {"VGL401"},
}


@pytest.mark.parametrize(("tools", "expected"), [([], ALONE), (["--signature", "tools.json"], WITH_TOOLS)])
def test_each_dead_rule_is_caught(
    tools: list[str],
    expected: dict[str, set[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(FOLDER)
    assert run(["lint", "dead_rules.vgl", "--isolated", "--format", "concise", *tools]) == 1
    lines = Path("dead_rules.vgl").read_text(encoding="utf-8").splitlines()
    found: dict[str, set[str]] = {}
    for said in capsys.readouterr().out.splitlines():
        _, line, _, rest = said.split(":", 3)
        above = [text for text in lines[: int(line)] if text.startswith("statement ")]
        found.setdefault(above[-1].split()[1].rstrip(":"), set()).add(rest.split()[0])
    assert found == expected
