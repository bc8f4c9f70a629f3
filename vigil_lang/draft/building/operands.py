"""Values of the intermediate form as operands of tests: literals, globs, regular expressions, numbers and names.

A text comes from a language model, or from anywhere: it is taken for exactly what it says, or refused.
"""

from __future__ import annotations

import re
from decimal import Decimal

from vigil_lang.diagnostics.visible import HIDDEN
from vigil_lang.semantics.text_patterns import Expression, glob_parts, predicate, quote
from vigil_lang.syntax import tree
from vigil_lang.trace.values import canonical, number

MAX_VALUE = 500
"""Code points a value, a name or a sentence may have."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_FIGURE = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_UNREAD = re.compile(r"(?s)\\(?![*?\\])")
_SLASH = re.compile(r"(?s)(\\.)|/")
_IGNORING_CASE = "(?i)"
_LARGEST = 10_000  # the order of magnitude that the language allows a number

_WORDS = """
policy use let param pattern statement after where abs prec resp rslv until bresp atmost atleast budget always earlier
later since weak repeated distinct not and or implies in has contains with action status output ok error true false
"""
KEYWORDS = frozenset(_WORDS.split())
"""Words that mean something by themselves where a condition stands. As the name of an action they are quoted."""


class Unbuildable(Exception):
    """A requirement that is no statement; the message says what is wrong with which of its parts."""


def readable(text: str, what: str) -> str:
    """The text, if it is one that a reviewer sees whole.

    Raises:
        Unbuildable: it is too long, or holds control characters, line breaks or marks that hide or reorder text.
    """
    if len(text) > MAX_VALUE:
        raise Unbuildable(f"{what} is longer than {MAX_VALUE} characters")
    if hidden := HIDDEN.search(text) or re.search(r"[\n\r\t]", text):
        raise Unbuildable(f"{what} holds the character U+{ord(hidden.group()[0]):04X}, which is not allowed there")
    return text


def raw(text: str) -> str:
    """What stands between the quotes of a string literal that denotes the text."""
    return quote(text)[1:-1]


def name(text: str) -> tree.Name | tree.String:
    """The name of an action, quoted where it has to be."""
    return tree.Name(text) if _NAME.fullmatch(text) and text not in KEYWORDS else tree.String(raw(text))


def literal(text: str) -> tree.Literal_:
    """The literal that denotes a text: numbers and truth values without quotes, if they are written as values are."""
    if text in ("true", "false"):
        return tree.Boolean(text == "true")
    if _FIGURE.fullmatch(text) and (value := number(text)) is not None and canonical(value) == text:
        return tree.Number(text)
    return tree.String(raw(text))


def limit(text: str) -> tree.Number:
    """The operand of an order test.

    Raises:
        Unbuildable: the text is no decimal number, or one beyond the language's range.
    """
    value = number(text.strip())
    if value is None or (value and abs(value.adjusted()) > _LARGEST):
        raise Unbuildable(f"`{text}` is no number")
    return tree.Number(canonical(_plain(value)))


def _plain(value: Decimal) -> Decimal:
    """Zero without its exponent, which may be huge."""
    return value if value else Decimal(0)


def glob(text: str) -> tree.String | None:
    """The glob as a string literal, neighbouring stars as one; None where it has no wildcard.

    Raises:
        Unbuildable: a backslash stands before anything but `*`, `?` and itself.
    """
    if _UNREAD.search(re.sub(r"\\[*?\\]", "", text)):
        raise Unbuildable(f"in the glob `{text}` a backslash stands before something else than `*`, `?` or `\\`")
    parts = glob_parts(text)
    if all(kind == "text" for kind, _ in parts):
        return None
    return tree.String("".join(_escaped(piece) if kind == "text" else piece for kind, piece in parts))


def _escaped(piece: str) -> str:
    """Literal text as it stands in a glob's string: both read `\\*`, `\\?` and `\\\\`, a quote only the string."""
    return "".join("\\" + c if c in "*?" else raw(c) for c in piece)


def unescaped_glob(text: str) -> str:
    """The one text that a glob without wildcards matches."""
    return "".join(piece for _, piece in glob_parts(text))


def regex(text: str) -> tree.Regex:
    """The regular expression; `(?i)` at its beginning becomes the language's `i` behind it.

    Raises:
        Unbuildable: RE2 refuses it, or it is empty.
    """
    ignore_case = text.startswith(_IGNORING_CASE)
    pattern = text.removeprefix(_IGNORING_CASE)
    if not pattern:
        raise Unbuildable("a regular expression is empty")
    try:
        predicate(Expression(pattern, ignore_case))
    except ValueError as error:
        raise Unbuildable(f"the regular expression `{text}` is not valid: {error}") from None
    return tree.Regex(_SLASH.sub(lambda m: m[1] or "\\/", pattern), ignore_case)
