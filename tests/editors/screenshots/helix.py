"""Helix, set up by the commands of lsp/editors/helix/README.md."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.editors.install import ROOT, find
from tests.editors.screenshots.scene import FOUND, scene
from tests.editors.screenshots.terminal import svg, terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.editors.screenshots.scene import Scene
    from tests.editors.screenshots.terminal import Terminal

_THEMES = {"dark": "dark_plus", "light": "modus_operandi"}
_COLOURS = {"dark": ("#d4d4d4", "#1e1e1e"), "light": ("#000000", "#ffffff")}
_SETTINGS = """\
theme = "{theme}"

[editor]
true-color = true
undercurl = true
end-of-line-diagnostics = "hint"

[editor.inline-diagnostics]
cursor-line = "hint"

[editor.lsp]
display-inlay-hints = true
"""


def fix(work: Path, theme: str) -> str:
    """The slip of the pen, with what is found and what is offered."""
    with _helix(scene(work, slip=True), theme, "dashcam.vgl") as shown:
        shown.wait("●")  # before there is a server Helix asks for no hints; afterwards it does with the next key
        shown.type("6Gx\x1b\\;")
        shown.wait(lambda text: FOUND in text and "0 events" in text)
        shown.type(" a")
        shown.wait("Write `transform`")
        return _picture(shown, theme, "Helix: the finding, how many events match, and the fixes that are offered")


def _picture(shown: Terminal, theme: str, title: str) -> str:
    front, back = _COLOURS[theme]
    return svg(shown.screen(), shown.cursor(), front=front, back=back, title=title)


@contextmanager
def _helix(project: Scene, theme: str, *arguments: str) -> Iterator[Terminal]:
    program = find("hx")
    (project.home / "bin" / "hx").write_text(f'#!/bin/sh\nexec "{program}" "$@"\n', encoding="utf-8")
    (project.home / "bin" / "hx").chmod(0o755)
    readme = (ROOT / "lsp" / "editors" / "helix" / "README.md").read_text(encoding="utf-8")
    commands = re.search(r"```sh\n(.*?)```", readme, re.S)
    assert commands is not None
    subprocess.run(
        ["sh", "-euc", commands[1]], cwd=ROOT, env=project.environment, check=True, capture_output=True, timeout=120
    )
    settings = project.home / "config" / "helix" / "config.toml"
    settings.write_text(_SETTINGS.format(theme=_THEMES[theme]), encoding="utf-8")
    with terminal(
        find("tmux"), project.work, project.project, [str(program), *arguments], project.environment
    ) as shown:
        yield shown
