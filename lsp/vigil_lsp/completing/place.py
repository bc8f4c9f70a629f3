"""The place where somebody types: which word or string is being written, and what of the item stands before it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.diagnostics import Span
from vigil_lang.syntax.following import Beginning, following
from vigil_lang.syntax.scan import COMMENTS
from vigil_lsp.cursor import stretch_at, token_index

if TYPE_CHECKING:
    from vigil_lang.syntax import tree
    from vigil_lang.syntax.scan import Token, TokenList

Within: TypeAlias = Literal["code", "string"]

_LONGEST_WORD = 200
MOST_TOKENS = 5_000
"""Tokens of an item before the cursor; in a longer one nothing is completed."""

# A word so far, also one that ends with the dot or dash after which it goes on, and the dots of a relative module.
_BEFORE = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]*)*|\.+[A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]*)*)$")
_BEHIND = re.compile(r"(?:[A-Za-z0-9_]|[.-](?=[A-Za-z0-9_]))*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cursor is. What is being written goes from `start` to `end`; in a string that is what is between its
    quotes, and `closed` tells whether there is one that ends it.

    `before` are the tokens of the item before that, comments left out, `stretch` all of the item with what follows.
    `fresh` says that a new item could begin here.
    """

    offset: int
    start: int
    end: int
    typed: str
    within: Within = "code"
    closed: bool = False
    before: tuple[Token, ...] = ()
    stretch: tuple[Token, ...] = ()
    beginning: Beginning = Beginning((), frozenset())
    fresh: bool = False
    headed: bool = False
    """Whether a `policy` line could stand here."""
    leads: bool = False
    """Whether nothing stands before it on its line."""
    indented: bool = False
    """Whether white space does."""
    next: str = ""
    """The character behind what is being written."""

    @property
    def span(self) -> Span:
        """The span of what is being written."""
        return Span(self.start, self.end)

    @property
    def accepted(self) -> frozenset[str]:
        """The terminals that the grammar has a place for."""
        return self.beginning.accepted


def comment_at(tokens: TokenList, offset: int) -> Token | None:
    """The comment that is being written."""
    at = tokens.first_from(offset) - 1
    if at >= 0 and tokens[at].kind in COMMENTS and offset <= tokens[at].end:
        return tokens[at]
    return None


def place_at(file: tree.File, tokens: TokenList, offset: int) -> Place | None:
    """The place at an offset; None in comments, numbers and regular expressions, where nothing can be said."""
    text = file.source.text
    found = token_index(tokens, offset)
    token = None if found is None or tokens[found].start >= offset else tokens[found]
    within: Within = "code"
    closed = False
    start, end = offset, offset
    if token is not None and token.kind in COMMENTS:
        return None
    if token is not None and token.kind == "number":
        return None
    if token is not None and (token.kind == "unclosed" or (token.kind in ("string", "regex") and offset < token.end)):
        if token.text[0] != '"':
            return None
        within, closed = "string", token.kind == "string"
        start, end = token.start + 1, token.end - 1 if closed else offset
    elif token is None or token.kind not in ("string", "regex"):
        floor = max(text.rfind("\n", 0, offset) + 1, offset - _LONGEST_WORD)
        if found is not None and found > 0 and tokens[found].kind in ("string", "regex", "number"):
            floor = max(floor, tokens[found].end if tokens[found].end <= offset else floor)
        if match := _BEFORE.search(text[floor:offset]):
            start = floor + match.start()
        end = offset + (match_.end() if (match_ := _BEHIND.match(text[offset : offset + _LONGEST_WORD])) else 0)
    opening = start - 1 if within == "string" else start
    return _placed(file, tokens, offset, (start, end, opening), within, closed=closed)


def _placed(
    file: tree.File, tokens: TokenList, offset: int, word: tuple[int, int, int], within: Within, *, closed: bool
) -> Place | None:
    text = file.source.text
    start, end, opening = word
    last = tokens.first_from(opening) - 1
    while last >= 0 and tokens[last].kind in COMMENTS:
        last -= 1
    stretch = stretch_at(file, tokens, tokens[last].start) if last >= 0 else None
    before = stretch.before(opening) if stretch is not None else []
    if len(before) > MOST_TOKENS:
        return None
    own_line = last < 0 or "\n" in text[tokens[last].end : opening]
    beginning = following(before, "item")
    if beginning.mended and any(token.text == "policy" for token in before):
        header = following(before, "header")
        beginning = beginning if header.mended else header
    fresh = within == "code" and own_line and (not before or "$END" in beginning.accepted)
    headed = False
    if file.name is None and not any(item.span.end <= start for item in file.items):
        header = following(before, "header")
        headed = within == "code" and "POLICY" in header.accepted and not header.mended
    return Place(
        offset,
        start,
        end,
        text[start:offset],
        within,
        closed,
        tuple(before),
        stretch.tokens if stretch is not None else (),
        beginning,
        fresh,
        headed,
        own_line,
        text[start - 1 : start] in (" ", "\t"),
        text[end : end + 1],
    )
