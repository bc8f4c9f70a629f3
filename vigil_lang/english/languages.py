"""Whether a sentence is English: the patterns of this package can say nothing of any other."""

from __future__ import annotations

import re
import unicodedata

from vigil_lang.english.sentences import CODE
from vigil_lang.english.words import FUNCTION_WORDS, word_list

_WORD = re.compile(r"[^\W\d_]+")
_OTHERS = word_list("function_words_of_others")
_WORDS = 3
"""So many function words of another language make a sentence of it, if it has fewer English ones."""
_LETTERS = 3
"""So many letters of another script do, if they are most."""
_LOOKED_AT = 2000
"""Characters of a sentence that are looked at."""


def is_english(text: str) -> bool:
    """Whether a sentence may be English; one that is code, numbers or names alone may be, too."""
    words = _WORD.findall(CODE.sub(" ", text[:_LOOKED_AT]))
    letters = sum(map(len, words))
    strange = sum(len(word) for word in words if not word.isascii() and not _is_latin(word))
    if strange >= _LETTERS and 2 * strange > letters:
        return False
    said = {word.casefold() for word in words}
    others = len(said & _OTHERS)
    return others < _WORDS or others <= len(said & FUNCTION_WORDS)


def _is_latin(word: str) -> bool:
    return all(char.isascii() or unicodedata.name(char, "").startswith("LATIN") for char in word)
