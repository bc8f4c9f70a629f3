"""What the tests that really install something need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

import pytest
from action_steps import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def need_package_index() -> None:
    """Skip the test where nothing can be installed."""
    reason = _unreachable()
    if reason is not None:
        pytest.skip(f"no package index can be reached: {reason}")


@cache
def _unreachable() -> str | None:
    options = ["--dry-run", "--quiet", "--no-deps", "--ignore-installed", "--retries=0", "--timeout=5"]
    command = [sys.executable, "-m", "pip", "install", *options, "click>=8.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]


def copy_project(folder: Path) -> Path:
    """The project as a checkout has it, with what is not committed yet, in a folder of its own."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder
