"""Whether two words have the same stem, roughly: `validated`, `validates` and `validation` do."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.documents.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[a-z]{3,}")
_COMMON = listed(
    """
    about all also always and any are been being but can cannot does each ensure every file files first for from has
    have into its make must name need needs never new not only other out output per please run runs shall should
    such sure than that the their them then there these they this those use used user using via was when where which
    with without you your before after
    """
)


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    return frozenset(_WORD.findall(text.lower())) - _COMMON


_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


def related(one: str, other: str) -> bool:
    """Whether two words have the same stem."""
    if same_stem(one, other):
        return True
    shorter = min(len(one), len(other))
    wanted = max(4, min(shorter - 1, 6))
    return shorter >= 4 and one[:wanted] == other[:wanted]


def same_stem(one: str, other: str) -> bool:
    """Whether two words differ by an ending at most, as `adds` and `adding` do."""
    return one == other or _stem(one) == _stem(other)


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """The word without its ending; of a consonant that was doubled for it (`running`), one is left."""
    stem = _ENDING.sub("", word)
    doubled = stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeiousl"
    return stem[:-1] if doubled else stem


def meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a word of the one and a word of the other are related."""
    known: dict[str, list[str]] = {}
    for other in others:  # related words begin alike
        known.setdefault(other[:3], []).append(other)
    return any(related(one, other) for one in some for other in known.get(one[:3], ()))
