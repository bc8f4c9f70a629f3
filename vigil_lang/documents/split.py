"""Where sentences end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.documents.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

_CODE = re.compile(r"`[^`]*`")
_END = re.compile(r"(?:[.!?…]+[)\]\"'”’]*(?=\s+[^\sa-z&+/=|,;:)\]>–—→-])|[。！？]+)\s*")
_LAST_WORD = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]+$")
_ABBREVIATIONS = listed(
    "e.g i.e eg ie vs cf viz approx ca resp incl excl mr mrs ms dr prof fig figs sec ch vol pp al inc ltd co"
)


def split(text: str) -> Iterator[tuple[int, int]]:
    """The half-open ranges of a paragraph's sentences, white space around them left out."""
    # Code is opaque: `a. B` in it ends nothing.
    masked = _CODE.sub(lambda m: "`" + "x" * (len(m.group()) - 2) + "`", text) if "`" in text else text
    start = 0
    for end in _END.finditer(masked):
        if end.group().startswith(".") and _is_abbreviation(masked, end.start(), masked[end.end() : end.end() + 1]):
            continue
        yield from _trimmed(text, start, end.end())
        start = end.end()
    yield from _trimmed(text, start, len(text))


def _is_abbreviation(text: str, dot: int, after: str) -> bool:
    last = _LAST_WORD.search(text, max(dot - 12, 0), dot)
    if last is None:
        return False
    word = last.group().lower()
    return (
        word in _ABBREVIATIONS
        or (word == "no" and after.isdigit())
        or ("." in word and len(word) == 3 and after != "`")
    )


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    kept = part.strip()
    if any(map(str.isalnum, kept)):
        first = start + len(part) - len(part.lstrip())
        yield first, first + len(kept)
