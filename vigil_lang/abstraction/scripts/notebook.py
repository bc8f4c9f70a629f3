"""IPython's lines inside Python: ``!ls -l``, ``x = !ls``, ``%cd src``, ``%%bash``."""

from __future__ import annotations

import re

_LINE = re.compile(r"^([ \t]*)((?:[A-Za-z_]\w*[ \t]*=[ \t]*)?)([!%])(?=[!%A-Za-z./~_{\"'$])(.*)$", re.MULTILINE)
_CELL = re.compile(r"\A\s*%%(?:bash|sh|script bash|!)[^\n]*\n")


def plain_python(text: str) -> str:
    """A text that is no Python, with IPython's lines written as calls of `get_ipython()`, line for line."""
    cell = _CELL.match(text)
    if cell:
        lines = "\n" * text[: cell.end()].count("\n")
        return f"{lines}get_ipython().system({text[cell.end() :]!r})"
    return _LINE.sub(_call, text)


_HARMLESS = frozenset(
    ["matplotlib", "autoreload", "config", "pylab", "precision", "pwd", "who", "whos", "xmode", "colors"]
)
"""Commands of IPython that only set how something is shown."""


def _call(found: re.Match[str]) -> str:
    indent, target, sign, rest = found.groups()
    words = rest.lstrip("!%").strip()
    if sign == "!":
        return f"{indent}{target}get_ipython().system({words!r})"
    name, _, argument = words.partition(" ")
    if name in ("cd", "run", "pip", "conda", "system", "sx"):
        return f"{indent}{target}get_ipython().{name}({argument.strip()!r})"
    if name in _HARMLESS:
        return f"{indent}{target or 'pass'}{'None' if target else ''}"
    return f"{indent}{target}get_ipython().run_line_magic({name!r}, {argument.strip()!r})"
