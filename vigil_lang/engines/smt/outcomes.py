"""What tests of one text can come to together, so that a solver needs to know nothing of patterns."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from vigil_lang.semantics.automaton import TooMuch, found_together, texts_together
from vigil_lang.semantics.regex import HIGHEST, Assertion, Choice, One, Repeat, Sequence, Unsupported, sample
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import Expression, Glob, glob_parts, predicate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.regex import Node

_MOST: Final = 50_000
"""Steps of the search for what all tests come to together."""

_MOST_OF_TWO: Final = 5_000
_PAIRS: Final = 200
"""Where that is too much, as many pairs of tests are looked at."""

_FEW: Final = 6
"""Tests, beyond which they are not looked at together where no two of them have to do with each other."""

_OUTCOMES: Final = 64
"""Outcomes of all tests together, beyond which pairs of them say nearly as much."""


class Part(NamedTuple):
    """The texts with a certain one inside."""

    text: str


Texts: TypeAlias = Glob | Expression | Part | frozenset[str]
"""The texts that a test is met by: those that match, those with a part, or some."""


class Outcomes(NamedTuple):
    """Tests by position, and all that they can come to."""

    tests: tuple[int, ...]
    each: tuple[tuple[bool, ...], ...]


def outcomes(tests: list[Texts]) -> Iterator[Outcomes]:
    """What is certain of the tests of any one text: each of these holds, and some may be missing."""
    known: dict[int, Node] = {}
    for at, test in enumerate(tests):
        try:
            known[at] = _node(test)
        except Unsupported:
            continue
    if not known:
        return
    related = [pair for pair in combinations(known, 2) if not _are_unrelated(*(tests[at] for at in pair))]
    if len(known) > _FEW:
        known = {at: known[at] for at in sorted({at for pair in related for at in pair})}
        if not known:
            return
    found = _found(tuple(known.values()), _MOST)
    if found is not None and len(found) <= _OUTCOMES:
        if len(found) < 1 << len(known):
            yield Outcomes(tuple(known), found)
        return
    for one, other in related[:_PAIRS]:
        found = _found((known[one], known[other]), _MOST_OF_TWO)
        if found is not None and len(found) < 4:
            yield Outcomes((one, other), found)


@lru_cache(maxsize=1024)
def texts_apart(tests: tuple[Texts, ...]) -> tuple[str, ...]:
    """A short text for each outcome that tests can have together; none of those that it takes long to look at."""
    found: dict[str, None] = {}
    nodes: list[Node] = []
    for test in tests:
        try:
            nodes.append(_node(test))
        except Unsupported:
            continue
    for some in (nodes[:_FEW], *islice(map(list, combinations(nodes, 2)), _PAIRS)):
        try:
            found.update(dict.fromkeys(texts_together(some, _MOST_OF_TWO * len(some)).values()))
        except (TooMuch, Unsupported):
            continue
        if len(some) == len(nodes):
            break
    return tuple(found)


@lru_cache(maxsize=16_384)
def _are_unrelated(one: Texts, other: Texts) -> bool:
    """Whether texts are at hand that two tests come to anything in: cheaper than to look at all texts."""
    first, second = _sample(one), _sample(other)
    texts = ("", first, second, f"{first} {second}", f"{second} {first}")
    return len({(is_in(text, one), is_in(text, other)) for text in texts}) == 4


@lru_cache(maxsize=4096)
def _sample(test: Texts) -> str:
    return sample(_node(test))


def is_in(text: str, texts: Texts) -> bool:
    """Whether a text is one of some."""
    match texts:
        case Part(part):
            return part in text
        case frozenset():
            return text in texts
        case _:
            return predicate(texts)(text)


@lru_cache(maxsize=4096)
def _found(nodes: tuple[Node, ...], most: int) -> tuple[tuple[bool, ...], ...] | None:
    try:
        return tuple(sorted(found_together(nodes, most)))
    except (TooMuch, Unsupported):
        return None


@lru_cache(maxsize=4096)
def _node(test: Texts) -> Node:
    """The texts as an expression that is found in just these; none where to read it takes all steps there are."""
    if _length(test) > _MOST:
        raise Unsupported
    match test:
        case Expression(pattern, ignore_case):
            return read(pattern, ignore_case=ignore_case)
        case Part(text):
            return _spelled(text)
        case Glob(pattern):
            any_one = One(((0, HIGHEST),))
            wildcards: dict[str, Node] = {"?": any_one, "*": Repeat(any_one, 0, None)}
            parts = tuple([wildcards.get(kind) or _spelled(text) for kind, text in glob_parts(pattern)])
            return Sequence((Assertion("text start"), *parts, Assertion("text end")))
        case _:
            words = Choice(tuple(map(_spelled, sorted(test))))
            return Sequence((Assertion("text start"), words, Assertion("text end")))


def _length(test: Texts) -> int:
    match test:
        case Part(text) | Glob(text) | Expression(text):
            return len(text)
        case _:
            return sum(map(len, test))


def _spelled(text: str) -> Node:
    return Sequence(tuple([One(((ord(c), ord(c)),)) for c in text]))
