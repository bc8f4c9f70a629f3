"""One policy that gives every rule something to find, and what is said of it, word for word.

After a wanted change: ``VIGIL_UPDATE=1 pytest tests/lint/test_most_violations.py``, and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vigil_lang.cli.main import run
from vigil_lang.lint.registry import all_rules

FOLDER = Path(__file__).parent / "most_violations"
CALL = (
    "lint", "most_violations.vgl", "--select", "ALL,VGL501", "--signature", "tools.json", "--trace", "run.jsonl",
    "--benign", "benign.jsonl", "--obligations", "--isolated", "--no-cache",
)  # fmt: skip
OF_TESTS = {"VGL610"}
"""Found in `*_test.vgl` only."""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(FOLDER)
    assert run([*CALL, "--format", "concise"]) == 1
    return capsys.readouterr().out


def test_what_is_said(said: str) -> None:
    golden = FOLDER / "expected.txt"
    if os.environ.get("VIGIL_UPDATE"):
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_every_rule_finds_something(said: str) -> None:
    codes = {code for rule in all_rules() for code in rule.codes} - OF_TESTS | {"VGL007", "VGL008", "VGL706"}
    assert codes == {line.split()[1] for line in said.splitlines()}


def test_every_finding_is_where_the_policy_says(said: str) -> None:
    """The documentation of a statement names the codes it is there for."""
    lines = (FOLDER / "most_violations.vgl").read_text(encoding="utf-8").splitlines()
    wanted: set[tuple[str, str]] = set()
    codes: list[str] = []
    for line in lines:
        if line.startswith("//"):
            codes = [word.rstrip(":,") for word in line.split() if word.startswith("VGL")]
        elif line.startswith(("statement", "pattern", "let", "rule")):
            wanted |= {(code, line) for code in codes}
    found = set()
    for line in said.splitlines():
        path, number, _, rest = line.split(":", 3)
        if path == "most_violations.vgl":
            at = int(number) - 1
            while not lines[at].startswith(("statement", "pattern", "let", "rule")):
                at += 1
            found.add((rest.split()[0], lines[at]))
    missing = {w for w in wanted if w not in found and w[0] not in ("VGL304", "VGL801", "VGL804")}
    assert missing == set()
