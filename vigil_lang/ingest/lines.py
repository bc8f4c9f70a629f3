"""The objects of a recording, decoded one at a time, with the place at hand when one of them is at fault."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.desktop_log import as_json_lines
from vigil_lang.ingest.json_text import DECODER, REFUSED, decode, fault_of, mended, place_of, point_at, shown
from vigil_lang.ingest.stream import MAX_SIZE, lines_of, too_large
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_HEAD_OBJECTS = 50
_HEAD_BYTES = 1 << 20


class Lines:
    """An iterator over the objects of a recording that knows where it stands.

    A recording is JSON Lines (blank lines are skipped, and so is what labels a line), or one JSON document: an object
    is yielded as it is, of an array its elements. Raises `InputError` where one is no JSON object or the stream cannot
    be read. It can be iterated over once.
    """

    def __init__(self, stream: Iterable[bytes], path: str, *, endless: bool = False) -> None:
        """With `endless` there may be any number of objects, so that nothing is kept of each."""
        self.path = path
        self.endless = endless
        self.number = 0
        """The line on which the current object begins, from 1."""
        self.raw = b""
        """The current object as it is written."""
        self._before = _NOTHING
        """What stands before the current object on its line: a text that holds it, and where the object begins."""
        self._values = self._read(as_json_lines(lines_of(stream, path, endless=endless)))
        self._preferred: Callable[[bytes], Any] | None = None
        self._ahead: deque[tuple[int, bytes, tuple[bytes, int], dict[str, Any]]] = deque()
        self._fault: InputError | None = None
        self._knows: Callable[[dict[str, Any]], bool] | None = None
        self.told = False
        """Whether the current object told something: whoever watches says so."""
        self._opened = False
        self.read = 0
        """Objects that were read since somebody watches."""
        self.not_understood = 0
        """Those that told nothing, and that are on their own no objects of the format."""

    def prefer(self, decoder: Callable[[bytes], Any]) -> None:
        """Yield what a decoder makes of a line, where it does not refuse it, in place of a dict.

        It is not asked for ever where it refuses most lines.
        """
        self._preferred = decoder

    def watch(self, knows: Callable[[dict[str, Any]], bool]) -> None:
        """Count the objects of which nothing is understood; `knows` says whether one is of the format.

        A format has many objects that tell of no call, so silence alone says nothing.
        """
        self._knows = knows

    def open(self) -> None:
        """The current object only holds others, which are counted in its place."""
        self._opened = True

    def count(self, *, understood: bool) -> None:
        """Count an object that another one holds."""
        self.read += 1
        self.not_understood += not understood

    def head(self) -> list[dict[str, Any]]:
        """The first objects, a few dozen at most, up to one at fault: what iterating yields again."""
        while len(self._ahead) < _HEAD_OBJECTS and sum(len(raw) for _, raw, _, _ in self._ahead) < _HEAD_BYTES:
            try:
                value = next(self._values, None)
            except InputError as fault:
                self._fault = fault
                break
            if value is None:
                break
            self._ahead.append((self.number, self.raw, self._before, value))
        return [value for _, _, _, value in self._ahead]

    @property
    def fault_ahead(self) -> InputError | None:
        """What ended the `head`, if anything did."""
        return self._fault

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._objects() if self._knows is None else self._watched(self._knows)

    def _watched(self, knows: Callable[[dict[str, Any]], bool]) -> Iterator[dict[str, Any]]:
        for value in self._objects():
            self.told = self._opened = False
            yield value
            # The reader is done with it when it asks for the next one.
            if not self._opened:
                self.count(understood=self.told or knows(value))

    def _objects(self) -> Iterator[dict[str, Any]]:
        while self._ahead:
            self.number, self.raw, self._before, value = self._ahead.popleft()
            yield value
        if self._fault:
            raise self._fault
        yield from self._values

    def _read(self, lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
        decode_fast = DECODER.decode
        begun = False
        tries = _TRIES
        for number, raw in enumerate(lines, 1):
            if self._preferred is not None and tries:
                try:
                    value = self._preferred(raw)
                except REFUSED:
                    tries -= 1
                else:
                    tries = _TRIES
                    self.number, self.raw, self._before, begun = number, raw, _NOTHING, True
                    yield value
                    continue
            if not begun and raw.lstrip().startswith(b"["):
                yield from self._document(self._whole(raw, lines), number)
                return
            try:
                value = decode_fast(raw)
            except REFUSED as error:
                value = self._second_look(raw, number, error, begun)
            self.number, self.raw, self._before = number, raw, _NOTHING
            if type(value) is _Labelled:
                begun, at, value = True, value.at, value.value
                self.raw, self._before = raw[at:], (raw, at)
                yield value
            elif type(value) is dict:
                begun = True
                yield value
            elif begun and type(value) is list and all(type(item) is dict for item in value):
                yield from value  # a batch, as JSON-RPC has them
            elif value is _OPEN:
                yield from self._document(self._whole(raw, lines), number)
                return
            elif value is not _BLANK:
                raise self.fault(f"a line must be a JSON object, not {shown(value)}")

    def _second_look(self, raw: bytes, number: int, error: Exception, begun: bool) -> Any:
        """What a line that the decoder refused holds after all: nothing, a value, the begin of a document, or an
        object behind a label or a time, as logs have them."""
        if not raw.strip():
            return _BLANK
        try:
            return decode(raw)
        except REFUSED as again:
            whole = raw.endswith(b"\n")
            if whole and not begun and "truncated" in str(again):
                return _OPEN
            label = _LABEL.match(raw)
            if label and _is_object(raw[label.end() :]):
                return _Labelled(label.end(), decode(raw[label.end() :]))
            raise fault_of(again, raw, self.path, number, last=not whole) from error

    def _whole(self, first: bytes, lines: Iterator[bytes]) -> bytes:
        """The rest of the file behind its first line, unless that is the first of many and was cut short."""
        parts, size = [first], len(first)
        probe = not first.rstrip().endswith((b"{", b"[", b",", b"]"))
        for line in lines:
            if probe and line.strip():
                probe = False
                if _is_object(line):
                    raise fault_of(msgspec.DecodeError("truncated"), first, self.path, self.number)
            parts.append(line)
            size += len(line)
            if size > MAX_SIZE:
                raise too_large(self.path, f"a JSON document is larger than {MAX_SIZE >> 20} MB")
        return b"".join(parts)

    def _document(self, data: bytes, number: int) -> Iterator[dict[str, Any]]:
        elements: list[msgspec.Raw] | None = None
        value: dict[str, Any] = {}
        try:
            if data.lstrip().startswith(b"["):
                data, elements = _elements(data)
            else:
                value = decode(data)
        except REFUSED as error:
            raise fault_of(error, data, self.path, number, last=True) from error
        if elements is None:
            self.number, self.raw, self._before = number, data, (data, 0)
            yield value  # no list, and nothing else begins like one that ends on a later line
            return
        at = 0
        for element in elements:
            start = data.find(element, at)  # only white space and a comma stand before it
            self.number = number = number + data.count(b"\n", at, start)
            raw = self.raw = bytes(element)
            self._before = data, start
            try:
                value = decode(raw)
            except REFUSED as error:
                before = data[data.rfind(b"\n", 0, start) + 1 : start]
                raise fault_of(error, raw, self.path, number, before=before) from error
            if type(value) is not dict:
                raise self.fault(f"an element must be a JSON object, not {shown(value)}")
            yield value
            at = start + len(raw)
            number += raw.count(b"\n")

    def fault(
        self, message: str, place: str | Sequence[str | int] | None = None, *, code: str = "VGL601"
    ) -> InputError:
        """The current object is at fault, at the member `place` or at what that path of names and indices leads to."""
        whole, at = self._before
        before = whole[whole.rfind(b"\n", 0, at) + 1 : at].decode("utf-8", "replace")
        text = before + self.raw.decode("utf-8", "replace").rstrip("\r\n")
        start, end = place_of(text, (place,) if isinstance(place, str) else place or (), len(before))
        return InputError([point_at(code, message, self.path, text, start, end, self.number)])


class _Labelled(NamedTuple):
    at: int
    value: dict[str, Any]


_LABEL = regex(rb"[\w.:+-]{1,100}[ \t]+(?=\{)")
_NOTHING = b"", 0
_TRIES = 20
"""Lines, one behind the other, that a preferred decoder may refuse."""
_BLANK = object()
_OPEN = object()
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


def _elements(data: bytes) -> tuple[bytes, list[msgspec.Raw]]:
    """The elements of an array, not decoded yet, and the data that they are parts of."""
    try:
        return data, _ELEMENTS.decode(data)
    except msgspec.DecodeError:
        whole = mended(data)
        return whole, _ELEMENTS.decode(whole)


def _is_object(line: bytes) -> bool:
    try:
        return type(decode(line)) is dict
    except REFUSED:
        return False
