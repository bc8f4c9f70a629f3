"""Single lines of Markdown: rows of tables, indentation, comments, and where front matter ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_delimiter(line: str) -> bool:
    """Whether a line parts a table's head from its rows."""
    return "-" in line and "|" in line and not line.strip(" \t\r|:-")


def indent(line: str) -> int:
    """How far a line is indented; a tab counts as four."""
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    return len(lead) + 3 * lead.count("\t")


def cells(line: str) -> Iterator[tuple[int, int]]:
    """The ranges of a row's cells that are not empty: bars in code or behind a backslash do not part them."""
    start, in_code = 0, False
    edges = []
    for m in re.finditer(r"\\.|[`|]", line):
        if m.group() == "`":
            in_code = not in_code
        elif m.group() == "|" and not in_code:
            edges.append(m.start())
    for edge in [*edges, len(line)]:
        cell = line[start:edge]
        if kept := cell.strip():
            first = start + len(cell) - len(cell.lstrip())
            yield first, first + len(kept)
        start = edge + 1


def shown(line: str, start: int, hidden: bool) -> tuple[int, int, bool]:
    """The part of a line outside comments that go on beyond it, and whether one does so below.

    Comments within the line are left to `inline`.
    """
    at = 0
    if hidden:
        close = line.find("-->")
        if close < 0:
            return start, start, True
        at = close + 3
    first, quoted, seen = at, False, at
    while (opened := line.find("<!--", at)) >= 0:
        quoted ^= line.count("`", seen, opened) % 2 == 1
        seen = opened
        close = line.find("-->", opened)
        if close < 0 and not quoted:
            return start + first, start + opened, True
        at = opened + 4 if quoted else close + 3
    return start + first, start + len(line), False


def front_matter(lines: list[str]) -> int:
    """How many lines the front matter has; 0 where there is none."""
    if not lines or lines[0].rstrip() not in ("---", "+++", "\ufeff---"):
        return 0
    mark = lines[0].strip("\ufeff \r\t")
    for number in range(1, len(lines)):
        if lines[number].rstrip() in (mark, "..."):
            return number + 1
    return 0
