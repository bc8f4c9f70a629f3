"""What the pictures show: the example of docs/editors.md with a slip of the pen in it, and the program under test."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.editors.install import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "dashcam"
SLIP = ("transform = x", "transfrom = x")
"""What stands in the policy, and what somebody wrote."""
FOUND = "no argument `transfrom`"
"""Out of the finding's message."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A project to open, a home that is empty, and how programs are started."""

    work: Path
    """A folder of its own for whoever takes the picture."""
    project: Path
    home: Path
    environment: dict[str, str]


def scene(work: Path, *, slip: bool) -> Scene:
    """A copy of the example in `work`; with the slip or as it is."""
    project, home = work / "dashcam", work / "home"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("*_test.vgl"))
    policy = project / "dashcam.vgl"
    text = policy.read_text(encoding="utf-8")
    assert text.count(SLIP[0]) == 1
    if slip:
        policy.write_text(text.replace(*SLIP), encoding="utf-8")
    programs = home / "bin"
    programs.mkdir(parents=True)
    starter = programs / "vigil"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vigil_lang "$@"\n', encoding="utf-8")
    starter.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM", "VIM", "TMUX"))}
    environment = {
        **kept,
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "lsp"))),
        "TERM": "dumb",
    }
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        environment[f"XDG_{kind}_HOME"] = str(home / kind.lower())
    return Scene(work, project, home, environment)
