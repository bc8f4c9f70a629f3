"""What a pattern asks of a text: whether hardly anything, and which texts it spells out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from vigil_lang.semantics import regex
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text import Glob, glob_parts, predicate

if TYPE_CHECKING:
    from vigil_lang.semantics.text import Matcher

MAX_BRANCHES: Final = 64

_TYPICAL: Final = (
    "", "a", "0", "42", "2026-11-21", "true", "main", "README.md", "/tmp/x y", "/home/u/project/src/app.py",
    "tests/test_one.py", "~/.config/tool.toml", "https://example.org/a/b?c=d", "example.org", "--verbose", "-f",
    "Qx-7", "\n", "é", "file.read", "The quick brown fox jumps over the lazy dog.", "git status --short", "42 passed",
)  # fmt: skip
"""What values of arguments and outputs look like."""
_SINGLE: Final = tuple(chr(code) for code in range(0x20, 0x7F))
_SHARE: Final = 3


@lru_cache(maxsize=1024)
def says_nothing(matcher: Matcher) -> bool:
    """Whether a pattern matches so many texts that it says nothing: one character is enough, or a third of all do."""
    accepts = predicate(matcher)
    if _SHARE * sum(map(accepts, _TYPICAL)) > len(_TYPICAL):
        return True
    return any(accepts(c) and accepts(f"%{c}%") and accepts(f"x{c}x{c}x") for c in _SINGLE)


@lru_cache(maxsize=1024)
def branches(matcher: Matcher) -> tuple[str, ...] | None:
    """The texts that a pattern spells out, one for each of its alternatives; None if they are too many to tell.

    What may be left out is left out, and a space stands for what may be anything, as for a class of characters.
    """
    if isinstance(matcher, Glob):
        return ("".join(text if kind == "text" else " " for kind, text in glob_parts(matcher.pattern)),)
    try:
        found = _branches(read(matcher.pattern, ignore_case=matcher.ignore_case))
    except regex.Unsupported:
        return (matcher.pattern,)
    return None if found is None else tuple(dict.fromkeys(found))


def _branches(node: regex.Node) -> list[str] | None:
    match node:
        case regex.One(ranges):
            return [_letter(ranges)]
        case regex.Assertion():
            return [""]
        case regex.Repeat(body, least):
            inner = _branches(body)
            return [""] if least == 0 else inner and [text + (" " if least > 1 else "") for text in inner]
        case regex.Choice(items):
            found: list[str] = []
            for item in items:
                more = _branches(item)
                if more is None or len(found) + len(more) > MAX_BRANCHES:
                    return None
                found += more
            return found
        case regex.Sequence(items):
            found = [""]
            for item in items:
                more = _branches(item)
                if more is None or len(found) * len(more) > MAX_BRANCHES:
                    return None
                found = [before + after for before in found for after in more]
            return found


def _letter(ranges: regex.Ranges) -> str:
    """The character that ranges stand for, be it in either case; a space if they are several."""
    characters = {chr(code).lower() for low, high in ranges[:4] for code in {low, high}}
    single = all(low == high for low, high in ranges) and len(ranges) <= _SHARE
    return characters.pop() if single and len(characters) == 1 else " "
