"""docs/tier.md and docs/revocation.md: their commands print what they show, and their program runs."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vigil_lang.cli.main import run
from vigil_lang.gate.settings import Settings, read_settings
from vigil_lang.gate.tier.asking import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
TIER, REVOCATION = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("tier.md", "revocation.md"))
SCREEN = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
REQUEST = {
    "schema": "vigil.request/1",
    "run": "r1",
    "agent": "mailer",
    "action": {"tool": "Read", "input": {"file_path": "a.txt"}},
}


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What a command prints in a workspace whose gate has open authority."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("VIGIL_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("VIGIL_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    (work / "request.json").write_text(json.dumps(REQUEST), encoding="utf-8")
    assert run(["gate", "init", "--open"]) == 0
    capsys.readouterr()

    def call(command: str) -> str:
        with suppress(SystemExit):  # some verbs end so
            run(shlex.split(command))
        printed = capsys.readouterr()
        return settled(printed.out + printed.err)

    return call


def settled(screen: str) -> str:
    """A screen whenever it was printed, of decisions only the mode."""
    screen = re.sub(r'^\{"schema": "vigil.decision/1", ("mode": "\w+"), .*\}$', r"{\1, …}", screen, flags=re.MULTILINE)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "TIME", screen)


def check(page: str, shown: Callable[[str], str]) -> None:
    commands = 0
    for screen in SCREEN.findall(page):
        for part in screen.split("$ vigil ")[1:]:
            command, _, wanted = part.partition("\n")
            assert shown(command) == settled(wanted), command
            commands += 1
    assert commands >= 4


def test_the_page_of_the_tier(shown: Callable[[str], str], tmp_path: Path) -> None:
    (sources,) = re.findall(r"^```toml gate.toml\n(.*?)^```$", TIER, re.DOTALL | re.MULTILINE)
    with (tmp_path / "state" / "gate.toml").open("a") as settings:
        settings.write(f"\n{sources}")
    assert set(SHIPPED) < set(read_settings(tmp_path / "state" / "gate.toml").tier.sources)
    check(TIER, shown)


def test_the_page_of_the_kill_switch(shown: Callable[[str], str]) -> None:
    check(REVOCATION, shown)


def test_the_program_of_the_page_runs() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", TIER, re.DOTALL | re.MULTILINE)
    exec(compile(program, "docs/tier.md", "exec"), {"__name__": "__main__"})


def test_the_page_tells_the_settings_as_they_are() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", TIER, re.DOTALL | re.MULTILINE)
    assert [tomllib.loads(block) for block in blocks]
    assert "(0.5, 0.75, 0.9)" in TIER
    assert Settings().tier.thresholds == (0.5, 0.75, 0.9)
    assert [name for name in SHIPPED if f"| `{name}` |" not in TIER] == []


def test_false_alarms_are_those_that_are_measured() -> None:
    """`tests/gate/tier/test_sources.py` measures them."""
    measured = (ROOT / "tests" / "gate" / "tier" / "test_sources.py").read_text(encoding="utf-8")
    (wrong,) = re.findall(r"^WRONG = (\{.*\})$", measured, re.MULTILINE)
    for name, count in json.loads(wrong).items():
        assert re.search(rf"`{name}`\s+{count}\b", TIER)
