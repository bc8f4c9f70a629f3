"""The lines of a recording: decoded one at a time, with the place at hand when one of them is at fault."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DECODER = msgspec.json.Decoder(float_hook=Decimal)  # a number keeps the digits it was written with
_ENCODER = msgspec.json.Encoder(decimal_format="number")

BOM = b"\xef\xbb\xbf"
_BYTE = re.compile(r" \(byte (\d+)\)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
# Every escape is consumed, so that the `\ud800` in `\\ud800` is not taken for one.
_ESCAPE = re.compile(
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
        return _DECODER.decode(data)
    except msgspec.DecodeError:
        # JavaScript cuts strings between the halves of a surrogate pair; what it writes then is not Unicode.
        mended = _ESCAPE.sub(lambda m: rb"\ufffd" if m[1] else m[0], data)
        if mended == data:
            raise
        return _DECODER.decode(mended)


def encode(value: object) -> bytes:
    """Compact JSON, the inverse of `decode`."""
    return _ENCODER.encode(value)


def shown(value: object) -> str:
    """A value as it is quoted in a message: compact JSON, cut where it is long."""
    text = encode(value).decode()
    return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}`"


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
    error: Exception, data: bytes, path: str, number: int = 1, *, code: str = "VGL601", last: bool = False
) -> InputError:
    """Why `decode` refused the data; `last` when nothing, not even a line break, follows it in the file."""
    text = data.decode("utf-8", "replace")
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        if not (last and bad.reason == "unexpected end of data"):
            at = len(data[: bad.start].decode("utf-8", "replace"))
            message = f"byte 0x{data[bad.start]:02x} is not UTF-8 text"
            return InputError([point_at("VGL002", message, path, text, at, at + 1, number)])
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
    return InputError([point_at(code, message, path, text, at, at + 1, number)])


class Lines:
    """An iterator over the objects of a JSON Lines recording that knows where it stands.

    Blank lines are skipped. Raises `InputError` where a line is no JSON object or the stream cannot be read.
    """

    def __init__(self, stream: Iterable[bytes], path: str) -> None:
        self.path = path
        self.number = 0
        """The current line, from 1."""
        self.raw = b""
        self._stream = stream

    def __iter__(self) -> Iterator[dict[str, Any]]:
        decode_fast = _DECODER.decode
        try:
            for number, raw in enumerate(self._stream, 1):
                self.number, self.raw = number, raw
                try:
                    value = decode_fast(raw)
                except (ValueError, ArithmeticError, RecursionError) as error:
                    value = self._second_look(error)
                if type(value) is dict:
                    yield value
                elif value is not _BLANK:
                    raise self.fault(f"a line must be a JSON object, not {shown(value)}")
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _second_look(self, error: Exception) -> Any:
        """What a line that the decoder refused holds after all: nothing, or a value behind a BOM."""
        data = self.raw.removeprefix(BOM) if self.number == 1 else self.raw
        if not data.strip():
            return _BLANK
        try:
            return decode(data)
        except (ValueError, ArithmeticError, RecursionError) as again:
            raise fault_of(again, data, self.path, self.number, last=not data.endswith(b"\n")) from error

    def fault(self, message: str, key: str | None = None, *, code: str = "VGL601") -> InputError:
        """The current line is at fault, at its member `key` where one is named."""
        text = self.raw.decode("utf-8", "replace").rstrip("\r\n")
        start, end = _member(text, key) if key else (0, len(text))
        return InputError([point_at(code, message, self.path, text, start, end, self.number)])


_BLANK = object()


def _member(text: str, key: str) -> tuple[int, int]:
    """Where an object's own member `key` is written, not one of the same name further down."""
    depth = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
            case name if depth == 1 and name == f'"{key}"' and text[token.end() :].lstrip().startswith(":"):
                return token.span()
    return 0, len(text)


def unreadable(path: str, error: OSError | ValueError) -> InputError:
    """VGL001 for a file that is missing, a directory, or otherwise not to be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    message = f"cannot read `{path}`: {reason[:1].lower()}{reason[1:]}"
    return InputError([Diagnostic.of("VGL001", message, Source(path, ""))])
