"""The parts of an item that the layout keeps together or breaks: brackets, chains of connectives, the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from vigil_lang.syntax.leaves import Leaf

# What joins operands, loosest first.
_LEVELS = ("AFTER", "IMPLIES", "OR", "AND")
_JOINS = frozenset(_LEVELS)
_OPENING = frozenset({"LPAR", "LBRACE"})
CLOSING = frozenset({"RPAR", "RBRACE"})


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
    parts: list[int | Group]


@dataclass(frozen=True, slots=True)
class Chain:
    """Two or more operands with the same connective between them."""

    first: int
    last: int
    operands: list[Node]
    operators: list[int]


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
        return self._chain(0)

    def _terminal(self) -> str:
        return self.leaves[self.at].terminal if self.at < len(self.leaves) else "$END"

    def _listing(self, opening: str) -> Run:
        """Two leaves and what they may list: `@name(…)`, `use module: …`."""
        first = self.at
        self.at += 2
        parts: list[int | Group] = [first, first + 1]
        if self._terminal() == opening:
            parts.append(self._group())
        return Run(first, self.at - 1, parts)

    def _chain(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._run()
        operands = [self._chain(level + 1)]
        operators: list[int] = []
        while self._terminal() == _LEVELS[level]:
            operators.append(self.at)
            self.at += 1
            operands.append(self._chain(level + 1))
        return Chain(operands[0].first, self.at - 1, operands, operators) if operators else operands[0]

    def _run(self) -> Run:
        first = self.at
        parts: list[int | Group] = []
        while (terminal := self._terminal()) not in _JOINS and terminal not in ("COMMA", "$END", *CLOSING):
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
