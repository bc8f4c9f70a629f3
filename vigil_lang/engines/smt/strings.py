"""Texts and text patterns as SMT-LIB terms over the theory of strings, each what `text_patterns` matches."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

from vigil_lang.semantics import regex
from vigil_lang.semantics.regex import Assertion, Choice, Node, One, Ranges, Repeat, Sequence, Unsupported, Variant
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Glob, glob_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.text_patterns import Matcher

__all__ = ["Unsupported", "literal", "regular"]

HIGHEST: Final = 0x2FFFF
"""The last character of SMT-LIB's alphabet."""

MAX_REPEAT = 100
"""A solver unfolds counted repetitions; RE2 allows a thousand."""

_SPARE = 0x1000
"""Characters left above the last one a pattern names, which stand for all that SMT-LIB's alphabet lacks."""

_MAX_ALTERNATIVES = 64

_ANY = "re.all"
_EMPTY = '(str.to_re "")'
_NEVER = "re.none"


def literal(text: str) -> str:
    """A string literal.

    Raises:
        Unsupported: the text has a character beyond U+2FFFF, which SMT-LIB does not know.
    """
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if " " <= character <= "~" and character not in '"\\':
        return character
    if ord(character) > HIGHEST:
        raise Unsupported("a character beyond U+2FFFF")
    return f"\\u{{{ord(character):x}}}"


def regular(matcher: Matcher) -> str:
    """The regular language of all texts that a pattern matches: a glob as a whole, an expression anywhere inside.

    Raises:
        Unsupported: a regular expression outside the subset that `semantics.regex_reader` reads, or a character beyond
            SMT-LIB's alphabet.
    """
    match matcher:
        case Glob(pattern):
            parts = glob_parts(pattern)
            return _joined({"*": _ANY, "?": "re.allchar"}.get(kind) or _text(text) for kind, text in parts)
        case AnyOf(matchers):
            return _either(map(regular, matchers))
        case Expression(pattern, ignore_case):
            node = read(pattern, ignore_case=ignore_case)
            return _either(language for variant in regex.variants(node) for language in _searched(variant))


# --- patterns that test no place ---------------------------------------------------------------------------


def _language(node: Node) -> str:
    match node:
        case One(ranges):
            return _one(ranges)
        case Sequence(items):
            return _sequence(items)
        case Choice(items):
            return _either(map(_language, items))
        case Repeat(body, least, most):
            return _repeat(_language(body), least, most)
        case Assertion():
            raise AssertionError(node)


def _one(ranges: Ranges) -> str:
    return _either(map(_range, *zip(*ranges, strict=True))) if ranges else _NEVER


def _range(low: int, high: int) -> str:
    if (low, high) == (0, regex.HIGHEST):
        return "re.allchar"
    if (low if high == regex.HIGHEST else high) > HIGHEST - _SPARE:
        raise Unsupported("a character beyond U+2FFFF")
    first, last = literal(chr(low)), literal(chr(min(high, HIGHEST)))
    return f"(str.to_re {first})" if low == high else f"(re.range {first} {last})"


def _sequence(items: tuple[Node, ...]) -> str:
    """Neighbouring characters become one literal."""
    parts: list[str] = []
    text = ""
    for item in items:
        if isinstance(item, One) and len(item.ranges) == 1 and item.ranges[0][0] == item.ranges[0][1]:
            text += chr(item.ranges[0][0])
            continue
        parts += ([_text(text)] if text else []) + [_language(item)]
        text = ""
    return _joined(parts + ([_text(text)] if text else []))


def _repeat(body: str, least: int, most: int | None) -> str:
    if max(least, most or 0) > MAX_REPEAT:
        raise Unsupported(f"a repetition of more than {MAX_REPEAT} times")
    match least, most:
        case 0, None:
            return f"(re.* {body})"
        case 1, None:
            return f"(re.+ {body})"
        case 0, 1:
            return f"(re.opt {body})"
        case _, None:
            return f"(re.++ ((_ re.^ {least}) {body}) (re.* {body}))"
        case _:
            return f"((_ re.loop {least} {most}) {body})"


