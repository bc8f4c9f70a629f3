"""The words of a text, and the lists of words that `words.toml` holds."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+|[<>=≤≥%$€£]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words(text: str) -> list[str]:
    """The words of a text without Markdown, in order; punctuation, quotation marks and case do not count.

    Signs that compare are words, too.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text.casefold())


@lru_cache(maxsize=4096)
def parts_of(text: str) -> tuple[str, ...]:
    """The words a name or a value is made of: `file_path`, `warpAffine` and `glm3.nml` have two each."""
    return tuple(part.lower() for part in _PART.findall(text))


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> frozenset[str]:
    """A list of `words.toml`."""
    return frozenset(_lists()[name].split())


def word_lists(table: str) -> dict[str, frozenset[str]]:
    """The lists of one table of `words.toml`, by their names."""
    return {name: frozenset(text.split()) for name, text in _lists()[table].items()}


def one_of(alternatives: Iterable[str]) -> str:
    """A pattern for one of several words, which looks at each character of a text once: what they share is shared."""
    by_first: dict[str, list[str]] = {}
    for word in sorted(set(alternatives)):
        by_first.setdefault(word[:1], []).append(word[1:])
    ends = by_first.pop("", None) is not None
    branches = [re.escape(first) + one_of(rest) for first, rest in by_first.items()]
    if not branches:
        return ""
    together = branches[0] if len(branches) == 1 and not ends else f"(?:{'|'.join(branches)})"
    return f"{together}?" if ends else together


FUNCTION_WORDS: Final = word_list("function_words")
"""Words that say nothing of what a sentence is about."""

_EVERYDAY = word_list("everyday_words")

NUMBERS: Final = {word: int(value) for value, spelled in word_lists("numbers").items() for word in sorted(spelled)}
"""The words for numbers, each with its value."""

SECONDS: Final = {name: Decimal(value) for value, names in word_lists("seconds").items() for name in sorted(names)}
"""The names of units of time, each with its seconds."""


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    return frozenset(parts_of(text)) - FUNCTION_WORDS


def distinctive_words(text: str) -> frozenset[str]:
    """The content words of a text that tell what it is about from what others are about."""
    return frozenset(word for word in content_words(text) if len(word) > 2) - _EVERYDAY
