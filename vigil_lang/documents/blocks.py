"""Markdown as blocks: paragraphs, items, cells, headings and code, each with the places of its lines.

markdown-it-py tells which lines belong together. Its tokens know lines but no columns, so the rules for leaves are
wrapped to note where each line's text stands. Text within a line is read by `inline`, for the same reason.

What documents for agents have beyond CommonMark is read here: items marked by `•` or `a.`, callouts, footnotes, titles
and tags on a line of their own, lists indented less than their parents ask for, and fences that quote Markdown. Where
CommonMark would take a rule for something else than its author meant, the author counts: docs/draft.md says where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import blockquote, code, heading, hr, lheading, list_block, paragraph, table

from vigil_lang.diagnostics import Span
from vigil_lang.documents.inline import plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    from vigil_lang.documents.document import Kind

    Rule: TypeAlias = Callable[[StateBlock, int, int, bool], bool]

_MAX_NESTING = 20
"""Lists, quotes or tags inside each other; what is nested deeper is text. Every line costs time for each around it."""

_FENCE = re.compile(r"(`{3,}|~{3,})(?![ \t]*\|)([^`\n]*)$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_MORE_THAN = re.compile(r">(?P<gap>[ \t]*)(?:=|(?!\d{1,9}[.)](?:\s|$))[~≈]?[$€£¥]?\.?\d)")
"""What means "more than" and is no quote, though it stands where one would begin."""

_ITEM = re.compile(r"(?:[-*+:•◦▪‣●○■▸►➤]|[–—](?=[ \t]+[A-Z`*])|\(?\d{1,9}[.)]|\(?[A-Za-z][.)]|\[[ xX]\])[ \t]+(?=\S)")
_INNER = re.compile(r"(?:\[[ xX]\][ \t]+)?(?:(?:\(?\d{1,9}[.)]|\(?[a-z][.)])[ \t]+(?=\S))?")
"""What may follow an item's mark: a box, or a second mark (`- a. …`)."""

_BOX = re.compile(r"(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:\[[ xX]?\]|[☐☑])[ \t]+(?=\S)")
"""What may be ticked off in a block of code."""
_TEXTS = frozenset(("", "markdown", "md", "plaintext", "text", "txt"))
"""The languages of blocks of code that hold no code."""

_FOOTNOTE = re.compile(r"\[\^[^\[\]]{1,300}\]:[ \t]*(?=\S)")
_REFERENCE = re.compile(
    r"\[[^\[\]]{1,300}\]:[ \t]*(?=\S*(?:[/#:<]|\.\w))\S+(?:[ \t]+[\"'(][^\n]*)?[ \t]*$"  # `[Never]: push` is none
)
_CALLOUT = re.compile(
    r"(?:\[!\w+\][+-]?|:::+[ \t]*(?:[\w.-]+(?![^\s{\[]))?(?:\{[\w.#: -]*\})?|(?P<indents>(?:!!!|\?\?\?\+?)[ \t]+"
    r"(?:abstract|admonition|attention|bug|caution|danger|error|example|failure|hint|important|info|note|question|quote|"
    r"success|tip|warning)(?:[ \t]+(?:inline|end))*(?=[ \t]*(?:\"|$))))(?:[ \t]+|(?=[\[{])|$)"
)
"""The line that begins a callout, up to its title; what `indents` are marks whose text is indented below them."""

_ENDED = (".", "!", "?", ":", ";")
_TITLE = re.compile(r"(\*{1,3}|_{1,3})(?![\s*_])(?:(?!\1).){1,120}(?<!\s)\1:?")
_BEGINS = re.compile(r"(\*\*|__)(?:(?!\1).){1,60}(?::\1|\1:)|(?:Rule|Step) \d{1,3}[a-z]?[:.]|[❌🚫⛔✗✘✅✔☑✓☐☒⚠]")
"""What a line begins with that is no part of the line before it: `**Scope:**`, `Rule 2:`, a sign."""

