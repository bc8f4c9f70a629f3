"""Reading RE2 syntax into trees.

The usual subset is known and the rest refused. What is read is valid already: `text.predicate` has compiled it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from vigil_lang.semantics.regex import (
    HIGHEST,
    WORD,
    Assertion,
    Choice,
    Node,
    One,
    Place,
    Ranges,
    Repeat,
    Sequence,
    Unsupported,
    complement,
    merged,
)

_DIGIT: Final[Ranges] = ((0x30, 0x39),)
_SPACE: Final[Ranges] = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_PERL = {"d": _DIGIT, "w": WORD, "s": _SPACE}
_POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_NAMED_CLASS = re.compile(
    rf"\[:(?P<negated>\^?)(?P<posix>{'|'.join(_POSIX)}):\]|\\(?P<perl>[dDwWsS])",
)
_ASSERTIONS: dict[str, Place] = {
    "A": "text start",
    "z": "text end",
    "b": "word boundary",
    "B": "no word boundary",
}


def read(pattern: str, *, ignore_case: bool = False) -> Node:
    """The tree of a pattern that RE2 accepts.

    Raises:
        Unsupported: it uses something outside the subset.
    """
    return _Reader(pattern, _Flags(ignore_case=ignore_case)).whole()


@dataclass(frozen=True, slots=True)
class _Flags:
    ignore_case: bool = False
    many_lines: bool = False
    dot_all: bool = False

    def changed(self, letters: str) -> _Flags:
        """These flags after `i-s` or the like."""
        on, _, off = letters.partition("-")
        names = {"i": "ignore_case", "m": "many_lines", "s": "dot_all"}
        values = {name: getattr(self, name) for name in names.values()}
        values |= {names[c]: True for c in on if c in names} | {names[c]: False for c in off if c in names}
        return _Flags(**values)


class _Reader:
    """A reader of one pattern, by recursive descent; the nesting is RE2's to limit, at 1,000."""

    def __init__(self, pattern: str, flags: _Flags) -> None:
        self._pattern = pattern
        self._flags = flags
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._choice()
        if self._at < len(self._pattern):
            self._refuse(self._pattern[self._at])
        return node

    def _choice(self) -> Node:
        """Alternatives up to the end of the group. Flags set inside hold to that end, across `|` too."""
        self._depth += 1
        if self._depth > 50:
            raise Unsupported("groups nested more than 50 deep")
        outer, items = self._flags, [self._sequence()]
        while self._takes("|"):
            items.append(self._sequence())
        self._flags = outer
        self._depth -= 1
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def _sequence(self) -> Node:
        items: list[Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            node = self._atom()
            if node is not None:
                items.append(self._repeated(node))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _repeated(self, node: Node) -> Node:
        """The node with the quantifier that follows, if any. Lazy or not makes no difference to what matches."""
        if self._takes("*"):
            node = Repeat(node, 0, None)
        elif self._takes("+"):
            node = Repeat(node, 1, None)
        elif self._takes("?"):
            node = Repeat(node, 0, 1)
        elif (counts := self._counts()) is not None:
            node = Repeat(node, *counts)
        else:
            return node
        self._takes("?")
        return node

    def _counts(self) -> tuple[int, int | None] | None:
        """`{2}`, `{2,}` or `{2,5}`; braces around anything else are characters."""
        end = self._pattern.find("}", self._at)
        if not self._pattern.startswith("{", self._at) or end < 0:
            return None
        least, comma, most = self._pattern[self._at + 1 : end].partition(",")
        if not _is_number(least) or (most and not _is_number(most)):
            return None
        self._at = end + 1
        return int(least), int(most) if most else None if comma else int(least)

    def _atom(self) -> Node | None:
        """One item of a sequence; None for flags that are set for what follows."""
        at = self._at
        character = self._next()
        match character:
            case "(":
                return self._group()
            case "[":
                return One(self._class())
            case ".":
                return One(((0, HIGHEST),) if self._flags.dot_all else complement(((0x0A, 0x0A),)))
            case "^":
                return Assertion("line start" if self._flags.many_lines else "text start", at)
            case "$":
                return Assertion("line end" if self._flags.many_lines else "text end", at)
            case "\\":
                return self._escape()
            case _:
                return self._literal(ord(character))

    def _group(self) -> Node | None:
        if self._takes("?"):
            if not (self._takes("P<") or self._takes("<")):
                return self._flagged()
            while self._next() != ">":
                pass
        node = self._choice()
        self._next()
        return node

    def _flagged(self) -> Node | None:
        """`(?i)` or `(?i:…)`, after the question mark."""
        letters = ""
        while (character := self._next()) not in ":)":
            if character not in "imsU-":
                self._refuse(f"(?{character}")
            letters += character
        outer, self._flags = self._flags, self._flags.changed(letters)
        if character == ")":
            return None
        node = self._choice()
        self._next()
        self._flags = outer
        return node

    def _escape(self) -> Node:
        character = self._next()
        if character in _ASSERTIONS:
            return Assertion(_ASSERTIONS[character], self._at - 2)
        if character.lower() in _PERL:
            return One(self._perl(character))
        return self._literal(self._escaped(character))

    def _perl(self, letter: str) -> Ranges:
        ranges = self._folded(_PERL[letter.lower()])
        return complement(ranges) if letter.isupper() else ranges

    def _escaped(self, character: str) -> int:
        """The code point of an escaped character; the first one is already taken."""
        if character in _CONTROLS:
            return ord(_CONTROLS[character])
        if character == "x":
            if not self._takes("{"):
                return int(self._next() + self._next(), 16)
            digits = ""
            while (digit := self._next()) != "}":
                digits += digit
            return int(digits, 16)
        if character in "01234567":
            digits = character
            while len(digits) < 3 and self._at < len(self._pattern) and self._pattern[self._at] in "01234567":
                digits += self._next()
            return int(digits, 8)
        if character.isalnum():
            self._refuse(f"\\{character}")
        return ord(character)

    def _literal(self, code: int) -> Node:
        return One(self._folded(((code, code),)))

    def _class(self) -> Ranges:
        negated = self._takes("^")
        found = list(self._members())
        while not self._takes("]"):
            found += self._members()
        ranges = merged(found)
        return complement(ranges) if negated else ranges

    def _members(self) -> Ranges:
        """What one item of a class stands for: a character, a range, or a class by name."""
        named = _NAMED_CLASS.match(self._pattern, self._at)
        if named is None:
            return self._folded((self._range(),))
        self._at = named.end()
        if named["perl"]:
            return self._perl(named["perl"])
        ranges = self._folded(_POSIX[named["posix"]])
        return complement(ranges) if named["negated"] else ranges

    def _range(self) -> tuple[int, int]:
        low = self._member()
        if self._pattern.startswith("-", self._at) and not self._pattern.startswith("-]", self._at):
            self._next()
            return low, self._member()
        return low, low

    def _member(self) -> int:
        character = self._next()
        return self._escaped(self._next()) if character == "\\" else ord(character)

    def _folded(self, ranges: Ranges) -> Ranges:
        """The ranges, and where case is ignored the other case of their characters.

        Beyond ASCII only characters without case are taken: simple case folding is RE2's table to know. Two
        letters of ASCII have a third form there.
        """
        if not self._flags.ignore_case:
            return ranges
        found = list(ranges)
        for low, high in ranges:
            if high == HIGHEST and low <= ord("A"):
                continue  # every letter is in already
            beyond = range(max(low, 0x80), high + 1)
            if len(beyond) > 256 or any(chr(code).lower() != chr(code).upper() for code in beyond):
                raise Unsupported("letters beyond ASCII where case is ignored")
            for code in range(low, min(high, 0x7F) + 1):
                if chr(code).isalpha():
                    found.append((code ^ 0x20, code ^ 0x20))
                    found += [(other, other) for other in _THIRD_FORMS.get(code | 0x20, ())]
        return merged(found)

    def _takes(self, text: str) -> bool:
        if self._pattern.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise Unsupported("a pattern that is not complete")
        self._at += 1
        return self._pattern[self._at - 1]

    def _refuse(self, what: str) -> NoReturn:
        raise Unsupported(f"`{what}` in a regular expression")


_THIRD_FORMS = {ord("k"): (0x212A,), ord("s"): (0x17F,)}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
