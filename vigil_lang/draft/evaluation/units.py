"""Which clauses the statements of a gold policy are about: those that share a sentence are one unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.documents.coverage import cited_sentences
from vigil_lang.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.draft.clause_result import Entry
    from vigil_lang.draft.evaluation.gold import Gold
    from vigil_lang.semantics.lower import Statement


@dataclass(frozen=True, slots=True)
class Group:
    """Clauses, by their entries in a draft, with the gold statements and the sentences that tie them together."""

    entries: tuple[Entry, ...]
    statements: tuple[Statement, ...] = ()
    sentences: tuple[str, ...] = ()


def grouped(gold: Gold, entries: Sequence[Entry]) -> list[Group]:
    """The clauses of a draft in order, each once; then gold statements of which no clause is the sentence.

    Statements that cite the same clause, or one that another cites, belong together. A statement that quotes nothing
    readable is about no clause and left out.
    """
    places = _places(gold, entries)
    found: list[tuple[set[int | str], list[Statement], list[str]]] = []
    for statement in gold.policy.statements:
        quoted = [(document, sentence) for document, sentence in gold.cites(statement)]
        keys: set[int | str] = set()
        for document, sentence in quoted:
            texts = [document.sentences[index].text for index in sorted(cited_sentences(document, sentence))]
            known = {at for text in texts for at in places.get((id(document), _shortened(text)), ())}
            keys |= known or {sentence}
        if not keys:
            continue
        joined = [group for group in found if group[0] & keys]
        found = [group for group in found if group not in joined]
        found.append(
            (
                keys.union(*(group[0] for group in joined)),
                [*(s for group in joined for s in group[1]), statement],
                [*(s for group in joined for s in group[2]), *(sentence for _, sentence in quoted)],
            )
        )
    groups = [
        Group(
            tuple(entries[at] for at in sorted(k for k in keys if isinstance(k, int))), tuple(statements), _once(said)
        )
        for keys, statements, said in found
    ]
    taken = {id(entry) for group in groups for entry in group.entries}
    groups += [Group((entry,)) for entry in entries if id(entry) not in taken]
    order = {id(entry): at for at, entry in enumerate(entries)}
    return sorted(groups, key=lambda g: order[id(g.entries[0])] if g.entries else len(order))


def _places(gold: Gold, entries: Sequence[Entry]) -> dict[tuple[int, str], list[int]]:
    """The entries of each sentence of each document."""
    places: dict[tuple[int, str], list[int]] = {}
    for at, entry in enumerate(entries):
        document = gold.library.cited(gold.path, entry.clause.path)
        if isinstance(document, Document):
            places.setdefault((id(document), _shortened(entry.clause.text)), []).append(at)
    return places


def _shortened(text: str) -> str:
    """What stays of a sentence where a clause may have been cut."""
    return text[:1000]


def _once(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
