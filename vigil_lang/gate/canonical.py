"""One form of bytes for each JSON value (RFC 8785), and what is hashed of it."""

from __future__ import annotations

import base64
import hashlib
import json
from decimal import Decimal

MAX_INTEGER = 2**53 - 1
"""The largest number up to which every reader of JSON keeps all integers."""

_MAX_DEPTH = 200


class NotCanonical(ValueError):
    """A value has no canonical form: what is hashed of it would not be certain."""


def canonical(value: object) -> bytes:
    """A JSON value as RFC 8785 writes it. Decimals are taken where a double keeps all of them.

    Raises:
        NotCanonical: a number beyond ±(2^53−1), not finite, or that no double keeps; half of a character, a key that
            is no text, or nesting beyond 200.
    """
    plain, simple = _plain(value, 0)
    if simple:  # the standard library gives the same bytes, six times as fast
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    import rfc8785

    return rfc8785.dumps(plain)  # type: ignore[arg-type]


def digest(value: object) -> str:
    """SHA-256 of the canonical form, in hexadecimal. Raises as `canonical`."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_digest(value: object) -> str:
    """SHA-256 of the canonical form, in base64url without padding. Raises as `canonical`."""
    return base64url(hashlib.sha256(canonical(value)).digest())


def base64url(data: bytes) -> str:
    """Bytes as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _plain(value: object, depth: int) -> tuple[object, bool]:
    """The value with doubles for decimals, and whether it has neither doubles nor keys beyond ASCII."""
    if depth > _MAX_DEPTH:
        raise NotCanonical(f"it is nested more than {_MAX_DEPTH} deep")
    match value:
        case None | bool():
            return value, True
        case str():
            return _text(value), True
        case int():
            if abs(value) > MAX_INTEGER:
                raise NotCanonical("a number is beyond ±(2^53−1)")
            return value, True
        case float() | Decimal():
            double = float(value)
            if double in (float("inf"), float("-inf")) or double != double:
                raise NotCanonical("a number is not finite")
            if abs(double) > MAX_INTEGER:  # it would be written as an integer that no reader keeps
                raise NotCanonical("a number is beyond ±(2^53−1)")
            if isinstance(value, Decimal) and Decimal(repr(double)) != value:
                raise NotCanonical("a number has more digits than a double keeps")
            return double, False
        case list() | tuple():
            items = [_plain(item, depth + 1) for item in value]
            return [item for item, _ in items], all(simple for _, simple in items)
        case dict():
            members, all_simple = {}, True
            for key, member in value.items():
                if not isinstance(key, str):
                    raise NotCanonical("a key is no text")
                members[_text(key)], simple = _plain(member, depth + 1)
                all_simple = all_simple and simple and key.isascii()
            return members, all_simple
        case _:
            raise NotCanonical(f"{type(value).__name__} is no JSON value")


def _text(text: str) -> str:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise NotCanonical("a text has half of a character")
    return text
