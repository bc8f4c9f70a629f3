"""Patterns of sentences that are compiled when a sentence is first held against them.

With all the verbs that they name they take half a second together: too long for what starts often, as the language
server does, and most that starts reads no document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = ("match", "fullmatch", "search", "sub", "finditer")


class Pattern:
    """A regular expression with those methods of `re.Pattern` that are called here."""

    match: Callable[[str], re.Match[str] | None]
    fullmatch: Callable[[str], re.Match[str] | None]
    search: Callable[[str], re.Match[str] | None]
    sub: Callable[[str | Callable[[re.Match[str]], str], str], str]
    finditer: Callable[[str], Any]

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text, self.flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """A method that nobody called yet: from now on all of them are those of the compiled pattern."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.text, self.flags)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def any_of(*patterns: str) -> Pattern:
    """One of the patterns, in capitals or not."""
    return Pattern("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
