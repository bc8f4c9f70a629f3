"""VGL704: citations of a sentence that the document does not contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.documents.document import Document
from vigil_lang.documents.passages import nearest_sentence, occurrences, quoted_words
from vigil_lang.semantics.text_patterns import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.documents.document import Sentence
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.subject import Subject


MAX_NEAREST = 100
"""Citations of one policy for which the nearest sentence is looked for."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The citations of documents that can be read and do not have them."""
    left = MAX_NEAREST
    for citation in subject.cited.citations:
        document = subject.documents.cited(subject.policy.path, citation.file)
        if isinstance(document, Document) and not occurrences(document, citation.text):
            near = nearest_sentence(document, citation.text) if left else None
            left -= left > 0
            yield _finding(citation, document, near)


def _finding(citation: Citation, document: Document, near: Sentence | None) -> Diagnostic:
    if not quoted_words(citation.text):
        help_text = "quote the sentence that the statement enforces"
    elif near is None:
        help_text = "it may have been changed or taken out; cite the document as it is"
    else:
        help_text = f"it has `{_short(near.text)}`"
    return Diagnostic.of(
        "VGL704",
        f"`{citation.file}` does not have this sentence",
        citation.statement.source,
        citation.written.span,
        help=help_text,
        fix=Fix("cite the sentence as it is now", (Edit(citation.written.span, quote(near.text)),)) if near else None,
        notes=(Note("the nearest sentence", document.source, near.span),) if near else (),
    )


def _short(text: str) -> str:
    return cut(text, 120)
