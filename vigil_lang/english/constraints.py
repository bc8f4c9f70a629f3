"""What limits a sentence: words that narrow it, numbers and names, and the order in time it speaks of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.english import patterns
from vigil_lang.english.demanding import unquoted
from vigil_lang.english.sentences import CODE, SPOKEN
from vigil_lang.english.words import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.english.patterns import LimitKind, Order


@dataclass(frozen=True, slots=True)
class Limit:
    """A word or phrase that narrows what the sentence speaks of. `noun` is what `every` and `all` stand before."""

    word: str
    kind: LimitKind
    noun: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the sentence: as it is written, its value in digits, and the unit after it, if any."""

    word: str
    value: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Temporal:
    """A word of order. `first` and `then` are the parts of the sentence that come earlier and later, where told."""

    word: str
    order: Order
    first: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True)
class Constraints:
    """All that limits one sentence. `names` are texts in code quotes or quotation marks, flags, files and versions."""

    limits: tuple[Limit, ...] = ()
    numbers: tuple[Number, ...] = ()
    names: tuple[str, ...] = ()
    temporal: tuple[Temporal, ...] = ()


@lru_cache(maxsize=4096)
def constraints(sentence: str) -> Constraints:
    """The constraints of one sentence (its Markdown already read, names in back quotes).

    A sentence that is a quotation as a whole is what it says.
    """
    sentence = unquoted(sentence[:2000])
    shown = _ASIDE.sub(" ", sentence) if "(" in sentence else sentence
    shown = _EXAMPLE.sub(" ", shown)
    bare = CODE.sub("`…`", shown) if "`" in shown else shown
    spoken = _QUOTED.sub(" ", bare)
    any_digit = _DIGIT.search(spoken) is not None
    return Constraints(
        tuple(_limits(spoken)),
        tuple(_numbers(patterns.SHORT_VERSION.sub(" ", patterns.NUMBERED.sub(" ", spoken)) if any_digit else spoken)),
        tuple(dict.fromkeys(_names(shown, sentence))),
        tuple(_temporal(spoken)),
    )


_ASIDE = re.compile(r"\([^()]*\)")
"""What stands in parentheses explains; it limits nothing."""
_EXAMPLE = re.compile(r"\b(?:such as|e\.g\.|for example|for instance)[^;:.]*", re.IGNORECASE)
_QUOTED = re.compile(rf"{SPOKEN.pattern}|(?<!\w)['‘][^'‘’]{{1,60}}['’](?!\w)")


def _limits(text: str) -> Iterator[Limit]:
    seen: set[str] = set()
    for kind, pattern in patterns.LIMITS:
        for found in pattern.finditer(text):
            word = found.group().strip()
            if word.lower() not in seen:
                seen.add(word.lower())
                yield Limit(word, kind, found.groupdict().get("noun") or "")


def _numbers(text: str) -> Iterator[Number]:
    for found in patterns.NUMBER.finditer(text):
        word = found["digits"] or found["word"]
        if not found["unit"] and found["digits"] and not found["more"] and _THINGS.match(text, found.end()):
            continue  # `the 5 questions` says which, and limits nothing
        value = str(NUMBERS.get(word.lower()) or word.replace(",", ""))
        yield Number(found.group().strip(), value.rstrip("."), (found["unit"] or "").lower())


_THINGS = re.compile(r" (?:[a-z]+ )?[a-z]+s\b", re.IGNORECASE)
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+")
_DIGIT = re.compile(r"\d")
_PLACEHOLDER = re.compile(r"<[^<>]*>|\{[^{}]*\}|\$\w+|\.\.\.|…")


def _names(shown: str, sentence: str) -> Iterator[str]:
    for found in CODE.finditer(shown):
        inner = _PLACEHOLDER.sub(" ", found.group().strip("` ")).strip()
        flags = [flag for flag in _FLAG.findall(inner) if len(flag) > 2]
        program = inner.split(" ")[0] if " " in inner else inner
        if program and not program.startswith("-") and any(map(str.isalnum, program)):
            yield program
        yield from flags
    spoken = CODE.sub(" ", shown)
    for found in _QUOTED.finditer(spoken):
        inner = found.group()[1:-1].strip()
        if patterns.VALUE.fullmatch(inner):
            yield inner
    if "." in spoken:
        yield from (found.group() for found in patterns.FILE.finditer(spoken))
    if _DIGIT.search(sentence):
        yield from (found.group() for found in patterns.VERSION.finditer(CODE.sub(" ", sentence)))
        yield from (found["version"] or found["bare"] for found in patterns.SHORT_VERSION.finditer(spoken))
    yield from _FLAG.findall(spoken) if "--" in spoken else ()


def _temporal(text: str) -> Iterator[Temporal]:
    if not patterns.ORDER_WORD.search(text):
        return
    seen: set[Order] = set()
    for order, pattern in patterns.ORDERS:
        found = None if order in seen else pattern.search(text)
        if found is None:
            continue
        seen.add(order)
        groups = found.groupdict()
        first, then = (groups.get("first") or "").strip(), (groups.get("then") or "").strip()
        # `Do not release before it is validated`: to validate comes first.
        if order == "past" and patterns.NEGATION.search(first) and not patterns.NEGATION.search(then):
            first, then = then, first
        yield Temporal((groups.get("word") or found.group()).strip(" ,").lower(), order, first, then)
