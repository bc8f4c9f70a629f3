"""Random changes of documents, and what they make of the client's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsp_positions import offset_of, split_lines, units
from lsprotocol import types

if TYPE_CHECKING:
    from random import Random

    Change = types.TextDocumentContentChangeEvent

PIECES = (
    # What ends a line, what does not although Python thinks so, and characters of every width, alone and combined.
    *("\n", "\r\n", "\r", "\r\r\n", "\n\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"),
    *("a", "é", "e\u0301", "€", "𝔸", "👩\u200d🔬", "\ufeff", "\t", "\x00", ""),
    # What a policy is made of, whole and in parts.
    *(
        "policy p\n",
        "statement S: ",
        "prec(Send(), Ask())",
        "abs(",
        ")",
        "Read(path = x",
        ', file ~ "*.cśv")',
        "statement",
    ),
    *(
        '"',
        "//",
        "/// says 𝔸\n",
        "@severity(error)",
        "pattern p(x) = ",
        "let A = {b, c}\n",
        "{",
        "}",
        " ",
        "x",
        "use std.x\n",
    ),
)


def text(random: Random, most: int = 12) -> str:
    """A text of some pieces."""
    return "".join(random.choice(PIECES) for _ in range(random.randint(0, most)))


def change(random: Random, now: str, encoding: str) -> tuple[Change, str]:
    """A change, and the text after it. Positions may be beyond a line, beyond the text, inside of a character, or the
    end before the start."""
    new = text(random, 3)
    if random.random() < 0.04:
        return types.TextDocumentContentChangeWholeDocument(text=new), new
    lines = split_lines(now)
    start, end = _position(random, lines, encoding), _position(random, lines, encoding)
    if random.random() < 0.3:
        end = start
    a, b = sorted((offset_of(now, start, encoding), offset_of(now, end, encoding)))
    if (start.line, start.character) > (end.line, end.character) and random.random() < 0.9:
        start, end = end, start
    given = types.TextDocumentContentChangePartial(range=types.Range(start, end), text=new)
    if random.random() < 0.1:
        given.range_length = random.randint(0, 9)  # no longer of any meaning
    return given, now[:a] + new + now[b:]


def changes(random: Random, now: str, encoding: str, most: int = 4) -> tuple[list[Change], str]:
    """The changes of one notification, each relative to the text after the one before, and the text after all."""
    made = []
    for _ in range(random.randint(1, most)):
        one, now = change(random, now, encoding)
        made.append(one)
    return made, now


def _position(random: Random, lines: list[str], encoding: str) -> types.Position:
    line = random.randint(0, len(lines) + (random.random() < 0.1))
    if line >= len(lines):
        return types.Position(line, random.choice((0, 3, 2**31 - 1)))
    length = units(lines[line], encoding)
    return types.Position(line, 2**31 - 1 if random.random() < 0.02 else random.randint(0, length + 1))
