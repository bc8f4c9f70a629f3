"""VGL317: `\\b` beside a character that belongs to no word, so that it asks for one of a word on its other side.

`\\b-rf` finds no `-rf` that a space or nothing comes before, which is what whoever wrote it was looking for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.regexes import is_valid, regexes
from vigil_lang.semantics.regex import WORD, Assertion, Choice, One, Repeat, Sequence, complement, merged
from vigil_lang.semantics.regex_places import matches_nothing, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.regex import Node, Ranges
    from vigil_lang.syntax import tree

_EDGE, _SPACE, _LETTER, _OTHER = 1, 2, 4, 8
"""What can be beside a place, as a set: an end of the text, white space, a character of a word, any other."""

_BEYOND: Final = _EDGE | _SPACE | _LETTER | _OTHER
"""Beside an expression, which is searched for, anything can be."""

_SPACES: Final[Ranges] = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_OTHERS: Final = complement(merged([*_SPACES, *WORD]))


class Between(NamedTuple):
    """A word boundary, with what can be on either side by the rest of the expression."""

    at: int
    before: int
    after: int


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The word boundaries that ask for a character of a word where none is likely."""
    for regex, node in regexes(subject):
        if "\\b" in regex.raw:
            for at, side in _doubtful(node):
                yield _finding(subject, regex, at, side)


@lru_cache(maxsize=1024)
def _doubtful(node: Node) -> tuple[tuple[int, Literal["before", "after"]], ...]:
    """Where in an expression that matches something such boundaries stand, and the side they ask about."""
    if matches_nothing(node):
        return ()
    found: list[tuple[int, Literal["before", "after"]]] = []
    for place in _boundaries(node, _BEYOND, _BEYOND):
        if _is_outside(place.after) and _is_open(place.before):
            found.append((place.at, "before"))
        elif _is_outside(place.before) and _is_open(place.after):
            found.append((place.at, "after"))
    return tuple(found)


def _is_outside(side: int) -> bool:
    return not side & (_EDGE | _LETTER)


def _is_open(side: int) -> bool:
    """Whether the expression leaves room for a gap, and for a word as well."""
    return bool(side & _LETTER and side & (_EDGE | _SPACE))


def _finding(subject: Subject, regex: tree.Regex, at: int, side: Literal["before", "after"]) -> Diagnostic:
    word = "start" if side == "before" else "end"
    written = r"(?:^|\s)" if side == "before" else r"(?:\s|$)"
    span = Span(regex.span.start + 1 + at, regex.span.start + 3 + at)
    without = regex.raw[:at] + regex.raw[at + 2 :]
    return Diagnostic.of(
        "VGL317",
        f"this `\\b` asks for a letter, a digit or `_` {side} it: no space, and not the {word} of the text",
        subject.policy.module.source,
        span,
        help=f"leave it out, or write `{written}` for the {word} of a word of a command line",
        fix=Fix("leave out `\\b`", (Edit(span, ""),)) if is_valid(without) else None,
    )


# --- what is beside a place ---


def _boundaries(node: Node, before: int, after: int) -> Iterator[Between]:
    match node:
        case Assertion("word boundary", at):
            yield Between(at, before, after)
        case Sequence(items):
            following = [after]
            for item in reversed(items):
                following.append(_beside(item, following[-1], first=True))
            for item, beyond in zip(items, reversed(following[:-1]), strict=True):
                yield from _boundaries(item, before, beyond)
                before = _beside(item, before, first=False)
        case Choice(items):
            for item in items:
                yield from _boundaries(item, before, after)
        case Repeat(body, _, most):
            if most is None or most > 1:
                before |= _beside(body, 0, first=False)
                after |= _beside(body, 0, first=True)
            yield from _boundaries(body, before, after)


def _beside(node: Node, beyond: int, *, first: bool) -> int:
    """What can be at one end of a node, its first character or its last; where it is empty, what lies beyond it."""
    match node:
        case One(ranges):
            kinds = ((_SPACE, _SPACES), (_LETTER, WORD), (_OTHER, _OTHERS))
            return sum(kind for kind, known in kinds if overlap(ranges, known))
        case Assertion("text start" | "line start"):
            return beyond if first else _EDGE
        case Assertion("text end" | "line end"):
            return _EDGE if first else beyond
        case Assertion():
            return beyond
        case Sequence(items):
            for item in reversed(items) if first else items:
                beyond = _beside(item, beyond, first=first)
            return beyond
        case Choice(items):
            found = 0
            for item in items:
                found |= _beside(item, beyond, first=first)
            return found
        case Repeat(body, least):
            inner = _beside(body, beyond, first=first)
            return inner if least else inner | beyond
