"""Finding a quoted passage in a document, whatever its Markdown, quotation marks, line breaks and case."""

from __future__ import annotations

import re
from functools import lru_cache
from heapq import nsmallest
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source
from vigil_lang.documents.document import Passage
from vigil_lang.documents.read import is_plain, read_document
from vigil_lang.english.words import words

if TYPE_CHECKING:
    from vigil_lang.documents.document import Document, Sentence

_GAP = re.compile(r"\[?(?:…|\.\.\.)\]?")

MAX_GAP = 4000
"""How many characters an ellipsis in a quotation may stand for."""

MAX_FOUND = 1000
"""Occurrences of one passage that are looked at."""


@lru_cache(maxsize=4096)
def quoted_words(quotation: str) -> tuple[str, ...]:
    """The runs of words a quotation has between its ellipses, each with a space before and after every word."""
    parts = []
    for part in _GAP.split(quotation[:20_000]):
        text = part if is_plain(part) else " ".join(t for t, _ in read_document(Source("", part)).texts)
        if found := words(text):
            parts.append(f" {' '.join(found)} ")
    return tuple(parts)


def occurrences(document: Document, quotation: str) -> list[Passage]:
    """Where a document holds a quotation, all of its parts in order; empty when nowhere, or if it has no words."""
    parts = quoted_words(quotation)
    text = document.words
    found: list[Passage] = []
    start = text.find(parts[0]) if parts else -1
    while start >= 0 and len(found) < MAX_FOUND:
        at: int = start + len(parts[0]) - 1
        for part in parts[1:]:
            at = text.find(part, at, at + MAX_GAP + len(part))
            if at < 0:
                break
            at += len(part) - 1
        if at >= 0:
            found.append(Passage(start + 1, at))
        start = text.find(parts[0], start + 1)
    return found


def nearest_sentence(document: Document, quotation: str) -> Sentence | None:
    """The sentence of a document that a quotation most likely was, before one of them changed."""
    from difflib import SequenceMatcher

    wanted = " ".join(quoted_words(quotation)).split()
    if not wanted:
        return None
    asked = frozenset(wanted)
    scored: list[tuple[float, int]] = []
    for index, own in enumerate(document.vocabulary):
        shared = len(asked & own)
        if 2 * shared >= min(len(asked), max(len(own), 4)):
            scored.append((-2 * shared / (len(asked) + len(own)), index))
    best: tuple[float, Sentence | None] = (0.6, None)
    for _, index in nsmallest(8, scored):
        sentence = document.sentences[index]
        ratio = SequenceMatcher(None, wanted[:400], words(sentence.text)[:400], autojunk=False).ratio()
        if ratio > best[0]:
            best = (ratio, sentence)
    return best[1]
