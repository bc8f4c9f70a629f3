"""A reference client's view of positions: its own code, so that a mistake in the server's cannot hide in it.

A document is a list of code units of the negotiated encoding, as an editor holds it.
"""

from __future__ import annotations

from lsprotocol import types

_WIDTH = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODEC = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def units(text: str, encoding: str) -> int:
    """How many code units a text takes."""
    return len(text.encode(_CODEC[encoding], "surrogatepass")) // _WIDTH[encoding]


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; the last one has none. Only CR LF, LF and CR end a line."""
    lines = [line.decode("utf-8", "surrogatepass") for line in text.encode("utf-8", "surrogatepass").splitlines(True)]
    return lines if lines and lines[-1][-1] not in "\r\n" else [*lines, ""]


def position_of(text: str, offset: int, encoding: str) -> types.Position:
    """The position of an offset in code points; between CR and LF it is the end of the line's text."""
    assert 0 <= offset <= len(text)
    for number, line in enumerate(split_lines(text)):
        if offset < len(line) or line[-1:] not in ("\r", "\n"):
            return types.Position(number, units(line.rstrip("\r\n")[:offset], encoding))
        offset -= len(line)
    raise AssertionError("the last line has no end")


def offset_of(text: str, position: types.Position, encoding: str) -> int:
    """The offset of a position: clamped to its line and to the text, down to the start of a character."""
    lines = split_lines(text)
    if position.line >= len(lines):
        return len(text)
    line = lines[position.line].rstrip("\r\n").encode(_CODEC[encoding])
    before = line[: position.character * _WIDTH[encoding]].decode(_CODEC[encoding], "ignore")
    return sum(map(len, lines[: position.line])) + len(before)


def range_of(text: str, start: int, end: int, encoding: str) -> types.Range:
    """The range between two offsets."""
    return types.Range(position_of(text, start, encoding), position_of(text, end, encoding))


def part(text: str, range: types.Range, encoding: str) -> str:  # noqa: A002 - the protocol's word
    """What stands in a range."""
    return text[offset_of(text, range.start, encoding) : offset_of(text, range.end, encoding)]


def edited(text: str, edits: list[types.TextEdit], encoding: str) -> str:
    """A text after edits that do not overlap, all of them with positions in the text as it is."""
    spans = [(offset_of(text, e.range.start, encoding), offset_of(text, e.range.end, encoding), e) for e in edits]
    done, at = "", 0
    for start, end, edit in sorted(spans, key=lambda each: each[:2]):
        assert at <= start <= end, "the edits overlap"
        done += text[at:start] + edit.new_text
        at = end
    return done + text[at:]


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A text without its marks, and the spans between `«` and `»`; `«»` marks a place."""
    plain, spans, open_at = "", [], -1
    for character in text:
        if character == "«":
            open_at = len(plain)
        elif character == "»":
            spans.append((open_at, len(plain)))
        else:
            plain += character
    return plain, spans
