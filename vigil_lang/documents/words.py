"""The words of a text: what is left when Markdown, punctuation, quotation marks and case do not count."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+|[<>=≤≥%$€£]+")


def words(text: str) -> list[str]:
    """The words of a text that has no Markdown any more, in order; signs that compare are words too."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text.casefold())


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written with spaces between them."""
    return frozenset(text.split())
