"""VGL701: words that limit a cited sentence (`bulk`, `external`, `unless`) and have no counterpart in the statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.english.constraints import constraints
from vigil_lang.english.stems import meet, related
from vigil_lang.english.words import parts_of, word_lists
from vigil_lang.lint.source.outcomes import outcomes
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.english.constraints import Limit
    from vigil_lang.lint.source.reach import StatementReach
    from vigil_lang.lint.subject import Subject

_COUNTERPARTS = word_lists("counterparts")
_STATES = word_lists("states")
_FOLDERS = frozenset({"path", "directory", "cwd", "source", "target", "file"})
_FILES = re.compile(
    r"(?:files?|documents?|scripts?|paths?|folders?|director(?:y|ies)|modules?|configs?|artifacts?|artefacts?)$"
)
_ONE_FILE = re.compile(r"[\w./-]*[\w-]\.[A-Za-z]\w{0,5}|/[\w./-]+")

_HELP = {
    "many": "test what tells many from one (a count, an argument, a tool for many), or bound it with `atmost`",
    "amount": "compare with the number (`count > 3`), or bound the calls with `atmost`, the total with `budget`",
    "size": "compare the size with a number",
    "party": "test the host, domain or recipient",
    "place": "test what names the place (a branch, an environment, a profile)",
    "state": "test what shows that state, or say by an order how it is known",
    "except": "the exception needs a condition of its own: a `not`, `after`, or an order such as `prec`",
    "only": "what it is limited to needs a condition of its own: a `not`, `after`, or an order such as `prec`",
    "without": "what must not be missing is a guard: `prec(…, …)`, or a test that shows it is missing",
    "same": "tie the events together by a variable",
    "every": "widen the pattern to all of them, or cite a sentence about this one",
}


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Limiting words without a counterpart, each once for a statement."""
    for citation in subject.cited.citations:
        yield from outcomes(citation, subject.cited)
        limits = [limit for sentence in citation.sentences for limit in constraints(sentence).limits]
        if not limits:
            continue
        reach = subject.cited.reach(citation.statement)
        for limit in limits:
            missing = _missing(limit, reach, citation.text)
            if missing is not None:
                yield Diagnostic.of(
                    "VGL701",
                    f"the sentence says `{limit.word}`, and {missing}",
                    citation.statement.source,
                    citation.place(limit.word),
                    help=_HELP[limit.kind],
                )


def _missing(limit: Limit, reach: StatementReach, sentence: str) -> str | None:
    """What the statement lacks, in words; None where it has a counterpart, or may have."""
    name, whole = f"`{reach.statement.name}`", reach.whole
    word = limit.word.lower()
    counts = whole.compared or bool(whole.bounds)  # what `atmost` counts is bounded, too
    if limit.kind == "every":
        narrow = _narrow(limit, reach, sentence)
        return f"{name} speaks of `{narrow}` alone" if narrow else None
    found = {
        "many": lambda: counts or _has_one_of(_COUNTERPARTS["many"], reach) or meet(_content(word)[:1], reach.words),
        "amount": lambda: counts or _has_one_of(_COUNTERPARTS["many"], reach),
        "size": lambda: counts or _has_one_of(_COUNTERPARTS["size"], reach),
        "party": lambda: bool(_COUNTERPARTS["foreign"] & reach.words or _COUNTERPARTS["destination"] & reach.tested),
        "place": lambda: (
            (word.startswith("outside") and bool(whole.matchers or whole.negated or _FOLDERS & reach.tested))
            or bool(_COUNTERPARTS["branch" if _is_branch(word) else "environment"] & (reach.tested | _names(reach)))
            or meet(_content(word), reach.words)
        ),
        "state": lambda: _shows_state(word, reach),
        "except": lambda: reach.has_second_condition,
        "only": lambda: reach.has_second_condition,
        "without": lambda: _guards(word, reach),
        "same": lambda: bool(reach.statement.requirement.variables) or "same" in reach.words,
    }[limit.kind]()
    if found:
        return None
    return {
        "many": f"nothing in {name} tells {word.removeprefix('in ')} from single",
        "amount": f"nothing in {name} counts",
        "size": f"nothing in {name} looks at a size",
        "party": f"nothing in {name} tells who is meant",
        "place": f"nothing in {name} tells where",
        "state": f"nothing in {name} tells {word} from others",
        "except": f"{name} has no second condition that could be the exception",
        "only": f"{name} has no second condition that could be the limit",
        "without": f"nothing in {name} could be there before",
        "same": f"{name} has no variable that ties two events together",
    }[limit.kind]


def _has_one_of(words: frozenset[str], reach: StatementReach) -> bool:
    """Whether the statement has one of the words, in the plural too."""
    return any(word in words or word.removesuffix("s") in words for word in reach.words)


def _content(word: str) -> list[str]:
    return [
        part for part in re.findall(r"[a-z]+", word) if part not in ("in", "on", "to", "the", "into", "against", "en")
    ]


def _names(reach: StatementReach) -> frozenset[str]:
    return frozenset(part for text in reach.whole.names for part in parts_of(text))


def _is_branch(word: str) -> bool:
    return re.search(r"\b(?:main|master|default|protected|release)\b", word) is not None


def _shows_state(word: str, reach: StatementReach) -> bool:
    whole = reach.whole
    if word in (
        "existing",
        "pending",
        "unreviewed",
        "unapproved",
        "unverified",
        "unvalidated",
        "untested",
        "uncommitted",
    ):
        ordered = whole.earlier or whole.later
        if ordered:
            return True
    if word in ("failed", "failing", "successful") and whole.statuses:
        return True
    return meet([word, *_STATES.get(word, (word.removeprefix("un"),))], reach.words)


def _guards(word: str, reach: StatementReach) -> bool:
    if reach.whole.earlier or ((form := reach.statement.preset) is not None and bool(form.wanted)):
        return True
    acted = [
        part for part in _content(word) if part not in ("without", "user", "users", "explicit", "prior", "first", "any")
    ]
    known = _COUNTERPARTS["acted"]
    return bool(known & reach.words) or meet([*acted, *(known - {"user", "ask"})], reach.words)


def _narrow(limit: Limit, reach: StatementReach, sentence: str) -> str | None:
    """The one file that the trigger speaks of where the sentence says all files."""
    if not _FILES.search(limit.noun.lower().split(" ")[0]) and not _FILES.search(limit.noun.lower()):
        return None
    holds = core.conditions(reach.statement.requirement.theta)
    for test in core.tests(holds[0].condition) if holds else ():
        if isinstance(test, core.In) and not test.negated and len(test.values) == 1:
            (value,) = test.values
            parts = [p for p in re.findall(r"[a-z]{3,}", value.lower()) if len(p) > 2]
            said = re.findall(r"[a-z]{3,}", sentence.lower())
            if _ONE_FILE.fullmatch(value) and not any(related(p, s) for p in parts for s in said):
                return value
    return None
