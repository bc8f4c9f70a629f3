"""Where somebody types in a TOML document, which need not be whole: in a key or a value, and of which setting."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<newline>\n)
    |(?P<space>[^\S\n]+)
    |(?P<string>\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*\"{3}|'{3}(?:[^']|'(?!''))*'{3}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')
    |(?P<open>\"{3}[\s\S]*|'{3}[\s\S]*|\"[^\n]*|'[^\n]*)
    |(?P<word>[A-Za-z0-9_+-]+)
    |(?P<mark>.)""",
    re.VERBOSE,
)
# A line that begins a table, whatever was left open above it.
_HEADER = re.compile(r"[^\S\n]*\[\[?[^\S\n]*[A-Za-z][A-Za-z0-9_.-]*")
_WORD = re.compile(r"[A-Za-z0-9_-]*")

MAX_CHARACTERS = 200_000
"""Of a longer document nothing is said."""


@dataclass(frozen=True, slots=True)
class TomlPlace:
    """What is being written goes from `start` to `end`, without quotes; `typed` is what of it stands before the cursor.

    `path` has the keys that lead there: to the table of a key, or to the setting of a value (a list's for its items).
    `quote` is the one that is open, empty where none is, and `closed` tells whether it ends. `listed`: it is an item of
    a list. `header`: it is a key between brackets.
    """

    offset: int
    start: int
    end: int
    typed: str
    within: Literal["key", "value"]
    path: tuple[str, ...]
    quote: str = ""
    closed: bool = False
    listed: bool = False
    header: bool = False


@dataclass(slots=True)
class _State:
    """How far a document was read. `stack` has what is open, each with the path that it belongs to."""

    table: tuple[str, ...] = ()
    stack: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    mode: Literal["key", "value", "header"] = "key"
    done: bool = False
    """Whether the key part, or the value, is whole: something else has to come."""

    @property
    def prefix(self) -> tuple[str, ...]:
        return self.stack[-1][1] if self.stack else () if self.mode == "header" else self.table

    @property
    def path(self) -> tuple[str, ...]:
        return (*self.prefix, *self.keys)

    def word(self, text: str) -> None:
        if self.mode != "value":
            self.keys.append(text)
        self.done = True

    def mark(self, mark: str) -> None:
        """Take in a mark."""
        inside = self.stack[-1][0] if self.stack else ""
        match mark, self.mode:
            case ".", "key" | "header":
                self.done = False
            case "=", "key":
                self.mode, self.done = "value", False
            case "[", "key" if not self.keys and not self.stack:
                self.mode, self.done = "header", False
            case "[", "header":
                pass
            case "]", "header":
                self.table, self.keys, self.mode, self.done = tuple(self.keys), [], "key", True
            case "[" | "{", "value":
                self.stack.append((mark, self.path))
                self.keys, self.mode, self.done = [], "value" if mark == "[" else "key", False
            case ",", _ if inside:
                self.keys, self.mode, self.done = [], "key" if inside == "{" else "value", False
            case "]" | "}", _ if inside:
                self.stack.pop()
                self.keys, self.mode, self.done = [], "value", True
            case _:
                self.done = True

    def line(self, *, begins_table: bool) -> None:
        """Take in the end of a line."""
        if begins_table:
            self.stack.clear()
        if not self.stack:
            self.keys, self.mode, self.done = [], "key", False


def has_schema(text: str) -> bool:
    """Whether a document names a schema in the way of Taplo: what that says need not be said twice."""
    return text.removeprefix("\ufeff").startswith("#:schema")


def place_at(text: str, offset: int) -> TomlPlace | None:
    """The place of an offset; None in a comment, behind a key or a value, and in a document too long to read."""
    if len(text) > MAX_CHARACTERS:
        return None
    state = _State()
    here: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        kind, start, end = token.lastgroup, token.start(), token.end()
        inside = offset < end if kind == "string" else offset <= end
        if start >= offset or (inside and kind in ("string", "word", "open", "comment")):
            here = token if start < offset else None
            break
        if kind == "newline":
            state.line(begins_table=_HEADER.match(text, end) is not None)
        elif kind == "string":
            state.word(_content(token[0]))
        elif kind in ("word", "open"):
            state.word(token[0])
        elif kind == "mark":
            state.mark(token[0])
    return _place(text, offset, here, state)


def _place(text: str, offset: int, here: re.Match[str] | None, state: _State) -> TomlPlace | None:
    """The place of an offset that stands in a token, or between two."""
    kind = here.lastgroup if here is not None else ""
    if kind == "comment" or state.done:
        return None
    quote, closed, start, end = "", False, offset, offset
    if here is not None and kind in ("string", "open"):
        quote = here[0][0]
        if here[0].startswith(quote * 3):
            return None
        start, closed = here.start() + 1, kind == "string"
        end = here.end() - 1 if closed else offset
    else:
        start = here.start() if here is not None else offset
        behind = _WORD.match(text, offset)
        end = behind.end() if behind is not None else offset
    within: Literal["key", "value"] = "value" if state.mode == "value" else "key"
    listed = bool(state.stack) and state.stack[-1][0] == "["
    header = state.mode == "header"
    return TomlPlace(offset, start, end, text[start:offset], within, state.path, quote, closed, listed, header)


def _content(literal: str) -> str:
    """What is between quotes; an escape stays as it is, since no name that counts has one."""
    size = 3 if literal.startswith(('"""', "'''")) else 1
    return literal[size:-size]
