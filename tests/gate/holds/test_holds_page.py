"""docs/holds.md: its commands print what it shows, on a gate that is made and asked as it says."""

from __future__ import annotations

import json
import re
import shlex
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.cli.main import run

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "holds.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SCREENS = re.findall(r"^```console\n\$ vigil (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
HOLD = "k3w5h2qz7a"


def timeless(screen: str) -> str:
    """A screen, whenever it is made."""
    screen = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", screen)
    return re.sub(r"\d+ min( \d+ s)?", "WHILE", screen)


def test_the_screens_are_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def vigil(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(), encoding="utf-8"))
        capsys.readouterr()
        try:
            status = run(list(words))
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capsys.readouterr()
        assert err == ""
        return status, out

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "work").mkdir()
    (making, _), *screens = SCREENS
    assert vigil(*shlex.split(making))[0] == 0
    settings = tmp_path / "state" / "gate.toml"
    text = settings.read_text().replace("personal = []", f'personal = ["{tmp_path / "mine.vgl"}"]')
    settings.write_text(text.replace("default = true", "default = false"))

    def decided() -> tuple[str, str | None]:
        answer = json.loads(vigil("gate", "decide", "request.json", "--state", "state")[1])
        return answer["mode"], answer.get("hold", {}).get("id")

    mode, hold = decided()
    assert mode == "hold"
    assert hold
    assert len(screens) == 3
    for command, screen in screens:
        status, out = vigil(*shlex.split(command.replace(HOLD, hold)))
        assert status == 0
        assert timeless(out).replace(hold, HOLD) == timeless(screen)
    assert decided() == ("pass", None)
    assert decided()[0] == "hold"


def test_the_page_has_every_setting_and_every_verb() -> None:
    from vigil_lang.cli.hold import command
    from vigil_lang.gate.settings import HoldSettings

    assert [name for name in HoldSettings.__struct_fields__ if f"{name} = " not in PAGE] == []
    assert [name for name in command.commands if f"`vigil hold {name}" not in PAGE] == []
