"""The command line called in this process, and golden files for what a person sees.

Golden files are in tests/fixtures/cli/*.txt. After a wanted change, write them anew with
``VIGIL_UPDATE=1 pytest tests/cli`` and read the difference.
"""

from __future__ import annotations

import os
import sys
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

import pytest
from cli_support import FIXTURES, ROOT, Golden, Result, Vigil, Write

from vigil_lang.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _plain_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred columns, no colours, and paths as they are from the root of the project."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "VIGIL_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vigil(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Vigil:
    """Calls a verb: ``vigil("check", "a.vgl", stdin=b"…")``."""

    def call(*args: str | Path, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        status = run([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return Result(status, out, err)

    return call


@pytest.fixture
def golden() -> Golden:
    """Compares a text with a golden file, or writes the file where `VIGIL_UPDATE` is set."""

    def compare(name: str, text: str) -> None:
        path = ROOT / FIXTURES / name
        if os.environ.get("VIGIL_UPDATE"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file into a fresh folder: ``write("a.vgl", "statement A: abs(x())")``."""

    def make(name: str, text: str | bytes = "statement A: abs(x())\n") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make
