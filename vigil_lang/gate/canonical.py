"""One form of bytes for each JSON value (RFC 8785), and what is hashed of it."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from decimal import Decimal

import msgspec

MAX_INTEGER = 2**53 - 1
"""The largest number up to which every reader of JSON keeps all integers."""

_MAX_DEPTH = 200
_ENCODE = msgspec.json.Encoder(order="deterministic").encode
_CONSTANTS = frozenset({bool, type(None), msgspec.Raw})


class NotCanonical(ValueError):
    """A value has no canonical form: what is hashed of it would not be certain."""


def canonical(value: object) -> bytes:
    """A JSON value as RFC 8785 writes it; a `msgspec.Raw` in it is one that is written so already. Decimals are taken
    where a double keeps all of them.

    Raises:
        NotCanonical: a number beyond ±(2^53−1), not finite, or that no double keeps; half of a character, a key that
            is no text, or nesting beyond 200.
    """
    with suppress(TypeError, UnicodeEncodeError):  # a key is no text; half of a character
        if _is_simple(value):
            return _ENCODE(value)
    import rfc8785

    return rfc8785.dumps(_plain(value, 0))  # type: ignore[arg-type]


def digest(value: object) -> str:
    """SHA-256 of the canonical form, in hexadecimal. Raises as `canonical`."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_digest(value: object) -> str:
    """SHA-256 of the canonical form, in base64url without padding. Raises as `canonical`."""
    return base64url(hashlib.sha256(canonical(value)).digest())


def base64url(data: bytes) -> str:
    """Bytes as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _is_simple(value: object) -> bool:
    """Whether any deterministic encoder writes the value as RFC 8785 does: it has no doubles, and all keys are ASCII.

    False as well for whatever `_plain` may refuse, but for texts.

    Raises:
        TypeError: a key is no text.
    """
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        below: list[object] = []
        for each in level:
            kind = type(each)
            if kind is str or kind in _CONSTANTS:
                continue
            if kind is dict:
                if not "".join(each).isascii():  # type: ignore[arg-type]
                    return False
                below += each.values()  # type: ignore[attr-defined]
            elif kind is list or kind is tuple:
                below += each  # type: ignore[arg-type]
            elif kind is not int or not -MAX_INTEGER <= each <= MAX_INTEGER:  # type: ignore[operator]
                return False
        if not below:
            return True
        level = below
    return False


def _plain(value: object, depth: int) -> object:
    """The value with doubles for decimals."""
    if depth > _MAX_DEPTH:
        raise NotCanonical(f"it is nested more than {_MAX_DEPTH} deep")
    match value:
        case None | bool():
            return value
        case str():
            return _text(value)
        case int():
            if abs(value) > MAX_INTEGER:
                raise NotCanonical("a number is beyond ±(2^53−1)")
            return value
        case float() | Decimal():
            return _double(value)
        case list() | tuple():
            return [_plain(item, depth + 1) for item in value]
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise NotCanonical("a key is no text")
            return {_text(key): _plain(member, depth + 1) for key, member in value.items()}
        case msgspec.Raw():
            return _plain(msgspec.json.decode(value), depth)
        case _:
            raise NotCanonical(f"{type(value).__name__} is no JSON value")


def _double(value: float | Decimal) -> float:
    double = float(value)
    if double in (float("inf"), float("-inf")) or double != double:
        raise NotCanonical("a number is not finite")
    if abs(double) > MAX_INTEGER:  # it would be written as an integer that no reader keeps
        raise NotCanonical("a number is beyond ±(2^53−1)")
    if isinstance(value, Decimal) and Decimal(repr(double)) != value:
        raise NotCanonical("a number has more digits than a double keeps")
    return double


def _text(text: str) -> str:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise NotCanonical("a text has half of a character")
    return text
