"""The order of two things without a comma between them, or told by other words: `After X do Y`, `X; then Y`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from vigil_lang.english.patterns import NEGATION
from vigil_lang.english.sentences import CODE, SPOKEN
from vigil_lang.english.words import word_list

if TYPE_CHECKING:
    from collections.abc import Iterator

Sense: TypeAlias = Literal["past", "future", "either"]


class Sequence(NamedTuple):
    """Two things in their order. `past`: the first is needed before the second; `future`: the second has to follow.

    `either`: the sentence may mean both; only the other way round is wrong.
    """

    word: str
    sense: Sense
    first: str
    then: str


_VERBS: Final = word_list("imperatives")
_BEHIND: Final = word_list("before_nouns")
"""Words behind which a word that may be a verb is a noun: `after a commit`, `after each run of the tests`."""
_OBJECT: Final = re.compile(
    r"\s+(?:an?|the|all|each|every|any|it|its|them|this|that|these|those|your|their|both|again|\w+s)\b"
)
_OPENS: Final = re.compile(
    r"\W*(?P<word>after|once|upon|following|when(?:ever)?|as soon as|(?:each|every) time)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\W*(?P<word>before|prior to)\s+(?P<rest>[^,]+)$", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"\s(?=(?:the|all|an?|your|its|every|each) (?:[\w-]+ ){1,3}?"
    r"(?:must|should|has to|have to|needs? to|(?:is|are) to|shall)\b)",
    re.IGNORECASE,
)
"""Where a clause begins that says what has to be: `after every edit | the linter must run`."""
_WITHOUT: Final = re.compile(r"\W*no (?P<then>[^,;]+?) (?P<word>without) (?P<first>[^,;]+)$", re.IGNORECASE)
_AHEAD: Final = re.compile(r"\W*(?P<word>ahead of) (?P<then>[^,;]+), (?P<first>.+)$", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]+(?:-[a-z]+)*", re.IGNORECASE)
_DONE: Final = re.compile(
    r"\b(?:(?:is|are|has|have|was|were)(?: been)? (?:done|over|complete\w*|finish\w*|\w+ed|made|built|sent)|"
    r"finishe[sd]|complete[sd]|ends?|ended|succeeds)\s*$",
    re.IGNORECASE,
)
ALLOWED: Final = re.compile(
    r"\b(?:confirm\w*|approv\w*|consent\w*|permi\w*|authori[sz]\w*|asking|review\w*|sign-off|back(?:ed |ing )?-?up|"
    r"validat\w*|verif\w*|check\w*|reading|agree\w*|pass\w*|succe\w*|scan\w*|ok|green|allowed|granted|"
    r"log(?:ged)? in)\b",
    re.IGNORECASE,
)
"""What something may be done after, rather than what something has to follow."""
ONLY_THEN: Final = re.compile(r"\b(?:only|continue|proceed|go|start|begin|may|can|could|might)\b", re.IGNORECASE)


def _shape(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_SHAPES: Final[tuple[tuple[Sense, re.Pattern[str]], ...]] = (
    ("past", _shape(r"^(?P<first>.+?)[,;]? (?:and )?(?P<word>only then|only afterwards) (?P<then>.+)$")),
    ("past", _shape(r"^(?P<then>.+?) (?:(?:is|are|be) )?(?:always )?(?P<word>preceded by) (?P<first>.+)$")),
    ("future", _shape(r"^(?P<first>.+?) (?:(?:is|are|be) )?(?:always )?(?P<word>followed by) (?P<then>.+)$")),
    (
        "past",
        _shape(
            r"^(?P<then>.+?) (?:(?:must|should|will) )?(?:needs?|requires?) (?P<first>.+?) "
            r"(?P<word>first|beforehand)\W*$"
        ),
    ),
    (
        "either",
        _shape(r"^(?:first(?:ly)?,? )?(?P<first>.+?)(?:[,;]|[,;]? and)? (?P<word>then|afterwards) (?P<then>.+)$"),
    ),
    (
        "either",
        _shape(
            r"^(?!.*\b(?:until|before|unless)\b)(?P<then>.+?),? "
            r"(?P<word>after|once|whenever|as soon as|(?:each|every) time) (?P<first>.+)$"
        ),
    ),
)


def sequences(sentence: str) -> Iterator[Sequence]:
    """What a sentence tells of order in these ways, if anything."""
    yield from _read(sentence[:1000])


@lru_cache(maxsize=2048)
def _read(sentence: str) -> tuple[Sequence, ...]:
    text = SPOKEN.sub(" ", CODE.sub("`…`", sentence)).strip()
    opens = _OPENS.match(text)
    if opens is not None:
        found = _parted(opens["rest"])
        return (_after(opens["word"].lower(), *found),) if found is not None else ()
    before = _BEFORE.match(text)
    if before is not None:
        found = _parted(before["rest"])
        if found is None or NEGATION.search(text) is not None:
            return ()
        return (Sequence(before["word"].lower(), "past", found[1], found[0]),)
    for needs in (_WITHOUT, _AHEAD):
        if (needed := needs.match(text)) is not None:
            return (Sequence(needed["word"].lower(), "past", needed["first"], needed["then"]),)
    if NEGATION.search(text) is not None:
        return ()
    for sense, shape in _SHAPES:
        if (shaped := shape.match(text)) is not None:
            return (Sequence(shaped["word"].lower(), sense, shaped["first"], shaped["then"]),)
    return ()


def _after(word: str, first: str, then: str) -> Sequence:
    """What follows where nothing but time has to pass; what was allowed, or checked, before only allows the next."""
    follows = ALLOWED.search(first) is None and ONLY_THEN.search(then) is None and NEGATION.search(then) is None
    follows = follows and (word in ("after", "following", "upon") or _DONE.search(first) is not None)
    return Sequence(word, "future" if follows else "either", first, then)


def _parted(text: str) -> tuple[str, str] | None:
    """What stands before the comma and behind it; else before the verb of an instruction, and from there on."""
    before, comma, behind = text.partition(",")
    if comma:
        return (before, behind.strip()) if before.count(" ") < 20 else None
    last = ""
    for found in _WORD.finditer(text):
        word = found.group().lower()
        if word in _VERBS and last and last not in _BEHIND and _OBJECT.match(text, found.end()):
            return text[: found.start()].strip(), text[found.start() :]
        last = word
    told = _TOLD.search(text)
    return (text[: told.start()], text[told.end() :]) if told is not None else None
