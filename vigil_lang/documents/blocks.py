"""Markdown as blocks: paragraphs, items, cells, headings and code, each with the places of its lines.

markdown-it-py tells which lines belong together. Its tokens know lines but no columns, so the rules for leaves are
wrapped to note where each line's text stands. Text within a line is read by `inline`, for the same reason.

What documents for agents have beyond CommonMark is read here: items marked by `•` or `a.`, callouts, footnotes, labels
on a line of their own, lists indented less than their parents ask for, and fences that quote Markdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import blockquote, code, heading, hr, lheading, list_block, paragraph, table

from vigil_lang.diagnostics import Span
from vigil_lang.documents.inline import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    from vigil_lang.documents.document import Kind

    Rule: TypeAlias = Callable[[StateBlock, int, int, bool], bool]

_MAX_NESTING = 20
"""Lists and quotes inside each other; what is nested deeper is text. Every line costs time for each quote around it."""

_FENCE = re.compile(r"(`{3,}|~{3,})([^`\n]*)$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_QUOTE = re.compile(r"(?:[ \t]{0,3}>)+[ \t]?")
_ITEM = re.compile(r"(?:[-*+•◦▪]|\(?\d{1,9}[.)]|\(?[A-Za-z][.)])[ \t]+(?=\S)")
_INNER = re.compile(r"(?:\[[ xX]\][ \t]+)?(?:(?:\(?\d{1,9}[.)]|\(?[a-z][.)])[ \t]+(?=\S))?")
"""What may follow an item's mark: a box, or a second mark (`- a. …`)."""

_FOOTNOTE = re.compile(r"\[\^[^\[\]]{1,300}\]:[ \t]*(?=\S)")
_REFERENCE = re.compile(r"\[[^\[\]]{1,300}\]:[ \t]*\S+(?:[ \t]+[\"'(][^\n]*)?[ \t]*$")
_CALLOUT = re.compile(r"(?:\[!\w+\]|:::+[ \t]*\w*)$")
_LABEL = re.compile(r"(\*\*|__)(?![\s*_])[^*_]{1,40}(?<!\s)\1")
_WRAPPED = 60
"""How long a line of plain text is at least that may go on in the next one, though that begins with a capital."""

_ONE_SPACE = re.compile(r"(?<! ) \r(?=\n)")
_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t\r]*\n(?:.*\n)*?(?:\1|\.\.\.)[ \t\r]*(?:\n|$)")
_HIDDEN = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}+(?=[^`\n]*$)|~{3,}+)[\s\S]*?(?:^[ \t>]*(?P=fence)[`~]*+[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]{1,200}(?P=ticks)"
    r"|(?P<comment><!--[\s\S]*?(?:-->|\Z))",
    re.MULTILINE,
)
_FILLER = "\x1f"
"""What stands for a comment: white space, but no blank line."""


@dataclass(slots=True, eq=False)
class Block:
    """Lines that belong together. `lead` is the block that may introduce the list this one is an item of."""

    kind: Kind | Literal["code"]
    pieces: list[Span]
    headings: tuple[str, ...] = ()
    lead: Block | None = None


def shown(text: str) -> str:
    """A text as long as it was, with filler where its comments are and without carriage returns."""
    if "\r" in text:
        # What stands before the end of a line is a hard break or none, whichever end it is.
        text = _ONE_SPACE.sub("\t\t", text.replace("\\\r\n", " \\\n")).replace("\r", " ")
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    return text[:start] + _HIDDEN.sub(_without_comment, text[start:]) if "<!--" in text else text


def blocks(text: str, *, is_plain: bool = False) -> list[Block]:
    """The blocks of a text that `shown` made; its front matter and its code are `code`. In linear time.

    In a plain text (`is_plain`), short lines stand by themselves.
    """
    reader = _Reader(text, is_plain)
    if front := _FRONT_MATTER.match(text):
        reader.begin("code", [_stripped(text, 0, front.end())])
        text = re.sub(r"[^\n]", " ", front.group()) + text[front.end() :]
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, {}, tokens)
    before = None
    for token in tokens:
        if "lines" in token.meta:
            reader.read(token, before == "list_item_open")
        before = token.type
    return reader.blocks


