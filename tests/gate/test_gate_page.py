"""docs/gate.md: its commands, one after the other, print what it shows (`VIGIL_UPDATE=1` writes that anew)."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cli_support import called

if TYPE_CHECKING:
    import pytest
    from gate_support import World

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "gate.md"
PAGE = FILE.read_text(encoding="utf-8")
_SCREEN = re.compile(r"^```console\n\$ (vigil .*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def shown(screen: str, state: str, holds: dict[str, str]) -> str:
    """What is the same each time."""
    for name in holds.values():
        screen = screen.replace(name, "HOLD")
    screen = screen.replace(state, "STATE").replace(str(ROOT), "…")
    screen = re.sub(r"[0-9]+\.[0-9] ms", "4.2 ms", screen)
    screen = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z|\d\d:\d\d:\d\d UTC", "09:05:00 UTC", screen)
    screen = re.sub(r"(\d+ min )?(\d+ s )?left", "5 min left", screen)
    return re.sub(r"[A-Za-z0-9+/]{43}=", "ROOT", screen)


def test_the_screens_are_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "shop").mkdir()
    for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    state = str(tmp_path / "state")
    monkeypatch.setenv("VIGIL_STATE", state)
    monkeypatch.setenv("COLUMNS", "100")
    holds: dict[str, str] = {}
    printed: list[str] = []
    for command, _ in _SCREEN.findall(PAGE):
        words = command.replace("HOLD", holds.get("HOLD", "HOLD")).replace("STATE", state).split()[1:]
        result = called(*words)
        if "hold" in words and "list" in words:
            listed = called("hold", "list", "--format", "json")
            holds["HOLD"] = json.loads(listed.out)["holds"][0]["id"]
            printed = [shown(screen, state, holds) for screen in printed]
        assert (result.status in (0, 1), result.err) == (True, "")
        printed.append(shown(result.out, state, holds))
    for name in re.findall(r"approve (\w+)", "".join(printed)):
        printed = [screen.replace(name, "HOLD") for screen in printed]
    if os.environ.get("VIGIL_UPDATE"):
        screens = iter(printed)
        FILE.write_text(_SCREEN.sub(lambda m: f"```console\n$ {m[1]}\n{next(screens)}```", PAGE), encoding="utf-8")
    else:
        # Where lines end rests on how long the time is that is left.
        assert [screen.split() for screen in printed] == [screen.split() for _, screen in _SCREEN.findall(PAGE)]


def test_the_program_runs(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(program, str(FILE), "exec"), {"state": world.state})  # the page's own program
    assert capsys.readouterr().out == ""
    assert world.kinds()[-2:] == ["decision", "outcome"]


def test_the_page_has_every_setting() -> None:
    from vigil_lang.gate import settings

    tables = (settings.Settings, settings.HoldSettings, settings.LogSettings, settings.Notify, settings.TierSettings)
    names = {name for table in tables for name in table.__struct_fields__} - {"authority", "sources"}
    assert [name for name in sorted(names) if f"`{name}" not in PAGE and f"`[{name}" not in PAGE] == []
