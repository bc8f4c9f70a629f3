"""From documents to clauses: the numbered sentences that ask for something, and all others with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vigil_lang.base.files import read_source
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.documents.gather import document_paths
from vigil_lang.documents.library import MAX_BYTES, citable
from vigil_lang.documents.obligations import Obligation, Passed, judgements
from vigil_lang.documents.read import read_document
from vigil_lang.draft.clause_result import Clause, Other
from vigil_lang.english.contexts import TIMED
from vigil_lang.english.injection import addresses_model

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from vigil_lang.diagnostics import Span
    from vigil_lang.documents.document import Document, Sentence
    from vigil_lang.draft.clause_result import Why
    from vigil_lang.project.drafting import Taken

MAX_CLAUSES = 5000
"""Clauses of all documents together."""

MAX_TEXT = 2000
"""Characters of one clause; a longer one is cited by its beginning."""

MAX_CONTEXT = 300
"""Characters of a heading or a lead."""

_MAY_OBLIGE: frozenset[Why] = frozenset(
    ("advice", "condition", "description", "question", "reason", "sample", "shown", "situation")
)
"""Why a sentence is no clause that may oblige all the same: who reads it again may see what no pattern does."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """The obligations of some documents, and what else is taken for clauses.

    `documents` are the documents as `@source` cites them, in order, and `files` the same as they were named. `others`
    is whatever in them is no clause, with the reason: each sentence is either a clause or among these. `outside` are
    those documents no policy at that place can cite so that the linter finds them, as they lie outside its project.
    """

    clauses: tuple[Clause, ...]
    documents: tuple[str, ...]
    others: tuple[Other, ...] = ()
    files: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


def read_clauses(paths: Sequence[str], beside: str | None = None, take: Collection[Taken] = ()) -> Clauses:
    """The clauses of documents and of folders of documents (see `document_paths`), numbered through.

    `beside` is where the policy will be written; None or `-` stand for the working folder. The same sentence twice
    under the same headings is one clause, and a sentence that only introduces clauses (`Never:`) is their lead. What is
    no obligation for one of the reasons in `take` is a clause all the same.

    Raises:
        InputError: VGL001, VGL002 or VGL003 for a document that cannot be read, is no text, or too large; VGL003 for
            more than MAX_CLAUSES.
    """
    files = document_paths(paths)
    policy = beside if beside not in (None, "-") else "policy.vgl"
    found: list[Clause] = []
    others: list[Other] = []
    cited, outside = [], []
    for file in files:
        name, inside = citable(policy, file)
        cited.append(name)
        if not inside:
            outside.append(name)
        document = read_document(read_source(file, MAX_BYTES))
        for each in _read(document, name, take):
            if isinstance(each, Clause):
                found.append(each)
            else:
                others.append(each)
        if len(found) > MAX_CLAUSES:
            message = f"the documents state more than {MAX_CLAUSES:,} obligations"
            help_text = "draft from fewer documents at a time"
            raise InputError([Diagnostic.of("VGL003", message, Source(file, ""), help=help_text)])
    numbered = tuple(replace(clause, id=f"c{number}") for number, clause in enumerate(found, 1))
    return Clauses(numbered, tuple(cited), tuple(others), tuple(files), tuple(outside))


def _read(document: Document, path: str, take: Collection[Taken]) -> Iterator[Clause | Other]:
    """Each sentence of a document as a clause or as something else, then its code and its comments."""
    source = document.source
    judged = [
        Obligation(each.sentence, each.index, "") if isinstance(each, Passed) and each.why in take else each
        for each in judgements(document)
    ]
    obliging = [each for each in judged if isinstance(each, Obligation)]
    wholes = {each.index for each in obliging}
    judged = [
        # What is a part of a step only tells something, where steps are no clauses.
        replace(each, why="description", whole=None)
        if isinstance(each, Passed) and each.whole is not None and each.whole not in wholes
        else each
        for each in judged
    ]
    parts: dict[int, list[str]] = {}
    for each in judged:
        if isinstance(each, Passed) and each.whole is not None:
            parts.setdefault(each.whole, []).append(_context(each.sentence.text))
    introducing = _introducing(document, wholes) | _heading_clauses(obliging)
    introducing -= parts.keys()
    seen: set[tuple[object, ...]] = set()
    for each in judged:
        sentence, line = each.sentence, source.position(each.sentence.span.start)[0]
        text = _cut(sentence.text, MAX_TEXT)
        if each.index in introducing:
            yield Other(path, line, text, "lead")
        elif isinstance(each, Passed):
            may_oblige = each.why in _MAY_OBLIGE
            yield Other(path, line, text, each.why, _clause(sentence, "", path, line, text) if may_oblige else None)
        else:
            # Under other headings it is another clause: nobody who repeats a sentence elsewhere says what it is about.
            key = (sentence.text, each.word, sentence.headings, sentence.lead)
            named = tuple(parts.get(each.index, ()))
            repeated = key in seen
            yield (
                Other(path, line, text, "repeated")
                if repeated
                else _clause(sentence, each.word, path, line, text, named)
            )
            seen.add(key)
    hidden: tuple[tuple[Why, Sequence[Span]], ...] = (("code", document.code), ("comment", document.comments))
    for why, spans in hidden:
        for span in spans:
            lines = source.text[span.start : span.end].split("\n")
            if first := next((line.strip() for line in lines if any(map(str.isalnum, line))), ""):
                yield Other(path, source.position(span.start)[0], _cut(first, MAX_CONTEXT), why)


def _clause(sentence: Sentence, word: str, path: str, line: int, text: str, parts: tuple[str, ...] = ()) -> Clause:
    headings = tuple(_context(heading) for heading in sentence.headings)
    lead = _cut(sentence.lead, MAX_CONTEXT)
    hostile = addresses_model(text) or addresses_model(lead)
    return Clause("", path, line, text, word, headings, lead, hostile, parts)


def _introducing(document: Document, places: Collection[int]) -> set[int]:
    """The sentences that are leads of lists in which there is an obligation, each by its place.

    The last sentence with a lead's words is meant, so that who repeats a sentence as a lead drops no other.
    """
    said: dict[str, int] = {}
    found = set()
    for at, sentence in enumerate(document.sentences):
        if at in places and sentence.kind == "item" and sentence.lead in said:
            found.add(said[sentence.lead])
        said[sentence.text] = at
    return found


def _heading_clauses(obliging: Sequence[Obligation]) -> set[int]:
    """The headings that say when, or that, clauses right below them hold: they demand nothing more than these do."""
    headings: dict[tuple[str, ...], Obligation] = {}
    found = set()
    for each in obliging:
        sentence = each.sentence
        if sentence.kind == "heading":
            headings[(*sentence.headings, sentence.text)] = each
        elif (above := headings.get(sentence.headings)) is not None and (
            above.word == each.word or TIMED.search(above.sentence.text)
        ):
            found.add(above.index)
    return found


def _context(text: str) -> str:
    """A heading or a part as the model may read it: one that addresses it would stand beside what is read alone."""
    why = addresses_model(text)
    return f"[left out: {why}]" if why else _cut(text, MAX_CONTEXT)


def _cut(text: str, limit: int) -> str:
    """A text of no more than `limit` characters that can still be found in its document."""
    if len(text) <= limit:
        return text
    start = text[: limit - 2]
    return (start.rpartition(" ")[0] or start) + " …"
