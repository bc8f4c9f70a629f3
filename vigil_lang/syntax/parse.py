"""Text to tree. No text makes the parser raise: what is wrong comes back as findings, item by item."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.base.collector import collector_paused
from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics.diagnostic import Diagnostic, Source, Span
from vigil_lang.diagnostics.visible import HIDDEN
from vigil_lang.syntax import tree
from vigil_lang.syntax.grammar import grammar
from vigil_lang.syntax.items import Segment, segments
from vigil_lang.syntax.lalr import Unexpected
from vigil_lang.syntax.memory import Read
from vigil_lang.syntax.scan import CLOSING, COMMENTS, OPENING, Token, TokenList, tokens
from vigil_lang.syntax.terminals import Body

if TYPE_CHECKING:
    from types import ModuleType

    from vigil_lang.syntax.memory import Memory

MAX_CHARACTERS = 2_000_000
MAX_TOKENS = 500_000
MAX_TOKENS_IN_ITEM = 20_000
MAX_DEPTH = 64
MAX_FINDINGS = 100

_PREFIXES = frozenset({"not", "¬", "earlier", "later", "◇⁻", "◇-", "◇⁺", "◇+"})
_IMPLIES = frozenset({"implies", "⇒"})
_CONNECTIVES = frozenset({"and", "or", "∧", "∨"})
_FRESH = frozenset({",", "after"})
_NESTING = frozenset({*OPENING, *CLOSING, *_PREFIXES, *_IMPLIES, *_CONNECTIVES, *_FRESH})


class Parsed(Frozen, frozen=True):
    """What parsed of a file and what did not, in the order of the text."""

    file: tree.File
    diagnostics: tuple[Diagnostic, ...]


class Lexed(Frozen, frozen=True):
    """A parsed file with its tokens, comments included, and the body of each item, whose terminals name them.

    Parsed with a memory, there are only the bodies of the items that it did not know.
    """

    parsed: Parsed
    tokens: TokenList
    bodies: list[Body]


def parse(source: Source, memory: Memory | None = None) -> Parsed:
    """Parse a policy file into a tree with exact spans and every comment.

    Items that do not parse are left out of `File.items`, listed in `File.broken`, and reported; after
    `MAX_FINDINGS` of them the rest counts as broken too. With a `memory` of the file's last text the result is the
    same, and sooner there; items that stand where they stood are the same objects.
    """
    with collector_paused():
        return parse_with_tokens(source, memory).parsed


def parse_with_tokens(source: Source, memory: Memory | None = None) -> Lexed:
    """The same, with what a formatter or a highlighter needs; a body that did not parse may lack terminals."""
    text = source.text
    found = TokenList.of([])
    if len(text) <= MAX_CHARACTERS:
        found = TokenList.of(tokens(text, MAX_TOKENS + 1)) if memory is None else memory.tokens(source, MAX_TOKENS)
    if len(text) > MAX_CHARACTERS or len(found) > MAX_TOKENS:
        limit = f"{MAX_TOKENS:,} tokens" if found else f"{MAX_CHARACTERS:,} characters"
        finding = Diagnostic.of("VGL003", f"the file has more than {limit}", source, Span(0, 1))
        return Lexed(Parsed(tree.File(source), (finding,)), TokenList.of([]), [])
    file = _Assembly(source, _hidden_characters(source), memory)
    cut = segments(text, found, None if memory is None else memory.heads)
    if memory is not None:
        memory.begin(len(cut))
    for at, segment in enumerate(cut):
        file.add(at, segment)
    if not cut:
        file.doc = _doc_text([t for t in found if t.kind == "doc"])
    comments = tuple([tree.Comment(words.rstrip(), span) for words, span in found.comments()])
    # Errors first: a file with errors must never look as if it had none.
    hidden = {d.span for d in file.diagnostics if d.code == "VGL109"}
    found_once = [d for d in file.diagnostics if d.code != "VGL103" or d.span not in hidden]
    kept = sorted(found_once, key=lambda d: d.severity != "error")[:MAX_FINDINGS]
    ordered = tuple(sorted(kept, key=lambda d: d.span.start))
    return Lexed(Parsed(file.finish(comments), ordered), found, file.bodies)


def _hidden_characters(source: Source) -> list[Diagnostic]:
    text = source.text
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return []  # at once, as most texts are
    skip = 1 if text.startswith("\ufeff") else 0  # one byte order mark may open a file
    found = (m.start() for m in HIDDEN.finditer(text, skip))
    return [
        Diagnostic.of(
            "VGL109",
            f"the character U+{ord(text[at]):04X} can hide or reorder text",
            source,
            Span(at, at + 1),
            help="write it as `\\u{...}` inside a string if it is meant",
        )
        for at, _ in zip(found, range(MAX_FINDINGS), strict=False)
    ]


class _Assembly:
    """The file as it grows, segment by segment."""

    def __init__(self, source: Source, diagnostics: list[Diagnostic], memory: Memory | None) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.memory = memory
        self.items: list[tree.Item] = []
        self.broken: list[Span] = []
        self.bodies: list[Body] = []
        self.doc: str | None = None
        self.name: tree.Name | None = None
        self.annotations: tuple[tree.Annotation, ...] = ()

    def add(self, at: int, segment: Segment) -> None:
        if len(self.broken) >= MAX_FINDINGS:
            self.broken.append(segment.span)
            return
        first = not self.items and not self.broken and self.name is None
        opens, memory = first and segment.keyword != "policy", self.memory
        read = self._read(segment, opens) if memory is None else memory.read(at, segment, opens, self._read)
        self.diagnostics += read.misplaced
        if read.file_doc is not None:
            self.doc = read.file_doc
        if isinstance(read.node, Diagnostic):
            self._fail(read.node, segment)
        elif read.node.__class__ in tree.ITEMS:
            self.items.append(read.node)
        else:
            self._header(read.node, read.doc, segment, first)

    def finish(self, comments: tuple[tree.Comment, ...]) -> tree.File:
        items, broken = tuple(self.items), tuple(self.broken)
        return tree.File(self.source, self.name, self.annotations, self.doc, items, comments, broken)

    def _read(self, segment: Segment, opens: bool) -> Read:
        """What a segment says by itself; one that opens the file may speak of that, too."""
        docs, code, misplaced = _split_docs(segment.tokens)
        split = self._end_of_file_doc(docs, code[0]) if opens else 0
        doc, file_doc = _doc_text(docs[split:]), _doc_text(docs[:split])
        node = self._node(segment, code)
        if doc is not None and segment.keyword != "policy" and not isinstance(node, Diagnostic):
            node = replace(node, doc=doc)
        start, end = segment.span
        head, notes = segment.head - segment.first, self._misplaced(misplaced)
        return Read(start, end - start, head, opens, node, doc, file_doc, notes)

    def _node(self, segment: Segment, code: list[Token]) -> Any:
        """The tree of an item, or the finding that says why there is none."""
        if segment.keyword is None and (head := segment.found[segment.head]).text != "@":
            return _words_for_errors().item_start(self.source, head)
        if finding := _too_large(self.source, code):
            return finding
        for at, token in enumerate(code):
            if token.kind == "unclosed":
                return _words_for_errors().unclosed(self.source, code, at)
        body = Body(code)
        self.bodies.append(body)
        try:
            return grammar().parse(body, "header" if segment.keyword == "policy" else "item")
        except Unexpected as error:
            return _words_for_errors().explain(self.source, error, body)

    def _header(self, node: Any, doc: str | None, segment: Segment, first: bool) -> None:
        if not first:
            message = "`policy` names the file and stands once, before every item"
            self._fail(Diagnostic.of("VGL101", message, self.source, segment.span), segment)
            return
        self.annotations, self.name = node
        self.doc = doc

    def _end_of_file_doc(self, docs: list[Token], following: Token) -> int:
        """Without a `policy` line, a first block of documentation set off by an empty line is the file's."""
        for at, token in enumerate(docs):
            after = docs[at + 1] if at + 1 < len(docs) else following
            if "\n\n" in re.sub(r"[^\S\n]", "", self.source.text[token.end : after.start]):
                return at + 1
        return 0

    def _misplaced(self, docs: list[Token]) -> tuple[Diagnostic, ...]:
        return tuple(
            Diagnostic.of(
                "VGL105",
                "this documentation comment belongs to no item",
                self.source,
                token.span,
                help="put it on its own line before the item, or write `//`",
            )
            for token in docs[:MAX_FINDINGS]
        )

    def _fail(self, finding: Diagnostic, segment: Segment) -> None:
        self.diagnostics.append(finding)
        self.broken.append(segment.span)


