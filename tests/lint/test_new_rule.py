"""What the scaffold writes is a rule that works at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from new_rule import scaffold

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for folder in ("vigil_lang", "grammar", "stdlib", "docs/codes", "tests/lint", "tests/spec"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_a_new_rule_passes_its_tests_and_is_clean(checkout: Path) -> None:
    written = scaffold(checkout, "VGL398", "shiny_rule", "a statement shines")
    assert all(path.is_file() for path in written)
    tests = [
        "tests/lint/test_rule_fixtures.py",
        "tests/spec/test_code_pages.py",
        "-k",
        "VGL398 or each_code",
    ]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=checkout, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    for command in (["check"], ["format", "--check"]):
        call = [sys.executable, "-m", "ruff", *command, "vigil_lang/lint", "vigil_lang/diagnostics"]
        done = subprocess.run(call, cwd=checkout, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("code", "name"),
    [("VGL301", "shiny_rule"), ("VGL398", "lone_variable"), ("VGL39", "shiny_rule"), ("VGL398", "no-name")],
)
def test_what_is_taken_or_no_name_is_refused(code: str, name: str, checkout: Path) -> None:
    before = (checkout / "vigil_lang/diagnostics/codes.py").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"taken|no code|no name"):
        scaffold(checkout, code, name, "a statement shines")
    assert (checkout / "vigil_lang/diagnostics/codes.py").read_text(encoding="utf-8") == before
