"""docs/mcp.md: its commands, one after the other, print what it shows (`VIGIL_UPDATE=1` writes that anew)."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli_support import called

if TYPE_CHECKING:
    import pytest

FILE = Path(__file__).parents[3] / "docs" / "mcp.md"
PAGE = FILE.read_text(encoding="utf-8")
_SCREEN = re.compile(r"^```console\n\$ (vigil .*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_screens_are_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    files = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    for name, text in files.items():
        (tmp_path / "work" / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("VIGIL_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    printed = []
    for command, _ in _SCREEN.findall(PAGE):
        result = called(*command.split()[1:])
        assert (result.status, result.err) == (0, "")
        printed.append(result.out.replace(sys.executable, "/usr/bin/python3"))
    if os.environ.get("VIGIL_UPDATE"):
        screens = iter(printed)
        FILE.write_text(_SCREEN.sub(lambda m: f"```console\n$ {m[1]}\n{next(screens)}```", PAGE), encoding="utf-8")
    else:
        assert printed == [screen for _, screen in _SCREEN.findall(PAGE)]
    assert (tmp_path / "work" / ".mcp.json").read_text() == files[".mcp.json"]


def test_its_policy_has_no_findings(tmp_path: Path) -> None:
    text = re.findall(r"^```vigil \S+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]
    (tmp_path / "notes.vgl").write_text(text)
    assert called("check", str(tmp_path / "notes.vgl")).status == 0
