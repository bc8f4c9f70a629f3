"""What a clause says, as far as a statement may rest on it: its words and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue.load import program
from vigil_lang.english.injection import addresses_model
from vigil_lang.english.patterns import TIME
from vigil_lang.english.phrases import AGAIN, FEWER, TWICE
from vigil_lang.english.sentences import CODE
from vigil_lang.english.stems import related
from vigil_lang.english.words import FUNCTION_WORDS, NUMBERS, SECONDS, parts_of, word_lists

if TYPE_CHECKING:
    from vigil_lang.draft.clause_result import Clause
    from vigil_lang.trace import Signature

_NUMBER = re.compile(r"\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,9})?")
_WORD = re.compile(r"[a-z]+")
_SCALES = tuple(
    Decimal(scale)
    for scale in ("1", "0.01", "60", "3600", "86400", "604800", "1e3", "1e6", "1e9", "1024", "1048576", "1073741824")
)
"""A number may be written in another unit: 20 MB as 20000000, 10 minutes as 600, 5 % as 0.05."""
_FREE = (Decimal(0), Decimal(1))
_TIME = re.compile(
    rf"(?P<half>\bhalf )?(?P<many>\d{{1,12}}(?:[.,]\d{{1,9}})?|\b[a-z]+)[ -]?(?P<unit>{TIME})\b", re.IGNORECASE
)
_SINGLE = frozenset({"a", "an", "one", "per", "each", "every", "any", "single", "last", "past", "same"})
"""Words before a unit that stand for one of it."""
_OFTEN = {word: Decimal(size) for size, words in word_lists("often").items() for word in words}
_LEAST = re.compile(
    rf"\b(?:at least|no (?:fewer|less) than|a minimum of|minimum) (?P<many>\d{{1,9}}|{'|'.join(NUMBERS)})\b"
    rf"|\b(?P<times>\d{{1,9}}|{'|'.join(NUMBERS)}) times\b",
    re.IGNORECASE,
)
_STEM = 3
"""Shorter words have no stem."""
_NEGATED = re.compile(r"(?:un|non)(\w{4,})")
_ENDING = re.compile(r"\\?\.\w{1,5}\$?$")
_MARKS = re.compile(r"\\[bBAzZsSdDwWnrt]|\(\?[a-zA-Z]*:?")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text, in lower case, and its words; of `unverified` also `verified`."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Wording:
        """The wording of a text."""
        words = frozenset(parts_of(text))
        return cls(text.casefold(), words.union(found[1] for word in words if (found := _NEGATED.fullmatch(word))))

    def has(self, name: str) -> bool:
        """Whether a word of a name is in it."""
        return _meet(name, self.words)

    def has_value(self, value: str) -> bool:
        """Whether a value is in it, or what is most particular in a pattern: of a path its last part.

        `evil.example` is not in what only speaks of `api.example.org`, and `data/ledger` not in what speaks of `data`.
        """
        bare = value.strip("*?/ ").casefold()
        if len(bare) >= _STEM and re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", self.text):
            return True
        pieces = [piece for piece in _MARKS.sub(" ", value).split("/") if parts_of(piece)]
        parts = parts_of(_ENDING.sub("", pieces[-1])) if pieces else ()
        return 2 * sum(_is_among(part, self.words) for part in parts) > len(parts)


@dataclass(frozen=True, slots=True)
class Said:
    """What one clause says: in its `own` sentence, in its `sentence` without code, and in `text` with its lead, too.

    A heading or a lead stands above many clauses, so what they name is known to each (`context`), but takes nothing
    out of it: that only its own words can.
    """

    own: Wording
    own_text: str
    sentence: str
    text: str
    context: frozenset[str]
    numbers: frozenset[Decimal]

    @classmethod
    def of(cls, clause: Clause) -> Said:
        """What a clause says; a heading or lead that speaks to the model that drafts is no part of it."""
        beside = (clause.lead, *clause.headings, *clause.parts)
        lead, *others = (text if not addresses_model(text) else "" for text in beside)
        text = f"{clause.text}\n{lead}"
        numbers = {value for found in _NUMBER.findall(text) if (value := _decimal(found.replace(",", ""))) is not None}
        words = _WORD.findall(text.lower())
        numbers |= {Decimal(NUMBERS[word]) for word in words if word in NUMBERS}
        own = Wording.of(clause.text)
        context = own.words.union(parts_of(lead), *map(parts_of, others))
        sentence = CODE.sub(lambda found: "`" * len(found[0]), clause.text)  # as long as it was
        return cls(own, clause.text, sentence, text, context, frozenset(numbers))

    def after(self, place: int) -> Wording:
        """The wording of the clause's own sentence from a place on."""
        return Wording.of(self.text[place : len(self.sentence)])

    def has_count(self, count: int, *, calls: bool = False) -> bool:
        """Whether a count is the clause's own, or the strictest there is; of retries, the first try counts as well."""
        value = Decimal(count)
        return (
            value == 1
            or value in self.numbers
            or (value + 1 in self.numbers and FEWER.search(self.text) is not None)
            or (not calls and value - 1 in self.numbers and AGAIN.search(self.text) is not None)
        )

    def has_least(self, count: int) -> bool:
        """Whether a count is the least that the clause asks for; where it names none, once is."""
        asked = [(found["many"] or found["times"]).lower() for found in _LEAST.finditer(self.text)]
        numbers = {NUMBERS.get(word) or int(word) for word in asked} or {1}
        return count >= max(numbers)

    @property
    def counts(self) -> bool:
        """Whether the clause says how often: by a number, or as what is not to be done again."""
        return bool(self.numbers) or AGAIN.search(self.text) is not None or TWICE.search(self.text) is not None

    def has_threshold(self, operator: str, value: Decimal, *, free: bool = True) -> bool:
        """Whether a threshold is a number of the clause, be it in another unit; `more than 3` may be `>= 4`.

        With `free`, 0 and 1 are thresholds that tell no more than that there is something.
        """
        near = {value, value - 1} if operator in (">=", "<") else {value, value + 1}
        return (free and value in _FREE) or any(
            number in near or any(number * scale == value for scale in _SCALES) for number in self.numbers
        )

    def is_number(self, text: str) -> bool:
        """Whether a text is a number of the clause."""
        value = _decimal(text) if text.isascii() and text[:1].isdigit() else None
        return value is not None and value in self.numbers

    def has_time(self, microseconds: int) -> bool:
        """Whether a time is one of the clause; where it names none with its unit, whether it has such a number."""
        times = {time for found in _TIME.finditer(self.text) if (time := _seconds(found)) is not None}
        times |= {size for word, size in _OFTEN.items() if word in self.text_words}
        seconds = Decimal(microseconds) / 1_000_000
        if times:
            return seconds in times
        return any(seconds / size in self.numbers for size in SECONDS.values())

    @property
    def text_words(self) -> frozenset[str]:
        """The words of the sentence and its lead."""
        return frozenset(parts_of(self.text))

    def with_lead(self) -> Said:
        """The same, with the lead as if it were part of the sentence: it may say when a sentence holds."""
        return replace(self, own=Wording.of(self.text), own_text=self.text)

    def names(self, text: str, signature: Signature | None = None, words: frozenset[str] | None = None) -> bool:
        """Whether the clause or its context has a word of a name, a value or a pattern, or of an action's kinds.

        With `words`, whether these have.
        """
        words = self.context if words is None else words
        if _meet(text, words):
            return True
        kinds: set[str] = set()
        if signature is not None and text in signature.actions:
            kinds |= signature.actions[text].kinds
        if (known := program(text)) is not None:
            kinds |= set(known.kinds or ())
        return any(_meet(kind, words) for kind in kinds)


def share(name: str, text: str) -> float:
    """How much of a name's words a text has, from 0 to 1."""
    parts, words = parts_of(name), frozenset(parts_of(text))
    return sum(_is_among(part, words) for part in parts) / len(parts) if parts else 0.0


def _meet(text: str, words: frozenset[str]) -> bool:
    return any(_is_among(part, words) for part in parts_of(_MARKS.sub(" ", text)))


def _is_among(part: str, words: frozenset[str]) -> bool:
    if part.isdigit() or len(part) < _STEM:
        return part in words and part not in FUNCTION_WORDS
    return any(related(part, word) for word in words if word[:_STEM] == part[:_STEM])


def _seconds(found: re.Match[str]) -> Decimal | None:
    """The seconds of `10 minutes`, `an hour` or `half an hour`."""
    many = found["many"].lower().replace(",", "")
    number = "1" if many in _SINGLE else str(NUMBERS.get(many, many))
    size = SECONDS[found["unit"].lower()]
    if (value := _decimal(number)) is None:
        return None
    return value * size / 2 if found["half"] else value * size


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
