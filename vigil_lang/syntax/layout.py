"""The layout of one item: as few lines as fit, broken from the outside in.

A bracket that does not fit puts each of its elements on a line; a condition that does not fit breaks before
each of its outermost connectives. A comment ends its line wherever it stands.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from vigil_lang.syntax.structure import CLOSING, Block, Chain, Group, Run, Structure

if TYPE_CHECKING:
    from vigil_lang.syntax.leaves import Leaf
    from vigil_lang.syntax.structure import Node

WIDTH = 100
INDENT = 4

_LISTS = ("RECORD", "RELAXES")
"""What a list without brackets follows."""


def lines_of(leaves: list[Leaf]) -> list[str]:
    """The lines of an item; comments above its first leaf are not among them."""
    page = _Page(leaves)
    structure = Structure(leaves)
    while structure.at < len(leaves):
        page.newline(0)
        page.node(structure.next_line(), 0, INDENT, 0)
    page.newline(0)
    return page.lines


class _Page:
    """Lines as they are written, and how wide the leaves would be on one line."""

    def __init__(self, leaves: list[Leaf]) -> None:
        self.leaves = leaves
        self.lines: list[str] = []
        self.line: list[str] = []
        self.width = 0
        self.indent = 0
        self.ended = False  # by a comment: nothing more fits on this line
        self.ends = [0]  # of leaves, were all on one line
        self.breaks = [0]  # that cannot be avoided, before each leaf
        for before, leaf in pairwise([None, *leaves]):
            assert leaf is not None
            self.ends.append(self.ends[-1] + leaf.space + len(leaf.text))
            # A comma before the closing bracket is how an author asks for a line each.
            asked = before is not None and before.terminal == "COMMA" and leaf.terminal in CLOSING
            forced = bool(leaf.above) or asked or (before is not None and before.beside is not None)
            self.breaks.append(self.breaks[-1] + forced)

    # --- writing ---

    def newline(self, indent: int) -> None:
        if self.line:
            self.lines.append("".join(self.line))
        self.line, self.width, self.indent, self.ended = [], indent, indent, False

    def write(self, text: str, space: int) -> None:
        gap = " " * (space if self.line else self.indent)
        self.line += (gap, text)
        self.width += (space if self.line else 0) + len(text)

    def settle(self, leaf: Leaf, indent: int, *, blanks: bool = False) -> None:
        """Write what stands above a leaf, which goes to a new line if it must, indented so."""
        if self.ended or (leaf.above and self.line):
            self.newline(indent)
        for remark in leaf.above:
            if blanks and remark.blank:
                self.lines.append("")
            self.write(remark.text, 0)
            self.newline(self.indent)
        if blanks and leaf.blank:
            self.lines.append("")
        leaf.above = []

    def leaf(self, index: int, indent: int) -> None:
        leaf = self.leaves[index]
        self.settle(leaf, indent)
        self.write(leaf.text, leaf.space)
        if leaf.beside is not None:
            self.write(leaf.beside, 2)
            self.ended = True

    def fits(self, first: int, last: int, tail: int, indent: int) -> bool:
        """Whether the leaves, and `tail` columns after them, can go on this line."""
        leaf = self.leaves[first]
        self.settle(leaf, indent)
        space = leaf.space if self.line else 0
        width = self.ends[last + 1] - self.ends[first] - leaf.space
        unbroken = self.breaks[last + 1] == self.breaks[first + 1]
        return unbroken and self.width + space + width + tail <= WIDTH

    def flat(self, first: int, last: int, indent: int) -> None:
        for index in range(first, last + 1):
            self.leaf(index, indent)

    # --- parts ---

    def node(self, node: Node, base: int, hang: int, tail: int) -> None:
        """Write a part. `base` is how far the brackets in it are indented, `hang` its connectives."""
        blocked = isinstance(node, Run) and isinstance(node.parts[-1], Block)
        if not blocked and self.fits(node.first, node.last, tail, base + INDENT):
            self.flat(node.first, node.last, base + INDENT)
        elif isinstance(node, Run):
            self._run(node, base, tail)
        elif node.suffixed:
            self._suffixed(node, base)
        else:
            self._chain(node, hang, tail)

    def _chain(self, chain: Chain, hang: int, tail: int) -> None:
        self.node(chain.operands[0], hang, hang + INDENT, 0)
        for operator, operand in zip(chain.operators, chain.operands[1:], strict=True):
            self.newline(hang)
            self.leaf(operator, hang + INDENT)
            self.node(operand, hang, hang + INDENT, tail if operand.last == chain.last else 0)

    def _suffixed(self, chain: Chain, base: int) -> None:
        """`form after p where q`: a line for each suffix, but the first may stand behind the bracket of the form.

        So do the parts of a rule, with a line for each.
        """
        form, *suffixes = chain.operands
        on_own_line = self.fits(form.first, form.last, 0, base + INDENT) or isinstance(form, Chain)
        self.node(form, base, base + INDENT, 0)
        if not on_own_line and self.leaves[form.last].terminal == "RPAR":
            if self.fits(chain.operators[0], chain.last, 0, base + INDENT):
                self.flat(chain.operators[0], chain.last, base + INDENT)
                return
            self.leaf(chain.operators.pop(0), base + INDENT)
            self.node(suffixes.pop(0), base, base + INDENT, 0)
        base += INDENT
        for operator, suffix in zip(chain.operators, suffixes, strict=True):
            self.newline(base)
            self.leaf(operator, base + INDENT)
            self.node(suffix, base, base + INDENT, 0)

    def _run(self, run: Run, base: int, tail: int) -> None:
        # From the right: how much of the text after each part must stay on its line.
        rests: list[int] = []
        for part in reversed(run.parts):
            rests.append(tail)
            leaf = self.leaves[part if isinstance(part, int) else part.first]
            breaks = isinstance(part, int) and self._breaks(part, run)
            if not isinstance(part, int) or breaks:
                tail = 0  # a line may break after the bracket opens, and before `|`
            tail += leaf.space + len(leaf.text) if not breaks else 0
        for part in run.parts:
            rest = rests.pop()
            if isinstance(part, Group):
                self._group(part, base, rest)
                continue
            if isinstance(part, Block):
                self._block(part, base)
                continue
            if self._breaks(part, run) and not self.fits(part, part, rest, base + INDENT):
                self.newline(base + INDENT)
            self.leaf(part, base + INDENT)

    def _breaks(self, index: int, run: Run) -> bool:
        """Whether a line may break before a leaf: before `|`, and in lists without brackets after a comma."""
        lists = self.leaves[run.first].terminal == "EXPECT" or self.leaves[run.first - 1].terminal in _LISTS
        return (lists and self.leaves[index - 1].terminal == "COMMA") or self.leaves[index].terminal == "VBAR"

    def _group(self, group: Group, base: int, tail: int) -> None:
        if self.fits(group.first, group.last, tail, base + INDENT):
            self.flat(group.first, group.last, base + INDENT)
            return
        self.leaf(group.first, base + INDENT)
        inner = base + INDENT
        hang = inner if len(group.elements) == 1 else inner + INDENT
        self._forget_blank(group.first + 1)
        for element, comma in group.elements:
            self.newline(inner)
            self.settle(self.leaves[element.first], inner, blanks=True)
            self.node(element, inner, hang, comma is not None)
            if comma is not None:
                self.leaf(comma, hang)
        if group.closed:
            self.newline(inner)
            self.leaves[group.last].blank = False
            self.settle(self.leaves[group.last], inner, blanks=True)
            self.newline(base)
            self.leaf(group.last, base)

    def _block(self, block: Block, base: int) -> None:
        inner = base + INDENT
        self.leaf(block.first, inner)
        self._forget_blank(block.first + 1)
        for part in block.parts:
            self.newline(inner)
            self.settle(self.leaves[part.first], inner, blanks=True)
            self.node(part, inner, inner + INDENT, 0)
        closing = self.leaves[block.last]
        closing.blank = False
        if block.parts or closing.above or self.ended:
            self.newline(inner)
            self.settle(closing, inner, blanks=True)
            self.newline(base)
        self.leaf(block.last, base)

    def _forget_blank(self, index: int) -> None:
        leaf = self.leaves[index]
        (leaf.above[0] if leaf.above else leaf).blank = False
