"""Take pictures: `python -m tests.editors.screenshots [NAME …]`, all of them where none is named.

An editor that cannot be had here is passed over, with the reason; its pictures stay as they are.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.editors import install
from tests.editors.screenshots import IMAGES, PICTURES, emacs, helix, neovim, vscode
from tests.editors.screenshots.terminal import NotShown

EDITORS = {"neovim": neovim, "emacs": emacs, "helix": helix, "vscode": vscode}


def main(names: list[str]) -> None:
    """Take what is named."""
    if unknown := set(names) - set(PICTURES):
        sys.exit(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}")
    install.main(["nvim", "emacs", "hx", "tmux"])
    for name in names or PICTURES:
        editor, view, rest = name.split("-")
        theme, _ = rest.split(".")
        try:
            with tempfile.TemporaryDirectory() as work:
                taken = getattr(EDITORS[editor], view)(Path(work), theme)
        except (install.Unavailable, NotShown) as reason:
            print(f"{name}: not taken: {reason}")
            continue
        path = IMAGES / name
        path.write_bytes(taken.encode() if isinstance(taken, str) else taken)
        print(f"{name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
