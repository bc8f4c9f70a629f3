"""Verbs called in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from log_support import Result, derivation

from vigil_lang.cli import audit
from vigil_lang.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

    from log_support import Vigil


@pytest.fixture
def vigil(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Vigil:
    """Calls a verb: `vigil("audit", "verify", "--state", folder)`; a hundred columns, no colours.

    The policies of the tests' decisions are read as the tests write them.
    """
    monkeypatch.setattr(audit, "_derivation", lambda log: derivation(log.folder))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "VIGIL_DEBUG", "VIGIL_STATE"):
        monkeypatch.delenv(name, raising=False)

    def call(*args: str | Path) -> Result:
        capsys.readouterr()
        status = run([str(arg) for arg in args])
        return Result(status, *capsys.readouterr())

    return call
