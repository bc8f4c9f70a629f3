"""Readable names for SMT-LIB symbols: what a quoted symbol `|…|` may hold, whatever the run contains."""

from __future__ import annotations

import re

from vigil_lang.diagnostics.secrets import masked
from vigil_lang.diagnostics.shorten import cut

_LIMIT = 60
_PLAIN = re.compile(r"[ -\[\]-{}~]*").fullmatch


def shown(text: str) -> str:
    """The text with secrets masked and what a quoted symbol may not contain replaced, cut to a readable length.

    Two texts may come out the same; `Distinct` tells their symbols apart.
    """
    text = cut(masked(text), _LIMIT)
    if _PLAIN(text):
        return text
    return "".join(_replaced(c) for c in text)


def _replaced(character: str) -> str:
    if character in "|\\" or not " " <= character <= "~":
        return "..." if character == "…" else f"<{ord(character):x}>"
    return character


class Distinct:
    """Tells apart names that come out the same by a number: `a`, `a#2`, `a#3`."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        while seen := self._seen.get(name, 0):
            self._seen[name] = seen + 1
            name = f"{name}#{seen + 1}"
        self._seen[name] = 1
        return name


def quoted(name: str) -> str:
    """A symbol in bars."""
    return f"|{name}|"


def comment(text: str) -> str:
    """A text on one line of a comment, secrets masked, control characters and line breaks made visible."""
    return "".join(c if c.isprintable() else f"<{ord(c):x}>" for c in masked(text))
