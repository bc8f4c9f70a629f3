"""Neovim, set up as lsp/editors/neovim/README.md says."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.editors.install import ROOT, find
from tests.editors.screenshots.scene import FOUND, scene
from tests.editors.screenshots.terminal import SECONDS, NotShown, svg, terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.editors.screenshots.scene import Scene
    from tests.editors.screenshots.terminal import Terminal

_COLOURS = {"dark": ("#e0e2ea", "#14161b"), "light": ("#14161b", "#e0e2ea")}
_SETTINGS = """\
vim.opt.runtimepath:append("{folder}")
vim.lsp.enable("vigil")
vim.opt.swapfile = false
vim.opt.number = true
vim.opt.ruler = false
vim.opt.termguicolors = true
vim.opt.background = "{theme}"
vim.treesitter.start = function() end -- unpacked where no parsers are
vim.diagnostic.config({{ virtual_lines = {{ current_line = true }}, underline = true }})
vim.api.nvim_create_autocmd("LspAttach", {{
  callback = function(event)
    vim.lsp.inlay_hint.enable(true, {{ bufnr = event.buf }})
    vim.lsp.codelens.enable(true, {{ bufnr = event.buf }})
  end,
}})
"""


def fix(work: Path, theme: str) -> str:
    """The slip of the pen, with what is found and what is offered."""
    with _neovim(scene(work, slip=True), theme, "dashcam.vgl") as shown:
        shown.wait("policy dashcam")
        shown.type(":call search('transfrom')\r")
        shown.wait(lambda text: FOUND in text and "0 events" in text and "never" not in text and "holds in 2" in text)
        shown.type("gra")
        shown.wait("Write `transform`")
        return _picture(shown, theme, "Neovim: the finding, how many events match, and the fixes that are offered")


def run(work: Path, theme: str) -> str:
    """The call at fault in a recorded run."""
    with _neovim(scene(work, slip=False), theme, "-o", "violating.jsonl", "dashcam.vgl") as shown:
        shown.wait("policy dashcam")
        shown.type("\x17jG")
        shown.wait("violated in 1 of 2 runs")
        shown.type("\x17k6G")
        shown.wait("└──── R3")
        return _picture(shown, theme, "Neovim: the call that violates a statement, in the run, and the statement")


def _picture(shown: Terminal, theme: str, title: str) -> str:
    front, back = _COLOURS[theme]
    return svg(shown.screen(), shown.cursor(), front=front, back=back, title=title)


@contextmanager
def _neovim(project: Scene, theme: str, *arguments: str) -> Iterator[Terminal]:
    """A Neovim with files open. Its screen is a program of its own, as an unpacked one cannot start itself again."""
    settings, socket = project.work / "init.lua", project.work / "neovim"
    settings.write_text(_SETTINGS.format(folder=ROOT / "lsp" / "editors" / "neovim", theme=theme), encoding="utf-8")
    program = str(find("nvim"))
    started = [program, "--headless", "--listen", str(socket), "-u", str(settings), "-i", "NONE", *arguments]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        started, cwd=project.project, env=project.environment, stdin=nothing, stdout=nothing, stderr=nothing
    ) as editor:
        try:
            end = time.monotonic() + SECONDS
            while not socket.exists():
                if time.monotonic() > end:
                    raise NotShown("Neovim does not start")
                time.sleep(0.05)
            command = [program, "--server", str(socket), "--remote-ui"]
            with terminal(find("tmux"), project.work, project.project, command, project.environment) as shown:
                yield shown
        finally:
            editor.kill()
