"""How much work it is to hold the patterns of a condition against its texts, before anybody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import AnyOf

if TYPE_CHECKING:
    from vigil_lang.semantics.text_patterns import Matcher

_MOST: Final = 10_000_000
"""Steps of RE2, which takes as many as pattern and text have characters, multiplied: some hundredths of a second."""


def is_laborious(condition: core.Condition) -> bool:
    """Whether it takes long to try the patterns of a condition on its own texts, and on texts made of the patterns."""
    patterns, longest = 0, 0
    for test in core.tests(condition):
        match test:
            case core.Matches(_, matcher) | core.ActionMatches(matcher):
                size = _size(matcher)
                patterns, longest = patterns + size, max(longest, size)
            case core.In(_, texts) | core.ActionIn(texts):
                longest = max(longest, *map(len, texts), 0)
            case core.ContainsText(_, text):
                longest = max(longest, len(text))
            case _:
                pass
    return patterns * longest > _MOST


def _size(matcher: Matcher) -> int:
    return sum(map(_size, matcher.matchers)) if isinstance(matcher, AnyOf) else len(matcher.pattern)
