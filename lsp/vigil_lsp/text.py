"""A text as client and server see it: positions in the encoding they agreed on, offsets in code points."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from lsprotocol import types
from pygls.workspace import PositionCodec

from vigil_lang.diagnostics import Span

_LINE_END = re.compile(r"\r\n|\r|\n")
_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")

UTF8, UTF16, UTF32 = (
    types.PositionEncodingKind.Utf8,
    types.PositionEncodingKind.Utf16,
    types.PositionEncodingKind.Utf32,
)


class Text:
    """One state of a document. Lines end at `\\n`, `\\r\\n` and `\\r` alone, as the protocol counts them.

    Positions that do not exist are the nearest that do: the end of a line, of the text, or the start of the character
    that a position points into. What stands before `begin` has no positions.
    """

    def __init__(self, content: str, encoding: types.PositionEncodingKind | str = UTF16, begin: int = 0) -> None:
        self.content = content
        self.begin = begin
        self.encoding = types.PositionEncodingKind(encoding)
        self._codec = PositionCodec(self.encoding)

    @cached_property
    def _starts(self) -> list[int]:
        if "\r" in self.content:
            return [self.begin, *(found.end() for found in _LINE_END.finditer(self.content))]
        lengths = accumulate(map(len, self.content.split("\n")[:-1]))  # without the ends, which are a character each
        return [self.begin, *[end + ends for ends, end in enumerate(lengths, 1)]]

    @cached_property
    def _plain(self) -> bool:
        """Whether every character is one unit."""
        if self.content.isascii() or self.encoding == UTF32:
            return True
        return self.encoding == UTF16 and _BEYOND_16_BITS.search(self.content) is None

    @cached_property
    def line_end(self) -> str:
        """How lines that are put in end; found once, as a list of completions asks for each of its edits."""
        return "\r\n" if "\r\n" in self.content else "\n"

    @property
    def lines(self) -> int:
        """How many lines there are; an empty text has one."""
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """The offset at which a line, from 0, begins; the end of the text where there is no such line."""
        return self._starts[line] if line < len(self._starts) else len(self.content)

    def line(self, number: int) -> str:
        """The text of a line, from 0, without its end; empty where there is no such line."""
        return self.content[self.line_start(number) : self._line_end(number)]

    def _line_end(self, line: int) -> int:
        """The offset of what ends a line."""
        if line + 1 >= len(self._starts):
            return len(self.content)
        end = self._starts[line + 1]
        return end - (2 if self.content.endswith("\r\n", 0, end) else 1)

    def offset(self, position: types.Position) -> int:
        """The offset of a position."""
        line, units = max(position.line, 0), max(position.character, 0)
        if line >= len(self._starts):
            return len(self.content)
        start, end = self._starts[line], self._line_end(line)
        if self._plain:
            return min(start + units, end)
        at, units_of = start, self._codec.client_num_units
        while at < end and (units := units - units_of(self.content[at])) >= 0:
            at += 1
        return at

    def position(self, offset: int) -> types.Position:
        """The position of an offset, which is moved into the text where it is outside."""
        offset = min(max(offset, self.begin), len(self.content))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        offset = min(offset, self._line_end(line))  # nothing is between the two characters of a line's end
        if self._plain:
            return types.Position(line, offset - start)
        return types.Position(line, self._codec.client_num_units(self.content[start:offset]))

    def range(self, span: Span) -> types.Range:
        """The range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def span(self, range: types.Range) -> Span:  # noqa: A002 - the protocol's word
        """The span of a range; one that ends before it starts is turned round."""
        start, end = self.offset(range.start), self.offset(range.end)
        return Span(min(start, end), max(start, end))

    @cached_property
    def whole(self) -> types.Range:
        """The range of everything."""
        return types.Range(types.Position(0, 0), self.position(len(self.content)))

    def changed(self, change: types.TextDocumentContentChangeEvent) -> Text:
        """The text after a change of a part, or of everything."""
        if not isinstance(change, types.TextDocumentContentChangePartial):
            return Text(change.text, self.encoding)
        start, end = self.span(change.range)
        return Text(self.content[:start] + change.text + self.content[end:], self.encoding)
