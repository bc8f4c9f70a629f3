"""Text patterns: globs match the whole text, regular expressions search in it, both in linear time."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from vigil_lang.base.node import Plain
from vigil_lang.diagnostics.visible import HIDDEN
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_REASON = 120

Wildcard: TypeAlias = Literal["*", "?"]


class Glob(Plain, frozen=True):
    """A glob as written: `*` any run of characters, `?` one character, `\\` makes the next one literal."""

    pattern: str


class Expression(Plain, frozen=True):
    """A regular expression in RE2 syntax."""

    pattern: str
    ignore_case: bool = False


class AnyOf(Plain, frozen=True):
    """Globs and regular expressions, one of which a text matches."""

    matchers: tuple[Glob | Expression, ...]


Matcher: TypeAlias = Glob | Expression | AnyOf

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPE = regex(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)


ESCAPE_HELP = 'escapes are `\\"`, `\\\\`, `\\n`, `\\t`, `\\r`, `\\u{…}`, and `\\*`, `\\?` in globs'


class BadEscape(ValueError):
    """An escape sequence that the language does not have; `offset` and `length` say where it stands in the raw text."""

    def __init__(self, sequence: str, offset: int) -> None:
        super().__init__(f"unknown escape `{sequence}`")
        self.offset = offset
        self.length = len(sequence)


def unescape(raw: str) -> str:
    """The text a string literal denotes. `\\*` and `\\?` stay two characters: they mean something to globs.

    Raises:
        BadEscape: an unknown escape, or `\\u{…}` outside Unicode's scalar values.
    """
    return _ESCAPE.sub(lambda m: _character(m, glob=False), raw) if "\\" in raw else raw


def glob_text(raw: str) -> str:
    """The glob a string literal denotes: like `unescape`, but `\\\\`, `\\*` and `\\?` stay for the glob to read.

    Raises:
        BadEscape: as `unescape`.
    """
    return _ESCAPE.sub(lambda m: _character(m, glob=True), raw) if "\\" in raw else raw


def _character(m: re.Match[str], *, glob: bool) -> str:
    code, letter = m.group(1), m.group(2)
    if code is not None:
        number = int(code, 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise BadEscape(m.group(), m.start())
        character = chr(number)
        return "\\" + character if glob and character in "*?\\" else character
    if letter in "*?" or (glob and letter == "\\"):
        return m.group()
    if letter not in _ESCAPES:
        raise BadEscape(m.group(), m.start())
    return _ESCAPES[letter]


def quote(text: str) -> str:
    """A string literal, quotes included, that denotes the text."""
    out = []
    for character in text:
        if character in '"\\':
            out.append("\\" + character)
        elif character in "\n\t\r":
            out.append({"\n": "\\n", "\t": "\\t", "\r": "\\r"}[character])
        elif not character.isprintable() or HIDDEN.match(character):
            out.append(f"\\u{{{ord(character):x}}}")
        else:
            out.append(character)
    return '"' + "".join(out) + '"'


def glob_parts(pattern: str) -> tuple[tuple[Literal["text", "*", "?"], str], ...]:
    """A glob cut into literal runs and wildcards; neighbouring stars are one."""
    parts: list[tuple[Literal["text", "*", "?"], str]] = []
    literal: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and at + 1 < len(pattern):
            at += 1
            literal.append(pattern[at])
        elif character in "*?":
            if literal:
                parts.append(("text", "".join(literal)))
                literal = []
            wildcard: Literal["*", "?"] = "*" if character == "*" else "?"
            if not (wildcard == "*" and parts and parts[-1][0] == "*"):
                parts.append((wildcard, wildcard))
        else:
            literal.append(character)
        at += 1
    if literal:
        parts.append(("text", "".join(literal)))
    return tuple(parts)


@lru_cache(maxsize=4096)
def predicate(matcher: Matcher) -> Callable[[str], bool]:
    """A test of one text against a pattern.

    Raises:
        ValueError: the regular expression is not valid RE2 syntax, or the pattern is too large.
    """
    if isinstance(matcher, Expression):
        search = searcher(matcher).search
        return lambda text: search(text) is not None
    if isinstance(matcher, AnyOf):
        plain = frozenset(found for one in matcher.matchers if (found := _plain(one)) is not None)
        tests = [predicate(one) for one in matcher.matchers if _plain(one) is None]
        return lambda text: text in plain or any(test(text) for test in tests)
    parts = glob_parts(matcher.pattern)
    if any(kind == "?" for kind, _ in parts):
        return _glob_by_re2(parts)
    return _glob_by_search(parts)


def _plain(matcher: Glob | Expression) -> str | None:
    """The only text that a glob without wildcards matches."""
    parts = glob_parts(matcher.pattern) if isinstance(matcher, Glob) else ()
    return parts[0][1] if len(parts) == 1 and parts[0][0] == "text" else None


def glob_expression(pattern: str) -> str:
    """A glob as a regular expression, in which `.` matches a line break, too."""
    return _spelled_glob(glob_parts(pattern))


def _spelled_glob(parts: tuple[tuple[Literal["text", "*", "?"], str], ...]) -> str:
    return "".join({"*": ".*", "?": "."}.get(kind) or _literal(text) for kind, text in parts)


def _glob_by_re2(parts: tuple[tuple[Literal["text", "*", "?"], str], ...]) -> Callable[[str], bool]:
    match = _re2(f"(?s){_spelled_glob(parts)}").fullmatch
    return lambda text: match(text) is not None


def _literal(text: str) -> str:
    return "".join(c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\x{{{ord(c):x}}}" for c in text)


def _glob_by_search(parts: tuple[tuple[Literal["text", "*", "?"], str], ...]) -> Callable[[str], bool]:
    """Stars only: the literal runs, found greedily from the left, decide."""
    runs = [text for kind, text in parts if kind == "text"]
    head = bool(parts) and parts[0][0] == "text"
    tail = bool(parts) and parts[-1][0] == "text"
    if not parts:
        return lambda text: text == ""
    if not runs:
        return lambda text: True  # noqa: ARG005 - `*` matches anything
    if head and tail and len(runs) == 1:
        whole = runs[0]
        return lambda text: text == whole

    def match(text: str) -> bool:
        at, end = 0, len(text)
        middle = runs
        if head:
            if not text.startswith(runs[0]):
                return False
            at, middle = len(runs[0]), middle[1:]
        if tail:
            if not text.endswith(runs[-1]) or end - len(runs[-1]) < at:
                return False
            end, middle = end - len(runs[-1]), middle[:-1]
        for run in middle:
            found = text.find(run, at, end)
            if found < 0:
                return False
            at = found + len(run)
        return True

    return match


def searcher(expression: Expression) -> Any:
    """An expression as RE2 has it, without its groups: what they hold is not asked for, and takes much room.

    Raises:
        ValueError: it is not valid RE2 syntax, or too large.
    """
    return _re2(_spelled(expression))


@lru_cache(maxsize=512)
def finder(expression: Expression) -> Any:
    """An expression as RE2 has it, with its groups. Raises as `searcher`."""
    return _re2(_spelled(expression), groups=True)


def _spelled(expression: Expression) -> str:
    return ("(?i)" if expression.ignore_case else "") + expression.pattern


def _re2(pattern: str, *, groups: bool = False) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = not groups
    options.max_mem = 16 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        from vigil_lang.diagnostics.shorten import cut  # late: nearly all expressions are valid

        reason = error.args[0] if error.args else error
        # It says which part of the expression is not understood, which may be all of it.
        raise ValueError(cut(reason.decode() if isinstance(reason, bytes) else str(reason), _LONGEST_REASON)) from None
