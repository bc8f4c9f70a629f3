"""Which sentences ask for something: a must, a never, an order in which things are done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from vigil_lang.english import contexts, demanding
from vigil_lang.english.demanding import bare, demands, instructs, is_question, unquoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.documents.document import Document, Sentence

Why: TypeAlias = Literal[
    "heading", "question", "word", "sample", "situation", "reason", "condition", "advice", "step", "description"
]


@dataclass(frozen=True, slots=True)
class Obligation:
    """A sentence that asks for something, and the word or phrase that says so."""

    sentence: Sentence
    index: int
    word: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A sentence that is taken for no obligation, and why."""

    sentence: Sentence
    index: int
    why: Why


def obligations(document: Document) -> tuple[Obligation, ...]:
    """The sentences of a document that state an obligation, in order."""
    return tuple(judged for judged in judgements(document) if isinstance(judged, Obligation))


def judgements(document: Document) -> tuple[Obligation | Passed, ...]:
    """What each sentence of a document is, in order: one judgement for every sentence."""
    leads: dict[str, _Word] = {}
    return tuple(_judged(sentence, index, leads) for index, sentence in enumerate(document.sentences))


def _judged(sentence: Sentence, index: int, leads: dict[str, _Word]) -> Obligation | Passed:
    """What a sentence is; `leads` are those before it that demand what their items say, each with its word."""
    if sentence.kind == "heading":
        return Passed(sentence, index, "heading")
    told = demands(sentence.text)
    found = _Word(told, carries=contexts.CARRIES.match(told) is not None) if told else _from_context(sentence, leads)
    if sentence.text.endswith(":") or contexts.LABEL.fullmatch(sentence.text):
        if found is not None and (found.carries or told is None) and not contexts.EXPLAINED.search(sentence.text):
            leads[sentence.text] = found
        else:
            leads.pop(sentence.text, None)
        if contexts.CONDITION.match(sentence.text) or (told is None and not _tells(sentence.text)):
            return Passed(sentence, index, "condition")  # it only says for what its items hold
    if found is None:
        return Passed(sentence, index, _why(sentence))
    excused = _excused(sentence, found.text) if told else None
    return Passed(sentence, index, excused) if excused is not None else Obligation(sentence, index, found.text)


class _Word(NamedTuple):
    """A word that demands; `carries` says that the lead of a list with it demands whatever its items say.

    Without that it is a lead of those items only that tell somebody to do something.
    """

    text: str
    carries: bool


def _tells(text: str) -> bool:
    """Whether a sentence tells somebody to do something, or limits something."""
    return instructs(text) or contexts.RESTRICTS.search(bare(text)) is not None


def _why(sentence: Sentence) -> Why:
    """Why a sentence in which nothing demands anything is no obligation."""
    plain = bare(sentence.text)
    if is_question(sentence.text):
        return "question"
    if demanding.ALONE.fullmatch(plain):
        return "word"
    if contexts.MILD.match(plain) or contexts.ADVISES.search(plain):
        return "advice"
    return "step" if instructs(sentence.text) else "description"


def _excused(sentence: Sentence, word: str) -> Why | None:
    """Why a sentence with a word that demands asks for nothing, where it stands."""
    above = (sentence.lead, *sentence.headings[-1:])
    if unquoted(sentence.text) != sentence.text and any(map(contexts.SAMPLES.search, above)):
        return "sample"
    if contexts.REPORTED.match(sentence.lead):
        return "sample"
    if (contexts.NEEDED.match(word) or contexts.BENEFIT.match(word)) and any(map(contexts.SITUATIONS.search, sentence.headings[-1:])):
        return "situation"
    if contexts.CONTINUED.search(sentence.lead):
        return "description"
    column = sentence.headings[-1] if sentence.headings and sentence.kind == "cell" else ""
    ordered = demanding.orders(bare(sentence.text))
    if contexts.WHY.match(column) and contexts.TELLS_OF.match(bare(sentence.text)):
        return "description"
    if ordered == word and contexts.WHY.match(column) and not contexts.CONTRASTS.search(sentence.text):
        return "reason"
    if contexts.BENEFIT.match(word) is None or ordered is not None:
        return None
    reasons = contexts.REASONS.match(column) if column else any(map(contexts.FIXES.match, above))
    return "reason" if reasons else None


