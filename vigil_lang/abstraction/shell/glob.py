"""Patterns of `${A%.*}` and its like: matched in one pass over the text, whatever the pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SET = regex(r"\[([!^]?)(\]?[^\]]*)\]", re.DOTALL)

_MAX_PATTERN = 1_000
"""Characters of a pattern."""

_MAX_SEARCHED = 2_000
"""Characters of a text in which a pattern other than a literal one is looked for everywhere."""


def is_glob(text: str) -> bool:
    """Whether an unquoted text is a pattern for file names."""
    return "*" in text or "?" in text or text.rfind("]") > text.find("[") + 1 > 0


class _Item(NamedTuple):
    """One character of a pattern: one of `characters`, or any but them; a star is no item."""

    characters: frozenset[str]
    negated: bool = False


class Pattern(NamedTuple):
    """Items, and the positions before which (or at the end) there is a star."""

    items: tuple[_Item, ...]
    stars: frozenset[int]

    @property
    def literal(self) -> str | None:
        """The only text it matches, None where there are others."""
        if self.stars or any(item.negated or len(item.characters) != 1 for item in self.items):
            return None
        return "".join(next(iter(item.characters)) for item in self.items)

    def reverse(self) -> Pattern:
        """What matches the same texts back to front."""
        return Pattern(self.items[::-1], frozenset(len(self.items) - star for star in self.stars))


def pattern(pieces: Iterable[tuple[str, bool]]) -> Pattern | None:
    """The pattern of texts that are quoted or not; None where it has a class such as
    ``[[:alpha:]]`` or is very long."""
    items: list[_Item] = []
    stars: set[int] = set()
    for text, quoted in pieces:
        if len(text) + len(items) > _MAX_PATTERN:
            return None
        pos = 0
        while pos < len(text):
            char = text[pos]
            pos += 1
            if not quoted and char == "*":
                stars.add(len(items))
            elif not quoted and char == "?":
                items.append(_Item(frozenset(), negated=True))
            elif not quoted and char == "[" and (found := _SET.match(text, pos - 1)):
                if "[" in found[2]:
                    return None
                items.append(_Item(_members(found[2]), bool(found[1])))
                pos = found.end()
            else:
                items.append(_Item(frozenset(char)))
    return Pattern(tuple(items), frozenset(stars))


def _members(text: str) -> frozenset[str]:
    members: set[str] = set()
    pos = 0
    while pos < len(text):
        if text[pos + 1 : pos + 2] == "-" and pos + 2 < len(text):
            members.update(map(chr, range(ord(text[pos]), min(ord(text[pos + 2]), ord(text[pos]) + 0x400) + 1)))
            pos += 3
        else:
            members.add(text[pos])
            pos += 1
    return frozenset(members)


def prefixes(found: Pattern, text: str) -> Iterator[int]:
    """The lengths of all prefixes of a text that a pattern matches, ascending."""
    stars = sum(1 << star for star in found.stars)
    end = 1 << len(found.items)
    masks: dict[str, int] = {}
    active = 1
    if active & end:
        yield 0
    for length, char in enumerate(text, 1):
        mask = masks.get(char)
        if mask is None:
            mask = sum(1 << i for i, item in enumerate(found.items) if (char in item.characters) != item.negated)
            masks[char] = mask
        active = (active & mask) << 1 | active & stars
        if not active:
            return
        if active & end:
            yield length


def strip_prefix(found: Pattern, text: str, longest: bool) -> str:
    """``${A#…}`` and ``${A##…}``."""
    length = 0
    for length in prefixes(found, text):  # noqa: B007  # the last one is what is wanted
        if not longest:
            break
    return text[length:]


def strip_suffix(found: Pattern, text: str, longest: bool) -> str:
    """``${A%…}`` and ``${A%%…}``."""
    return strip_prefix(found.reverse(), text[::-1], longest)[::-1]


def replace(found: Pattern, text: str, by: str, everywhere: bool) -> str | None:
    """``${A/…/by}`` and ``${A//…/by}``; None where looking for it would take too long."""
    literal = found.literal
    if literal is not None:
        return text.replace(literal, by, -1 if everywhere else 1) if literal else text
    if len(text) > _MAX_SEARCHED:
        return None
    out: list[str] = []
    pos = 0
    while pos < len(text):
        length = max(prefixes(found, text[pos:]), default=0)
        if not length:
            out.append(text[pos])
            pos += 1
            continue
        out.append(by)
        pos += length
        if not everywhere:
            break
    return "".join(out) + text[pos:]
