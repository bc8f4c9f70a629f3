"""The screenshot of Neovim in docs/editors.md: a real one, on a copy of the example with a slip of the pen.

`python tests/editors/screenshot.py` writes docs/images/neovim.svg. `tests/editors/install.py nvim` fetches a Neovim.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from contextlib import suppress
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from install import ROOT, find

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = ROOT / "docs" / "images" / "neovim.svg"
ROWS, COLUMNS = 34, 112
WIDTH, HEIGHT, SIZE = 8.4, 19, 14
"""Pixels of a cell, and of the font."""


def seen() -> dict[str, Any]:
    """The cells of Neovim's screen, and its colours."""
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name).resolve() / "dashcam", Path(name) / "home"
        shutil.copytree(ROOT / "examples" / "dashcam", folder)
        policy = folder / "dashcam.vgl"
        policy.write_text(
            policy.read_text(encoding="utf-8").replace("transform = x", "transfrom = x"), encoding="utf-8"
        )
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM", "VIM"))},
            **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
            "VIGIL_SEEN": str(Path(name) / "seen.json"),
            "VIGIL_COMMAND": json.dumps([sys.executable, "-m", "vigil_lang", "lsp"]),
            "VIGIL_NEOVIM": str(ROOT / "lsp" / "editors" / "neovim"),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        command = [find("nvim"), "-i", "NONE", "-u", Path(__file__).with_suffix(".lua"), policy.name]
        ours, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True
        ) as editor:
            os.close(terminal)
            threading.Thread(target=_drained, args=(ours,), daemon=True).start()
            editor.wait(120)
        found: dict[str, Any] = json.loads((Path(name) / "seen.json").read_text(encoding="utf-8"))
        return found


def _drained(terminal: int) -> None:
    with suppress(OSError):  # the editor has ended
        while os.read(terminal, 1 << 16):
            pass


def drawn(screen: dict[str, Any]) -> Iterator[str]:
    """The lines of the drawing: a screen of cells, each a text, two colours (-1: the screen's own) and a style."""
    rows = screen["rows"]
    width, height = WIDTH * len(rows[0]), HEIGHT * len(rows)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">'
    )
    yield f'<rect width="100%" height="100%" fill="{_colour(screen["bg"])}"/>'
    for number, row in enumerate(rows):
        column, top = 0, number * HEIGHT
        for (fg, bg, style), group in groupby(row, key=lambda cell: tuple(cell[1:])):
            texts = [cell[0] for cell in group]
            left, wide, text = column * WIDTH, len(texts) * WIDTH, "".join(texts)
            column += len(texts)
            if bg not in (-1, screen["bg"]):
                yield f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{HEIGHT}" fill="{_colour(bg)}"/>'
            if "u" in style:
                at = top + HEIGHT - 3
                yield f'<path d="M{left:.1f} {at}h{wide:.1f}" stroke="{_colour(fg if fg >= 0 else screen["fg"])}"/>'
            if text.strip():
                looks = ' font-weight="bold"' * ("b" in style) + ' font-style="italic"' * ("i" in style)
                fill = _colour(fg if fg >= 0 else screen["fg"])
                yield (
                    f'<text x="{left:.1f}" y="{top + HEIGHT - 5}" textLength="{wide:.1f}" fill="{fill}"{looks} '
                    f'xml:space="preserve">{escape(text)}</text>'
                )
    yield "</svg>"


def _colour(number: int) -> str:
    return f"#{number:06x}"


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(drawn(seen())) + "\n", encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
