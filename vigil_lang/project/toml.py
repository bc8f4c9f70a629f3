"""A TOML file as data with places, or the one finding that says why it is none."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import Diagnostic, InputError, Span
from vigil_lang.diagnostics.diagnostic import NOWHERE
from vigil_lang.project.positions import MAX_DEPTH, NoTomlError, Place, TooDeepError, locate

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source

MAX_BYTES = 1 << 20
_LONG = re.compile(r"[0-9][0-9_]{1000,}|[0-9.]+[eE][+-]?[0-9]{17,}")
_WHERE = re.compile(r" \(at line (\d+), column (\d+)\)$| \(at end of document\)$")


def read_toml(source: Source, what: str = "configuration") -> tuple[dict[str, Any], Place]:
    """The data of a document, its numbers with a point as Decimal, and where everything in it is written.

    `what` is what messages call it.

    Raises:
        InputError: VGL005, the text is no TOML or is nested too deeply.
    """
    text = source.text.replace("\ufeff", " ", 1) if source.text.startswith("\ufeff") else source.text
    try:
        place = locate(text)
    except TooDeepError as error:
        message = f"the {what} is nested more than {MAX_DEPTH} deep"
        raise InputError([Diagnostic.of("VGL005", message, source, error.span)]) from None
    except NoTomlError:
        place = Place(NOWHERE, NOWHERE)
    try:
        return parsed(text), place
    except tomllib.TOMLDecodeError as error:
        raise InputError([_invalid(source, str(error), what)]) from None
    except ValueError:  # an integer of thousands of digits, or an exponent of twenty
        digits = _LONG.search(text)
        span = Span(*digits.span()) if digits else NOWHERE
        raise InputError([Diagnostic.of("VGL005", "a number is too long", source, span)]) from None


def parsed(text: str) -> dict[str, Any]:
    """The data of a TOML document, its numbers with a point as Decimal.

    Raises:
        ValueError: it is none (`tomllib.TOMLDecodeError`), or a number is beyond all that is one.
        RecursionError: it is nested too deeply.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except ArithmeticError:  # an exponent of twenty digits
        raise ValueError("a number is out of range") from None


def _invalid(source: Source, reason: str, what: str) -> Diagnostic:
    at = len(source.text)
    if (where := _WHERE.search(reason)) is not None:
        reason = reason[: where.start()]
        if where[1]:
            at = min(source.line_starts[int(where[1]) - 1] + int(where[2]) - 1, at)
    message = f"the {what} is no valid TOML: {reason[:1].lower()}{reason[1:]}"
    return Diagnostic.of("VGL005", message, source, Span(at, min(at + 1, len(source.text))))
