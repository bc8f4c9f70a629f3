"""Laying out a piece of source text with its span underlined, in terminal cells rather than code points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from vigil_lang.diagnostics.secrets import tags
from vigil_lang.diagnostics.visible import escaped

if TYPE_CHECKING:
    from vigil_lang.diagnostics.diagnostic import Source, Span

TAB = "    "
_SHOWN_LINES = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an excerpt: a source line (with its number), or the marks below one.

    `bar` is the rail that joins the lines of a span over several lines.
    """

    number: int | None
    bar: str
    text: str


def cells(shown: str) -> int:
    """The terminal cells that a text fit for a terminal takes."""
    return len(shown) if shown.isascii() else cell_len(shown)


def excerpt(source: Source, span: Span, room: int, mark: str = "^") -> list[Row]:
    """The lines of a span, at most `room` cells wide; marks of `mark` stand exactly below what it covers."""
    first, column = source.position(span.start)
    last, stop = source.position(max(span.start, span.end))
    if last > first and stop == 1:  # the span ends with a line break: that is the end of the line before
        last, stop = last - 1, len(source.line(last - 1)) + 1
    if first == last:
        text, at, wide = fit(source.line(first), column - 1, stop - 1, room)
        return [Row(first, "", text), Row(None, "", " " * at + mark * wide)]
    return _several(source, (first, column), (last, stop), max(room - 2, 1), mark)


def _several(source: Source, start: tuple[int, int], stop: tuple[int, int], room: int, mark: str) -> list[Row]:
    """As rustc draws it: a rail from where the span starts to where it ends."""
    (first, column), (last, end) = start, stop
    line = source.line(first)
    text, at, _ = fit(line, column - 1, len(line), room)
    if line[: column - 1].strip():
        rows = [Row(first, "  ", text), Row(None, " ", "_" * (at + 1) + mark)]
    else:
        rows = [Row(first, "/ ", text)]
    numbers = range(first + 1, last + 1)
    for number in numbers:
        if len(numbers) >= _SHOWN_LINES and first + 2 < number < last:
            if number == first + 3:
                rows.append(Row(None, "| ", "…"))
            continue
        line = source.line(number)
        text, at, wide = fit(line, 0, end - 1 if number == last else len(line), room)
        rows.append(Row(number, "| ", text))
    return [*rows, Row(None, "|", "_" * (at + wide) + mark)]


def fit(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """A line as it is shown, cut around the span where it is too long; the span's offset and width in cells."""
    end = max(start, min(end, len(line)))
    # What is further away than `room` code points cannot be shown; a line may be megabytes long.
    begin, stop = max(0, start - room), min(len(line), max(end, start + 1) + room, start + 2 * room)
    piece = line[begin:stop]
    low, high = start - begin, min(end, stop) - begin
    parts = list(piece) if piece.isascii() and piece.isprintable() else [_shown(char) for char in piece]
    for first, last, tag in tags(line):  # a secret is shown where it begins, and takes no room after it
        if first < stop and last > begin:
            hidden = range(max(first - begin, 0), min(last, stop) - begin)
            parts[hidden.start : hidden.stop] = [tag, *[""] * (len(hidden) - 1)]
    sizes = [cells(part) for part in parts]
    left, right = 0, len(parts)
    if begin > 0 or stop < len(line) or sum(sizes) > room:
        left, right = _window(sizes, low, high, room - 2)
    high = min(high, right)
    head = ("…" if begin + left > 0 else "") + "".join(parts[left:low])
    marked = "".join(parts[low:high])
    tail = "".join(parts[high:right]) + ("…" if begin + right < len(line) else "")
    return head + marked + tail, cells(head), max(1, cells(head + marked) - cells(head))


def _shown(char: str) -> str:
    return TAB if char == "\t" else escaped(char)


def _window(sizes: list[int], low: int, high: int, room: int) -> tuple[int, int]:
    """Which parts to show: those of the span, then as much on either side as there is room for."""
    left, right, used = low, low, 0
    while right < high and used + sizes[right] <= room:
        used += sizes[right]
        right += 1
    spare = room - used
    share = max(spare // 2, spare - sum(sizes[right:]))
    while left > 0 and sizes[left - 1] <= share:
        left -= 1
        share -= sizes[left]
        used += sizes[left]
    while right < len(sizes) and used + sizes[right] <= room:
        used += sizes[right]
        right += 1
    return left, right
