"""Selection of tests by parts of their names: `mask and not slow`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def name_filter(wanted: str) -> Callable[[str], bool]:
    """Whether a test's name fits an expression: parts of names under `not`, `and`, `or`, tightest first.

    Raises:
        ValueError: a part is missing.
    """
    words = wanted.lower().split()
    alternatives = [[_term(term) for term in _parted(part, "and")] for part in _parted(words, "or")] if words else [[]]

    def fits(name: str) -> bool:
        plain = " ".join(name.lower().split())
        return any(all((text in plain) != negated for text, negated in terms) for terms in alternatives)

    return fits


def _parted(words: list[str], by: str) -> list[list[str]]:
    """The words between those that join them."""
    joints = [at for at, word in enumerate(words) if word == by]
    return [words[start + 1 : end] for start, end in pairwise([-1, *joints, len(words)])]


def _term(words: list[str]) -> tuple[str, bool]:
    """A part of a name, and whether it is one that the name should not have."""
    negations = next((n for n, word in enumerate(words) if word != "not"), len(words))
    if negations == len(words):
        raise ValueError("a part of a name is missing beside `not`, `and` or `or`")
    return " ".join(words[negations:]), negations % 2 == 1
