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
_WORD_ENDS = r"(?![\w.-])"


class Body:
    """The input of one parse: an item's tokens, and the terminals they turned out to be."""

    __slots__ = ("terminals", "tokens")

    def __init__(self, tokens: list[scan.Token]) -> None:
        self.tokens = tokens
        self.terminals: list[str] = []


class Terminals:
    """The terminals of a grammar, as names and expressions, the preferred first.

    Most are a word or a sign, or some of them, which needs no expression: each process would compile its own.
    """

    def __init__(self, terminals: Iterable[tuple[str, str]]) -> None:
        patterns = dict(terminals)
        self._is_name = re.compile(patterns[_NAME]).fullmatch
        self._patterns = patterns
        self._literals = {name: found for name, pattern in patterns.items() if (found := literals(pattern)) is not None}
        self._words = frozenset().union(*self._literals.values())
        others = (f"(?:{p})" for n, p in patterns.items() if n != _NAME and n not in self._literals)
        # Most texts are names and nothing else: one look says so.
        self._is_other = re.compile("|".join(others)).fullmatch
        self._matchers: list[tuple[str, Callable[[str], object]]] = []

    def matching(self, text: str) -> tuple[str, ...]:
        """The terminals that match a text whole; `UNKNOWN` where none does."""
        if text not in self._words and not self._is_other(text):
            return (_NAME,) if self._is_name(text) else (UNKNOWN,)
        if not self._matchers:
            self._matchers = [
                (name, self._literals[name].__contains__ if name in self._literals else re.compile(pattern).fullmatch)
                for name, pattern in self._patterns.items()
            ]
        return tuple(name for name, matches in self._matchers if matches(text))


def literals(pattern: str) -> frozenset[str] | None:
    """The texts that an expression matches whole; None where they are not just listed in it.

    What it forbids to follow a word makes no difference to a whole text.
    """
    if pattern.startswith("(?:") and pattern.endswith(")") and "(" not in pattern[1:]:
        pattern = pattern[3:-1]
    found = [_literal(each.removesuffix(_WORD_ENDS)) for each in pattern.split("|")]
    return None if None in found else frozenset(each for each in found if each is not None)


def _literal(pattern: str) -> str | None:
    if not _LITERAL.fullmatch(pattern):
        return None
    return _ESCAPED.sub(r"\1", pattern)


_LITERAL = re.compile(r"(?:[^\\.^$*+?{}\[\]()|]|\\[^\w\s])+")
_ESCAPED = re.compile(r"\\(.)")