_OPENS = re.compile(r"<[A-Za-z][\w.:-]{0,60}(?:[ \t][^<>\n]{0,300})?>$")
_CLOSES = re.compile(r"</[A-Za-z][\w.:-]{0,60}>$")
_CLOSING_TAG = re.compile(r"</([A-Za-z][\w.:-]{0,60})>")
_TAG_NAME = re.compile(r"</?([A-Za-z][\w.:-]{0,60})(?:[^>]*\bname=[\"']([^\"'<>]{1,100})[\"'])?")
_GOES_ON = re.compile(r"[\"'“‘(\[*_]*[a-z]")
_WRAPPED = 60
"""How long a line of plain text is at least that may go on in the next one, though that begins with a capital."""

_BAR = re.compile(r"\\.|\|")
_BAR_OR_CODE = re.compile(r"\\.|(?<!`)(`++)(?:[^`]|(?!\1(?!`))`++){1,500}\1(?!`)|`+|\|")
_ONE_SPACE = re.compile(r"(?<! ) \r(?=\n)")
_FRONT_MATTER = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t\r]*\n(?=[ \t\r]*\S|\s*[\w\"'-]+[ \t]*[:=])(?:.*\n)*?(?:\1|\.\.\.)[ \t\r]*(?:\n|$)"
)
_HIDING = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}+(?=[^`\n]*$)|~{3,}+)[\s\S]*?(?:^[ \t>]*(?P=fence)[`~]*+[ \t\r]*$|\Z)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]{1,200}(?P=ticks)"
    r"|(?P<first>^[ \t>]*)?(?P<comment><!--)(?P<empty>-?>)?"
    r"|^ {0,3}(?P<note>\[[^\[\]\n]{1,100}\]:[ \t]*(?:#|<>)[ \t]+[\"'(].*[\"')])[ \t\r]*$",
    re.MULTILINE,
)
"""Code, in which nothing begins a comment, and comments: `<!-- … -->`, and a reference to nowhere (`[//]: # (…)`)."""

_FILLER = "\x1f"
"""What stands for a comment: white space, but no blank line."""


@dataclass(slots=True, eq=False)
class Block:
    """Lines that belong together. `lead` is the block that may introduce the list this one is an item of.

    `holds` says that what is indented below it belongs to it, and is no code; `in_table` that it is a cell or the head
    of a column.
    """

    kind: Kind | Literal["code"]
    pieces: list[Span]
    headings: tuple[str, ...] = ()
    lead: Block | None = None
    holds: bool = False
    in_table: bool = False


def shown(text: str) -> str:
    """A text as long as it was, with filler where its comments are and without carriage returns."""
    if "\r" in text:
        # What stands before the end of a line is a hard break or none, whichever end it is.
        text = _ONE_SPACE.sub("\t\t", text.replace("\\\r\n", " \\\n")).replace("\r", " ")
    parts: list[str] = []
    at = 0
    for span in comments(text):
        parts += (text[at : span.start], re.sub(r"[^\n]", _FILLER, text[span.start : span.end]))
        at = span.end
    return "".join((*parts, text[at:])) if parts else text


def blocks(text: str, *, is_plain: bool = False) -> list[Block]:
    """The blocks of a text that `shown` made; its front matter and its code are `code`. In linear time.

    In a plain text (`is_plain`), short lines stand by themselves.
    """
    reader = _Reader(text, is_plain, {found[1]: found.start() for found in _CLOSING_TAG.finditer(text)})
    if front := _FRONT_MATTER.match(text):
        reader.begin("code", [_stripped(text, 0, front.end())])
        text = re.sub(r"[^\n]", " ", front.group()) + text[front.end() :]
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, {}, tokens)
    marked = False
    for token in tokens:
        reader.enter(token)
        if "lines" in token.meta:
            reader.read(token, marked)
        marked = token.type == "list_item_open" or (marked and token.type == "blockquote_open")
    return reader.blocks


