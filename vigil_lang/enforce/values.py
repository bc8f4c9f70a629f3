"""A program's values as JSON, which is what policies see.

No method is called that the class of a value could define for itself: a policy has to see what the tool gets.
"""

from __future__ import annotations

import datetime
import enum
import pathlib
import uuid
from decimal import Decimal
from typing import Any

import msgspec

from vigil_lang.trace.values import MAX_DEPTH, canonical

_JSON = msgspec.json.Encoder(decimal_format="number")
_DATES = frozenset({datetime.datetime, datetime.date, datetime.time})
_TEXTS = frozenset({type(pathlib.Path()), pathlib.PurePosixPath, pathlib.PureWindowsPath, uuid.UUID})


def encoded(value: object) -> bytes:
    """A JSON value as JSON. Lone surrogates, which no JSON text can hold and no event keeps, are replaced."""
    return _JSON.encode(_encodable(value))


def _encodable(value: object) -> object:
    match value:
        case str():
            return canonical(value)
        case list() | tuple():
            return [_encodable(item) for item in value]
        case dict():
            return {canonical(name): _encodable(item) for name, item in value.items()}
    return value


def plain(value: object, place: str, depth: int = 0) -> Any:
    """A value as JSON has it; `place` is what messages call it.

    Enumerations are their values; paths, dates and UUIDs are texts, and so are bytes, read as UTF-8; tuples and sets
    are lists, dataclasses objects.

    Raises:
        TypeError: it is none of these.
        ValueError: it is nested too deeply, or a number that is not finite.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"`{place[:60]}` is nested more than {MAX_DEPTH} deep")
    match value:
        case None | bool():
            return value
        case enum.Enum():
            return plain(value._value_, place, depth + 1)
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case float():
            return _finite(Decimal(float.__repr__(value)), place)
        case Decimal():
            return _finite(Decimal(value), place)
        case bytes():
            return bytes.decode(value, "utf-8", "backslashreplace")
        case bytearray():
            return bytearray.decode(value, "utf-8", "backslashreplace")
        case list():
            return [plain(item, place, depth + 1) for item in list.__iter__(value)]
        case tuple():
            return [plain(item, place, depth + 1) for item in tuple.__iter__(value)]
        case set():
            return sorted((plain(item, place, depth + 1) for item in set.__iter__(value)), key=repr)
        case frozenset():
            return sorted((plain(item, place, depth + 1) for item in frozenset.__iter__(value)), key=repr)
        case dict():
            return {plain_name(key): plain(item, place, depth + 1) for key, item in dict.items(value)}
    kind = type(value)
    if kind in _DATES:
        return value.isoformat()  # type: ignore[attr-defined]
    if kind in _TEXTS:
        return str(value)
    # A class that only descends from a dataclass may have more than its fields.
    plain_access = kind.__getattribute__ is object.__getattribute__ and not hasattr(kind, "__getattr__")
    if "__dataclass_fields__" in vars(kind) and plain_access:
        from dataclasses import fields  # late: a hook meets none, and this imports much

        return {each.name: plain(getattr(value, each.name), place, depth + 1) for each in fields(kind)}  # type: ignore[arg-type]
    raise TypeError(f"`{place[:60]}` takes values as JSON has them, not a {kind.__name__}")


def plain_name(name: object) -> str:
    """A name of exactly the type that it says.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f"a name is a text, not a {type(name).__name__}")
    return str.__str__(name)


def shown(value: object) -> str | None:
    """The output that the result of a call has: a text as it is, other JSON values as JSON, all else by `str`.

    Raises:
        Exception: whatever `str` raises.
    """
    if value is None:
        return None
    try:
        found = plain(value, "output")
    except (TypeError, ValueError):
        found = str.__str__(str(value))
    return canonical(found) if isinstance(found, str) else encoded(found).decode()


def _finite(number: Decimal, place: str) -> Decimal:
    if not number.is_finite():
        raise ValueError(f"`{place[:60]}` takes a finite number")
    return number
