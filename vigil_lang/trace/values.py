"""Values as texts: the canonical text of a JSON scalar, flattened arguments, times and numbers.

Everything here reads hostile input: nothing expands a number like ``1e999999999`` or recurses without limit.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_DEPTH = 100
"""How deeply arguments may be nested."""

MAX_NAME = 1000
"""Code points a dotted argument name may have: a long key is copied into the name of every leaf below it."""

_PLAIN = 100
"""Numbers with an adjusted exponent beyond ±100 stay in scientific notation."""
_PLAIN_INTEGER = 10 ** (_PLAIN + 1)

_FAR = 10**18
_PLACES = 10_000
EXACT = Context(prec=3 * _PLACES, rounding=ROUND_UP, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Arithmetic in which totals of whatever events carry are exact."""
_SMALLEST = Decimal((0, (1,), -_PLACES))

_SHORT = 32
"""Code points of a text whose number is remembered."""

_SURROGATE = regex("[\ud800-\udfff]")
_NUMBER = regex(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ISO_8601 = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].+)?|[0-9]{8}[Tt].+")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def canonical(value: object) -> str:
    """The one text of a JSON scalar: `6.0` and `6` are both ``6``, `true` is ``true``, a string is itself.

    Lone surrogates, which no UTF-8 text can hold, become U+FFFD.

    Raises:
        TypeError: the value is null, a list, an object or no JSON value at all.
        ValueError: the number is not finite.
    """
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < _PLAIN_INTEGER else _shortest(Decimal(value))
    if isinstance(value, Decimal):
        return _shortest(value)
    if isinstance(value, float):
        return _shortest(Decimal(repr(value)))
    raise TypeError(f"a {type(value).__name__} has no canonical text")


