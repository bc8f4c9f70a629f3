"""Automata of regular expressions: which combinations of them can be found in one text.

Each is an automaton whose states are made as they are reached; side by side they take the same characters, of which
those that no expression tells apart are one. Steps are counted, so the answer is deterministic.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from vigil_lang.semantics import regex
from vigil_lang.semantics.regex import Assertion, Choice, Node, One, Ranges, Repeat, Sequence, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence as Several

MAX_SIZE: Final = 2_000
"""Steps of one expression, its counted repetitions written out."""

_EDGE, _LINE, _LETTER, _OTHER = range(4)
"""What is beside a place: an end of the text, a line break, a character of a word, any other character."""

_NEWLINE: Final = ((0x0A, 0x0A),)

_State: TypeAlias = tuple[frozenset[int], int]
"""The steps that are next, and what is before the place."""


class TooMuch(Exception):
    """The question would take longer than is allowed for it."""


class _Work:
    """What is left of the steps that a question may take."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuch


def found_together(nodes: Several[Node], most: int) -> frozenset[tuple[bool, ...]]:
    """For every text, which of the expressions are found in it; each outcome once.

    `most` bounds the steps of the search.

    Raises:
        TooMuch: there are more.
        Unsupported: an expression is too large.
    """
    return frozenset(texts_together(nodes, most))


def texts_together(nodes: Several[Node], most: int) -> dict[tuple[bool, ...], str]:
    """For every text, which of the expressions are found in it: each outcome with one of its shortest texts.

    Raises as `found_together` does.
    """
    work = _Work(most)
    alphabet = _Alphabet(nodes)
    automata = [_Automaton(node, alphabet, work) for node in nodes]
    start = tuple([a.start for a in automata])
    texts = {start: ""}
    waiting = deque(texts)
    outcomes: dict[tuple[bool, ...], str] = {}
    while waiting:
        states = waiting.popleft()
        text = texts[states]
        outcomes.setdefault(tuple([a.ends(s) for a, s in zip(automata, states, strict=True)]), text)
        work.spend(len(alphabet.kinds) * len(automata))
        for character, shown in enumerate(alphabet.shown):
            after = tuple([a.after(s, character) for a, s in zip(automata, states, strict=True)])
            if after not in texts:
                texts[after] = text + shown
                waiting.append(after)
    return outcomes


class _Alphabet:
    """The characters, those that no expression tells apart as one: `kinds` says what each is beside a place.

    `shown` has one of each that a person can read, where there is such a one.
    """

    def __init__(self, nodes: Several[Node]) -> None:
        told: dict[Ranges, int] = {regex.WORD: 0, _NEWLINE: 1}
        waiting = list(nodes)
        while waiting:
            match waiting.pop():
                case One(ranges):
                    told.setdefault(ranges, len(told))
                case Sequence(items) | Choice(items):
                    waiting += items
                case Repeat(body):
                    waiting.append(body)
        changes: dict[int, int] = {0: 0}
        for ranges, at in told.items():
            for low, high in ranges:
                changes[low] = changes.get(low, 0) ^ 1 << at
                changes[high + 1] = changes.get(high + 1, 0) ^ 1 << at
        classes: dict[int, list[tuple[int, int]]] = {}
        inside = 0
        for point, following in pairwise((*sorted(changes), regex.HIGHEST + 1)):
            inside ^= changes[point]
            if point < following:
                classes.setdefault(inside, []).append((point, following - 1))
        self.shown = [regex.readable(tuple(ranges)) for ranges in classes.values()]
        self.kinds = [_LETTER if bits & 1 else _LINE if bits & 2 else _OTHER for bits in classes]
        self.among = {
            ranges: frozenset(n for n, bits in enumerate(classes) if bits >> at & 1) for ranges, at in told.items()
        }


class _Automaton:
    """One expression, searched for in a text. A state None says that it was found."""

    def __init__(self, node: Node, alphabet: _Alphabet, work: _Work) -> None:
        self._kinds, self._among, self._work = alphabet.kinds, alphabet.among, work
        self._takes: dict[int, tuple[frozenset[int], int]] = {}
        self._splits: dict[int, list[int]] = {}
        self._tests: dict[int, tuple[str, int]] = {}
        self._size = 1  # step 0 is the end
        self._first = self._written(node, 0)
        self._looks = regex.asserts(node)
        self._known: dict[tuple[_State, int], _State | None] = {}
        self._ends: dict[_State, bool] = {}
        self.start: _State | None = (frozenset({self._first}), _EDGE if self._looks else _OTHER)

    def after(self, state: _State | None, character: int) -> _State | None:
        """The state after one more character."""
        if state is None:
            return None
        key = (state, character)
        if key not in self._known:
            self._known[key] = self._moved(state, character)
        return self._known[key]

    def ends(self, state: _State | None) -> bool:
        """Whether it is found in the text up to here, were this its end."""
        if state is None:
            return True
        if state not in self._ends:
            self._ends[state] = 0 in self._reached(*state, _EDGE)
        return self._ends[state]

    def _moved(self, state: _State, character: int) -> _State | None:
        kind = self._kinds[character]
        reached = self._reached(*state, kind)
        if 0 in reached:
            return None
        takes = (self._takes[step] for step in reached if step in self._takes)
        following = {after for among, after in takes if character in among}
        return frozenset({*following, self._first}), kind if self._looks else _OTHER

    def _reached(self, steps: frozenset[int], before: int, after: int) -> set[int]:
        """The steps that are reached from some without taking a character."""
        reached: set[int] = set()
        waiting = list(steps)
        while waiting:
            step = waiting.pop()
            if step in reached:
                continue
            reached.add(step)
            waiting += self._splits.get(step, ())
            test = self._tests.get(step)
            if test is not None and _is_at(test[0], before, after):
                waiting.append(test[1])
        self._work.spend(len(reached))
        return reached

    # --- writing ---

    def _step(self) -> int:
        self._size += 1
        if self._size > MAX_SIZE:
            raise Unsupported("a large expression")
        return self._size - 1

    def _written(self, node: Node, after: int) -> int:
        """The first of the steps that a node takes to get to a step."""
        match node:
            case Sequence(items):
                for item in reversed(items):
                    after = self._written(item, after)
                return after
            case Repeat(body, least, most):
                return self._repeated(body, least, most, after)
        step = self._step()
        match node:
            case One(ranges):
                self._takes[step] = (self._among[ranges], after)
            case Assertion(place):
                self._tests[step] = (place, after)
            case Choice(items):
                self._splits[step] = [self._written(item, after) for item in items]
        return step

    def _repeated(self, body: Node, least: int, most: int | None, after: int) -> int:
        if most is None:
            again = self._step()
            self._splits[again] = [after, self._written(body, again)]
            after = again
        else:
            end = after
            for _ in range(most - least):
                step = self._step()
                self._splits[step] = [end, self._written(body, after)]
                after = step
        for _ in range(least):
            after = self._written(body, after)
            self._step()  # counted even where the body is empty
        return after


def _is_at(place: str, before: int, after: int) -> bool:
    match place:
        case "text start":
            return before == _EDGE
        case "text end":
            return after == _EDGE
        case "line start":
            return before in (_EDGE, _LINE)
        case "line end":
            return after in (_EDGE, _LINE)
        case "word boundary":
            return (before == _LETTER) != (after == _LETTER)
        case _:
            return (before == _LETTER) == (after == _LETTER)
