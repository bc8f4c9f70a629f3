"""VGL702: numbers, versions and names of a cited sentence that nothing in the statement contains."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue.load import program
from vigil_lang.diagnostics import Diagnostic
from vigil_lang.documents.document import Document
from vigil_lang.documents.passages import quoted_words
from vigil_lang.english.constraints import constraints
from vigil_lang.english.patterns import NEGATION
from vigil_lang.english.phrases import COUNTING, INSTEAD
from vigil_lang.english.words import SECONDS, parts_of
from vigil_lang.lint.source.other_things import other_thing
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from vigil_lang.english.constraints import Number
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.reach import StatementReach
    from vigil_lang.lint.subject import Subject

_BYTES = re.compile(r"([kmgt])(i?)b(?:ytes?)?$")
_HEAD_NAME = re.compile(r"---\s*\n(?:(?!---)[^\n]*\n)*?name:(?P<name>[^\n]*)\n")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_SHORT_VERSION = re.compile(r"\d+\.\d+")
_FILE = re.compile(r"[\w-]+(?:[./-][\w-]+)*\.[A-Za-z]\w{0,4}")
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_OFTEN = frozenset({"times", "time", "retries", "attempt", "attempts", "try", "tries"})


def find(subject: Subject) -> Iterator[Diagnostic]:
    """What a sentence names or counts and no statement that cites it does."""
    groups: dict[tuple[str, ...], list[Citation]] = defaultdict(list)
    for citation in subject.cited.citations:
        groups[quoted_words(citation.text)].append(citation)
    own = lru_cache(maxsize=256)(partial(_own_names, subject))
    for group in groups.values():
        reaches = [subject.cited.reach(c.statement) for c in group]
        for citation, reach in zip(group, reaches, strict=True):
            others = [r for r in reaches if r.statement is not citation.statement]
            yield from _find(citation, reach, others, own(citation.file))


def _own_names(subject: Subject, file: str) -> frozenset[str]:
    """The names of the cited document: its file, and the skill that its head names. They ask for nothing."""
    path = PurePosixPath(file.replace("\\", "/"))
    found = {file.lower(), path.name.lower()}
    document = subject.documents.cited(subject.policy.path, file)
    if isinstance(document, Document) and (head := _HEAD_NAME.match(document.source.text[:4000])) is not None:
        found.add(head["name"].strip(" \t\"'").lower())
    return frozenset(found)


def _find(
    citation: Citation, reach: StatementReach, others: list[StatementReach], own: Container[str]
) -> Iterator[Diagnostic]:
    preset = citation.statement.preset
    only_forbids = preset is not None and preset.only_forbids
    if not others and (finding := other_thing(citation, reach)) is not None:
        yield finding
        return
    # What one of several statements about a sentence holds, the others need not hold as well.
    said = dict.fromkeys(n for s in citation.sentences for n in _names(s, only_forbids=only_forbids))
    if only_forbids and reach.whole.negated:  # `abs(build(version != …))` forbids what a demand leaves out
        for sentence in citation.sentences:
            if not NEGATION.search(sentence):
                only = _ONLY.search(sentence) is not None
                told = constraints(sentence).names
                said |= dict.fromkeys(name for name in told if only or _SHORT_VERSION.fullmatch(name))
    names = [name for name in said if name.lower() not in own]
    if missing := [name for name in names if not any(_has_name(name, r) for r in (reach, *others))]:
        yield _finding(citation, missing, "contains it" if len(missing) == 1 else "contains them")
    for number in dict.fromkeys(n for s in citation.sentences for n in constraints(s).numbers):
        if not any(_has_number(number, r) for r in (reach, *others)):
            yield _finding(citation, [number.word], f"has the number {number.value}")


def _finding(citation: Citation, words: list[str], lacks: str) -> Diagnostic:
    shown = ", ".join(f"`{word}`" for word in words[:4]) + (", …" if len(words) > 4 else "")
    return Diagnostic.of(
        "VGL702",
        f"the sentence says {shown}, and nothing in `{citation.statement.name}` {lacks}",
        citation.statement.source,
        citation.place(words[0]),
        help="test for it, or cite only the part of the sentence that the statement enforces",
    )


@lru_cache(maxsize=4096)
def _names(sentence: str, *, only_forbids: bool) -> tuple[str, ...]:
    """The names a statement should hold: one that forbids holds what is forbidden, not what is to be done instead."""
    if not only_forbids:
        return constraints(sentence).names
    return tuple(n for part in INSTEAD.split(sentence) if NEGATION.search(part) for n in constraints(part).names)


def _has_name(name: str, reach: StatementReach) -> bool:
    if _SHORT_VERSION.fullmatch(name):
        return _has_version(name, reach)
    parts = [part for part in parts_of(name) if len(part) > 1 or part.isdigit()]
    text = reach.text
    if name.lower() in text or reach.matches(name):
        return True
    if _FILE.fullmatch(name):  # `package.json` is another file than `package-lock.json`
        return any(all(part in one for part in parts) for one in text.splitlines())
    if all(part in text for part in parts):
        return True
    found = program(name)
    return found is not None and not set(reach.whole.actions).isdisjoint(found.kinds or ())


def _has_version(name: str, reach: StatementReach) -> bool:
    """Whether the statement has a version of two numbers: `0.292` is met by `0.292.0`, and not by `0.2920`."""
    wanted = name.split(".")
    if any(found.split(".")[:2] == wanted for found in _VERSION.findall(reach.text)):
        return True
    return any(reach.matches(f"{v}{name}{rest}") for v in ("", "v") for rest in ("", ".0"))


def _has_number(number: Number, reach: StatementReach) -> bool:
    value = Decimal(number.value)
    if value in (0, 1):
        return True
    counted = COUNTING.match(number.word) is not None
    whole = reach.whole
    if (counted or number.unit in _OFTEN) and not (whole.compared or whole.bounds or reach.numbers):
        return True  # VGL701 and VGL703 speak of what counts nothing at all
    values = _readings(value, number.unit) | ({value + by for by in _off_by(number, reach)} if counted else set())
    if values & reach.numbers or reach.matches(number.value):
        return True
    spelled = number.word.split()[0].lower() if number.word[:1].isalpha() else number.value
    if spelled in reach.text and re.search(rf"(?<![\w.]){re.escape(spelled)}(?![\w.])", reach.text):
        return True
    seconds = SECONDS.get(number.unit)
    waits = [bound.microseconds for bound in whole.bounds if isinstance(bound, core.Within)]
    return seconds is not None and value * seconds * 1_000_000 in waits


def _off_by(number: Number, reach: StatementReach) -> tuple[int, ...]:
    """What else than the number of a bound says the same: fewer than 10 are at most 9, three retries four calls."""
    word = number.word.lower()
    if word.startswith(("less", "fewer", "below")):
        return (-1,)
    if word.startswith(("more", "over", "exceed", "above")):
        return (1,)
    if word.startswith("at least"):
        return (-1,) if reach.whole.compared else ()
    return (1,)


def _readings(value: Decimal, unit: str) -> set[Decimal]:
    """A number as it may be written: 20 MB as 20000000, 50% as 0.5, 10 minutes as 600."""
    found = {value}
    if (size := _BYTES.match(unit)) is not None:
        power = "kmgt".index(size[1]) + 1
        found |= {value * 1000**power, value * 1024**power}
    elif unit in ("%", "percent"):
        found.add(value / 100)
    elif (seconds := SECONDS.get(unit)) is not None:
        found |= {value * seconds, value * seconds * 1000}
    return {number.normalize() for number in found}
