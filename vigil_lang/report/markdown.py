"""Untrusted text in Markdown: as code, between more backticks than it holds."""

from __future__ import annotations

import re

from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible, visible_lines

_LONGEST = 2_000
_BACKTICKS = re.compile("`+")


def code(text: str) -> str:
    """A text as a code span on one line; nothing where there is nothing to see."""
    shown = visible(cut(text, _LONGEST))
    if not shown.strip():
        return ""
    fence = "`" * (1 + _longest_run(shown))
    pad = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str) -> str:
    """A text as a code span in a cell of a table, which a bar would end even there."""
    # Readers differ on what two backslashes before a bar mean.
    return code(text.replace("\\|", "\\ |")).replace("|", "\\|")


def block(text: str, language: str = "") -> str:
    """A text as a code block."""
    shown = visible_lines(text)
    fence = "`" * max(3, 1 + _longest_run(shown))
    return f"{fence}{language}\n{shown}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
