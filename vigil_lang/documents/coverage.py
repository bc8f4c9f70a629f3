"""How much of what documents ask for is cited by statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.documents.document import Document
from vigil_lang.documents.obligations import obligations
from vigil_lang.documents.passages import occurrences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.documents.library import Library
    from vigil_lang.documents.obligations import Obligation


@dataclass(frozen=True, slots=True)
class Coverage:
    """The obligations of one document, and those that no statement cites."""

    document: Document
    obligations: tuple[Obligation, ...]
    missing: tuple[Obligation, ...]

    @property
    def cited(self) -> int:
        """How many obligations some statement cites."""
        return len(self.obligations) - len(self.missing)

    @property
    def percent(self) -> float:
        """The share of obligations that are cited, 100 where there are none."""
        return 100 * self.cited / len(self.obligations) if self.obligations else 100.0


def coverage(document: Document, quotations: Iterable[str]) -> Coverage:
    """What of a document's obligations the quotations cover.

    A sentence is cited when a quotation has a third of its words, or three of them: to quote the clause that matters
    is to cite the sentence. The same sentence elsewhere in the document is cited with it.
    """
    asked = obligations(document)
    cited = {index for quotation in dict.fromkeys(quotations) for index in cited_sentences(document, quotation)}
    return Coverage(document, asked, tuple(o for o in asked if o.index not in cited))


def cited_sentences(document: Document, quotation: str) -> set[int]:
    """The sentences that a quotation has a third of the words of, or three of them, by their index."""
    return {
        index
        for passage in occurrences(document, quotation)
        for index, shared in document.sentences_in(passage)
        if 3 * shared >= len(document.sentences[index].text) or shared >= 20
    }


def uncited(
    cites: Iterable[tuple[str, Sequence[tuple[str, str]]]], library: Library, documents: Iterable[str] = ()
) -> tuple[list[Diagnostic], list[Coverage]]:
    """VGL706 for each obligation that no statement of some policies cites, and the figures of each document.

    `cites` are the paths of policies, each with the (file, sentence) pairs of its statements. Looked at are the
    documents the policies cite, in the order they do, and those named by path; what cannot be read is left out
    (VGL705 speaks of it).
    """
    found: dict[int, tuple[Document, list[str]]] = {}
    for path in documents:
        if isinstance(document := library.read(path), Document):
            found.setdefault(id(document), (document, []))
    for policy, pairs in cites:
        for name, sentence in pairs:
            if isinstance(document := library.cited(policy, name), Document):
                found.setdefault(id(document), (document, []))[1].append(sentence)
    figures = [coverage(document, quotations) for document, quotations in found.values()]
    return [finding for each in figures for finding in findings(each)], figures


def findings(figures: Coverage) -> list[Diagnostic]:
    """VGL706 for each obligation of one document that nothing cites."""
    return [
        Diagnostic.of(
            "VGL706",
            f"no statement cites this sentence, which says `{missing.word}`",
            figures.document.source,
            missing.sentence.span,
            help="cite it with `@source` where a statement enforces it",
        )
        for missing in figures.missing
    ]
