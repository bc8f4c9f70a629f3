"""Emacs with Eglot, set up as lsp/editors/emacs/README.md says."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.editors.install import ROOT, find
from tests.editors.screenshots.scene import scene
from tests.editors.screenshots.terminal import svg, terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.editors.screenshots.scene import Scene
    from tests.editors.screenshots.terminal import Terminal

_THEMES = {"dark": "modus-vivendi", "light": "modus-operandi"}
_COLOURS = {"dark": ("#ffffff", "#000000"), "light": ("#000000", "#ffffff")}
_SETTINGS = """\
(add-to-list 'load-path "{folder}")
(require 'vigil-mode)
(add-hook 'vigil-mode-hook #'eglot-ensure)
(setq inhibit-startup-screen t
      make-backup-files nil
      auto-save-default nil
      visible-cursor nil
      eglot-report-progress nil)
(menu-bar-mode -1)
(fido-vertical-mode)
(global-display-line-numbers-mode)
(load-theme '{theme} t)
"""


def fix(work: Path, theme: str) -> str:
    """The slip of the pen, with what is found and what is offered."""
    with _emacs(scene(work, slip=True), theme, "dashcam.vgl") as shown:
        shown.wait("policy dashcam")
        shown.type("\x13transfrom\r\x02")
        shown.wait("0 events")
        shown.send("M-x")
        shown.type("flymake-show-buffer-diagnostics\r")
        shown.wait("Message")
        shown.send("M-x")
        shown.type("eglot-code-actions\r")
        shown.wait("Write `transform`")
        return _picture(shown, theme, "Emacs: the finding, how many events match, and the fixes that are offered")


def _picture(shown: Terminal, theme: str, title: str) -> str:
    front, back = _COLOURS[theme]
    return svg(shown.screen(), shown.cursor(), front=front, back=back, title=title)


@contextmanager
def _emacs(project: Scene, theme: str, *arguments: str) -> Iterator[Terminal]:
    settings = project.work / "init.el"
    folder = ROOT / "lsp" / "editors" / "emacs"
    settings.write_text(_SETTINGS.format(folder=folder, theme=_THEMES[theme]), encoding="utf-8")
    command = [str(find("emacs")), "-nw", "-Q", "-l", str(settings), *arguments]
    with terminal(find("tmux"), project.work, project.project, command, project.environment) as shown:
        yield shown
