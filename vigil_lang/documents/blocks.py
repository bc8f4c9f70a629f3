"""Markdown as blocks: paragraphs, items, cells, headings and code, line by line and in linear time.

No full CommonMark: what matters is which lines belong together and where they stand. Nothing nests here but lists, and
these by their indentation alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vigil_lang.diagnostics import Span
from vigil_lang.documents.inline import plain
from vigil_lang.documents.lines import cells, front_matter, indent, is_delimiter, shown

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source
    from vigil_lang.documents.document import Kind

_QUOTE = re.compile(r"(?:[ \t]{0,3}>)+[ \t]?")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`\n]*)$")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})(?:[ \t]+|$)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•◦▪]|\(?\d{1,9}[.)]|\(?[A-Za-z][.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?)(?=\S)")
_INNER = re.compile(r"(?:\(?\d{1,9}[.)]|\(?[a-z][.)])[ \t]+(?=\S)")
"""A second mark of an item: `- a. …`."""

_FOOTNOTE = re.compile(r"[ \t]{0,3}\[\^[^\[\]]{1,300}\]:[ \t]*(?=\S)")
_RULE = re.compile(r"[ \t]{0,3}(?:\*[ \t]*){3,}$|[ \t]{0,3}(?:-[ \t]*){3,}$|[ \t]{0,3}(?:_[ \t]*){3,}$")
_REFERENCE = re.compile(r"[ \t]{0,3}\[[^\[\]]{1,300}\]:[ \t]*\S")
_CALLOUT = re.compile(r"\[!\w+\][ \t]*$|:::+[ \t]*\w*[ \t]*$")
_LABEL = re.compile(r"(\*\*|__)(?![\s*_])[^*_]{1,40}(?<!\s)\1")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_WRAPPED = 60
"""How long a line of plain text is at least that may go on in the next one, though that begins with a capital."""

_MARKDOWN = frozenset({"md", "markdown", "mdx"})


@dataclass(slots=True, eq=False)
class Block:
    """Lines that belong together. `lead` is the block that may introduce the list this one is an item of."""

    kind: Kind | Literal["code"]
    pieces: list[Span]
    headings: tuple[str, ...] = ()
    lead: Block | None = None


@dataclass(slots=True)
class _Fence:
    """An open code fence; in one that quotes Markdown, fences with a language open further ones."""

    mark: str
    block: Block
    quotes_markdown: bool
    inner: int = 0


@dataclass(slots=True)
class _Reader:
    source: Source
    blocks: list[Block] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    leads: list[tuple[int, Block]] = field(default_factory=list)
    open: Block | None = None
    fence: _Fence | None = None
    columns: list[str] | None = None
    quoted: bool = False
    blank: bool = True

    def begin(self, kind: Kind | Literal["code"], span: Span, lead: Block | None = None) -> Block:
        path = tuple(text for _, text in self.headings)
        self.open = Block(kind, [span], path, lead)
        self.blocks.append(self.open)
        return self.open

    # --- one line ---

    def line(self, start: int, end: int, following: str) -> None:
        """Read one line; `following` is the next one, which tells a table's head."""
        text = self.source.text
        if self.fence is not None:
            self._in_fence(text[start:end], Span(start, end))
            return
        quote = _QUOTE.match(text, start, end)
        if quote:
            start = quote.end()
            if not self.quoted:
                self.open = self.columns = None
        self.quoted = quote is not None
        line = text[start:end]
        content = line.strip()
        if not content or _CALLOUT.match(content):
            self.open = self.columns = None
            self.blank = True
            return
        was_blank, self.blank = self.blank, False
        inner = Span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
        if opening := _FENCE.match(line):
            block = self.begin("code", Span(end, end))
            self.open = self.columns = None
            language = opening[2].strip().partition(" ")[0].lower()
            self.fence = _Fence(opening[1], block, language in _MARKDOWN)
        elif heading := _HEADING.match(line):
            self._heading(len(heading[1]), Span(start + heading.end(), inner.end))
        elif self._is_table(line, following):
            self._table_row(line, start)
        elif (
            self.open is not None
            and self.open.kind == "prose"
            and content.strip("=" if content[0] == "=" else "-") == ""
        ):
            self._underlined(1 if content[0] == "=" else 2)
        elif _RULE.match(line):
            self.open = None
        elif item := _ITEM.match(line):
            inside = _INNER.match(line, item.end()) or item
            self._item(indent(item[1]), Span(start + inside.end(), inner.end))
        elif note := _FOOTNOTE.match(line):
            self._prose(indent(line), Span(start + note.end(), inner.end))
        elif self.open is not None:
            self._continue(self.open, inner)
        elif was_blank and not self._in_list() and indent(line) >= 4:
            self.begin("code", inner)
        elif not _REFERENCE.match(line):
            self._prose(indent(line), inner)

    def _in_fence(self, line: str, span: Span) -> None:
        assert self.fence is not None
        found = _FENCE.match(line) or (_FENCE.match(line[m.end() :]) if (m := _QUOTE.match(line)) else None)
        fence = self.fence
        if found is None or found[1][0] != fence.mark[0] or (len(found[1]) < len(fence.mark) and not fence.inner):
            fence.block.pieces.append(span)
        elif found[2].strip():
            fence.inner += fence.quotes_markdown
            fence.block.pieces.append(span)
        elif fence.inner:
            fence.inner -= 1
        else:
            self.fence = None
            self.blank = True

    def _in_list(self) -> bool:
        return any(block.kind == "item" for _, block in self.leads)

    def _heading(self, level: int, span: Span) -> None:
        if closing := _CLOSING.search(self.source.text, max(span.start, span.end - 40), span.end):
            span = Span(span.start, closing.start())
        self.columns = None
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.leads.clear()
        self.begin("heading", span)
        self.headings.append((level, plain(self.source.text, [span]).text))
        self.open = None

    def _underlined(self, level: int) -> None:
        assert self.open is not None
        block, self.open = self.open, None
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.leads.clear()
        block.kind, block.headings = "heading", tuple(text for _, text in self.headings)
        self.headings.append((level, plain(self.source.text, block.pieces).text))

    def _item(self, indent: int, span: Span) -> None:
        self.columns = None
        while self.leads and self.leads[-1][0] >= indent:
            self.leads.pop()
        block = self.begin("item", span, self.leads[-1][1] if self.leads else None)
        self.leads.append((indent, block))

    def _prose(self, indent: int, span: Span) -> None:
        self.columns = None
        while self.leads and self.leads[-1][0] >= indent - 1:
            self.leads.pop()
        self.leads.append((indent - 1, self.begin("prose", span)))

    def _continue(self, block: Block, span: Span) -> None:
        """A further line of a block, or after a hard break (two spaces, a backslash) one that stands by itself."""
        text, last = self.source.text, block.pieces[-1]
        slashed = text.startswith("\\\n", last.end - 1)
        if block.kind != "code" and (
            slashed or text.startswith("  ", last.end) or self._is_apart(last, span, len(block.pieces) == 1)
        ):
            block.pieces[-1] = Span(last.start, last.end - slashed)
            self.open = Block(block.kind, [span], block.headings, block.lead)
            self.blocks.append(self.open)
        else:
            block.pieces.append(span)

    def _is_apart(self, last: Span, span: Span, first: bool) -> bool:
        """Whether a line begins anew: after a label (`**Warning**`), or where lines of a plain text are its rules."""
        text = self.source.text
        if first and _LABEL.fullmatch(text, last.start, last.end):
            return True
        ended = last.end - last.start < _WRAPPED and text[last.end - 1] not in ",;:("
        return ended and text[span.start].isupper() and self.source.path.lower().endswith(".txt")

    # --- tables ---

    def _is_table(self, line: str, following: str) -> bool:
        if "|" not in line:
            return False
        if self.columns is not None:
            return True
        quote = _QUOTE.match(following)
        return is_delimiter(following[quote.end() :] if quote else following)

    def _table_row(self, line: str, start: int) -> None:
        self.open = None
        if is_delimiter(line) and self.columns is not None:
            return
        row = [Span(start + s, start + e) for s, e in cells(line)]
        if self.columns is None:
            self.columns = [plain(self.source.text, [cell]).text for cell in row]
            for cell in row:
                self.begin("heading", cell)
        else:
            first: Block | None = None
            for at, cell in enumerate(row):
                block = self.begin("cell", cell, first)
                block.headings += tuple(self.columns[at : at + 1])
                first = first or block
        self.open = None


def blocks(source: Source) -> list[Block]:
    """The blocks of a document; its front matter and its code are `code`."""
    reader = _Reader(source)
    text = source.text
    lines = text.split("\n")
    at, first = 0, front_matter(lines)
    if first:
        reader.begin("code", Span(0, sum(len(line) + 1 for line in lines[:first]) - 1))
        reader.open = None
        at = sum(len(line) + 1 for line in lines[:first])
    hidden = False
    for number in range(first, len(lines)):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        start, end = at, at + len(line)
        at = end + 1
        if reader.fence is None and (hidden or "<!--" in line):
            start, end, hidden = shown(line, start, hidden)
            if start == end and line.strip():
                continue
        reader.line(start, end, following)
    return reader.blocks
