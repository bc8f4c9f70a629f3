"""docs/replay.md: its commands print what it shows, with the files that it writes down."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from cli_support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Vigil

PAGE = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SCREENS = re.findall(r"^```console\n\$ vigil (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def timeless(screen: str) -> str:
    """A screen, however long the decisions took."""
    return re.sub(r"[0-9.]+ (µs|ms|s) \(", "0 µs (", screen)


@pytest.mark.parametrize(("command", "screen"), SCREENS, ids=[command for command, _ in SCREENS])
def test_the_screen_is_what_the_command_prints(
    command: str, screen: str, vigil: Vigil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = vigil(*command.split())
    assert (result.status, result.err) == (1, "")
    assert timeless(result.out) == timeless(screen)


def test_the_page_has_every_option_of_its_own() -> None:
    assert len(SCREENS) == 4
    own = ("--as-if-blocked", "--against", "--labels", "--certify", "--jobs", "--fail-level")
    assert [option for option in own if f"`{option}" not in PAGE] == []
