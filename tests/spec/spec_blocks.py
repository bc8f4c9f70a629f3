"""The fenced blocks of a page, each with what stands before it in its section."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^##+ .*$", re.MULTILINE)
RULE = re.compile(r"\bR(?:\d+|[A-E])(?:\.\d+)?-\d+\b")
"""The number of a rule of spec.md: its section and its place in it."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its info string cut into words, and its text. `line` is that of the opening fence."""

    kind: str
    args: tuple[str, ...]
    text: str
    line: int
    before: tuple[Block, ...] = ()
    """The earlier blocks of the same section."""
    rules: tuple[str, ...] = ()
    """The rules of spec.md that the block tests."""

    def last(self, kind: str) -> Block:
        """The nearest block of a kind before this one."""
        return next(block for block in reversed(self.before) if block.kind == kind)

    def __str__(self) -> str:
        return "-".join([str(self.line), self.kind, *self.args, *self.rules])


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    headings = [m.start() for m in _HEADING.finditer(text)]
    found: list[Block] = []
    section = -1
    before: tuple[Block, ...] = ()
    for fence in _FENCE.finditer(text):
        here = sum(start < fence.start() for start in headings)
        if here != section:
            section, before = here, ()
        kind, *words = fence["info"].split()
        args = tuple(word for word in words if not RULE.fullmatch(word))
        rules = tuple(word for word in words if RULE.fullmatch(word))
        line = text.count("\n", 0, fence.start()) + 1
        block = Block(kind, args, fence["text"], line, before, rules)
        before = (*before, block)
        found.append(block)
    return found