def comments(text: str) -> list[Span]:
    """Where a text has comments, which no reader of the document sees; none are left once `shown` has made it."""
    if "<!--" not in text and "]:" not in text:
        return []
    spans = []
    front = _FRONT_MATTER.match(text)
    at, last = front.end() if front else 0, text.rfind("-->")
    while found := _HIDING.search(text, at):
        at = found.end()
        if found["note"]:
            spans.append(Span(*found.span("note")))
        elif found["comment"]:
            if not found["empty"] and at <= last:
                at = text.index("-->", at) + 3
            elif not found["empty"] and found["first"] is not None:
                at = len(text)
            elif not found["empty"]:  # within a line, what is not closed is a text about comments
                continue
            spans.append(Span(found.start("comment"), at))
    return spans


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero", {"maxNesting": 3 * _MAX_NESTING})
    ruler = parser.block.ruler = Ruler()
    for name, rule, ends in (
        ("fence", _fence, "paragraph blockquote list"),
        ("table", _placed(table), "paragraph"),
        ("code", _placed(code), ""),
        ("blockquote", _bounded(_quote), "paragraph blockquote list"),
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


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A quote, unless `>` is "more than": before a number, with white space between them in an item or a sentence."""
    first, at = state.bMarks[start], state.bMarks[start] + state.tShift[start]
    if more := _MORE_THAN.match(state.src, at, state.eMarks[start]):
        within = silent and not state.src.endswith(_ENDED, 0, _line(state, start - 1).end)
        if not more["gap"] or within or state.src[first:at].strip():
            return False
    return blockquote(state, start, end, silent)


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
    token = state.push("fence", "code", 0)
    token.info, token.meta["lines"] = opening[2].strip().lower(), lines[1:]
    return True


def _line(state: StateBlock, number: int) -> Span:
    return _stripped(state.src, state.bMarks[number] + state.tShift[number], state.eMarks[number])


@dataclass(slots=True)
class _Reader:
    text: str
    is_plain: bool
    closed: dict[str, int]
    """The names of tags, each with where it is closed last."""
    tags: list[tuple[str, list[tuple[int, str]]]] = field(default_factory=list)
    """The tags on lines of their own that are open, each with the headings it stands below."""
    blocks: list[Block] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    leads: list[tuple[int, Block]] = field(default_factory=list)
    containers: list[str] = field(default_factory=list)

    def begin(self, kind: Kind | Literal["code"], pieces: list[Span], lead: Block | None = None) -> Block:
        block = Block(kind, pieces, tuple(text for _, text in self.headings), lead)
        self.blocks.append(block)
        return block

    def enter(self, token: Token) -> None:
        """Keep count of the lists and quotes that surround the next leaf."""
        if token.type in ("bullet_list_open", "ordered_list_open", "blockquote_open"):
            self.containers.append(token.type)
        elif token.type in ("bullet_list_close", "ordered_list_close", "blockquote_close"):
            self.containers.pop()

    def read(self, token: Token, is_item: bool) -> None:
        """Read a leaf; `is_item` says that it is what a mark of a list stands before."""
        lines = [line for line in token.meta["lines"] if line.start < line.end]
        match token.type:
            case "heading_open":
                if token.markup == "-" and self._is_prose(lines[:-1]):
                    self._paragraph(lines[:-1], is_item)
                else:
                    self._heading(int(token.tag[1]), lines, bool(token.markup.startswith("#")))
            case "table_open":
                self._table(lines)
            case "fence":
                self._fenced(lines, token.info)
            case "code_block" if not any(block.holds for _, block in self.leads):
                self.begin("code", lines)
            case "code_block":
                for is_text, part in groupby(token.meta["lines"], key=lambda line: bool(line.start < line.end)):
                    if is_text:
                        self._paragraph(list(part), is_item)
            case _:
                self._paragraph(lines, is_item)

    def _fenced(self, lines: list[Span], language: str) -> None:
        """A block of code; of a checklist to be copied, whatever is to be ticked off is an item as elsewhere."""
        parts = [_stripped(self.text, line.start, line.end) for line in lines]
        ticked = [_BOX.match(self.text, part.start, part.end) for part in parts]
        titles = all(self._is_title(part) for part, box in zip(parts, ticked, strict=True) if not box)
        if language not in _TEXTS or sum(map(bool, ticked)) < 2 or not titles:
            self.begin("code", lines)
            return
        for part, box in zip(parts, ticked, strict=True):
            if box:
                self._item(self._indent(part.start), Span(box.end(), part.end))
            elif part.start < part.end:
                self.begin("code", [part])

    def _is_title(self, line: Span) -> bool:
        """Whether a line of code is the title of a checklist."""
        return line.start == line.end or self.text[line.start] in "#*" or self.text[line.end - 1] == ":"

    def _is_prose(self, lines: list[Span]) -> bool:
        """Whether lines above `---` are text: a title has one line without a full stop, and what follows is a rule."""
        return len(lines) > 1 or (len(lines) == 1 and self.text[lines[0].end - 1] in ".!:;")

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
        outer = len(self.tags[-1][1]) + 1 if self.tags else 0
        while len(self.headings) > outer and self.headings[-1][0] >= level:
            self.headings.pop()
        self.leads.clear()
        self.begin("heading", lines)
        self.headings.append((level, plain(self.text, lines).text))

    def _table(self, lines: list[Span]) -> None:
        head, _, *rows = lines
        columns: list[str] = []
        for cell in _cells(self.text, head):
            columns.append(plain(self.text, [cell], in_table=True).text if cell else "")
            if cell:
                self.begin("heading", [cell]).in_table = True
        first: Block | None = None
        for row in rows:
            for at, cell in enumerate(_cells(self.text, row, len(columns))):
                if cell is None:
                    continue
                # A row without a first cell goes on with what the row above is about.
                block = self.begin("cell", [cell], first if at else None)
                block.in_table = True
                block.headings += (columns[at] if at < len(columns) else "",)
                first = block if at == 0 or first is None else first

    def _paragraph(self, lines: list[Span], is_item: bool) -> None:
        block: Block | None = None
        title: Block | None = None
        for at, line in enumerate(lines):
            start, end = line.start, line.end
            marked = is_item and at == 0
            item, note = _ITEM.match(self.text, start, end), _FOOTNOTE.match(self.text, start, end)
            if callout := _CALLOUT.match(self.text, start, end):
                block = title = self._callout(callout, marked, Span(callout.end(), end))
            elif item is not None or marked:
                inner = _INNER.match(self.text, item.end() if item else start, end)
                block = self._item(self._indent(start, marked), Span(inner.end() if inner else start, end))
            elif note is not None:
                block = self._prose(self._indent(start), Span(note.end(), end), holds=True)
            elif _CLOSES.match(self.text, start, end):
                self._close(line)
                block = None
            elif _OPENS.match(self.text, start, end) and (block is None or self._is_ended(block)):
                self._open(line)
                block = None
            elif block is not None:
                block = self._continue(block, line, is_title=block is title)
            elif not _REFERENCE.fullmatch(self.text, start, end):
                block = self._prose(self._indent(start), line)

    def _open(self, line: Span) -> None:
        """A tag on a line of its own: one that is closed further on is the heading of what it surrounds."""
        found = _TAG_NAME.match(self.text, line.start, line.end)
        assert found is not None
        if self.closed.get(found[1], -1) < line.end or len(self.tags) >= _MAX_NESTING:
            self.begin("prose", [line])  # whatever introduces a list goes on to do so
            return
        self.begin("heading", [line])
        self.tags.append((found[1], self.headings[:]))
        title = " ".join(filter(None, (re.sub(r"[_.:-]+", " ", found[1]), found[2])))
        self.headings.append((self.headings[-1][0] if self.headings else 0, title))

    def _close(self, line: Span) -> None:
        """The end of a tag, and of those that are open in it."""
        self._prose(self._indent(line.start), line)
        found = _TAG_NAME.match(self.text, line.start, line.end)
        assert found is not None
        at = next((at for at in reversed(range(len(self.tags))) if self.tags[at][0] == found[1]), None)
        if at is not None:
            self.headings = self.tags[at][1]
            del self.tags[at:]

    def _is_ended(self, block: Block) -> bool:
        return self.text.endswith(_ENDED, 0, block.pieces[-1].end)

    def _callout(self, found: re.Match[str], marked: bool, title: Span) -> Block | None:
        indent, holds = self._indent(found.start(), marked), found["indents"] is not None
        if title.start < title.end:
            return self._prose(indent, title, holds=holds)
        if holds:
            self.leads.append((indent - 1, Block("prose", [], holds=True)))
        return None

    def _item(self, indent: int, span: Span) -> Block:
        while self.leads and self.leads[-1][0] >= indent:
            self.leads.pop()
        block = self.begin("item", [span], self.leads[-1][1] if self.leads else None)
        block.holds = True
        self.leads.append((indent, block))
        return block

    def _prose(self, indent: int, span: Span, *, holds: bool = False) -> Block:
        while self.leads and self.leads[-1][0] >= indent - 1:
            self.leads.pop()
        block = self.begin("prose", [span])
        block.holds = holds
        self.leads.append((indent - 1, block))
        return block

    def _continue(self, block: Block, span: Span, *, is_title: bool) -> Block:
        """A further line of a block, or after a hard break (two spaces, a backslash) one that stands by itself."""
        last = block.pieces[-1]
        slashed = self.text.startswith("\\\n", last.end - 1)
        if slashed or self.text.startswith("  ", last.end) or self._is_apart(block, span, is_title):
            block.pieces[-1] = Span(last.start, last.end - slashed)
            before, block = block, Block(block.kind, [span], block.headings, block.lead, block.holds)
            self.blocks.append(block)
            self.leads[-1:] = [(indent, block if lead is before else lead) for indent, lead in self.leads[-1:]]
        else:
            block.pieces.append(span)
        return block

    def _is_apart(self, block: Block, span: Span, is_title: bool) -> bool:
        """Whether a line begins anew: beside a title (`**Warning**`), or where lines of a plain text are its rules."""
        last = block.pieces[-1]
        above = self.text[last.start : last.end]
        if len(block.pieces) == 1 and (is_title or _TITLE.fullmatch(above)):
            ended = above.rstrip("*_").endswith(_ENDED)
            if ended or _GOES_ON.match(self.text, span.start, span.end) is None:
                return True
        if _BEGINS.match(self.text, span.start, span.end):
            return True
        if self._is_ended(block) and _TITLE.fullmatch(self.text, span.start, span.end):
            return True
        ended = last.end - last.start < _WRAPPED and above[-1] not in ",;:("
        return self.is_plain and ended and self.text[span.start].isupper()

    def _indent(self, start: int, is_marked: bool = False) -> int:
        """How far the line that holds a place is indented; a tab counts as four.

        Marks of quotes do not count, unless they stand in an item.
        """
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        for container in self.containers:
            quote = _QUOTE.match(line)
            if container != "blockquote_open" or quote is None:
                break
            line = line[quote.end() :]
        lead = line[: len(line) - len(line.lstrip(" \t"))] if is_marked else line
        return len(lead) + 3 * lead.count("\t")


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    kept = part.strip()
    first = start + len(part) - len(part.lstrip())
    return Span(first, first + len(kept))


def _cells(text: str, row: Span, columns: int = 0) -> list[Span | None]:
    """The cells of a row, None for an empty one: every bar parts two, but for one behind a backslash.

    Where that makes more cells than a table has columns, its author took it that bars in code part none.
    """
    cells = _split(text, row, _BAR)
    return _split(text, row, _BAR_OR_CODE) if 0 < columns < len(cells) else cells


def _split(text: str, row: Span, mark: re.Pattern[str]) -> list[Span | None]:
    cells, start = [], row.start + text.startswith("|", row.start)
    for found in mark.finditer(text, start, row.end):
        if found.group() == "|":
            cells.append(_stripped(text, start, found.start()))
            start = found.end()
    if start < row.end:
        cells.append(_stripped(text, start, row.end))
    return [cell if cell.start < cell.end else None for cell in cells]
