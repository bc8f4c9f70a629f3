"""What of a request is read at all: its size, its type, its JSON."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vigil_lang.gate.request import BadRequest, read_json
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_BODY = 1 << 20
"""Bytes of the longest body."""

BODY_SECONDS = 30.0
"""How long a body may take."""

T = TypeVar("T")


async def body(request: Request, limit: int = MAX_BODY) -> bytes:
    """The body of a request.

    Raises:
        Refused: it is longer than the limit (413), is compressed (400), or takes too long (408).
    """
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        raise Refused(400, "content_encoding", "a body is taken as it is, and not compressed", {"Connection": "close"})
    too_long = Refused(413, "too_large", f"the body has more than {limit:,} bytes", {"Connection": "close"})
    told = request.headers.get("content-length", "")
    if told.isdecimal() and (len(told) > 18 or int(told) > limit):
        raise too_long
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                found += chunk
                if len(found) > limit:
                    raise too_long
    except TimeoutError:
        raise Refused(408, "slow", "the body took too long", {"Connection": "close"}) from None
    return bytes(found)


async def json_body(request: Request, *, limit: int = MAX_BODY, optional: bool = False) -> Any:
    """The JSON of a request, read as strictly as whatever is hashed; None where it is optional and there is none.

    Raises:
        Refused: another content type, or no such JSON (400); a longer body than the limit (413).
    """
    data = await body(request, limit)
    if optional and not data:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(400, "content_type", "the content type has to be application/json")
    try:
        return read_json(data)
    except BadRequest as error:
        raise Refused(400, "malformed", str(error)) from error


def converted(found: object, type_: type[T]) -> T:
    """Decoded JSON as a struct.

    Raises:
        Refused: it is none (400).
    """
    try:
        return msgspec.convert(found, type_)
    except msgspec.ValidationError as error:
        raise Refused(400, "invalid", str(error)) from error
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid", f"the request is not valid: {error}"[:500]) from error


def number(request: Request, name: str, default: int, most: int, least: int = 0) -> int:
    """A whole number from the query.

    Raises:
        Refused: it is none, or beyond the limits (400).
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or not least <= int(text) <= most:
        raise Refused(400, "invalid", f"`{name}` is a whole number from {least} to {most}")
    return int(text)
