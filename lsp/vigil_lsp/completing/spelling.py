"""Names, values and operators as a policy has to write them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax.print import UNICODE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.syntax.leaves import Spelling
    from vigil_lang.syntax.scan import Token

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_NUMBER = re.compile(r"0|-?(?:[1-9][0-9]{0,14}|(?:0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9])")
_MARKS = frozenset(UNICODE.values())  # none of them is ASCII
_OPERATORS = frozenset({"action", "status", "output", "has", "not", "earlier", "later", "true", "false"})


def is_unicode(spelling: Spelling, text: str, tokens: Iterable[Token]) -> bool:
    """Whether a policy is written with the paper's operators: as the formatter is told to, or as some are already."""
    kept = spelling == "keep" and not text.isascii()
    return spelling == "unicode" or (kept and any(token.text in _MARKS for token in tokens))


def is_name(text: str) -> bool:
    """Whether it can be written without quotes."""
    return _NAME.fullmatch(text) is not None


def operand(name: str) -> str:
    """The name of an argument, or of an action that is called, where a condition begins."""
    return name if is_name(name) and name not in _OPERATORS else quote(name)


def word(name: str) -> str:
    """A name where only `true` and `false` mean something else."""
    return name if is_name(name) and name not in ("true", "false") else quote(name)


def is_number(value: str) -> bool:
    """Whether a value is written as a number that denotes exactly it."""
    return _NUMBER.fullmatch(value) is not None


def literal(value: str) -> str:
    """A value, without quotes where it is a number or a truth value."""
    return value if value in ("true", "false") or is_number(value) else quote(value)


@lru_cache(maxsize=1_000)
def inside(value: str) -> str:
    """What stands between the quotes of a string that denotes a value."""
    if value.isidentifier() and value.isascii():
        return value
    return quote(value)[1:-1]


def glob_inside(value: str) -> str:
    """What stands between the quotes of a glob that matches exactly a text."""
    return inside(value).replace("*", "\\*").replace("?", "\\?")
