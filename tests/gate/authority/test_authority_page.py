"""docs/authority.md: its commands print what it shows, one after the other in one folder."""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.cli.grant import command
from vigil_lang.cli.main import run
from vigil_lang.gate.authority.chain import Payload, ProblemKind

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "authority.md"
FILES = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SCREENS = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def without_chance(text: str) -> str:
    """A screen, whichever keys were made, and whenever."""
    text = re.sub(r"ed25519:[\w-]{43}", "ed25519:…", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-05T10:00:00Z", text)


def replayed(screen: str) -> str:
    """The screen with what its commands print now."""
    shown = TextIOWrapper(BytesIO(), encoding="utf-8", newline="\n", write_through=True)
    for line in screen.splitlines():
        if line.startswith("$ "):
            shown.write(line + "\n")
            with redirect_stdout(shown), redirect_stderr(shown):
                run(shlex.split(line)[2:])
    return re.sub(r"\n\n(?=\$ |\Z)", "\n", without_chance(shown.buffer.getvalue().decode()))


def test_the_screens_are_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "argv", ["vigil"])
    for name in ("NO_COLOR", "FORCE_COLOR", "VIGIL_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, text in FILES.findall(page):
        Path(name).write_text(text, encoding="utf-8")
    made = SCREENS.sub(lambda found: f"```console\n{replayed(found[1])}```", page)
    if os.environ.get("VIGIL_UPDATE"):
        PAGE.write_text(made, encoding="utf-8")
    assert made == page


def test_the_page_has_every_option_problem_and_member() -> None:
    page = PAGE.read_text(encoding="utf-8")
    options = [option for param in command.params for option in param.opts if option.startswith("--")]
    named = [*options, *ProblemKind.__args__, *Payload.__struct_fields__]  # type: ignore[attr-defined]
    assert [name for name in named if f"`{name}" not in page and f" {name} " not in page] == []
