"""From a document's text to its sentences."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source, Span
from vigil_lang.documents.blocks import Block, blocks, comments, shown
from vigil_lang.documents.document import Document, Sentence
from vigil_lang.documents.inline import plain
from vigil_lang.english.contexts import LABEL
from vigil_lang.english.principles import ALONE
from vigil_lang.english.sentences import sentences as split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.documents.document import Kind
    from vigil_lang.documents.inline import Plain


def read_document(source: Source) -> Document:
    """The sentences of a Markdown or plain text document. Any text can be read, in linear time."""
    sentences: list[Sentence] = []
    texts: list[tuple[str, int | None]] = []
    code: list[Span] = []
    last: dict[Block, str] = {}
    text = shown(source.text)
    for block in blocks(text, is_plain=source.path.lower().endswith(".txt")):
        if block.kind == "code":
            texts.append(("\n".join(text[p.start : p.end] for p in block.pieces), None))
            if block.pieces:
                code.append(Span(block.pieces[0].start, block.pieces[-1].end))
            continue
        lead = last.get(block.lead, "") if block.lead else ""
        lead = lead if block.kind == "cell" or _introduces(lead) else ""
        for sentence in _sentences(text, block, block.kind, lead):
            texts.append((sentence.text, len(sentences)))
            sentences.append(sentence)
            last[block] = sentence.text
    return Document(source, tuple(sentences), tuple(texts), tuple(code), tuple(comments(source.text)))


def _introduces(text: str) -> bool:
    """Whether a sentence introduces the list below it; `Never` and `Before any release` need no colon for that."""
    return text.endswith(":") or ALONE.fullmatch(text) is not None or LABEL.fullmatch(text) is not None


def _sentences(markdown: str, block: Block, kind: Kind, lead: str) -> list[Sentence]:
    text = plain(markdown, block.pieces, in_table=block.in_table)
    found: list[Sentence] = []
    for start, end in _whole(text.text) if kind == "heading" else _parts(text):
        span = Span(text.place(start), text.place(end - 1) + 1)
        found.append(Sentence(text.text[start:end], kind, span, block.headings, lead, bool(found)))
    return found


def _whole(text: str) -> list[tuple[int, int]]:
    start = len(text) - len(text.lstrip())
    return [(start, len(text.rstrip()))] if any(map(str.isalnum, text)) else []


def _parts(text: Plain) -> Iterator[tuple[int, int]]:
    for first, last in pairwise((0, *text.breaks, len(text.text))):
        if mark := _MARK.match(text.text, first, last) if first else None:
            first = mark.end()
        yield from ((first + start, first + end) for start, end in split(text.text[first:last]))


_MARK = re.compile(r"\s*[-*+•]\s+")
"""What may mark the lines that tags part: `Never push.<br>- Ask first.`"""


_MARKED = re.compile(r"[*_\[\]<>&\\|#~\x00-\x1f\xa0]|  |^\s*(?:[-+•]|\(?\w{1,9}[.)])\s|^\s*-{3}")


def is_plain(text: str) -> bool:
    """Whether a short text has nothing of Markdown but code quotes, so that it can be taken as it is."""
    return _MARKED.search(text) is None and "``" not in text


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a short text, such as a citation."""
    if is_plain(text):
        return tuple(text[start:end] for start, end in split(text))
    return tuple(sentence.text for sentence in read_document(Source("", text)).sentences)