def comments(text: str) -> list[Span]:
    """Where a text that `shown` has not made yet has comments, which no reader of the document sees."""
    front = _FRONT_MATTER.match(text)
    found = _HIDDEN.finditer(text, front.end() if front else 0) if "<!--" in text else ()
    return [Span(*match.span()) for match in found if match["comment"]]


def _without_comment(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", _FILLER, found.group()) if found["comment"] else found.group()


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero", {"maxNesting": 3 * _MAX_NESTING})
    ruler = parser.block.ruler = Ruler()
    for name, rule, ends in (
        ("fence", _fence, "paragraph blockquote list"),
        ("table", _placed(table), "paragraph"),
        ("code", _placed(code), ""),
        ("blockquote", _bounded(blockquote), "paragraph blockquote list"),
        ("hr", hr, "paragraph blockquote list"),
        ("list", _bounded(list_block), "paragraph blockquote"),
        ("heading", _placed(heading), "paragraph blockquote"),
        ("lheading", _placed(lheading), ""),
        ("paragraph", _placed(paragraph), ""),
    ):
        ruler.push(name, rule, {"alt": ends.split()})
    return parser


def _placed(rule: Rule) -> Rule:
    """A rule whose first token knows where the text of each of its lines stands."""

    def placed(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        at = len(state.tokens)
        found = rule(state, start, end, silent)
        if found and not silent:
            state.tokens[at].meta["lines"] = [_line(state, number) for number in range(start, state.line)]
        return found

    return placed


def _bounded(rule: Rule) -> Rule:
    def bounded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < _MAX_NESTING and rule(state, start, end, silent)

    return bounded


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A code fence, however far it is indented; one that quotes Markdown may hold fences with a language.

    One that is not closed ends with the list item or the quote that it stands in.
    """
    first = _line(state, start)
    opening = _FENCE.match(state.src, first.start, first.end)
    if opening is None or silent:
        return opening is not None
    quotes_markdown = opening[2].strip().partition(" ")[0].lower() in ("md", "markdown", "mdx")
    inner, lines, last = 0, [first], start
    for last in range(start + 1, end):
        line = _line(state, last)
        if line.start < line.end and state.sCount[last] < state.blkIndent:
            last -= 1
            break
        found = _FENCE.match(state.src, line.start, line.end)
        if found is not None and found[1][0] == opening[1][0] and (inner or len(found[1]) >= len(opening[1])):
            if found[2].strip():
                inner += quotes_markdown
            elif inner:
                inner -= 1
            else:
                break
        lines.append(Span(state.bMarks[last], state.eMarks[last]))
    state.line = last + 1
    state.push("fence", "code", 0).meta["lines"] = lines[1:]
    return True


def _line(state: StateBlock, number: int) -> Span:
    return _stripped(state.src, state.bMarks[number] + state.tShift[number], state.eMarks[number])


@dataclass(slots=True)
class _Reader:
    text: str
    is_plain: bool
    blocks: list[Block] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    leads: list[tuple[int, Block]] = field(default_factory=list)

    def begin(self, kind: Kind | Literal["code"], pieces: list[Span], lead: Block | None = None) -> Block:
        block = Block(kind, pieces, tuple(text for _, text in self.headings), lead)
        self.blocks.append(block)
        return block

    def read(self, token: Token, is_item: bool) -> None:
        """Read a leaf; `is_item` says that it is what a mark of a list stands before."""
        lines = [line for line in token.meta["lines"] if line.start < line.end]
        match token.type:
            case "heading_open":
                self._heading(int(token.tag[1]), lines, bool(token.markup.startswith("#")))
            case "table_open":
                self._table(lines)
            case "fence":
                self.begin("code", lines)
            case "code_block" if not any(block.kind == "item" for _, block in self.leads):
                self.begin("code", lines)
            case _:
                self._paragraph(lines, is_item)

    def _heading(self, level: int, lines: list[Span], marked: bool) -> None:
        if marked:
            (line,) = lines
            start = line.start + level
            closing = _CLOSING.search(self.text, max(start, line.end - 40), line.end)
            lines = [_stripped(self.text, start, closing.start() if closing else line.end)]
        else:
            del lines[-1:]
        if not lines:  # a comment, and a rule that would underline it
            return
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.leads.clear()
        self.begin("heading", lines)
        self.headings.append((level, plain(self.text, lines).text))

    def _table(self, lines: list[Span]) -> None:
        head, _, *rows = [list(_cells(self.text, line)) for line in lines]
        columns = [plain(self.text, [cell]).text for cell in head]
        for cell in head:
            self.begin("heading", [cell])
        for row in rows:
            first: Block | None = None
            for at, cell in enumerate(row):
                block = self.begin("cell", [cell], first)
                block.headings += tuple(columns[at : at + 1])
                first = first or block

    def _paragraph(self, lines: list[Span], is_item: bool) -> None:
        block: Block | None = None
        for at, line in enumerate(lines):
            start, end = line.start, line.end
            marked = is_item and at == 0
            item, note = _ITEM.match(self.text, start, end), _FOOTNOTE.match(self.text, start, end)
            if _CALLOUT.match(self.text, start, end):
                block = None
            elif item is not None or marked:
                inner = _INNER.match(self.text, item.end() if item else start, end)
                block = self._item(_indent(self.text, start, marked), Span(inner.end() if inner else start, end))
            elif note is not None:
                block = self._prose(_indent(self.text, start), Span(note.end(), end))
            elif block is not None:
                block = self._continue(block, line)
            elif not _REFERENCE.fullmatch(self.text, start, end):
                block = self._prose(_indent(self.text, start), line)

    def _item(self, indent: int, span: Span) -> Block:
        while self.leads and self.leads[-1][0] >= indent:
            self.leads.pop()
        block = self.begin("item", [span], self.leads[-1][1] if self.leads else None)
        self.leads.append((indent, block))
        return block

    def _prose(self, indent: int, span: Span) -> Block:
        while self.leads and self.leads[-1][0] >= indent - 1:
            self.leads.pop()
        block = self.begin("prose", [span])
        self.leads.append((indent - 1, block))
        return block

    def _continue(self, block: Block, span: Span) -> Block:
        """A further line of a block, or after a hard break (two spaces, a backslash) one that stands by itself."""
        last = block.pieces[-1]
        slashed = self.text.startswith("\\\n", last.end - 1)
        if slashed or self.text.startswith("  ", last.end) or self._is_apart(last, span, len(block.pieces) == 1):
            block.pieces[-1] = Span(last.start, last.end - slashed)
            block = Block(block.kind, [span], block.headings, block.lead)
            self.blocks.append(block)
        else:
            block.pieces.append(span)
        return block

    def _is_apart(self, last: Span, span: Span, first: bool) -> bool:
        """Whether a line begins anew: after a label (`**Warning**`), or where lines of a plain text are its rules."""
        if first and _LABEL.fullmatch(self.text, last.start, last.end):
            return True
        ended = last.end - last.start < _WRAPPED and self.text[last.end - 1] not in ",;:("
        return self.is_plain and ended and self.text[span.start].isupper()


def _indent(text: str, start: int, is_marked: bool = False) -> int:
    """How far the line that holds a place is indented; a tab counts as four. Marks of quotes do not count."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if quote := _QUOTE.match(line):
        line = line[quote.end() :]
    lead = line[: len(line) - len(line.lstrip(" \t"))] if is_marked else line
    return len(lead) + 3 * lead.count("\t")


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    kept = part.strip()
    first = start + len(part) - len(part.lstrip())
    return Span(first, first + len(kept))


def _cells(text: str, row: Span) -> Iterator[Span]:
    """The cells of a row that are not empty: bars in code or behind a backslash do not part them."""
    start, in_code = row.start, False
    for mark in re.finditer(r"\\.|[`|]|$", text[row.start : row.end]):
        if mark.group() == "`":
            in_code = not in_code
        elif not mark.group() or (mark.group() == "|" and not in_code):
            cell = _stripped(text, start, row.start + mark.start())
            if cell.start < cell.end:
                yield cell
            start = row.start + mark.end()
