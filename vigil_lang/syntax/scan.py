"""Text to tokens."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from vigil_lang.diagnostics.diagnostic import Span
from vigil_lang.patterns import regex

TokenKind: TypeAlias = Literal["doc", "comment", "string", "regex", "unclosed", "word", "number", "symbol"]


class Token(NamedTuple):
    """A token as written, with the offsets it stands between. A tuple, because a file has many."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


# Linear: no alternative can match the same text in two ways. A `/` only ever starts a regular expression.
# The operators of other languages (`==`, `&&`, …) are tokens too, so that a message can name them whole.
_TOKEN = regex(
    r"""
    (?P<word>[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)
  | (?P<doc>///(?!/)[^\n]*)
  | (?P<comment>//[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<regex>/(?:[^/\\\n]|\\[^\n])+/i?)
  | (?P<unclosed>["/][^\n]*)
  | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[0-9A-Za-z_.]*)
  | (?P<symbol>◇[⁻⁺+-]|[!<>]=|!~|==|=>|=~|->|<>|&&|\|\||\.+(?:[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)?|[^\s])
    """,
    re.VERBOSE,
)

ITEM_WORDS = frozenset({"policy", "use", "let", "param", "pattern", "statement", "rule"})
TEST = "test"
"""Begins an item as those words do, but only before a string: elsewhere it is a name, and tests are often called so."""
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())

COMMENTS = ("doc", "comment")


def tokens(text: str, limit: int | None = None, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of a text, comments included; white space and a leading byte order mark are dropped.

    With a start and an end, both where lines begin, those of the lines between.
    """
    begin = 1 if start == 0 and text.startswith("\ufeff") else start
    found = islice(_TOKEN.finditer(text, begin, len(text) if end is None else end), limit)
    new: Any = tuple.__new__  # half as long as `Token(…)`
    return [new(Token, (m.lastgroup, m[0], m.start(), m.end())) for m in found]