def _words_for_errors() -> ModuleType:
    """Imported late: a good policy needs none."""
    from vigil_lang.syntax import expected

    return expected


def _split_docs(found: list[Token]) -> tuple[list[Token], list[Token], list[Token]]:
    """The documentation before an item, the item's own tokens, and documentation that stands among or after them."""
    code = [token for token in found if token.kind not in COMMENTS]
    first = found.index(code[0])
    docs = [token for token in found[:first] if token.kind == "doc"]
    if first + len(code) == len(found):
        return docs, code, []
    return docs, code, [token for token in found[first:] if token.kind == "doc"]


def _doc_text(docs: list[Token]) -> str | None:
    return "\n".join(t.text[3:].strip() for t in docs) if docs else None


def _too_large(source: Source, code: list[Token]) -> Diagnostic | None:
    """Limits that keep every later pass, all of them recursive, well inside the interpreter's stack.

    The depth of a place is what it is nested in: brackets, prefixes, and the implications on its left.
    """
    if len(code) > MAX_TOKENS_IN_ITEM:
        message = f"this item has more than {MAX_TOKENS_IN_ITEM:,} tokens"
        return Diagnostic.of("VGL003", message, source, code[0].span)
    outside = here = prefixes = 0
    enclosing: list[tuple[int, int]] = []
    for token in code:
        text = token.text
        if text not in _NESTING:
            continue
        if text in OPENING:
            enclosing.append((here, prefixes))
            outside += 1 + here + prefixes
            here = prefixes = 0
        elif text in CLOSING:
            if enclosing:
                here, prefixes = enclosing.pop()
                outside -= 1 + here + prefixes
        elif text in _PREFIXES:
            prefixes += 1
        elif text in _IMPLIES:
            here, prefixes = here + 1, 0
        elif text in _CONNECTIVES:
            prefixes = 0
        elif text in _FRESH:
            here = prefixes = 0
        if outside + here + prefixes > MAX_DEPTH:
            message = f"conditions are nested more than {MAX_DEPTH} deep"
            return Diagnostic.of("VGL104", message, source, token.span)
    return None
