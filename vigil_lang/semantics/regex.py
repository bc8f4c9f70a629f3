"""Regular expressions as trees, for what must be said of a pattern rather than tried on a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

HIGHEST: Final = 0x10FFFF

Ranges: TypeAlias = tuple[tuple[int, int], ...]


class Unsupported(ValueError):
    """A text or pattern that has no exact counterpart here; the message says what of it."""


@dataclass(frozen=True, slots=True)
class One:
    """One character out of sorted, disjoint ranges of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; empty matches the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of them."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`least` to `most` times; no upper limit where `most` is None."""

    body: Node
    least: int
    most: int | None


Place: TypeAlias = Literal["text start", "text end", "line start", "line end", "word boundary", "no word boundary"]


@dataclass(frozen=True, slots=True)
class Assertion:
    """A test of the place between two characters; `at` is where in the pattern it is written."""

    place: Place
    at: int = field(default=-1, compare=False)


Node: TypeAlias = One | Sequence | Choice | Repeat | Assertion

WORD: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """The same code points in sorted ranges that neither overlap nor touch."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """Every other code point."""
    found, at = [], 0
    for low, high in ranges:
        if low > at:
            found.append((at, low - 1))
        at = high + 1
    if at <= HIGHEST:
        found.append((at, HIGHEST))
    return tuple(found)


# --- places ------------------------------------------------------------------------------------------------

_MAX_VARIANTS = 64

Variant: TypeAlias = tuple[Node, ...]
"""A sequence with its assertions at the top."""


def variants(node: Node) -> list[Variant]:
    """The pattern as alternatives in which assertions stand only at the top of a sequence.

    Raises:
        Unsupported: an assertion stands in a repetition, or there would be too many alternatives.
    """
    found = [v for item in node.items for v in variants(item)] if isinstance(node, Choice) else _variants(node)
    if len(found) > _MAX_VARIANTS:
        raise Unsupported("too many alternatives around `^`, `$` or `\\b`")
    return found


def _variants(node: Node) -> list[Variant]:
    if not asserts(node):
        return [(node,)]
    match node:
        case Sequence(items):
            found: list[Variant] = [()]
            for item in items:
                found = [before + after for before in found for after in variants(item)]
                if len(found) > _MAX_VARIANTS:
                    break
            return found
        case Repeat(body, 0, 1):
            return [(), *variants(body)]
        case Repeat(body, 1, 1):
            return variants(body)
        case Repeat():
            raise Unsupported("`^`, `$` or `\\b` in a repetition")
        case _:
            return [(node,)]


def asserts(node: Node) -> bool:
    """Whether a place is tested anywhere in the pattern."""
    match node:
        case Assertion():
            return True
        case Sequence(items) | Choice(items):
            return any(map(asserts, items))
        case Repeat(body):
            return asserts(body)
        case One():
            return False


def nullable(node: Node) -> bool:
    """Whether the pattern, which tests no place, matches the empty text."""
    match node:
        case Sequence(items):
            return all(map(nullable, items))
        case Choice(items):
            return any(map(nullable, items))
        case Repeat(body, least):
            return least == 0 or nullable(body)
        case _:
            return False


def sample(node: Node) -> str:
    """A short text that the pattern is likely to match; places are not looked at."""
    match node:
        case One(ranges):
            return readable(ranges)
        case Sequence(items):
            return "".join(map(sample, items))
        case Choice(items):
            return min(map(sample, items), key=len)
        case Repeat(body, least):
            return sample(body) * least
        case Assertion():
            return ""


def readable(ranges: Ranges) -> str:
    """A character of some ranges, one that is common where there is one; nothing of none."""
    if not ranges:
        return ""
    wanted = next((c for c in b"a0A _-./" if any(low <= c <= high for low, high in ranges)), ranges[0][0])
    return chr(wanted)
