"""The parts of an item that the layout keeps together or breaks: brackets, chains of connectives, the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.syntax.leaves import Leaf

# What joins operands, loosest first.
_LEVELS = (frozenset({"IMPLIES"}), frozenset({"OR"}), frozenset({"AND"}), frozenset({"WEAK", "SINCE", "UNTIL"}))
# What may follow a form, in this order.
_SUFFIXES = ("INSIDE", "SINCE", "AFTER", "WHERE")
# The parts of a rule, likewise.
_OF_RULES = ("WHEN", "THEN", "RECORD", "RELAXES")
_JOINS = frozenset({"AFTER", "WHERE", *_OF_RULES}).union(*_LEVELS)
_COUNTING = frozenset({"ATMOST", "ATLEAST", "BUDGET"})
_OPENING = frozenset({"LPAR", "LBRACE"})
CLOSING = frozenset({"RPAR", "RBRACE"})
_CLAUSES = frozenset({"RUN", "CALLS", "SET", "EXPECT"})


# Parts of an item, by the indices of their leaves; `last` is included.


@dataclass(frozen=True, slots=True)
class Group:
    """Brackets: (element, index of the comma after it) …; what `use` lists has a colon to open and no close."""

    first: int
    last: int
    elements: list[tuple[Node, int | None]]
    closed: bool


@dataclass(frozen=True, slots=True)
class Run:
    """Leaves and brackets that stand side by side."""

    first: int
    last: int
    parts: list[int | Group | Block]


@dataclass(frozen=True, slots=True)
class Chain:
    """Two or more operands with the same connective between them, or a form and its suffixes, or a rule and its parts.

    What else belongs to a connective, as the bound in `since[3]`, stands in the operand behind it.
    """

    first: int
    last: int
    operands: list[Node]
    operators: list[int]
    suffixed: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Braces with a line for each part in them: a test, the events of a run."""

    first: int
    last: int
    parts: list[Node]


Node: TypeAlias = Run | Chain


