"""Which sentences ask for something: a must, a never, an order in which things are done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.documents import demanding

if TYPE_CHECKING:
    from vigil_lang.documents.model import Document, Sentence

_CODE = re.compile(r"`[^`]*`")
_QUOTED = re.compile(r"[“\"][^“”\"]{1,300}[”\"]")
_ORNAMENT = re.compile(r"^(?:[^\w`\"'“(\[<]|\d+[.)]\s)+")
_LABEL = re.compile(r"^(?:step \d+|[\w/&' `-]{1,60}?(?:\([^)]{0,60}\))?)\s*(?::|[—–]| - )\s+", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:before|after|once|if|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Obligation:
    """A sentence that asks for something, and the word or phrase that says so."""

    sentence: Sentence
    index: int
    word: str


def obligations(document: Document) -> tuple[Obligation, ...]:
    """The sentences of a document that state an obligation, in order."""
    found = []
    for index, sentence in enumerate(document.sentences):
        if sentence.kind == "heading":
            continue
        word = demands(sentence.text) or _from_context(sentence)
        if word is not None and not (sentence.kind == "cell" and _is_reason(sentence, word)):
            found.append(Obligation(sentence, index, word))
    return tuple(found)


@lru_cache(maxsize=4096)
def demands(text: str) -> str | None:
    """The word by which a sentence demands something; None where it only describes, asks or recommends."""
    bare = _bare(text)
    if not bare or bare.rstrip("*_)\"'”’ ").endswith("?"):
        return None
    told = demanding.MERE.sub(lambda m: "~" * len(m.group()), bare)
    for pattern in demanding.STRONG:
        if found := pattern.search(told):
            return found.group().strip(" ,:;—–-(").lower() or None
    start = _begin(told)
    if found := demanding.ORDER.search(start) or demanding.ORDER.search(told):
        return " ".join(found.group().split()[:3]).lower()
    if (callout := demanding.CALLOUT.match(told)) and demanding.INSTRUCTS.match(_begin(told[callout.end() :].lstrip())):
        return callout.group().rstrip(":!—–- ").lower()
    return None


def instructs(text: str) -> bool:
    """Whether a sentence tells somebody to do something (`Use …`, `Run …`), be it demanded or only advised."""
    start = _begin(_bare(text))
    return demanding.INSTRUCTS.match(start) is not None


def _is_reason(sentence: Sentence, word: str) -> bool:
    """Whether a cell of a column such as `Why it helps` says what something is good for: `ensure …`, `need to …`."""
    column = sentence.headings[-1] if sentence.headings else ""
    return demanding.REASONS.match(column) is not None and demanding.BENEFIT.match(word) is not None


def _bare(text: str) -> str:
    """The sentence without code, quotations and ornaments."""
    text = _CODE.sub("`…`", text) if "`" in text else text
    if '"' in text or "“" in text:
        text = _QUOTED.sub("“…”", text)
    return _ORNAMENT.sub("", text[:2000])


def _begin(text: str) -> str:
    """The sentence from where it speaks: without a label (`Step 2:`, `No randomness —`) before it."""
    label = _LABEL.match(text)
    if label and (label.end() < len(text)) and not _CLAUSE.match(text):
        return text[label.end() :]
    return text


def _from_context(sentence: Sentence) -> str | None:
    """What the heading or the lead of an item makes of it."""
    if sentence.kind != "item" or sentence.text.rstrip().endswith("?"):
        return None
    for text in (sentence.lead, *sentence.headings[-1:]):
        if not text or len(text) > 120 or demanding.NOT_BINDING.search(text):
            continue
        if found := demanding.BINDING.search(text):
            return found.group().strip(" \t:.!").lower()
        if (found := demanding.RULES.search(text)) and (
            instructs(sentence.text) or demanding.RESTRICTS.search(_bare(sentence.text))
        ):
            return found.group().strip(" \t:.!").lower()
    return None
