"""docs/scan.md: its commands print what it shows, and what it declares is read."""

from __future__ import annotations

import re
import tomllib

import msgspec
import pytest
from cli_support import ROOT, called

from vigil_lang.corpus.declared import Declaration

PAGE = (ROOT / "docs" / "scan.md").read_text(encoding="utf-8")
SCREENS = re.findall(r"^```console\n\$ vigil (scan .*?)\n(.+?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SHOWN = [(command, screen) for command, screen in SCREENS if not screen.startswith("$")]


@pytest.mark.parametrize(("command", "screen"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_screen_is_what_the_command_prints(command: str, screen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    result = called(*command.split())
    assert (result.err, result.out) == ("", screen)


def test_the_declaration_is_one() -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    declared = msgspec.convert(tomllib.loads(text), Declaration)
    assert declared.columns.order == "step"


def test_every_option_of_its_own_is_there() -> None:
    assert len(SHOWN) == 3
    own = (
        "--by",
        "--witnesses",
        "--explain",
        "--sql",
        "--engine",
        "--baseline",
        "--update-baseline",
        "--memory",
        "--master",
    )
    assert [option for option in own if option not in PAGE] == []