class Structure:
    """Finds the parts of an item. The leaves are known to parse, so brackets match."""

    def __init__(self, leaves: list[Leaf]) -> None:
        self.leaves = leaves
        self.at = 0

    def next_line(self) -> Node:
        """An annotation, or what is left."""
        match self.leaves[self.at].terminal:
            case "AT":
                return self._listing("LPAR")
            case "USE":
                return self._listing("COLON")
            case "TEST":
                return self._headed(2, self._clause)
            case "STATEMENT":
                return self._statement()
            case "RULE":
                return self._rule()
        return self._chain(0)

    def _terminal(self) -> str:
        return self.leaves[self.at].terminal if self.at < len(self.leaves) else "$END"

    def _listing(self, opening: str) -> Run:
        """Two leaves and what they may list: `@name(…)`, `use module: …`."""
        first = self.at
        self.at += 2
        parts: list[int | Group | Block] = [first, first + 1]
        if self._terminal() == opening:
            parts.append(self._group())
        return Run(first, self.at - 1, parts)

    def _chain(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._run()
        operands = [self._chain(level + 1)]
        operators: list[int] = []
        while self._terminal() in _LEVELS[level] and self._joins():
            operators.append(self.at)
            self.at += 1
            operands.append(self._chain(level + 1))
        return Chain(operands[0].first, self.at - 1, operands, operators) if operators else operands[0]

    def _statement(self) -> Node:
        """A form with what may follow it."""
        counts = self.leaves[self.at + 3].terminal in _COUNTING
        first = self.at
        operands: list[Node] = [self._count() if counts else self._chain(0)]
        operators: list[int] = []
        for suffix in _SUFFIXES:
            if self._terminal() != suffix:
                continue
            operators.append(self.at)
            self.at += 1
            operands.append(self._window() if suffix == "INSIDE" else self._chain(0))
        return Chain(first, self.at - 1, operands, operators, True) if operators else operands[0]

    def _rule(self) -> Chain:
        """`rule NAME:` with its parts."""
        first = self.at
        operands: list[Node] = [Run(first, first + 2, [*self._take(3)])]
        operators: list[int] = []
        for part in _OF_RULES:
            if self._terminal() != part:
                continue
            operators += self._take(1)
            operands.append(self._chain(0) if part == "WHEN" else self._names())
        return Chain(first, self.at - 1, operands, operators, True)

    def _names(self) -> Run:
        """A word, or several with commas between them."""
        first = self.at
        taken = self._take(1)
        while self._terminal() == "COMMA":
            taken += self._take(2)
        return Run(first, self.at - 1, [*taken])

    def _count(self) -> Run:
        """`statement NAME: atmost[3](…)`, up to the bracket that closes it."""
        first = self.at
        while self._terminal() != "LPAR":
            self.at += 1
        parts: list[int | Group | Block] = [*range(first, self.at), self._group()]
        return Run(first, self.at - 1, parts)

    def _window(self) -> Run:
        """`10m` or `20 calls`."""
        first = self.at
        parts: list[int | Group | Block] = [*self._take(1 if self._terminal() == "DURATION" else 2)]
        return Run(first, self.at - 1, parts)

    def _joins(self) -> bool:
        """Whether this leaf is a connective: not so the form `until`, nor what follows `weak`."""
        return self._terminal() in _JOINS and self.leaves[self.at - 1].terminal not in ("COLON", "WEAK")

    def _run(self) -> Run:
        first = self.at
        parts: list[int | Group | Block] = []
        while not self._joins() and (terminal := self._terminal()) not in ("COMMA", "$END", *CLOSING):
            if terminal in _OPENING:
                parts.append(self._group())
            else:
                parts.append(self.at)
                self.at += 1
        return Run(first, self.at - 1, parts)

    def _group(self) -> Group:
        first = self.at
        self.at += 1
        elements: list[tuple[Node, int | None]] = []
        while self._terminal() not in ("$END", *CLOSING):
            element = self._chain(0)
            comma = self.at if self._terminal() == "COMMA" else None
            self.at += comma is not None
            elements.append((element, comma))
        closed = self._terminal() in CLOSING
        self.at += closed
        return Group(first, self.at - 1, elements, closed)

    # --- tests ---

    def _headed(self, words: int, line: Callable[[], Node]) -> Run:
        """Some words and a block."""
        first = self.at
        self.at += words
        parts: list[int | Group | Block] = [*range(first, self.at), self._block(line)]
        return Run(first, self.at - 1, parts)

    def _block(self, line: Callable[[], Node]) -> Block:
        first = self.at
        self.at += 1
        parts = []
        while self._terminal() not in ("$END", "RBRACE"):
            parts.append(line())
        self.at += 1
        return Block(first, self.at - 1, parts)

    def _clause(self) -> Node:
        terminal, first = self._terminal(), self.at
        words = 1
        while terminal == "CALLS" and self.leaves[first + words].terminal in ("INSIDE", "STRING"):
            words += 1
        if terminal in ("RUN", "CALLS") and self.leaves[first + words].terminal == "LBRACE":
            return self._headed(words, self._step)
        self.at += 1
        return self._rest(first)

    def _step(self) -> Node:
        """An event, or the steps of one call."""
        first = self.at
        if self._terminal() == "LBRACE":
            return self._headed(0, self._step)
        while self._terminal() != "LPAR":
            self.at += 1
        parts: list[int | Group | Block] = [*range(first, self.at), self._group()]
        if self._terminal() == "COLON":
            parts += self._through("COMMA")
        if self._terminal() == "MOMENT":
            parts += self._take(2)
        if self._terminal() == "ARROW":
            plain = self.leaves[self.at + 1].terminal == "STRING"
            parts += self._take(2)
            if not plain and self._terminal() == "STRING":
                parts += self._take(1)
        return Run(first, self.at - 1, parts)

    def _through(self, joint: str) -> list[int]:
        """A mark, and names with a joint between them."""
        taken = self._take(2)
        while self._terminal() == joint:
            taken += self._take(2)
        return taken

    def _take(self, number: int) -> list[int]:
        self.at += number
        return list(range(self.at - number, self.at))

    def _rest(self, first: int) -> Run:
        """Leaves and brackets up to the next clause."""
        parts: list[int | Group | Block] = list(range(first, self.at))
        while self._terminal() not in ("$END", "RBRACE", *_CLAUSES):
            parts += [self._group()] if self._terminal() == "LBRACE" else self._take(1)
        return Run(first, self.at - 1, parts)