def _from_context(sentence: Sentence, leads: dict[str, _Word]) -> _Word | None:
    """What headings or the lead make of an item, of a row's first cell, or of prose that instructs."""
    is_cell, lead, headings = sentence.kind == "cell", sentence.lead, sentence.headings
    plain = bare(sentence.text)
    if is_cell and headings and contexts.DO_COLUMN.fullmatch(headings[-1]) and not demanding.ALONE.fullmatch(plain):
        return _Word(_trimmed(headings[-1]), carries=False)
    if (is_cell and lead) or (is_question(sentence.text) and not instructs(sentence.text)):
        return None
    if contexts.MILD.match(plain) or contexts.PERMITS.match(lead):
        return None
    headings = headings[:-1] if is_cell else headings
    if sentence.kind == "prose":
        return _of_prose(headings) if instructs(sentence.text) and not contexts.ADVISES.search(plain) else None
    telling = _tells(sentence.text)
    if lead in leads and (telling or leads[lead].carries):
        return leads[lead]
    for text in (lead, *headings[-1:]):
        if not text or len(text) > 120 or contexts.NOT_BINDING.search(text):
            continue
        apart = text != lead and contexts.WHEN.match(lead) is not None
        if not apart and (found := contexts.BINDING.search(text)):
            return _Word(_trimmed(found.group()), carries=True)
        if not is_cell and _is_checked(text, headings):
            return _Word(_trimmed(text), carries=True)
        if telling and (found := contexts.RULES.search(text) or contexts.LABEL.fullmatch(text)):
            return _Word(_trimmed(found.group()), carries=False)
    lists = sentence.headings[-1:] if is_cell and contexts.RULE_COLUMN.fullmatch(sentence.headings[-1]) else headings[-1:]
    if (not is_cell or lists != headings[-1:]) and lists and _is_listed(sentence.text, lead, lists[0], telling=telling):
        return _Word(_trimmed(lists[0]), carries=False)
    for heading in reversed(headings):
        if (telling or not is_cell) and (found := contexts.SECTION.search(heading)):
            return _Word(found.group().lower(), carries=True)
    if (word := _alone(headings)) is not None:
        return _Word(word, carries=True)
    if not is_cell and (mark := _marked(sentence.text, plain, telling=telling)):
        return _Word(mark, carries=True)
    lacks = (not lead or instructs(lead)) and contexts.LACKS.match(plain)
    prohibits = not is_cell and (contexts.PROHIBITS.match(plain) or lacks)
    described = any(map(contexts.DESCRIPTIVE.search, (*headings, lead)))
    return _Word("no", carries=True) if prohibits and not described else None


def _marked(text: str, plain: str, *, telling: bool) -> str:
    """The sign before an item by which it says what to do, or not to do: `❌ Committing keys`."""
    found = contexts.CROSSED.match(text) if telling or contexts.DOING.match(plain) else None
    found = found or (contexts.TICKED.match(text) if telling else None)
    return found.group().strip() if found else ""


def _is_checked(lead: str, headings: Sequence[str]) -> bool:
    """Whether a lead has each of its items checked: `Before finishing, verify:`, or below `Checklist`."""
    if contexts.CHECKED.match(lead) is not None:
        return True
    below = any(contexts.CHECKLIST.search(h) and not contexts.NOT_BINDING.search(h) for h in headings[-1:])
    return below and contexts.AT_THE_END.match(lead) is not None


def _is_listed(text: str, lead: str, heading: str, *, telling: bool) -> bool:
    """Whether an item is one of the rules that the heading right above lists, or a step at a time that it names."""
    plain = bare(text)
    if contexts.NOT_BINDING.search(heading) or contexts.CONDITION.match(lead):
        return False
    if contexts.RULE_LIST.match(lead.removesuffix(":") or heading) and contexts.WORDS.search(plain):
        describes = contexts.DESCRIBES.match(plain) and not contexts.ORDERED.search(plain)
        return not describes or contexts.CROSSED.match(text) is not None
    return telling and contexts.AT_A_TIME.match(heading) is not None


def _of_prose(headings: Sequence[str]) -> _Word | None:
    """What headings make of prose that instructs."""
    last = headings[-1] if headings and not any(map(contexts.EXAMPLES.match, headings)) else ""
    if (contexts.RULE_LIST.match(last) or contexts.AT_A_TIME.match(last)) and not contexts.NOT_BINDING.search(last):
        return _Word(_trimmed(last), carries=False)
    for heading in reversed(headings):
        if found := contexts.SECTION.search(heading):
            return _Word(found.group().lower(), carries=True)
    word = _alone(headings)
    return _Word(word, carries=True) if word is not None else None


def _trimmed(text: str) -> str:
    return text.strip(" \t:.!—–-()").lower()[:60]


def _alone(headings: Sequence[str]) -> str | None:
    """The word of a heading that is nothing but a word that demands: `Never`, `Don't`."""
    words = (h.strip(" \t:.!*").lower() for h in reversed(headings) if demanding.ALONE.fullmatch(bare(h)))
    return next((word for word in words if word != "required"), None)  # a list of parameters