def _shortest(number: Decimal) -> str:
    """Shortest decimal form, made of the digits alone: arithmetic would round to the context's precision."""
    if not number.is_finite():
        raise ValueError(f"{number} is not a finite number")
    if not number:
        return "0"
    exponent = number.adjusted()
    if abs(exponent) <= _PLAIN:
        text = format(number, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    sign, digits, _ = number.as_tuple()
    mantissa = "".join(map(str, digits)).rstrip("0")
    fraction = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
    return f"{'-' if sign else ''}{mantissa[0]}{fraction}e{exponent}"


def flatten(args: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Arguments by dotted name: ``{"p": {"q": [1, 2]}}`` is ``{"p.q": ("1", "2")}``.

    `null` is absent, also as an element; an empty list is an argument with no values; a list of objects gives
    each of their names the values of all of them, and its own name too where it has other values beside them; names
    that collide share their values, in order.

    Raises:
        ValueError: nested more than `MAX_DEPTH` deep, or a nested name longer than `MAX_NAME`.
    """
    flat: dict[str, tuple[str, ...]] = {}
    for name, value in args.items():
        kind = type(value)
        if kind is dict or kind is list:
            _flatten_into(flat, name, value)
        elif value is not None:
            if kind is int and -_PLAIN_INTEGER < value < _PLAIN_INTEGER:
                text = str(value)
            else:
                text = value if kind is str and value.isascii() else canonical(value)
            flat[name] = (*flat[name], text) if name in flat else (text,)
    return flat


def _flatten_into(flat: dict[str, tuple[str, ...]], name: str, value: Any) -> None:
    found: dict[str, list[str]] = {}
    _collect(found, name, value, 1)
    for key, texts in found.items():
        flat[key] = (*flat.get(key, ()), *texts)


def _collect(
    found: dict[str, list[str]],
    name: str,
    value: Any,
    depth: int,
    beside: str | None = None,
    mixed: bool | None = None,
) -> None:
    """Take in a value: `beside` is the list that has its texts as well, `mixed` whether it is in one of that kind."""
    if depth > MAX_DEPTH:
        raise ValueError(f"arguments are nested more than {MAX_DEPTH} deep")
    match value:
        case None:
            return
        case dict():
            for key, element in value.items():
                if len(name) + len(key) >= MAX_NAME:
                    raise ValueError(f"a nested argument's name is longer than {MAX_NAME} characters")
                _collect(found, f"{name}.{key}", element, depth + 1, beside)
        case list():
            if not any(isinstance(item, dict) for item in value):
                found.setdefault(name, [])
            mixed = _is_mixed(value) if mixed is None else mixed
            for item in value:
                if isinstance(item, dict):
                    _collect(found, name, item, depth + 1, name if mixed else beside)
                else:
                    _collect(found, name, item, depth + 1, beside, mixed)
        case _:
            text = canonical(value)
            found.setdefault(name, []).append(text)
            if beside is not None:
                found.setdefault(beside, []).append(text)


def _is_mixed(value: list[Any]) -> bool:
    """Whether a list, with the lists in it, has objects beside other values."""
    waiting, objects, others = [value], False, False
    while waiting:
        for item in waiting.pop():
            if isinstance(item, list):
                waiting.append(item)
            elif isinstance(item, dict):
                objects = True
            elif item is not None:
                others = True
    return objects and others


def number(text: str) -> Decimal | None:
    """The number a text denotes in an order test, None where it is none. Compare it, never expand it.

    One that `Decimal` cannot hold is infinite, or so near to 0 that nothing is nearer.
    """
    return _short_number(text) if len(text) <= _SHORT else _number(text)


@lru_cache(maxsize=4_096)
def _short_number(text: str) -> Decimal | None:
    return _number(text)


def _number(text: str) -> Decimal | None:
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of twenty digits: further away, or nearer to 0, than any number of a policy
        mantissa, _, exponent = text.lower().partition("e")
        value = Decimal(mantissa)
        if not value:
            return value
        nearer = exponent.startswith("-")
        return Decimal((value.is_signed(), (1,), -_FAR)) if nearer else Decimal("Infinity").copy_sign(value)


def total(texts: Iterable[str]) -> Decimal:
    """The sum of the positive numbers among texts, exact to 10,000 places on either side of the point.

    A larger number makes it infinite; smaller places are rounded up. What is no number, or negative, adds nothing.
    """
    found = Decimal(0)
    for text in texts:
        value = number(text)
        if value is not None and value > 0:
            found = EXACT.add(found, _addend(value))
    return found


def _addend(value: Decimal) -> Decimal:
    """A number as it is added: infinite beyond 10,000 places before the point, rounded up beyond 10,000 after it."""
    if value.is_infinite() or value.adjusted() >= _PLACES:
        return Decimal("Infinity")
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -_PLACES:
        return value.quantize(_SMALLEST, context=EXACT)
    return value


def parse_time(value: object) -> int | None:
    """Microseconds since 1970 (UTC) of an ISO 8601 text (without an offset: UTC) or of epoch seconds.

    None where the value is neither, or lies outside the years 1 to 9999.
    """
    if isinstance(value, str):
        if not _ISO_8601.fullmatch(value):
            return None
        try:
            time = datetime.fromisoformat(value.upper())
        except ValueError:
            return None
        aware = time if time.tzinfo else time.replace(tzinfo=UTC)
        return _in_range((aware - _EPOCH) // _MICROSECOND)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    seconds = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not seconds.is_finite() or seconds.adjusted() > 12:
        return None
    return _in_range(int(seconds.scaleb(6)))


def _in_range(microseconds: int) -> int | None:
    return microseconds if _FIRST <= microseconds <= _LAST else None


def time_text(microseconds: int) -> str:
    """The ISO 8601 text of a time, ``2026-01-05T10:00:00Z``, with a fraction only where it has one.

    Raises:
        OverflowError: the time lies outside the years 1 to 9999.
    """
    time = _EPOCH + microseconds * _MICROSECOND
    precision = "microseconds" if time.microsecond % 1000 else "milliseconds" if time.microsecond else "seconds"
    return time.replace(tzinfo=None).isoformat(timespec=precision) + "Z"
