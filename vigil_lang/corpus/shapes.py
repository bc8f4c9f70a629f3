"""JSON Lines told apart by their shape: what is left of a line where its texts and numbers are cut out.

Very many lines have very few shapes. So a line is never decoded: it is cut, by array operations on all bytes of a
block, and its shape is read once by whatever reads lines. What is cut out is checked to be what JSON allows there; all
the rest of a line, the names of members included, stays in its shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from vigil_lang.ingest.json_text import REFUSED, decode
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.int64]

KEEPS_NUMBERS: Final = b'"vigil_trace"'
"""A line that has this keeps its numbers: they decide what the line is."""

_NUMBER: Final = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
_PLAIN_NUMBER: Final = r"^(?:0|-?[1-9][0-9]{0,17})$"
"""A number whose text is its canonical one."""
_IN_NUMBERS: Final = np.isin(np.arange(256), list(b"+-.0123456789eE"))
_BEGINS_NUMBERS: Final = np.isin(np.arange(256), list(b"-0123456789"))
_MEMBER: Final = re.compile(rb'"(?:[^"\\]|\\.)*"(:?)|0', re.DOTALL)
_LOOSE_NAME: Final = re.compile(rb'"[ \t\r\n]+:')


class Faulty(Exception):
    """Lines are not what they should be, or not as plain as they must be here; `lines` are their places."""

    def __init__(self, lines: Places) -> None:
        super().__init__(f"{len(lines)} lines")
        self.lines = lines


@dataclass(frozen=True)
class Shaped:
    """Lines by their shapes. Of line i, `shape[i]` is the place of its shape in `shapes`; its texts are those from
    `first_text[i]` on, and its numbers those from `first_number[i]` on, as many as its shape has places for."""

    shapes: list[bytes]
    shape: NDArray[np.int32]
    first_text: Places
    first_number: Places
    texts: pl.Series
    """What the texts say, nothing escaped."""
    numbers: pl.Series
    """The canonical texts of the numbers."""
    ends: Places
    """The places of the line breaks."""


def filled(shape: bytes, given: Mapping[int, bytes] | None = None) -> bytes:
    """A line of a shape, with `"s0"`, `"s1"`, … for its texts and `0`, `1`, … for its numbers; `given` has others.

    Raises:
        ValueError: the name of a member is apart from its colon, so that it was taken for a text.
    """
    if _LOOSE_NAME.search(shape):
        raise ValueError(shape)
    texts = numbers = 0
    keeps = KEEPS_NUMBERS in shape

    def put(found: re.Match[bytes]) -> bytes:
        nonlocal texts, numbers
        if found[0] == b"0":
            numbers += 1
            return b"0" if keeps else b"%d" % (numbers - 1)
        if found[1]:
            return found[0]
        texts += 1
        return b'"%b"' % (given or {}).get(texts - 1, b"s%d" % (texts - 1))

    return _MEMBER.sub(put, shape)


def shaped(data: bytes) -> Shaped:
    """The lines of some bytes, each with its line break.

    Raises:
        Faulty: a line is no UTF-8, or no JSON: wherever that can be seen in what is cut out of it.
    """
    block: Bytes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(block == ord("\n"))
    if block.max() > 127:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise Faulty(np.searchsorted(ends, [error.start])) from None
    quotes = np.flatnonzero(block == ord('"'))
    escapes = b"\\" in data
    if escapes:
        quotes = quotes[~np.isin(quotes, _escaped(block), assume_unique=True)]
    odd = np.diff(np.searchsorted(quotes, ends), prepend=0) & 1
    if odd.any():
        raise Faulty(np.flatnonzero(odd))
    opened, closed = quotes[::2], quotes[1::2]
    is_text = block[closed + 1] != ord(":")
    starts, stops = opened[is_text] + 1, closed[is_text]
    first_text = _firsts(starts, ends)
    texts = _between(data, starts, stops)
    if np.count_nonzero(block < ord(" ")) > len(ends):
        _refuse(texts.str.contains(r"[\x00-\x1f]"), first_text)
    if escapes:
        texts = _unescaped(texts, first_text)
    kept = _without(data, starts, stops)
    lines = _lines(kept).dictionary_encode()
    of: NDArray[np.int32] = lines.indices.to_numpy()
    numbered = _numbered(lines.dictionary)
    _refuse_lines(~numbered.good[of])
    return Shaped(
        numbered.shapes,
        numbered.shape[of],
        first_text,
        numbered.first_number[of],
        texts,
        numbered.numbers,
        ends,
    )


@dataclass(frozen=True)
class _Numbered:
    shapes: list[bytes]
    shape: NDArray[np.int32]
    first_number: Places
    numbers: pl.Series
    good: NDArray[np.bool_]
    """The lines whose numbers are numbers."""


def _numbered(lines: Any) -> _Numbered:
    """The shapes of lines that are without their texts: each number becomes a 0."""
    data = b"".join(lines.to_pylist())
    block: Bytes = np.frombuffer(data, np.uint8).copy()
    ends = np.flatnonzero(block == ord("\n"))
    quote = block == ord('"')
    if b"\\" in data:
        quote[_escaped(block)] = False
    among = _IN_NUMBERS[block] & ((np.cumsum(quote, dtype=np.uint8) & 1) == 0)
    if KEEPS_NUMBERS in data:
        keeps = np.array([KEEPS_NUMBERS in line for line in lines.to_pylist()])
        among &= ~np.repeat(keeps, np.diff(ends, prepend=-1))
    step = np.diff(among.astype(np.int8), prepend=0)
    starts, stops = np.flatnonzero(step == 1), np.flatnonzero(step == -1)  # a line break ends every run of them
    begun = _BEGINS_NUMBERS[block[starts]]
    starts, stops = starts[begun], stops[begun]
    first_number = _firsts(starts, ends)
    numbers, wrong = _canonical(_between(data, starts, stops))
    good = np.ones(len(ends), np.bool_)
    good[np.searchsorted(ends, starts[wrong])] = False
    block[starts] = ord("0")
    shapes = _lines(_without(block.tobytes(), starts + 1, stops)).dictionary_encode()
    return _Numbered(shapes.dictionary.to_pylist(), shapes.indices.to_numpy(), first_number, numbers, good)


def _canonical(numbers: pl.Series) -> tuple[pl.Series, NDArray[np.bool_]]:
    """The canonical texts of numbers, and which are none. Only those that have another text are looked at singly."""
    plain = numbers.str.contains(_PLAIN_NUMBER)
    if not len(numbers) or plain.all():
        return numbers, np.zeros(len(numbers), np.bool_)
    others = numbers.filter(~plain).unique()
    found: list[str | None] = []
    for text, is_number in zip(others, others.str.contains(_NUMBER), strict=True):
        try:
            found.append(canonical(decode(text.encode())) if is_number else None)
        except REFUSED:
            found.append(None)
    told = pl.DataFrame({"text": others, "canonical": pl.Series(found, dtype=pl.String), "other": True})
    joined = pl.DataFrame({"text": numbers}).join(told, on="text", how="left", maintain_order="left")
    done = joined.select(pl.when("other").then("canonical").otherwise("text").alias("number"))["number"]
    return done, done.is_null().to_numpy()


def _escaped(block: Bytes) -> Places:
    """The places of what a backslash stands before that is not escaped itself."""
    places = np.flatnonzero(block == ord("\\"))
    begins = np.flatnonzero(np.diff(places, prepend=-2) != 1)
    lengths = np.diff(begins, append=len(places))
    after: Places = places[begins] + lengths
    odd: Places = after[(lengths & 1) == 1]
    return odd


def _unescaped(texts: pl.Series, first_text: Places) -> pl.Series:
    has = texts.str.contains("\\", literal=True)
    raw = texts.filter(has).to_list()
    if not raw:
        return texts
    try:
        found = decode(('["' + '","'.join(raw) + '"]').encode())
    except REFUSED:
        _refuse(~pl.Series([_is_text(text) for text in raw]), first_text, np.flatnonzero(has.to_numpy()))
        raise AssertionError from None
    place = (has.cum_sum().cast(pl.Int64) - 1).to_numpy().copy()
    place[~has.to_numpy()] = -1
    decoded = pl.Series(found, dtype=pl.String).gather(pl.Series(place).replace(-1, None))
    return pl.select(pl.coalesce(decoded, texts)).to_series()


def _is_text(raw: str) -> bool:
    try:
        return type(decode(f'"{raw}"'.encode())) is str
    except REFUSED:
        return False


def _refuse(wrong: pl.Series, first_text: Places, places: Places | None = None) -> None:
    at = np.flatnonzero(wrong.to_numpy())
    if at.size:
        at = at if places is None else places[at]
        raise Faulty(np.unique(np.searchsorted(first_text, at, side="right") - 1))


def _refuse_lines(wrong: NDArray[np.bool_]) -> None:
    if wrong.any():
        raise Faulty(np.flatnonzero(wrong))


# --- bytes, cut at places ------------------------------------------------------------------------------------------


def _bounds(size: int, starts: Places, stops: Places) -> Places:
    """Where each piece begins and ends: what is kept, what is cut out, what is kept, and so on."""
    bounds = np.empty(2 * len(starts) + 2, np.int64)
    bounds[0], bounds[1:-1:2], bounds[2:-1:2], bounds[-1] = 0, starts, stops, size
    return bounds


def _between(data: bytes, starts: Places, stops: Places) -> pl.Series:
    """The texts between places."""
    bounds = _bounds(len(data), starts, stops)
    pieces = pa.LargeStringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(data))
    return pl.Series(pieces, dtype=pl.String).gather_every(2, 1)


def _without(data: bytes, starts: Places, stops: Places) -> Any:
    """The bytes without those between places, as a buffer."""
    bounds = _bounds(len(data), starts, stops)
    pieces = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )
    kept = pieces.take(pa.array(np.arange(0, len(bounds) - 1, 2)))
    _, offsets, values = kept.buffers()
    return values.slice(0, int(np.frombuffer(offsets, np.int64)[len(kept)]))


def _lines(data: Any) -> Any:
    """The lines of a buffer as an array."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    bounds = np.concatenate(([0], ends + 1))
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(ends), [None, pa.py_buffer(bounds), data])


def _firsts(starts: Places, ends: Places) -> Places:
    """For each line the number of places before it."""
    return np.concatenate(([0], np.searchsorted(starts, ends)[:-1]))