def _text(text: str) -> str:
    return f"(str.to_re {literal(text)})"


def _joined(parts: Iterable[str]) -> str:
    found = [p for p in parts if p != _EMPTY]
    return found[0] if len(found) == 1 else f"(re.++ {' '.join(found)})" if found else _EMPTY


def _either(parts: Iterable[str]) -> str:
    found = list(dict.fromkeys(parts))
    return found[0] if len(found) == 1 else f"(re.union {' '.join(found)})" if found else _NEVER


# --- places ------------------------------------------------------------------------------------------------

# What an assertion asks of the whole text before a place and of all after it; several pairs are alternatives.
_WORD = _one(regex.WORD)
_OTHER = _one(regex.complement(regex.WORD))
_ENDS_WORD, _ENDS_OTHER = f"(re.++ {_ANY} {_WORD})", f"(re.opt (re.++ {_ANY} {_OTHER}))"
_STARTS_WORD, _STARTS_OTHER = f"(re.++ {_WORD} {_ANY})", f"(re.opt (re.++ {_OTHER} {_ANY}))"
_SIDES: dict[str, tuple[tuple[str, str], ...]] = {
    "text start": ((_EMPTY, _ANY),),
    "text end": ((_ANY, _EMPTY),),
    "line start": ((f'(re.opt (re.++ {_ANY} (str.to_re "\\u{{a}}")))', _ANY),),
    "line end": ((_ANY, f'(re.opt (re.++ (str.to_re "\\u{{a}}") {_ANY}))'),),
    "word boundary": ((_ENDS_WORD, _STARTS_OTHER), (_ENDS_OTHER, _STARTS_WORD)),
    "no word boundary": ((_ENDS_WORD, _STARTS_WORD), (_ENDS_OTHER, _STARTS_OTHER)),
}


def _searched(variant: Variant) -> list[str]:
    """The languages of all texts with a match, as alternatives.

    The text is cut at every place that is tested. What a test asks of the text on its left depends only on the
    last piece before it if that piece is not empty, so a piece that may be empty is taken apart into both cases.
    """
    pieces: list[list[Node]] = [[]]
    places: list[str] = []
    for node in variant:
        if isinstance(node, Assertion):
            places.append(node.place)
            pieces.append([])
        else:
            pieces[-1].append(node)
    cut = [Sequence(tuple(piece)) for piece in pieces]
    if not places:
        return [_joined((_ANY, _language(cut[0]), _ANY))]
    empties = [[True, False] if regex.nullable(piece) else [False] for piece in cut[1:-1]]
    asked = [_SIDES[place] for place in places]
    if prod(map(len, empties)) * prod(map(len, asked)) > _MAX_ALTERNATIVES:
        raise Unsupported("too many of `^`, `$` and `\\b`")
    return [_cut(cut, sides, (False, *empty, False)) for empty in product(*empties) for sides in product(*asked)]


def _cut(pieces: list[Sequence], sides: tuple[tuple[str, str], ...], empty: tuple[bool, ...]) -> str:
    """One text: the pieces in order, each within what the places on both of its sides ask of it."""
    parts: list[str] = []
    within: list[str] = []
    for at, piece in enumerate(pieces):
        if 0 < at < len(pieces) - 1 and empty[at]:
            # Nothing stands between two places: both ask the same of what lies before and after.
            left, right = sides[at]
            parts[-1] = _both(parts[-1], left)
            within.append(right)
            continue
        language = _language(piece)
        if at == 0:
            language = _joined((_ANY, language))
        elif at == len(pieces) - 1:
            language = _joined((language, _ANY))
        elif regex.nullable(piece):
            language = _both(language, f"(re.++ re.allchar {_ANY})")
        for asked in within:
            language = _both(language, asked)
        within = []
        if at < len(sides):
            left, right = sides[at]
            language = _both(language, left)
            within = [right]
        parts.append(language)
    return _joined(parts)


def _both(language: str, other: str) -> str:
    return language if other == _ANY else f"(re.inter {language} {other})"
