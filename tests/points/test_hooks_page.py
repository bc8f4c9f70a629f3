"""docs/hooks.md: its commands print what it shows (`VIGIL_UPDATE=1` writes that anew); it has every option."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cli_support import called
from points_support import HOSTS

from vigil_lang.cli.hook import command

if TYPE_CHECKING:
    import pytest

FILE = Path(__file__).parents[2] / "docs" / "hooks.md"
PAGE = FILE.read_text(encoding="utf-8")
_SCREEN = re.compile(r"^```console\n\$ (vigil .*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_screens_are_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in re.findall(r"^```\w+ as (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIGIL_STATE", str(tmp_path / "state"))
    printed = []
    for line, _ in _SCREEN.findall(PAGE):
        words, _, file = line.partition(" < ")
        result = called(*words.split()[1:], stdin=(tmp_path / file).read_bytes())
        assert (result.status, result.err) == (0, "")
        printed.append(result.out)
    if os.environ.get("VIGIL_UPDATE"):
        screens = iter(printed)
        FILE.write_text(_SCREEN.sub(lambda m: f"```console\n$ {m[1]}\n{next(screens)}```", PAGE), encoding="utf-8")
    else:
        assert printed == [screen for _, screen in _SCREEN.findall(PAGE)]


def test_the_page_has_every_option_and_host() -> None:
    options = [name for each in command.params for name in each.opts if name.startswith("--")]
    assert [name for name in options if f"`{name}" not in PAGE and name != "--help"] == []
    assert [host for host in HOSTS if f"`{host}`" not in PAGE] == []
