"""Which terminals of the grammar a token can be.

A word is a keyword only where the grammar has a place for it: of the terminals that match a token whole, the
first that the parser can take now names it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.syntax import scan

# A token that no terminal matches; no state of the parser accepts it.
UNKNOWN = "UNKNOWN"
_NAME = "NAME"


class Body:
    """The input of one parse: an item's tokens, and the terminals they turned out to be."""

    __slots__ = ("terminals", "tokens")

    def __init__(self, tokens: list[scan.Token]) -> None:
        self.tokens = tokens
        self.terminals: list[str] = []


class Terminals:
    """The terminals of a grammar, as names and expressions, the preferred first."""

    def __init__(self, terminals: Iterable[tuple[str, str]]) -> None:
        patterns = dict(terminals)
        self._is_name = re.compile(patterns[_NAME]).fullmatch
        # Most texts are names and nothing else: one look says so.
        self._is_other = re.compile("|".join(f"(?:{p})" for n, p in patterns.items() if n != _NAME)).fullmatch
        self._patterns = patterns
        self._matchers: list[tuple[str, Callable[[str], object]]] = []

    def matching(self, text: str) -> tuple[str, ...]:
        """The terminals that match a text whole; `UNKNOWN` where none does."""
        if not self._is_other(text):
            return (_NAME,) if self._is_name(text) else (UNKNOWN,)
        if not self._matchers:
            self._matchers = [(name, _matcher(pattern)) for name, pattern in self._patterns.items()]
        return tuple(name for name, matches in self._matchers if matches(text))


def _matcher(pattern: str) -> Callable[[str], object]:
    """What matches a text whole: most terminals are one word, for which nothing has to be compiled."""
    return pattern.__eq__ if pattern.isidentifier() else re.compile(pattern).fullmatch
