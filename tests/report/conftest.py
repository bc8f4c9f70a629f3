"""The command line called in this process, and golden files in tests/fixtures/report.

After a wanted change, write them anew with ``VIGIL_UPDATE=1 pytest tests/report`` and read the difference.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import pytest
from report_support import FIXTURES, ROOT

from vigil_lang.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Called(NamedTuple):
    """What a call of the command came to."""

    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the root of the project, and in no CI."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)


@pytest.fixture
def vigil(capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Calls a verb: ``vigil("check", "a.vgl")``."""

    def call(*args: str | Path) -> Called:
        capsys.readouterr()
        status = run([str(arg) for arg in args])
        return Called(status, *capsys.readouterr())

    return call


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with a golden file, or writes the file where `VIGIL_UPDATE` is set."""

    def compare(name: str, text: str) -> None:
        path = FIXTURES / name
        if os.environ.get("VIGIL_UPDATE"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file into a fresh folder."""

    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return make
