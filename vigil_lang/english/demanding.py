"""What a sentence demands by itself, and what it only seems to.

What headings and leads make of a sentence is told by the patterns in `contexts`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from vigil_lang.english import principles
from vigil_lang.english.principles import ALONE, INSTRUCTS
from vigil_lang.english.sentences import CODE, SPOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

_FURTHER = re.compile(r": |, (?:(?:and|but|so|then) )?| (?:[—–]|--?) ")
"""Where a further clause may begin, which the sentence goes on with."""
_CLAUSES = 24
_NAMED = re.compile(r"\w+: ")
"""A name of one word, whatever verb it may be: `List: what there is instead of …`."""
_ASIDE = re.compile(r" \([^()]{0,80}\)")
_NUMBER = re.compile(r"^\(?\d{1,2}[.)] ")
_ORNAMENT = re.compile(r"^(?:[^\w`\"'“(\[<]|\d+[.)]\s)+")
_LABEL = re.compile(r"^(?:step \d+|[\w/&' `….-]{1,60}?(?:\([^)]{0,60}\))?)(?:\s*[:—–]\s+| - )", re.IGNORECASE)
_QUOTES = frozenset("\"“”„«»‘’'")
_QUOTED = re.compile(
    r"[\s*_>-]*(?P<label>[^\"“”„«»:]{0,60}:\s*)?(?:[\"“„«](?P<said>[^\"“”„«»]{3,1000})[\"“”»][.!]?)[\s*_]*"
)
_RULE = re.compile(
    r"\b(?:rules?|polic(?:y|ies)|principles?|requirements?|constraints?|guidelines?|instructions?|remember|says?|said|"
    r"asks|asked|states?|reads?|wrote|demands|wants?)\b",
    re.IGNORECASE,
)
"""A label of what somebody demands; what stands behind `Error:` is no demand."""

_PROPOSES = re.compile(r"(?:consider|prefer)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:before|after|once|if|when)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def demands(text: str) -> str | None:
    """The word by which a sentence demands something; None where it only describes, asks or recommends."""
    said = bare(text)
    if not said or (is_question(said) and not INSTRUCTS.match(said)) or ALONE.fullmatch(said):
        return None
    if principles.SUBJECT.match(said):
        return None
    told = principles.MERE.sub(lambda m: "~" * len(m.group()), said)
    for pattern in principles.STRONG:
        if found := pattern.search(told):
            return found.group().strip(" ,:;—–-(").lower() or None
    for pattern in principles.OPENING:
        if found := pattern.match(told) or pattern.match(unlabelled(told)):
            return found.group().strip(" ,:;—–-(").lower()
    if principles.REMEDY.match(told) or principles.TELLS_OF.match(told):
        return None
    if (ordered := orders(told)) is not None:
        return ordered
    callout = principles.CALLOUT.match(told)
    rest = unlabelled(told[callout.end() :].lstrip()) if callout else ""
    if (rule := principles.RULE.match(told)) and len(told[rule.end() :].split()) > 2:
        return rule.group().rstrip(": ").lower()
    if callout and (INSTRUCTS.match(rest) or principles.LIMITS.match(rest)):
        return callout.group().rstrip(":!—–- ").lower()
    return None


def asks(text: str) -> str | None:
    """The word by which a sentence demands something, says what should be, or what is to be done in a case."""
    said = bare(text)
    return demands(text) or _should(said) or in_a_case(said)


def _should(said: str) -> str | None:
    told = without_asides(said)  # `The guide (e.g. of a ship) should …`
    should = principles.SHOULD.match(told) or principles.READER_SHOULD.match(told)
    return "should" if should and not is_question(said) else None


def in_a_case(said: str) -> str | None:
    """The words by which a bare sentence says what is to be done in a case: `If the index is missing, rebuild it.`"""
    told = principles.MERE.sub(lambda m: "~" * len(m.group()), said)
    if principles.SUBJECT.match(said) or principles.REMEDY.match(told):
        return None
    parts = (_NUMBER.sub("", unlabelled(told)), *_further(told))
    return next((_words(part) for part in parts if principles.IN_A_CASE.match(part)), None)


@lru_cache(maxsize=4096)
def limits(text: str) -> str | None:
    """The words by which a sentence says what something is not for, or only: `Drafts cannot be signed.`"""
    said = bare(text)
    told = principles.MERE.sub(lambda m: "~" * len(m.group()), said)
    if is_question(said) or principles.SUBJECT.match(said) or principles.REMEDY.match(told):
        return None
    clauses = (unlabelled(told), *told.split("; "))
    if only := next((part for part in clauses if principles.ALONE_USABLE.match(part)), None):
        return _words(only)
    return next((_words(part) for part in (*clauses, *_further(told)) if principles.USABLE.match(part)), None)


@lru_cache(maxsize=4096)
def specifies(text: str) -> str | None:
    """The words by which an instruction says how something is to be made: `Write it in this format:`"""
    said = without_asides(bare(text))
    parts = (unlabelled(said), *said.split("; "))
    return next((_words(part) for part in parts if principles.SPECIFIES.match(part)), None)


def orders(said: str) -> str | None:
    """The words by which a bare sentence ties an instruction to an order, a condition or an amount."""
    if _PROPOSES.match(said):
        return None
    # `Remotes are a risk; validate them before use.`
    whole = () if _NAMED.match(said) else (said,)
    for part in dict.fromkeys((unlabelled(said), *whole, *said.split("; ")[1:])):
        part = _NUMBER.sub("", part)
        if found := _tied(part) or principles.BEGINNING.match(part) or principles.WITHIN.search(part):
            return _words(part[found.start() :])
    for part in _further(said):
        if _tied(part) or principles.BEGINNING.match(part):
            return _words(part)
    return None


def _words(text: str) -> str:
    return " ".join(text.split()[:3]).lower()


def _further(said: str) -> Iterator[str]:
    """What a sentence says from each place on where a further clause may begin, up to a semicolon.

    That is at most `_CLAUSES` places and `principles.REACH` characters of each, so that the time is linear.
    """
    for clause in said.split("; "):
        signs = islice(_FURTHER.finditer(clause), _CLAUSES)
        yield from (clause[sign.end() : sign.end() + principles.REACH] for sign in signs)


def _tied(text: str) -> re.Match[str] | None:
    """The instruction that a text begins with, if something ties it."""
    found = principles.INSTRUCTION.match(text)
    if found is None:
        return None
    rest = text[found.end() : found.end() + principles.REACH]
    proposes = found["verb"].lower() in principles.PROPOSES
    tied = principles.TIED.search(rest) or (None if proposes else principles.BOUND.search(rest))
    return found if tied else None


def instructs(text: str) -> bool:
    """Whether a sentence tells somebody to do something (`Use …`, `Run …`), be it demanded or only advised."""
    said = bare(text)
    return INSTRUCTS.match(unlabelled(said)) is not None or INSTRUCTS.match(said) is not None


def without_asides(text: str) -> str:
    """A text without what stands in it in parentheses."""
    return _ASIDE.sub("", text)


def is_question(text: str) -> bool:
    """Whether a sentence asks a question."""
    return text.rstrip("*_)\"'”’ ").endswith("?")


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """The sentence without code, quotations and ornaments; one that is a quotation as a whole is what it says."""
    text = unquoted(text)
    text = CODE.sub("`…`", text) if "`" in text else text
    if '"' in text or "“" in text:
        text = SPOKEN.sub("“…”", text)
    return _ORNAMENT.sub("", text[:2000])


def unquoted(text: str) -> str:
    """What a sentence says that stands in quotation marks, alone or behind a label (`Rule: "Never push."`)."""
    if _QUOTES.isdisjoint(text[:80]) and _QUOTES.isdisjoint(text[-4:]):
        return text
    found = _QUOTED.fullmatch(text)
    if found is not None and (not found["label"] or _RULE.search(found["label"])):
        return found["said"]
    inner = text.strip(" *_>")
    if inner[:1] in "'‘" and inner.rstrip(".!")[-1:] in ("'", "’"):
        return inner.rstrip(".!")[1:-1]
    if inner[:1] in _QUOTES and _QUOTES.isdisjoint(inner[1:]):  # a quotation of several sentences begins here
        return inner[1:]
    if inner[-1:] in _QUOTES and _QUOTES.isdisjoint(inner[:-1]):
        return inner[:-1]
    return text


def unlabelled(text: str) -> str:
    """The sentence from where it speaks: without a label (`Step 2:`, `No randomness —`) before it."""
    label = _LABEL.match(text)
    if label and (label.end() < len(text)) and not _CLAUSE.match(text):
        return text[label.end() :]
    return text
