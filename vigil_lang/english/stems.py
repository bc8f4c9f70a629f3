"""Whether two words have the same stem, roughly: `validated`, `validates` and `validation` do."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    return one == other or stem(one) == stem(other)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The word without its ending; of a consonant that was doubled for it (`running`), one is left."""
    bare = _ENDING.sub("", word)
    doubled = bare != word and len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "aeiousl"
    return bare[:-1] if doubled else bare


def meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a word of the one and a word of the other are related."""
    known: dict[str, list[str]] = {}
    for other in others:  # related words begin alike
        known.setdefault(other[:3], []).append(other)
    return any(related(one, other) for one in some for other in known.get(one[:3], ()))
