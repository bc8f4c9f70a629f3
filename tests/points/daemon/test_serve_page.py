"""docs/serve.md: its commands, one after the other, print what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "serve.md").read_text(encoding="utf-8")
SERVE = "vigil serve --state STATE"


def commands() -> list[tuple[str, str]]:
    """Each command with what it prints."""
    screens = "".join(re.findall(r"^```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", screens, re.MULTILINE)


@pytest.mark.processes
def test_the_screens_are_what_the_commands_print(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    served: subprocess.Popen[str] | None = None
    for command, wanted in commands():
        line = [sys.executable, "-I", "-m", "vigil_lang", *command.replace("STATE", state).split()[1:]]
        if command == SERVE and served is None:
            served = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
            assert served.stdout is not None
            printed = served.stdout.readline()
        else:
            done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == (2 if command == SERVE else 0)
            printed = done.stdout + done.stderr
        assert printed.replace(state, "STATE") == wanted
    assert served is not None
    assert served.wait(30) == 0
    served.stdout.close() if served.stdout else None
