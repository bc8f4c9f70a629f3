"""Which sentences ask for something: a must, a never, an order in which things are done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.english import demanding
from vigil_lang.english.demanding import bare, demands, instructs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.documents.document import Document, Sentence


@dataclass(frozen=True, slots=True)
class Obligation:
    """A sentence that asks for something, and the word or phrase that says so."""

    sentence: Sentence
    index: int
    word: str


def obligations(document: Document) -> tuple[Obligation, ...]:
    """The sentences of a document that state an obligation, in order."""
    found = []
    leads: dict[str, str] = {}
    for index, sentence in enumerate(document.sentences):
        if sentence.kind == "heading":
            continue
        told = demands(sentence.text)
        word = told or _from_context(sentence, leads)
        if sentence.text.endswith(":"):
            if word is not None and (told is None or demanding.CARRIES.match(word)):
                leads[sentence.text] = word
            else:
                leads.pop(sentence.text, None)
            if demanding.CONDITION.match(sentence.text) or (told is None and not instructs(sentence.text)):
                continue  # it only says for what its items hold
        if word is not None and not (sentence.kind == "cell" and _is_reason(sentence, word)):
            found.append(Obligation(sentence, index, word))
    return tuple(found)


def _is_reason(sentence: Sentence, word: str) -> bool:
    """Whether a cell of a column such as `Why it helps` says what something is good for: `ensure …`, `need to …`."""
    column = sentence.headings[-1] if sentence.headings else ""
    return demanding.REASONS.match(column) is not None and demanding.BENEFIT.match(word) is not None


def _from_context(sentence: Sentence, leads: Mapping[str, str]) -> str | None:
    """What headings or the lead make of an item, or of a row's first cell; `leads` demand what their items say."""
    is_cell, lead, headings = sentence.kind == "cell", sentence.lead, sentence.headings
    if sentence.kind == "heading" or (is_cell and lead) or demanding.is_question(sentence.text):
        return None
    plain = bare(sentence.text)
    if demanding.MILD.match(plain) or demanding.PERMITS.match(lead):
        return None
    headings = headings[:-1] if is_cell else headings
    if sentence.kind == "prose":
        return _alone(headings) if instructs(sentence.text) else None
    if lead in leads:
        return leads[lead]
    telling = instructs(sentence.text) or demanding.RESTRICTS.search(plain) is not None
    for text in (lead, *headings[-1:]):
        if not text or len(text) > 120 or demanding.NOT_BINDING.search(text):
            continue
        apart = text != lead and demanding.WHEN.match(lead) is not None
        if not apart and (found := demanding.BINDING.search(text)):
            return found.group().strip(" \t:.!").lower()
        if telling and (found := demanding.RULES.search(text)):
            return found.group().strip(" \t:.!—–-()").lower()
    for heading in reversed(headings):
        if (telling or not is_cell) and (found := demanding.SECTION.search(heading)):
            return found.group().lower()
    if (word := _alone(headings)) is not None:
        return word
    prohibits = not is_cell and demanding.PROHIBITS.match(plain) is not None
    return "no" if prohibits and not any(map(demanding.DESCRIPTIVE.search, headings)) else None


def _alone(headings: Sequence[str]) -> str | None:
    """The word of a heading that is nothing but a word that demands: `Never`, `Don't`."""
    words = (h.strip(" \t:.!*").lower() for h in reversed(headings) if demanding.ALONE.fullmatch(bare(h)))
    return next((word for word in words if word != "required"), None)  # a list of parameters
