"""The plugins under examples/plugins: up to date, and valid to each host's own program where that is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vigil_lang.points.install.hosts import HOSTS
from vigil_lang.points.install.package import PACKAGED, package
from vigil_lang.points.install.registration import program_of, standing

if TYPE_CHECKING:
    from conftest import World

PLUGINS = Path(__file__).parents[3] / "examples" / "plugins"


@pytest.mark.parametrize("host", PACKAGED)
def test_committed_plugins_are_those_that_are_made(host: str) -> None:
    """`vigil hook package --host HOST examples/plugins/HOST` writes them anew."""
    folder = PLUGINS / host
    found = {str(p.relative_to(folder)): p.read_text("utf-8") for p in folder.rglob("*") if p.is_file()}
    assert found == package(host)


@pytest.mark.parametrize("host", PACKAGED)
def test_a_plugin_registers_every_event_so_that_it_fails_closed(host: str) -> None:
    text = next(text for name, text in package(host).items() if name.endswith("hooks.json"))
    found = standing(HOSTS[host], text)
    assert [each.event for each in found] == list(HOSTS[host].events)
    for each in found:
        parts = program_of(HOSTS[host], each.hook)
        assert parts is not None
        assert parts[2][:4] == ["vigil", "hook", "--host", host]
        assert bool(parts[1]) == (HOSTS[host].events[each.event] != "other")


def test_the_verb_writes_them(world: World) -> None:
    assert world.vigil("hook", "package", "--host", "gemini", "out") == 0
    assert json.loads((world.project / "out" / "gemini-extension.json").read_text("utf-8"))["name"] == "vigil-gate"


VALIDATE = {
    "claude": (["claude", "plugin", "validate"], ("", "vigil-gate")),
    "gemini": (["gemini", "extensions", "validate"], ("",)),
}


@pytest.mark.parametrize("host", VALIDATE)
def test_the_host_finds_its_plugin_valid(host: str, tmp_path: Path) -> None:
    command, folders = VALIDATE[host]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not on the PATH")
    quiet = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    for folder in folders:
        done = subprocess.run(
            [*command, str(PLUGINS / host / folder)],
            env={**os.environ, **quiet, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_copilot_installs_its_plugin(tmp_path: Path) -> None:
    if shutil.which("copilot") is None:
        pytest.skip("copilot is not on the PATH")
    for args in (["marketplace", "add", str(PLUGINS / "copilot")], ["install", "vigil-gate@vigil"]):
        done = subprocess.run(
            ["copilot", "plugin", *args],
            env={**os.environ, "HOME": str(tmp_path), "COPILOT_OFFLINE": "true"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
