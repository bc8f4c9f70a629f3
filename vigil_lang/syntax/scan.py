"""Tokens and item boundaries, found without the grammar so that errors stay inside their item."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vigil_lang.diagnostics.model import Span

TokenKind: TypeAlias = Literal["doc", "comment", "string", "regex", "unclosed", "word", "number", "symbol"]


@dataclass(frozen=True, slots=True)
class Token:
    """A token as written, with where it stands."""

    kind: TokenKind
    text: str
    span: Span


# Linear: no alternative can match the same text in two ways. A `/` only ever starts a regular expression.
_TOKEN = re.compile(
    r"""
    (?P<doc>///(?!/)[^\n]*)
  | (?P<comment>//[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<regex>/(?:[^/\\\n]|\\[^\n])+/i?)
  | (?P<unclosed>["/][^\n]*)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)
  | (?P<number>-?[0-9][0-9A-Za-z_.]*)
  | (?P<symbol>◇[⁻⁺+-]|[!<>]=|!~|\.+[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*|[^\s])
    """,
    re.VERBOSE,
)

ITEM_WORDS = frozenset({"policy", "use", "let", "param", "pattern", "statement"})
_NOT_A_DECLARED_NAME = frozenset({"in", "not", "contains", "and", "or", "implies", "after"})
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def tokens(text: str) -> list[Token]:
    """Every token of a text, comments included; white space separates and is dropped."""
    return [
        Token(m.lastgroup, m.group(), Span(m.start(), m.end()))  # type: ignore[arg-type]
        for m in _TOKEN.finditer(text)
    ]


@dataclass(frozen=True, slots=True)
class Segment:
    """The tokens of one item: documentation comments and annotations first, then its keyword and the rest.

    `keyword` is None for text that belongs to no item.
    """

    tokens: tuple[Token, ...]
    keyword: str | None

    @property
    def span(self) -> Span:
        return self.tokens[0].span.to(self.tokens[-1].span)


def segments(text: str, found: list[Token]) -> list[Segment]:
    """Cut a file at the words that begin items.

    A word begins an item when it is followed by a name and stands either first on its line or outside brackets;
    so a closing bracket that was forgotten swallows no later item, and an argument may be called `pattern`.
    """
    heads = _heads(text, found)
    result: list[Segment] = []
    starts = [h for h, _ in heads]
    if found and (not starts or starts[0] > 0):
        end = starts[0] if starts else len(found)
        result += _loose(found[:end])
    for position, (start, keyword) in enumerate(heads):
        end = starts[position + 1] if position + 1 < len(starts) else len(found)
        result.append(Segment(tuple(found[start:end]), keyword))
    return result


def _loose(run: list[Token]) -> list[Segment]:
    """Text before any item: nothing to parse when it is comments alone."""
    return [Segment(tuple(run), None)] if any(t.kind not in ("comment", "doc") for t in run) else []


def _heads(text: str, found: list[Token]) -> list[tuple[int, str]]:
    """(index of the item's first token, keyword), annotations and documentation before a keyword included."""
    heads: list[tuple[int, str]] = []
    code = [(i, t) for i, t in enumerate(found) if t.kind not in ("doc", "comment")]
    depth = 0
    previous_end = 0  # position in `code` after the last head's keyword
    for at, (_, token) in enumerate(code):
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth = max(0, depth - 1)
        elif token.kind == "word" and token.text in ITEM_WORDS and _declares(code, at):
            first_on_line = not text[text.rfind("\n", 0, token.span.start) + 1 : token.span.start].strip()
            if first_on_line or depth == 0:
                start = _with_prefix(found, code, at, previous_end)
                heads.append((start, token.text))
                depth, previous_end = 0, at + 1
    return heads


def _declares(code: list[tuple[int, Token]], at: int) -> bool:
    if at + 1 >= len(code):
        return True
    following = code[at + 1][1]
    if following.kind == "word":
        return following.text not in _NOT_A_DECLARED_NAME
    return following.kind == "symbol" and following.text.startswith(".") and code[at][1].text == "use"


def _with_prefix(found: list[Token], code: list[tuple[int, Token]], at: int, after: int) -> int:
    """An item starts at its first annotation (`@` stands nowhere else), or at the documentation before that."""
    marked = (i for i in range(max(after, 0), at) if code[i][1].text == "@")
    start = scan = code[next(marked, at)][0]
    while scan > 0 and found[scan - 1].kind in ("doc", "comment"):
        scan -= 1
        if found[scan].kind == "doc":
            start = scan
    return start
