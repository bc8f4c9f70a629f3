"""VGL702: statements about kinds of actions other than those a cited sentence speaks of."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.english.sentences import CODE, SPOKEN
from vigil_lang.english.stems import meet, stem
from vigil_lang.english.words import distinctive_words, parts_of, word_list, word_lists
from vigil_lang.lint.source.reach import of_kind
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.reach import StatementReach

_JUDGED = frozenset(
    {
        *("archive.create", "archive.extract", "archive.list", "file.permit", "git.branch", "git.push", "git.rewrite"),
        *("job.submit", "net.listen", "privilege.raise"),
    }
)
"""Kinds that are one thing: what a file, a request or a program is about only its name tells, in words of its own."""
_TOPICS = re.compile(
    r"\b(?:(?:old|older|newer|outdated|latest|minimum|supported|floating|pinned|exact)(?: \w+){0,2} (?P<old>versions?)|"
    r"(?P<version>versions?)(?: \w+){0,3} (?:older|newer|below|above|at least|v?\d)|"
    r"(?P<other>prices?|payments?|refunds?|invoices?|fonts?|colou?rs?|charts?|slides?|captions?))\b",
    re.IGNORECASE,
)
"""Things that have nothing to do with these kinds."""

_TOLD = re.compile(
    r"(?:\b(?:never|do not|don['’]t|must not|may not|cannot|should not|shall not|before you|before|after|or|and) "
    r"|^\W*(?:(?:always|please|first|only|then) )?)"
    r"(?:\w+ly )?(?P<verb>(?!(?:never|do|don|must|may|not)\b)[a-z]{3,})\b(?=(?P<object>(?: [a-z]+){0,4}))",
    re.IGNORECASE,
)
"""What a sentence tells somebody to do, or not to do, and the words behind it."""
_WHOLE_FILES = re.compile(r"\b(?:files?|folders?|director(?:y|ies))\b", re.IGNORECASE)
_MONEY = re.compile(
    r"(?<!-)\b(?P<verb>send|transfer|wire|remit|pay|move|spend|refund)(?:ing|s)?\b(?: \w+){0,2}? "
    r"(?P<object>money|funds|cash|payments?|invoices?|dollars|euros)\b",
    re.IGNORECASE,
)
"""What is done with money, whatever else the verb may speak of."""
_PAYMENTS = frozenset({"payment.transfer", "payment.refund"})
_ASKING = frozenset({"user.ask", "user.message"})
_TALKING = {"email": "message.send", "mail": "message.send", "pay": "payment.transfer"}
"""Verbs of kinds whose names do not have them."""
_IMPERATIVES = word_list("imperatives")
_VERSATILE = word_list("versatile_kinds")
_TEXTS = frozenset({"file.write", "file.edit", "file.append"})
"""Kinds by which one does much to what stands in a file: a header, a test, a secret is removed by an edit."""
_ALIKE = tuple(word_lists("alike").values())


def other_thing(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """A finding where no word of the statement is related to any of the sentence, if it is certain what that is about.

    That is a thing, for kinds and things that are well known, or what it tells somebody to do or not to do, in a verb
    of the vocabulary. Elsewhere a sentence may call something by a name that no list has (`phone home`).
    """
    thing, deeds = _spoken_of(citation.text)
    if thing is None and not deeds:
        return None
    kinds = reach.whole.actions
    if deeds and deeds[0].kinds == _PAYMENTS and _is_no_payment(kinds, reach):
        return _finding(f"{deeds[0].verb} {deeds[0].behind}".strip(), deeds[0].verb, citation, reach)
    if not kinds or not _VERSATILE.isdisjoint(kinds) or not vocabulary().kinds.keys() >= set(kinds):
        return None
    topic = thing if thing is not None and _JUDGED.issuperset(kinds) else _deed(deeds, kinds)
    if topic is None:
        return None
    said = distinctive_words(citation.text)
    if meet(said, _known(reach)) or any(reach.matches(word) for word in said):
        return None
    return _finding(topic, topic, citation, reach)


def _is_no_payment(kinds: Iterable[str], reach: StatementReach) -> bool:
    """Whether a statement names kinds none of which may move money, and no word of money either."""
    known = vocabulary().kinds
    others = frozenset(kinds) - _ASKING
    if not others or not known.keys() >= others or not _VERSATILE.isdisjoint(others):
        return False
    return _PAYMENTS.isdisjoint(others) and not meet(
        frozenset({"money", "funds", "payment", "pay", "invoice"}), reach.words
    )


def _finding(topic: str, word: str, citation: Citation, reach: StatementReach) -> Diagnostic:
    return Diagnostic.of(
        "VGL702",
        f"the sentence speaks of `{topic}`, and nothing in `{reach.statement.name}` has to do with any word of it",
        citation.statement.source,
        citation.place(word),
        help="cite the sentence that asks for this statement",
    )


def _known(reach: StatementReach) -> frozenset[str]:
    """The words of a statement and of its kinds, by their names, what the vocabulary says of them, and other words."""
    return reach.words.union(parts_of(reach.statement.name), *map(of_kind, reach.whole.actions))


# --- what is done ------------------------------------------------------------------------------------------------


class Deed(NamedTuple):
    """A verb, the words behind it, and the kinds that it may speak of."""

    verb: str
    behind: str
    kinds: frozenset[str]


@lru_cache(maxsize=2048)
def _spoken_of(text: str) -> tuple[str | None, tuple[Deed, ...]]:
    """The well-known thing that a sentence speaks of, and what it tells somebody to do or not to do."""
    spoken = SPOKEN.sub(" ", CODE.sub(" ", text))
    if (money := _MONEY.search(spoken)) is not None:
        return None, (Deed(money["verb"], money["object"], _PAYMENTS),)
    thing = _TOPICS.search(spoken)
    deeds = [
        Deed(found["verb"], found["object"], kinds_of(stem(verb)))
        for found in _TOLD.finditer(spoken)
        if (verb := found["verb"].lower()) in _IMPERATIVES or verb in _TALKING or verb.endswith("ing")
    ]
    known = tuple(deed for deed in deeds if deed.kinds)
    return (None if thing is None else thing[thing.lastgroup or 0]), known


def _deed(deeds: Sequence[Deed], kinds: Iterable[str]) -> str | None:
    """A verb of a sentence, where none of its verbs may be that of one of these kinds."""
    if any(_is_alike(kind, other) for deed in deeds for kind in kinds for other in deed.kinds):
        return None
    edits = not _TEXTS.isdisjoint(kinds)
    return next((deed.verb for deed in deeds if not edits or _WHOLE_FILES.search(deed.behind)), None)


@lru_cache(maxsize=4096)
def kinds_of(verb: str) -> frozenset[str]:
    """The kinds that a verb, by its stem, may speak of; none for a verb that may speak of anything."""
    if (kind := _TALKING.get(verb)) is not None:
        return frozenset({kind})
    if verb not in _deeds():
        return frozenset()
    kinds = vocabulary().kinds
    return frozenset(k for k in kinds if verb in {stem(w) for w in (*of_kind(k), *parts_of(k))})


@cache
def _deeds() -> frozenset[str]:
    """The stems of the verbs that are the last words of kinds, without the vague ones."""
    last = {kind.rpartition(".")[2] for kind in vocabulary().kinds}
    return frozenset(map(stem, last - word_list("vague_deeds")))


def _is_alike(one: str, other: str) -> bool:
    kinds = vocabulary().kinds
    if one == other or one in kinds[other].implies or other in kinds[one].implies:
        return True
    if any(one in group and other in group for group in _ALIKE):
        return True
    family = one.partition(".")[0]
    return family not in ("file", "dir") and family == other.partition(".")[0]
