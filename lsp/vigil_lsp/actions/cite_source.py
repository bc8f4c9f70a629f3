"""`@source` for a statement: the sentences of documents that ask for what it enforces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.documents.document import Document
from vigil_lang.documents.obligations import obligations
from vigil_lang.documents.passages import occurrences
from vigil_lang.english.stems import related
from vigil_lang.english.words import distinctive_words, parts_of
from vigil_lang.lint.source.reach import StatementReach
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lang.syntax.layout import INDENT, WIDTH
from vigil_lsp.actions.proposal import Place, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.documents.library import Library

MAX_OFFERED = 3
_LEAST = 2
"""Words that a sentence must have in common with a statement."""

_LONGEST = 60
_SPACE = re.compile(r"\s+")


class _Candidate(NamedTuple):
    score: float
    file: str
    sentence: str


def proposals(place: Place, library: Library, files: Iterable[str]) -> Iterator[Proposal]:
    """Citations for the statement at a place; `files` are documents as `@source` names them."""
    item = place.item
    if not isinstance(item, tree.Statement):
        return
    statement = next((s for s in place.reading.policy.statements if s.syntax is item), None)
    if statement is None:
        return
    wanted = StatementReach(statement, place.reading.module).words | distinctive_words(item.doc or "")
    cited = {sentence for _, sentence in statement.metadata.cites}
    found = sorted(_candidates(place, library, files, wanted), key=lambda one: -one.score)
    offered = 0
    for one in found:
        if one.sentence in cited or offered == MAX_OFFERED:
            continue
        offered += 1
        at = item.span.start
        shown = one.sentence if len(one.sentence) <= _LONGEST else f"{one.sentence[:_LONGEST]}…"
        edit = Edit(Span(at, at), f"{_annotation(one.file, one.sentence)}\n")
        yield Proposal(f"Add @source: “{shown}” ({one.file})", CodeActionKind.RefactorRewrite.value, (edit,))


def _candidates(place: Place, library: Library, files: Iterable[str], wanted: frozenset[str]) -> Iterator[_Candidate]:
    for file in dict.fromkeys(files):
        document = library.cited(place.reading.source.path, file)
        if not isinstance(document, Document):
            continue
        for obligation in obligations(document):
            text = _SPACE.sub(" ", obligation.sentence.text).strip()
            shared = _shared(text, wanted)
            if shared >= _LEAST and any(True for _ in occurrences(document, text)):
                yield _Candidate(shared + shared / (1 + len(distinctive_words(text))), file, text)


def _shared(sentence: str, wanted: frozenset[str]) -> int:
    """How many words of a sentence a statement has, too, endings aside."""
    words = {part for part in parts_of(sentence) if len(part) > 2}
    known = {word for word in wanted if len(word) > 2}
    return sum(any(related(word, other) for other in known if other[:3] == word[:3]) for word in words)


def _annotation(file: str, sentence: str) -> str:
    """The annotation as `vigil fmt` lays it out."""
    line = f"@source({quote(file)}, {quote(sentence)})"
    if len(line) <= WIDTH:
        return line
    gap = " " * INDENT
    return f"@source(\n{gap}{quote(file)},\n{gap}{quote(sentence)}\n)"
