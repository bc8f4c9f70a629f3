"""Tokens and item boundaries, found without the grammar so that errors stay inside their item."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from vigil_lang.diagnostics.model import Span

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
_TOKEN = re.compile(
    r"""
    (?P<doc>///(?!/)[^\n]*)
  | (?P<comment>//[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<regex>/(?:[^/\\\n]|\\[^\n])+/i?)
  | (?P<unclosed>["/][^\n]*)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)
  | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[0-9A-Za-z_.]*)
  | (?P<symbol>◇[⁻⁺+-]|[!<>]=|!~|==|=>|=~|->|<>|&&|\|\||\.+(?:[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)?|[^\s])
    """,
    re.VERBOSE,
)

ITEM_WORDS = frozenset({"policy", "use", "let", "param", "pattern", "statement"})
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())

# Words that join what stands before them to what follows: no name is declared by them, no item starts there.
_JOINS = frozenset({"in", "not", "contains", "and", "or", "implies", "after"})
# What a complete item cannot end with: another operand must follow.
_WANTS_MORE = (
    _JOINS
    | {"has", "always", "earlier", "later", "@", ",", ":", "|", "(", "[", "]", "{"}
    | {"=", "!=", "~", "!~", "<", "<=", ">", ">=", "∼", "≁", "≠", "≤", "≥", "∈", "∉"}
    | {"¬", "∧", "∨", "⇒", "□", "◇⁻", "◇⁺", "◇-", "◇+"}
)
_COMMENTS = ("doc", "comment")


def tokens(text: str) -> list[Token]:
    """Every token of a text, comments included; white space and a leading byte order mark are dropped."""
    start = 1 if text.startswith("\ufeff") else 0
    return [Token(m.lastgroup, m.group(), *m.span()) for m in _TOKEN.finditer(text, start)]  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Segment:
    """The tokens of one item: documentation comments and annotations first, then its keyword and the rest.

    `keyword` is None for text that belongs to no item; `head` is the index in `tokens` of the keyword, or of
    the word that stands in its place.
    """

    tokens: list[Token]
    keyword: str | None
    head: int = 0

    @property
    def span(self) -> Span:
        return Span(self.tokens[0].start, self.tokens[-1].end)


def segments(text: str, found: list[Token]) -> list[Segment]:
    """Cut a file where items begin.

    Outside brackets two operands never stand side by side, so an item word after a complete operand begins
    an item, and any other word there at the very start of a line is text that belongs to none. Elsewhere an
    item word begins an item when it is first on its line and a name follows: a closing bracket that was
    forgotten swallows no later item, and an argument may be called `pattern`.
    """
    heads = _heads(text, found)
    first_code = next((i for i, t in enumerate(found) if t.kind not in _COMMENTS), len(found))
    if first_code < (heads[0][0] if heads else len(found)):
        heads.insert(0, (0, first_code))
    ends = [start for start, _ in heads[1:]] + [len(found)]
    result: list[Segment] = []
    for (start, head), end in zip(heads, ends, strict=False):
        word = found[head].text
        result.append(Segment(found[start:end], word if word in ITEM_WORDS else None, head - start))
    return result


def _heads(text: str, found: list[Token]) -> list[tuple[int, int]]:
    """Where items begin, as two indices: the first token, documentation and annotations included, and the head."""
    heads: list[tuple[int, int]] = []
    code = [i for i, t in enumerate(found) if t.kind not in _COMMENTS]
    depth = 0
    marked: int | None = None  # the first annotation since the last item's end
    before: Token | None = None
    complete = True  # whether what stands before could be a whole item
    lost = True  # whether what stands before belongs to no item
    for at, index in enumerate(code):
        token = found[index]
        own_line = before is None or "\n" in text[before.end : token.start]
        fresh = depth == 0 and complete
        if token.text in ITEM_WORDS:
            begins = fresh or (own_line and _declares(found, code, at))
        else:
            begins = fresh and not lost and token.kind == "word" and text[token.start - 1] == "\n"
            begins = begins and token.text not in _JOINS
        if begins:
            heads.append((_documented(text, found, index if marked is None else marked), index))
            depth, marked, lost = 0, None, token.text not in ITEM_WORDS
        elif token.text == "@" and marked is None and (own_line or fresh):
            marked = index
        elif token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth = max(0, depth - 1)
        complete = lost if begins else _completes(token, before, complete)
        before = token
    if marked is not None:
        heads.append((_documented(text, found, marked), marked))
    return heads


def _completes(token: Token, before: Token | None, complete: bool) -> bool:
    """Whether an item could end with a token; a connective that has nothing to connect is an operand's name."""
    if token.text in _JOINS and token.text != "not" and not complete:
        return before is None or before.text not in ("not", "¬")
    return token.text not in _WANTS_MORE


def _declares(found: list[Token], code: list[int], at: int) -> bool:
    """Whether what follows an item word is a name for it: not so after an operand that is called like one."""
    if at + 1 == len(code):
        return False
    following = found[code[at + 1]]
    if following.kind == "word":
        return following.text not in _JOINS and following.text not in ITEM_WORDS
    return found[code[at]].text == "use" and following.text.startswith(".")


def _documented(text: str, found: list[Token], start: int) -> int:
    """Where an item starts when the documentation on the lines above it is counted in."""
    at = start
    while at > 0 and found[at - 1].kind in _COMMENTS:
        at -= 1
        if at > 0 and "\n" not in text[found[at - 1].end : found[at].start]:
            break  # it ends a line of what comes before
        if found[at].kind == "doc":
            start = at
    return start
