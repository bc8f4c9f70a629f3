"""JSON as it is read and written here, and findings that point into a text of it."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

DECODER = msgspec.json.Decoder(float_hook=Decimal)  # a number keeps the digits it was written with
_ENCODER = msgspec.json.Encoder(decimal_format="number")

BOM = b"\xef\xbb\xbf"
REFUSED = (ValueError, ArithmeticError, RecursionError)
"""What `decode` raises."""

_BYTE = regex(r" \(byte (\d+)\)")
_TOKEN = regex(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
# Every escape is consumed, so that the `\ud800` in `\\ud800` is not taken for one.
_ESCAPE = regex(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

_EXCERPT = 200
_SHOWN = 60


def decode(data: bytes | bytearray) -> Any:
    """One JSON value; numbers other than integers are Decimals, lone surrogates U+FFFD.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, InvalidOperation, RecursionError: `fault_of` explains them.
    """
    try:
        return DECODER.decode(data)
    except msgspec.DecodeError:
        whole = mended(data)
        if whole == data:
            raise
        return DECODER.decode(whole)


def mended(data: bytes | bytearray) -> bytes:
    """The data with U+FFFD for lone surrogates, of the same length.

    JavaScript cuts strings between the halves of a surrogate pair; what it writes then is not Unicode.
    """
    return _ESCAPE.sub(lambda m: rb"\ufffd" if m[1] else m[0], data)


def encode(value: object) -> bytes:
    """Compact JSON, the inverse of `decode`."""
    return _ENCODER.encode(value)


def shown(value: object) -> str:
    """A value as it is quoted in a message: compact JSON, cut where it is long."""
    return f"`{cut(encode(value).decode(), _SHOWN)}`"


def point_at(code: str, message: str, path: str, text: str, start: int, end: int, line: int = 1) -> Diagnostic:
    """A finding in a text that may be far too long to show.

    Its source is an excerpt around `start`, an offset into `text`, whose first line is number `line`.
    """
    line += text.count("\n", 0, start)
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    stop = len(text) if stop < 0 else stop
    end = min(max(end, start), stop)
    if start - begin > _EXCERPT // 2 and stop - begin > _EXCERPT:
        message += f" (at column {start - begin + 1})"
        begin = start - _EXCERPT // 2
    excerpt = text[begin : min(stop, begin + _EXCERPT)].rstrip("\r")
    span = Span(min(start - begin, len(excerpt)), min(end - begin, len(excerpt)))
    return Diagnostic.of(code, message, Source(path, excerpt, line), span)


def fault_of(
    error: Exception,
    data: bytes,
    path: str,
    number: int = 1,
    *,
    code: str = "VGL601",
    last: bool = False,
    before: bytes = b"",
) -> InputError:
    """Why `decode` refused the data; `last` when nothing, not even a line break, follows it in the file.

    `before` is what precedes it on its first line.
    """
    prefix = before.decode("utf-8", "replace")
    text = data.decode("utf-8", "replace")
    fault = partial(point_at, path=path, text=prefix + text, line=number)
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        if not (last and bad.reason == "unexpected end of data"):
            at = len(data[: bad.start].decode("utf-8", "replace"))
            message = f"byte 0x{data[bad.start]:02x} is not UTF-8 text"
            return InputError([fault("VGL002", message, start=len(prefix) + at, end=len(prefix) + at + 1)])
    if isinstance(error, RecursionError):
        message, at = "the JSON is nested too deeply", 0
    elif isinstance(error, InvalidOperation | msgspec.ValidationError):
        message, at = "a number is out of range", 0
    elif last and "truncated" in str(error):
        message, at = "the file ends in the middle of a JSON value: it was cut off", len(text)
    else:
        found = _BYTE.search(str(error))
        at = len(data[: int(found[1])].decode("utf-8", "replace")) if found else len(text.rstrip())
        reason = "it ends too early" if "truncated" in str(error) else _BYTE.sub("", str(error))
        message = f"not valid JSON: {reason.removeprefix('JSON is malformed: ')}"
        if text[at : at + 1] < " " and at < len(text.rstrip("\r\n")):
            message += f" U+{ord(text[at]):04X}"
    return InputError([fault(code, message, start=len(prefix) + at, end=len(prefix) + at + 1)])


def place_of(text: str, path: Sequence[str | int], start: int = 0) -> tuple[int, int]:
    """Where the JSON value that begins at `start` has the member or element that `path` leads to.

    The span is that of a member's name, or of an element's first character. A path that leads nowhere is followed
    as far as it goes; the span of the whole text is the place of no path at all.
    """
    span = (start, len(text))
    depth = found = 0  # `found` members of the path are behind us: the innermost is open at that depth
    index: list[int | None] = []  # for each open bracket the ordinal of its current element; None in an object
    for token in _TOKEN.finditer(text, start):
        if found == len(path):
            break
        mark = token[0]
        if mark in ("{", "["):
            depth += 1
            index.append(0 if mark == "[" else None)
            if depth == found + 1 and mark == "[" and path[found] == 0:
                span, found = _after(text, token.end()), found + 1
        elif mark in ("}", "]"):
            depth -= 1
            if depth < found or not depth:
                break
            index.pop()
        elif mark == ",":
            if found and depth == found:
                break
            ordinal = index[-1] if index else None
            if ordinal is None:
                continue
            index[-1] = ordinal + 1
            if depth == found + 1 and path[found] == ordinal + 1:
                span, found = _after(text, token.end()), found + 1
        elif depth == found + 1 and index[-1] is None and mark == f'"{path[found]}"' and _is_name(text, token.end()):
            span, found = token.span(), found + 1
    return span


def _after(text: str, at: int) -> tuple[int, int]:
    while text[at : at + 1].isspace():
        at += 1
    return at, at + 1


def _is_name(text: str, end: int) -> bool:
    """Whether the string that ends there is a member's name, not a value."""
    at = _after(text, end)[0]
    return text[at : at + 1] == ":"
