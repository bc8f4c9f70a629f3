"""Text to tree. No text makes the parser raise: what is wrong comes back as findings, item by item."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.model import Diagnostic, Source, Span
from vigil_lang.resources import resource
from vigil_lang.syntax import expected, tree
from vigil_lang.syntax.scan import CLOSING, OPENING, Segment, Token, segments, tokens

if TYPE_CHECKING:
    from lark import Lark

MAX_CHARACTERS = 2_000_000
MAX_TOKENS_IN_ITEM = 20_000
MAX_DEPTH = 64
MAX_FINDINGS = 100

# Control characters and the marks that reorder or hide text: what a reviewer sees must be what is parsed.
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_CONNECTIVE = frozenset({"and", "or", "∧", "∨", ","})
_PREFIX = frozenset({"not", "¬", "earlier", "later", "◇⁻", "◇-", "◇⁺", "◇+", "implies", "⇒"})


@dataclass(frozen=True, slots=True)
class Parsed:
    """What parsed of a file and what did not."""

    file: tree.File
    diagnostics: tuple[Diagnostic, ...]


@cache
def _grammar() -> Lark:
    from lark import Lark

    from vigil_lang.syntax.build import Builder

    text = resource("grammar", "vigil.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        lexer="contextual",
        start=["header", "item"],
        transformer=Builder(),
        maybe_placeholders=True,
        keep_all_tokens=False,
    )


def parse(source: Source) -> Parsed:
    """Parse a policy file into a tree with exact spans and every comment.

    Items that do not parse are left out of `File.items`, listed in `File.broken`, and reported.
    """
    if len(source.text) > MAX_CHARACTERS:
        message = f"the file has more than {MAX_CHARACTERS:,} characters"
        return Parsed(tree.File(source), (Diagnostic.of("VGL003", message, source, Span(0, 1)),))
    diagnostics = _hidden_characters(source)
    found = tokens(source.text)
    file = _Assembly(source, diagnostics)
    for segment in segments(source.text, found):
        file.add(segment)
    comments = tuple(tree.Comment(t.text.rstrip(), t.span) for t in found if t.kind in ("doc", "comment"))
    return Parsed(file.finish(comments), tuple(diagnostics[:MAX_FINDINGS]))


def _hidden_characters(source: Source) -> list[Diagnostic]:
    text = source.text
    skip = 1 if text.startswith("\ufeff") else 0  # one byte order mark may open a file
    found = (m.start() for m in _HIDDEN.finditer(text, skip))
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

    def __init__(self, source: Source, diagnostics: list[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.items: list[tree.Item] = []
        self.broken: list[Span] = []
        self.doc: str | None = None
        self.name: tree.Name | None = None
        self.annotations: tuple[tree.Annotation, ...] = ()

    def add(self, segment: Segment) -> None:
        docs, body = _split_docs(segment)
        if segment.keyword is None:
            self._fail(expected.item_start(self.source, body[0]), segment)
            return
        first = not self.items and not self.broken and self.name is None
        if first and segment.keyword != "policy" and docs:
            docs = self._take_file_doc(docs, body[0])
        doc = _doc_text(docs)
        if finding := _too_large(self.source, body):
            self._fail(finding, segment)
            return
        start = "header" if segment.keyword == "policy" else "item"
        node = self._parse(body, start)
        if isinstance(node, Diagnostic):
            self._fail(node, segment)
        elif start == "header":
            self._header(node, doc, segment, first)
        else:
            self.items.append(replace(node, doc=doc) if doc is not None else node)
        self._misplaced_docs(body)

    def finish(self, comments: tuple[tree.Comment, ...]) -> tree.File:
        return tree.File(
            self.source, self.name, self.annotations, self.doc, tuple(self.items), comments, tuple(self.broken)
        )

    def _parse(self, body: list[Token], start: str) -> Any:
        """The node, or the finding that says why there is none."""
        from lark import TextSlice
        from lark.exceptions import UnexpectedInput

        for token in body:
            if token.kind == "unclosed":
                return expected.unclosed(self.source, token)
        text = TextSlice(self.source.text, body[0].span.start, body[-1].span.end)
        try:
            return _grammar().parse(text, start=start)
        except UnexpectedInput as error:
            return expected.explain(self.source, error, body)

    def _header(self, node: Any, doc: str | None, segment: Segment, first: bool) -> None:
        if not first:
            message = "`policy` names the file and stands once, before every item"
            self._fail(Diagnostic.of("VGL101", message, self.source, segment.span), segment)
            return
        self.annotations, self.name = node
        self.doc = doc

    def _take_file_doc(self, docs: list[Token], following: Token) -> list[Token]:
        """Without a `policy` line, a first block of documentation set off by an empty line is the file's."""
        for at, token in enumerate(docs):
            after = docs[at + 1] if at + 1 < len(docs) else following
            if "\n\n" in re.sub(r"[^\S\n]", "", self.source.text[token.span.end : after.span.start]):
                self.doc = _doc_text(docs[: at + 1])
                return docs[at + 1 :]
        return docs

    def _misplaced_docs(self, body: list[Token]) -> None:
        for token in body:
            if token.kind == "doc":
                self.diagnostics.append(
                    Diagnostic.of(
                        "VGL105",
                        "this documentation comment belongs to no item",
                        self.source,
                        token.span,
                        help="put it on its own line before the item, or write `//`",
                    )
                )

    def _fail(self, finding: Diagnostic, segment: Segment) -> None:
        self.diagnostics.append(finding)
        self.broken.append(segment.span)


def _split_docs(segment: Segment) -> tuple[list[Token], list[Token]]:
    """The documentation before an item, and the item's tokens up to its last that is no comment."""
    code = [i for i, t in enumerate(segment.tokens) if t.kind not in ("doc", "comment")]
    docs = [t for t in segment.tokens[: code[0]] if t.kind == "doc"]
    trailing = [t for t in segment.tokens[code[-1] + 1 :] if t.kind == "doc"]
    return docs, [*segment.tokens[code[0] : code[-1] + 1], *trailing]


def _doc_text(docs: list[Token]) -> str | None:
    return "\n".join(t.text[3:].strip() for t in docs) if docs else None


def _too_large(source: Source, body: list[Token]) -> Diagnostic | None:
    """Limits that keep every later pass, all of them recursive, well inside the interpreter's stack."""
    if len(body) > MAX_TOKENS_IN_ITEM:
        message = f"this item has more than {MAX_TOKENS_IN_ITEM:,} tokens"
        return Diagnostic.of("VGL003", message, source, body[0].span)
    depth = prefix = 0
    for token in body:
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
        elif token.text in _PREFIX and token.kind in ("word", "symbol"):
            prefix += 1
        elif token.text in _CONNECTIVE:
            prefix = max(0, prefix - 1)
        if depth + prefix > MAX_DEPTH:
            message = f"conditions are nested more than {MAX_DEPTH} deep"
            return Diagnostic.of("VGL104", message, source, token.span)
    return None
