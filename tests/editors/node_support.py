"""Node for tests of what is written for it: the tools of the VS Code extension, installed once."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "lsp" / "editors" / "vscode"
_INSTALLED = EXTENSION / "node_modules" / ".package-lock.json"
_OLDEST = (20, 11)  # import.meta.dirname


def run(*command: str, given: str | None = None) -> str:
    """What a command prints, run in the extension's folder; fails the test with all of it where it fails."""
    with _alone():
        done = subprocess.run(
            [_node(), *command], cwd=EXTENSION, input=given, capture_output=True, encoding="utf-8", check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _node() -> str:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not on PATH")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(map(int, version.lstrip("v").split(".")[:2])) < _OLDEST:
        pytest.skip(f"node {version} is older than {'.'.join(map(str, _OLDEST))}")
    if not _INSTALLED.exists() or _INSTALLED.stat().st_mtime < (EXTENSION / "package-lock.json").stat().st_mtime:
        done = subprocess.run([npm, "ci"], cwd=EXTENSION, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"npm ci did not work: {done.stderr.strip()[-300:]}")
        _INSTALLED.touch()
    return node


@contextmanager
def _alone() -> Iterator[None]:
    """One at a time: the tools copy files into the extension's folder, and tests run in several processes."""
    with (EXTENSION / "package.json").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
