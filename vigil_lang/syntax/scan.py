"""Text to tokens, which are kept in blocks: an edit costs what it changes and not what stands behind it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from msgspec import Struct

from vigil_lang.diagnostics.diagnostic import Span
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

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

_SIZE = 128
"""Tokens of a block; one that is edited may grow to twice as many."""

_new: Any = tuple.__new__  # half as long as `Token(…)`


def tokens(text: str, limit: int | None = None, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of a text, comments included; white space and a leading byte order mark are dropped.

    With a start and an end, both where lines begin, those of the lines between.
    """
    begin = 1 if start == 0 and text.startswith("\ufeff") else start
    found = islice(_TOKEN.finditer(text, begin, len(text) if end is None else end), limit)
    return [_new(Token, (m.lastgroup, m[0], m.start(), m.end())) for m in found]


class _Block(Struct, gc=False):
    """Tokens that all stand so many code points further on than they say. `comments` are the indices of those.

    `at` is both in one, so that a thread never sees tokens that have moved with the distance they had to.
    """

    at: tuple[list[Token], int]
    comments: tuple[int, ...]

    def here(self) -> list[Token]:
        """The tokens where they are now."""
        found, by = self.at
        if by:
            found = _further(found, by)
            self.at = found, 0
        return found

    def further(self, by: int) -> _Block:
        """The same tokens further on, which move when somebody looks at them."""
        found, before = self.at
        return _Block((found, before + by), self.comments)


def _further(found: list[Token], by: int) -> list[Token]:
    return [_new(Token, (kind, text, start + by, end + by)) for kind, text, start, end in found]


def _block(found: list[Token]) -> _Block:
    return _Block((found, 0), tuple([at for at, token in enumerate(found) if token[0] in COMMENTS]))


class TokenList(Sequence[Token]):
    """The tokens of one text, in order. It does not change, and threads may share it."""

    __slots__ = ("_blocks", "_ends")

    def __init__(self, blocks: list[_Block]) -> None:
        self._blocks = blocks
        self._ends = list(accumulate(len(block.at[0]) for block in blocks))
        """How many tokens there are up to the end of each block."""

    @classmethod
    def of(cls, found: list[Token]) -> TokenList:
        """The tokens of a text that was scanned."""
        return cls([_block(found)] if found else [])

    def edited(self, first: int, last: int, new: list[Token], by: int) -> TokenList:
        """These with new ones in the place of those from `first` to `last`, and all behind so many code points further
        on."""
        opening, before = self._place(first)
        closing, behind = self._place(last)
        blocks = self._blocks
        middle = (blocks[opening].here()[:before] if before else []) + new
        if behind:
            middle += _further(blocks[closing].here()[behind:], by)
            closing += 1
        step = _SIZE if len(middle) > 2 * _SIZE else len(middle)
        cut = [_block(middle[at : at + step]) for at in range(0, len(middle), step or 1)]
        rest = blocks[closing:]
        return TokenList(blocks[:opening] + cut + (rest if by == 0 else [block.further(by) for block in rest]))

    def first_from(self, offset: int) -> int:
        """The index of the first token that begins at an offset or behind it."""
        return bisect_left(range(len(self)), offset, key=lambda index: self._extent(index)[0])

    def span(self, first: int, last: int | None = None) -> Span:
        """Where a token stands, or those from the first to before the last."""
        start, end = self._extent(first)
        return Span(start, end if last is None else self._extent(last - 1)[1])

    def _extent(self, index: int) -> tuple[int, int]:
        at, inside = self._place(index)
        found, by = self._blocks[at].at
        _, _, start, end = found[inside]
        return start + by, end + by

    def text(self, index: int) -> str:
        """The text of a token."""
        at, inside = self._place(index)
        return self._blocks[at].at[0][inside].text

    def since(self, first: int) -> Iterator[Token]:
        """The tokens from one on, each when it is asked for."""
        at, inside = self._place(first)
        for block in self._blocks[at:]:
            yield from block.here()[inside:]
            inside = 0

    def comments(self) -> Iterator[tuple[str, Span]]:
        """The text of each comment, and where it stands."""
        for block in self._blocks:
            found, by = block.at
            for at in block.comments:
                _, text, start, end = found[at]
                yield text, _new(Span, (start + by, end + by))

    def _place(self, index: int) -> tuple[int, int]:
        """The block of a token, and its index in there; those of the end are (number of blocks, 0)."""
        at = bisect_right(self._ends, index)
        return at, index - (self._ends[at - 1] if at else 0)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> list[Token]: ...
    def __getitem__(self, index: int | slice) -> Token | list[Token]:
        if isinstance(index, slice):
            return self._slice(*index.indices(len(self)))
        if index < 0:
            index += len(self)
        at, inside = self._place(index)
        if index < 0 or at == len(self._blocks):
            raise IndexError(index)
        return self._blocks[at].here()[inside]

    def _slice(self, start: int, stop: int, step: int) -> list[Token]:
        if step != 1:
            return [self[at] for at in range(start, stop, step)]
        at, inside = self._place(start)
        found: list[Token] = []
        while len(found) < stop - start:
            found += self._blocks[at].here()[inside : inside + stop - start - len(found)]
            at, inside = at + 1, 0
        return found

    def __iter__(self) -> Iterator[Token]:
        return self.since(0)
