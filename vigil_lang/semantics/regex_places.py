"""What the places that a regular expression tests (`^`, `$`, `\\b`) leave of the texts it can match.

A place is known by the kinds of the characters on its two sides, so there are sixteen places. A pattern takes sets of
places, those where a match begins, to sets of places, those where it ends; how long the match is does not matter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from vigil_lang.semantics.regex import (
    HIGHEST,
    WORD,
    Assertion,
    Choice,
    Node,
    One,
    Ranges,
    Repeat,
    Sequence,
    complement,
    merged,
)

_NEWLINE: Final = 0x0A
_EDGE, _LINE, _LETTER, _OTHER = range(4)
"""What is beside a place: an end of the text, a line break, a character of a word, any other character."""

_SIDES = tuple((before, after) for before in range(4) for after in range(4))
_OTHERS: Final = complement(merged([*WORD, (_NEWLINE, _NEWLINE)]))


def _places(chosen: list[bool]) -> int:
    return sum(1 << at for at, is_in in enumerate(chosen) if is_in)


ANYWHERE: Final = (1 << 16) - 1
_FROM = [_places([before == kind for before, _ in _SIDES]) for kind in range(4)]
_TO = [_places([after == kind for _, after in _SIDES]) for kind in range(4)]
_AT = {
    "text start": _FROM[_EDGE],
    "text end": _TO[_EDGE],
    "line start": _FROM[_EDGE] | _FROM[_LINE],
    "line end": _TO[_EDGE] | _TO[_LINE],
    "word boundary": _places([(before == _LETTER) != (after == _LETTER) for before, after in _SIDES]),
    "no word boundary": _places([(before == _LETTER) == (after == _LETTER) for before, after in _SIDES]),
}


def matches_nothing(node: Node) -> bool:
    """Whether the pattern is found in no text."""
    return not reached(node, ANYWHERE)


def matches_everything(node: Node) -> Literal["text", "line"] | None:
    """`text` where the pattern is certain to be found in every text, `line` in every text without a line break."""
    for ends in (_FROM[_EDGE], _TO[_EDGE]):
        if _empty_at(node, ends) == ends:
            return "text"
    items = list(node.items) if isinstance(node, Sequence) else [node]
    while items and isinstance(items[0], Assertion) and items[0].place in ("text start", "line start"):
        items.pop(0)
    while items and isinstance(items[-1], Assertion) and items[-1].place in ("text end", "line end"):
        items.pop()
    match items:
        case [Repeat(One(ranges), 0, None)]:
            if ranges == ((0, HIGHEST),):
                return "text"
            return "line" if ranges == complement(((_NEWLINE, _NEWLINE),)) else None
        case _:
            return None


def impasse(node: Node) -> Assertion | None:
    """The test of a place that keeps a pattern which matches nothing from matching, where one alone is to blame."""
    places, last = ANYWHERE, None
    for item in node.items if isinstance(node, Sequence) else (node,):
        last = item if isinstance(item, Assertion) else last
        places = reached(item, places)
        if not places:
            return last
    return None


def reached(node: Node, places: int) -> int:
    """The places where a match can end that begins at one of some places."""
    if not places:
        return 0
    match node:
        case One(ranges):
            found = 0
            for kind in _kinds(ranges):
                if places & _TO[kind]:
                    found |= _FROM[kind]
            return found
        case Assertion(place):
            return places & _AT[place]
        case Sequence(items):
            for item in items:
                places = reached(item, places)
            return places
        case Choice(items):
            found = 0
            for item in items:
                found |= reached(item, places)
            return found
        case Repeat(body, least, most):
            return _repeated(body, least, most, places)


def _repeated(body: Node, least: int, most: int | None, places: int) -> int:
    for _ in range(least):
        before, places = places, reached(body, places)
        if places == before:
            break
    more = least + 16 if most is None else most  # each round adds a place, or no round after it does
    for _ in range(min(more - least, 16)):
        before, places = places, places | reached(body, places)
        if places == before:
            break
    return places


def _empty_at(node: Node, places: int) -> int:
    """Those of some places at which the pattern matches the empty text."""
    match node:
        case One():
            return 0
        case Assertion(place):
            return places & _AT[place]
        case Sequence(items):
            for item in items:
                places = _empty_at(item, places)
            return places
        case Choice(items):
            found = 0
            for item in items:
                found |= _empty_at(item, places)
            return found
        case Repeat(body, least):
            return _empty_at(body, places) if least else places


@lru_cache(maxsize=1024)
def _kinds(ranges: Ranges) -> tuple[int, ...]:
    """The kinds of characters in some ranges."""
    found = [(_LINE, ((_NEWLINE, _NEWLINE),)), (_LETTER, WORD), (_OTHER, _OTHERS)]
    return tuple(kind for kind, known in found if overlap(ranges, known))


def overlap(one: Ranges, other: Ranges) -> bool:
    """Whether two sets of characters have one in common."""
    return any(low <= top and bottom <= high for low, high in one for bottom, top in other)
