"""Looking at the parts of an item that is not finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.base.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.syntax.following import Part

_OPENING = frozenset({"LPAR", "LBRACE", "LSQB"})
_CLOSING = frozenset({"RPAR", "RBRACE", "RSQB"})


def innermost(parts: Sequence[Part]) -> int | None:
    """The index of the bracket that was opened last and is open."""
    depth = 0
    for at in range(len(parts) - 1, -1, -1):
        if parts[at].symbol in _CLOSING:
            depth += 1
        elif parts[at].symbol in _OPENING:
            if depth == 0:
                return at
            depth -= 1
    return None


def first(parts: Sequence[Part], symbol: str) -> int | None:
    """The index of the first part that is of a symbol."""
    return next((at for at, part in enumerate(parts) if part.symbol == symbol), None)


def is_list(part: Part) -> bool:
    """Whether it is a repetition, of which more may follow."""
    return part.symbol.startswith("__")


def nodes_of(value: object) -> Iterator[Node]:
    """The nodes of the tree in what rules have made so far."""
    if isinstance(value, list):
        for one in value:
            yield from nodes_of(one)
    elif isinstance(value, Node):
        yield value


def names_of(value: object) -> Iterator[str]:
    """The texts of the names in it."""
    if isinstance(value, list):
        for one in value:
            yield from names_of(one)
    elif isinstance(text := getattr(value, "text", None), str):
        yield text


def text_of(part: Part) -> str:
    """The text of a token or name, empty for anything else."""
    return next(names_of(part.value), "")
