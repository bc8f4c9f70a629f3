"""Letters that look like others, and names that can be confused.

The table is short on purpose: the letters of other scripts that are drawn like an ASCII letter in usual typefaces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PAIRS = {
    # Cyrillic
    "аАсСеЕһНіІјЈкКоОрРѕЅуУхХԁԛԜԝВМТӏЗѵЬ": "aAcCeEhHiIjJkKoOpPsSyYxXdqWwBMTl3vb",
    # Greek
    "οΟνΑΒΕΖΗΙΚΜΝΡΤΥΧικρυχ": "oOvABEZHIKMNPTYXikpux",
    # Armenian
    "օՕոսհցզՏԼ": "oOnuhgqSL",
    # Cherokee
    "ᎪᏴᏟᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ": "AbCEGHJKLMPRSTVWZ",
    # Latin
    "ıɑɡ": "iag",
}
_ASCII = {
    ord(letter): ascii_letter
    for letters, ascii_letters in _PAIRS.items()
    for letter, ascii_letter in zip(letters, ascii_letters, strict=True)
}
_MIXING = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts with letters that look like Latin ones. A word may well have a Latin and a Chinese part."""

_WORD = re.compile(r"[^\W\d_]+")
_SAME = str.maketrans({"1": "l", "I": "l", "|": "l", "0": "O"})


def doubtful(text: str) -> tuple[str, str] | None:
    """The first word of a text with letters that are not what they look like, and why; None where there is none.

    That is a word in which Latin letters stand among such as look like them, or one of letters that are only another
    form of ASCII's (fullwidth, mathematical). A word of one script is a word, whatever it looks like.
    """
    if text.isascii():
        return None
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii():
            continue
        if any(ord(c) > 127 and _form(c) for c in word):
            return word, "has letters that are another form of ASCII's"
        scripts = {_script(c) for c in word}
        if "LATIN" in scripts and any(_is_foreign(c, scripts) for c in word):
            others = sorted(s.capitalize() for s in scripts & _MIXING)
            return word, f"mixes Latin and {' and '.join(others)} letters"
    return None


def plain(text: str) -> str:
    """A text with every letter that looks like an ASCII one written as that."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_ASCII)


@lru_cache(maxsize=4096)
def outline(name: str) -> str:
    """What is left of a name for a reader who cannot tell `l`, `1` and `I`, `O` and `0`, or `rn` and `m` apart."""
    return plain(name).translate(_SAME).replace("rn", "m").replace("vv", "w")


@lru_cache(maxsize=1024)
def _script(character: str) -> str:
    """The first word of a letter's name, which is its script for all that is asked here."""
    return unicodedata.name(character, "").partition(" ")[0]


@lru_cache(maxsize=1024)
def _form(character: str) -> bool:
    """Whether a letter is a compatibility form of ASCII letters; a numeral like `Ⅳ` is none."""
    other = unicodedata.normalize("NFKC", character)
    return unicodedata.category(character)[0] == "L" and other != character and other.isascii() and other.isalpha()


def _is_foreign(character: str, scripts: set[str]) -> bool:
    """Whether a letter among Latin ones misleads: of Greek only what looks Latin does, `Δt` is how one writes it."""
    script = _script(character)
    return script in scripts & _MIXING and (script != "GREEK" or ord(character) in _ASCII)
