"""What the lexer makes of a text: words as parts, redirections, and a skeleton that only has the structure."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from msgspec import field

from vigil_lang.base.structs import Mutable


class Literal(NamedTuple):
    """Characters that mean themselves. `source` is how a part is written, `quoted` whether it stands in quotes."""

    source: str
    quoted: bool
    text: str


class Parameter(NamedTuple):
    """``$name`` or ``${name[index]operator…}``; `prefix` is ``!`` or ``#`` before the name."""

    source: str
    quoted: bool
    name: str
    prefix: str = ""
    subscript: Parts | None = None
    operator: str = ""
    first: Parts = ()
    second: Parts | None = None


class Substitution(NamedTuple):
    """``$(…)`` or backticks; `direction` is ``<`` or ``>`` for a process substitution."""

    source: str
    quoted: bool
    inner: Lexed
    direction: str = ""


class Arithmetic(NamedTuple):
    """``$((…))``."""

    source: str
    quoted: bool
    inner: Parts
    """What stands between the parentheses. A command ``((…))`` is a word of this one part."""


class Array(NamedTuple):
    """``(x y)`` after a name and an equals sign."""

    source: str
    quoted: bool
    items: tuple[Parts, ...]


Part = Literal | Parameter | Substitution | Arithmetic | Array
Parts = tuple[Part, ...]
"""A word, or what stands in quotes or braces."""


class WordToken(NamedTuple):
    start: int
    end: int
    parts: Parts


class RedirectToken(NamedTuple):
    start: int
    end: int
    op: str
    fd: int | None
    target: Parts
    """Of a here-document the text, not the delimiter."""


Token = WordToken | RedirectToken


class Lexed(Mutable):
    """A text, or the piece of one between `start` and `end`, cut into tokens.

    `skeleton` is as long as the piece: words are ``w``, everything the structure does not depend on is blank.
    """

    text: str
    line: int
    """Line of the text's first character."""
    breaks: list[int]
    """Where the text's newlines are."""
    start: int
    end: int = 0
    skeleton: str = ""
    tokens: list[Token] = field(default_factory=list)
    trailing: dict[int, list[RedirectToken]] = field(default_factory=dict)
    """Redirections of compound commands, by the position these end at."""
    negated: set[int] = field(default_factory=set)
    """Where a pipeline starts that has an odd number of ``!`` before it."""
    detached: set[int] = field(default_factory=set)
    """Where a command starts that has `coproc` before it."""
    loops: dict[int, Parts] = field(default_factory=dict)
    """The insides of ``for ((…))`` by the position of the first parenthesis."""

    cut: bool = False
    """A limit was reached at the end; what comes after it in the text is missing."""

    def between(self, start: int, end: int) -> list[Token]:
        """The tokens in a range of positions."""
        low = bisect_left(self.tokens, start, key=start_of)
        return self.tokens[low : bisect_left(self.tokens, end, low, key=start_of)]

    def line_of(self, position: int) -> int:
        """The line of a position."""
        return self.line + bisect_left(self.breaks, position)


def start_of(token: Token) -> int:
    return token.start
