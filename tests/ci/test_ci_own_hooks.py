"""The hooks for those who work on this project: the same checks as `make`, and found by nothing but the environment."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from action_steps import ROOT
from test_ci_pre_commit import call

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an environment has no bin there")

CONFIG = ROOT / ".pre-commit-config.yaml"
HOOKS: list[dict[str, Any]] = [
    hook for repo in yaml.safe_load(CONFIG.read_text("utf-8"))["repos"] for hook in repo["hooks"]
]
POLICY = "policy p\n\nstatement S  :  abs(a())\n"


def outcomes(shown: str) -> dict[str, str]:
    """What pre-commit says of each hook: Passed, Failed or Skipped."""
    return dict(re.findall(r"^([\w ]+?)\.+(?:\(no files to check\))?(Passed|Failed|Skipped)$", shown, re.MULTILINE))


def test_hooks_run_what_make_runs() -> None:
    dry = subprocess.run(
        ["make", "--dry-run", "--always-make", "lint", "types"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    checks = [line.replace('"', "") for line in dry.splitlines() if re.match(r'"\.venv/bin/(ruff|vigil|mypy)"', line)]
    assert [hook["entry"] for hook in HOOKS] == checks


def test_hooks_need_nothing_but_the_environment() -> None:
    assert {hook["language"] for hook in HOOKS} == {"system"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small project with the hooks and the environment of this one."""
    folder = tmp_path / "checkout"
    for name in ("stdlib", "examples"):
        (folder / name).mkdir(parents=True)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / ".gitignore").write_text(".venv\n.mypy_cache\n.ruff_cache\n", encoding="utf-8")
    (folder / ".pre-commit-config.yaml").write_bytes(CONFIG.read_bytes())
    call("git", "init", "--quiet", cwd=folder)
    return folder


def run(checkout: Path, *arguments: str) -> dict[str, str]:
    """What each hook says; the types of a small file are as costly as those of all libraries, so they are left out."""
    call("git", "add", "--all", cwd=checkout)
    _, shown = call(
        sys.executable, "-m", "pre_commit", "run", "--color=never", *arguments,
        cwd=checkout, PRE_COMMIT_HOME=str(checkout.parent / "pre-commit"), SKIP="mypy,mypy-api",
    )  # fmt: skip
    return {name: said for name, said in outcomes(shown).items() if not name.startswith("mypy")}


def test_a_mistake_fails_the_hook_that_looks_for_it(checkout: Path) -> None:
    (checkout / "layout.py").write_text("x  =  1\n", encoding="utf-8")
    (checkout / "examples" / "p.vgl").write_text(POLICY, encoding="utf-8")
    assert run(checkout, "--all-files") == {
        "ruff check": "Passed", "ruff format": "Failed", "vigil fmt": "Failed", "vigil lint": "Failed"
    }  # fmt: skip
    (checkout / "layout.py").write_text("import os\n", encoding="utf-8")
    assert run(checkout, "--files", "layout.py") == {
        "ruff check": "Failed", "ruff format": "Passed", "vigil fmt": "Skipped", "vigil lint": "Skipped"
    }  # fmt: skip
