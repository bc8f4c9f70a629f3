"""Where the keys and values of a TOML document are written; `tomllib` does not say."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

from vigil_lang.diagnostics.diagnostic import Span

MAX_DEPTH = 32
"""Tables and arrays inside each other. What tomllib does with a long dotted key grows with its square."""

_SPACE = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BLANK = re.compile(r"[ \t]*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_QUOTED = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|' r"'[^'\n]*+'")
_TEXT = re.compile(r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*+"{3,5}|' r"'''(?:[^']++|'(?!''))*+'{3,5}|" + _QUOTED.pattern)
_OTHER = re.compile(r"[^\s,\[\]{}#\"'=](?:[^,\[\]{}#\n\"'=]*[^\s,\[\]{}#\"'=])?")


class NoTomlError(ValueError):
    """The text is no TOML; tomllib says why."""


class TooDeepError(ValueError):
    """Something is nested more than `MAX_DEPTH` deep; `span` is where that is."""

    def __init__(self, span: Span) -> None:
        super().__init__("nested too deeply")
        self.span = span


@dataclass(slots=True)
class Place:
    """Where a key and its value are, and those inside the value: `members` of a table, `items` of an array.

    A table that has a header is where its header names it; an item has its own place as its key.
    """

    key: Span
    value: Span
    members: dict[str, Place] = field(default_factory=dict)
    items: list[Place] = field(default_factory=list)

    def enter(self, name: str, span: Span) -> Place:
        """The table of a name inside this one, made where there is none; of an array of tables the last."""
        member = self.members.setdefault(name, Place(span, span))
        return member.items[-1] if member.items else member


def locate(text: str) -> Place:
    """The places of everything in a document, whose root is at its start.

    Raises:
        NoTomlError: the text is no TOML. Not all that is none is noticed.
        TooDeepError: it is nested beyond the limit.
    """
    return _Scanner(text).document()


class _Scanner:
    """Reads forward through a document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Place:
        root = table = Place(Span(0, 0), Span(0, 0))
        while True:
            self._skip()
            if self._at >= len(self._text):
                return root
            if self._text.startswith("[", self._at):
                table = self._header(root)
            else:
                self._pair(table, 0)

    def _header(self, root: Place) -> Place:
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._at += brackets
        *parts, (name, span) = self._key(0)
        self._expect("]" * brackets)
        table = root
        for part, place in parts:
            table = table.enter(part, place)
        if brackets == 1:
            return table.enter(name, span)
        array = table.members.setdefault(name, Place(span, span))
        array.items.append(Place(span, span))
        return array.items[-1]

    def _pair(self, table: Place, depth: int) -> None:
        """`key = value` into a table."""
        *parts, (name, span) = self._key(depth)
        self._expect("=")
        for part, place in parts:
            table = table.enter(part, place)
        table.members.setdefault(name, self._value(span, depth + len(parts) + 1))

    def _key(self, depth: int) -> list[tuple[str, Span]]:
        parts: list[tuple[str, Span]] = []
        while True:
            self._at = self._end(_BLANK)
            start = self._at
            if (end := self._end(_BARE)) > start:
                name = self._text[start:end]
            elif (end := self._end(_QUOTED)) > start:
                name = _unquoted(self._text[start:end])
            else:
                raise NoTomlError
            self._at = end
            parts.append((name, Span(start, end)))
            if depth + len(parts) > MAX_DEPTH:
                raise TooDeepError(parts[-1][1])
            self._at = self._end(_BLANK)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _value(self, key: Span | None, depth: int) -> Place:
        self._at = self._end(_BLANK)
        start = self._at
        place = Place(Span(start, start), Span(start, start))
        if depth > MAX_DEPTH:
            raise TooDeepError(Span(start, start + 1))
        if self._text.startswith("[", start):
            self._at += 1
            while not self._closed("]"):
                place.items.append(self._value(None, depth + 1))
        elif self._text.startswith("{", start):
            self._at += 1
            while not self._closed("}"):
                self._pair(place, depth)
        else:
            self._at = max(self._end(_TEXT), self._end(_OTHER))
            if self._at == start:
                raise NoTomlError
        place.value = Span(start, self._at)
        place.key = place.value if key is None else key
        return place

    def _closed(self, bracket: str) -> bool:
        """Past what separates members; whether the bracket that ends them came."""
        self._skip()
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip()
        if self._text.startswith(bracket, self._at):
            self._at += 1
            return True
        if self._at >= len(self._text):
            raise NoTomlError
        return False

    def _end(self, pattern: re.Pattern[str]) -> int:
        """Where the match of a pattern that begins here ends; here where there is none."""
        found = pattern.match(self._text, self._at)
        return found.end() if found else self._at

    def _skip(self) -> None:
        self._at = self._end(_SPACE)

    def _expect(self, mark: str) -> None:
        self._at = self._end(_BLANK)
        if not self._text.startswith(mark, self._at):
            raise NoTomlError
        self._at += len(mark)


def _unquoted(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    try:
        value: str = tomllib.loads(f"x={literal}")["x"]
    except tomllib.TOMLDecodeError:
        raise NoTomlError from None
    return value
