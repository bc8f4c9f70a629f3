"""VGL704: citations of a sentence that the document does not contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.documents.document import Document
from vigil_lang.documents.passages import nearest_sentence, occurrences, quoted_words
from vigil_lang.english.stems import meet
from vigil_lang.english.words import distinctive_words, words
from vigil_lang.semantics.text_patterns import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.documents.document import Sentence
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.reach import StatementReach
    from vigil_lang.lint.subject import Subject


_TURNING = {
    **dict.fromkeys(("not", "never", "no", "t", "none", "nobody", "nothing", "without"), "not"),
    **dict.fromkeys(("before", "prior", "until", "ahead", "first"), "before"),
    **dict.fromkeys(("after", "following", "once", "afterwards", "then"), "after"),
    **dict.fromkeys(("unless", "except"), "unless"),
    **{word: word for word in ("only", "least", "most", "more", "less", "may")},
}
"""Words on which the meaning of a sentence turns, and what those have in common that say the same."""

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
            yield _finding(citation, document, near, subject.cited.reach(citation.statement))


def _finding(citation: Citation, document: Document, near: Sentence | None, reach: StatementReach) -> Diagnostic:
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
        fix=None if near is None or not _says_the_same(citation.text, near.text, reach) else _cited(citation, near),
        notes=(Note("the nearest sentence", document.source, near.span),) if near else (),
    )


def _cited(citation: Citation, near: Sentence) -> Fix:
    return Fix("cite the sentence as it is now", (Edit(citation.written.span, quote(near.text)),))


def _says_the_same(before: str, now: str, reach: StatementReach) -> bool:
    """Whether two sentences may be one that was reworded: nothing is turned round, and one thing at most has gone.

    That may be nothing that the statement is about.
    """
    if _turning(before) != _turning(now):
        return False
    known, about = distinctive_words(now), reach.words.union(*reach.parts_in_other_words)
    gone = [word for word in distinctive_words(before) - _TURNING.keys() if not meet((word,), known)]
    return len(gone) <= 1 and not meet(gone, about)


def _turning(text: str) -> frozenset[str]:
    """What of a sentence tells whether, in which order, and how often: negations, `before`, `unless`, numbers."""
    return frozenset(_TURNING.get(word, word) for word in words(text) if word in _TURNING or word.isdigit())


def _short(text: str) -> str:
    return cut(text, 120)
