"""Helix with the configuration of `lsp/editors/helix`, set up as its README says and run in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.editors import install
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
README = (ROOT / "lsp" / "editors" / "helix" / "README.md").read_text(encoding="utf-8")
SECONDS = 60
POLICY = """\
policy p

pattern consumes(x) = warp(transform = x)
statement R3: prec(consumes(x), checks(x)
"""


@pytest.fixture(scope="module")
def hx() -> Path:
    try:
        return install.find("hx")
    except install.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, hx: Path) -> Path:
    """A home in which the commands of the README were run; `vigil` is the one under test."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler to build the grammar with")
    home = tmp_path_factory.mktemp("home")
    programs = home / "bin"
    programs.mkdir()
    for name, command in (("hx", f'"{hx}"'), ("vigil", f'"{sys.executable}" -m vigil_lang')):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    found = re.search(r"```sh\n(.*?)```", README, re.S)
    assert found is not None
    done = subprocess.run(
        ["sh", "-euc", found[1]], cwd=ROOT, env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (home / "health").write_text(done.stdout, encoding="utf-8")
    return home


def environment(home: Path) -> dict[str, str]:
    path = [str(home / "bin"), os.environ["PATH"]]
    paths = [str(ROOT), str(ROOT / "lsp"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "HOME": str(home),
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
    }


def test_health(home: Path) -> None:
    told = re.sub(r"\x1b\[[0-9;]*m", "", (home / "health").read_text(encoding="utf-8"))
    assert re.search(r"✓ vigil: \S+/vigil$", told, re.M)
    for what in ("Tree-sitter parser", "Highlight queries", "Textobject queries", "Indent queries", "Tags queries"):
        assert f"{what}: ✓" in told


def test_a_policy_is_coloured_and_its_findings_are_shown(home: Path, hx: Path) -> None:
    project = home / "project"
    project.mkdir()
    (project / "p.vgl").write_text(POLICY, encoding="utf-8")
    settings = '[editor]\nend-of-line-diagnostics = "hint"\n'
    (home / ".config" / "helix" / "config.toml").write_text(settings, encoding="utf-8")
    (finding,) = parse(Source("p.vgl", POLICY)).diagnostics
    shown = screen([str(hx), "p.vgl"], project, environment(home), lambda found: finding.message in found)
    assert finding.message in shown
    keyword, function = colour_of("pattern", shown), colour_of("consumes", shown)
    assert keyword == colour_of("statement", shown)
    assert keyword != function


def test_verdicts_and_the_configuration(home: Path, hx: Path) -> None:
    """What the runs make of a statement stands behind its line, and a slip in `vigil.toml` is shown."""
    project = home / "judged"
    project.mkdir()
    (project / "vigil.toml").write_text('runs = ["a.jsonl"]\n\n[tools.t]\nkinds = ["file.raed"]\n', encoding="utf-8")
    (project / "a.jsonl").write_text('{"action": "send", "args": {"to": "eve"}}\n', encoding="utf-8")
    (project / "p.vgl").write_text('statement S: abs(send(to = "eve"))\n', encoding="utf-8")
    settings = '[editor]\nend-of-line-diagnostics = "hint"\n[editor.lsp]\ndisplay-inlay-hints = true\n'
    (home / ".config" / "helix" / "config.toml").write_text(settings, encoding="utf-8")
    variables = environment(home)
    slip = "the vocabulary has no kind"
    assert slip in screen([str(hx), "vigil.toml"], project, variables, lambda found: slip in found)
    verdict = "violated in 1 of 1 run"
    shown = screen([str(hx), "p.vgl"], project, variables, lambda found: verdict in found, typed=b"o// a\x1b")
    assert f"✗ {verdict}" in shown


def screen(
    command: list[str],
    folder: Path,
    variables: dict[str, str],
    done: Callable[[str], bool],
    keys: bytes = b"\x1b:q!\r",
    typed: bytes = b"",
) -> str:
    """All that a program writes to a terminal until enough is there; then it is sent `keys` to leave.

    What is `typed` is so every few seconds, until then.
    """
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(command[0], command, variables)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    shown = b""
    end = time.monotonic() + SECONDS
    again = time.monotonic() + 3
    try:
        while time.monotonic() < end and not done(shown.decode(errors="replace")):
            if typed and time.monotonic() > again:
                os.write(terminal, typed)
                again += 3
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536)
        os.write(terminal, keys)
    finally:
        time.sleep(0.3)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
    return shown.decode(errors="replace")


def colour_of(word: str, shown: str) -> str:
    """The colour a word was first written in."""
    before = shown[: shown.index(word)]
    return re.findall(r"\x1b\[(38[0-9;:]+)m", before)[-1]
