"""Where sentences end, and what in them is no speech of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vigil_lang.english.words import word_list

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE: Final = re.compile(r"`[^`]*`")
SPOKEN: Final = re.compile(r"[“\"][^“”\"]{1,300}[”\"]")
"""A text in double quotation marks."""

_END = re.compile(r"(?:[.!?…]+[)\]\"'”’]*(?=\s+[^\sa-z&+/=|,;:)\]>–—→-])|[。！？]+)\s*")
_LAST_WORD = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]+$")
_ABBREVIATIONS = word_list("abbreviations")
_BEFORE_NUMBERS = word_list("abbreviations_before_numbers")
_ASIDE = 400
"""Characters of an aside in parentheses that ends no sentence around it."""


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The half-open ranges of a paragraph's sentences, white space around them left out."""
    # Code is opaque: `a. B` in it ends nothing.
    masked = CODE.sub(lambda m: "`" + "x" * (len(m.group()) - 2) + "`", text) if "`" in text else text
    start = 0
    for end in _END.finditer(masked):
        if end.group().startswith(".") and _is_abbreviation(masked, end.start(), masked[end.end() : end.end() + 1]):
            continue
        if _is_inside(masked, start, end.end()):
            continue
        yield from _trimmed(text, start, end.end())
        start = end.end()
    yield from _trimmed(text, start, len(text))


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether the end lies in parentheses that opened after the sentence began and are closed again further on."""
    start = max(start, end - _ASIDE)
    opened = text.find("(", start, end)
    closed = text.find(")", end, end + _ASIDE)
    if opened < 0 or closed < 0 or not any(map(str.isalnum, text[start:opened])):
        return False
    return text.count("(", start, end) > text.count(")", start, end) and "(" not in text[end:closed]


def _is_abbreviation(text: str, dot: int, after: str) -> bool:
    last = _LAST_WORD.search(text, max(dot - 12, 0), dot)
    if last is None:
        return False
    word = last.group().lower()
    return (
        word in _ABBREVIATIONS
        or (word in _BEFORE_NUMBERS and after.isdigit())
        or ("." in word and len(word) == 3 and after != "`")
    )


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    kept = part.strip()
    if any(map(str.isalnum, kept)):
        first = start + len(part) - len(part.lstrip())
        yield first, first + len(kept)
