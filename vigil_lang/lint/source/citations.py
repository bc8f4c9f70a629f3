"""The sentences that statements cite, with where they stand in the policy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Span
from vigil_lang.documents.read import sentences_of
from vigil_lang.english.demanding import asks, instructs
from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from vigil_lang.semantics.lower import Statement


@dataclass(frozen=True, slots=True)
class Citation:
    """One `@source("file", "sentence")` of a statement, or its documentation."""

    statement: Statement
    file: str
    text: str
    file_span: Span
    written: tree.String | tree.Name
    of: Literal["sentence", "documentation"] = "sentence"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the citation that ask for something; all of them where none does."""
        return _asking(self.text)

    def place(self, word: str) -> Span:
        """Where a word of the citation stands in the policy; the whole citation where escapes hide it."""
        span = self.written.span
        raw = self.written.raw if isinstance(self.written, tree.String) else self.written.text
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", raw, re.IGNORECASE)
        if found is None:
            return span
        start = span.start + isinstance(self.written, tree.String) + found.start()
        return Span(start, start + len(word))


def citations_of(statement: Statement) -> Iterator[Citation]:
    """The citations of one statement, in order."""
    for note in statement.syntax.annotations:
        match note.name.text, note.args:
            case "source", ((tree.String() | tree.Name()) as file, (tree.String() | tree.Name()) as sentence):
                try:
                    yield Citation(statement, _text(file), _text(sentence), file.span, sentence)
                except BadEscape:
                    continue  # reported when the policy was read


def documentation_of(statement: Statement) -> Citation | None:
    """What a statement's documentation says of it, as a citation of itself; None where it has none."""
    doc, text = statement.metadata.doc, statement.source.text
    if not doc:
        return None
    end = start = text.rfind("\n", 0, statement.syntax.span.start) + 1
    while start and text[(above := text.rfind("\n", 0, start - 1) + 1) : start].lstrip().startswith("///"):
        start = above
    span = Span(start, end) if start < end else statement.span
    return Citation(
        statement, "", doc.replace("\n", " "), span, tree.Name(text[span.start : span.end], span), "documentation"
    )


def _text(term: tree.String | tree.Name) -> str:
    return unescape(term.raw) if isinstance(term, tree.String) else term.text


@lru_cache(maxsize=4096)
def _asking(text: str) -> tuple[str, ...]:
    found = sentences_of(text)
    if len(found) < 2:
        return found
    return tuple(s for s in found if asks(s) or instructs(s)) or found
