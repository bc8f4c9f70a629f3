"""A home, a project and a state folder of a test's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class World:
    """The folders of a test, and `vigil` called in the project."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.project, self.state = root / "home", root / "project", root / "state"
        for folder in (self.home, self.project):
            folder.mkdir()
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("VIGIL_STATE", str(self.state))
        monkeypatch.setenv("VIGIL_DAEMON", "off")
        monkeypatch.setenv("PATH", os.defpath)
        monkeypatch.chdir(self.project)

    def vigil(self, *args: str) -> int:
        """The exit status of a call."""
        from vigil_lang.cli.main import run

        return run(list(args))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path.resolve(), monkeypatch)
