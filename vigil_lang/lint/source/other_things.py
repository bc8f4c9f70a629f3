"""VGL702: statements about kinds of actions other than those a cited sentence speaks of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.english.sentences import CODE, SPOKEN
from vigil_lang.english.stems import meet
from vigil_lang.english.words import content_words, distinctive_words, parts_of, word_lists
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.reach import StatementReach

_SYNONYMS = word_lists("kinds")
_JUDGED = frozenset(
    {
        *("archive.create", "archive.extract", "archive.list", "file.permit", "git.branch", "git.push", "git.rewrite"),
        *("job.submit", "net.listen", "privilege.raise"),
    }
)
"""Kinds that are one thing: what a file, a request or a program is about only its name tells, in words of its own."""
_TOPICS = re.compile(
    r"\b(?:(?:old|older|newer|outdated|latest|minimum|supported)(?: \w+){0,2} (?P<old>versions?)|"
    r"(?P<version>versions?)(?: \w+){0,3} (?:older|newer|below|above|at least|v?\d)|"
    r"(?P<other>prices?|payments?|refunds?|invoices?|fonts?|colou?rs?|charts?|slides?|captions?))\b",
    re.IGNORECASE,
)
"""Things that have nothing to do with these kinds."""


def other_thing(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """A finding where no word of the statement is related to any of the sentence, and the sentence's topic is known.

    Only certain kinds of actions and certain topics are judged: elsewhere a sentence may call a thing by a name that no
    list has (`phone home`).
    """
    kinds = reach.whole.actions
    if not kinds or not _JUDGED.issuperset(kinds):
        return None
    found = _TOPICS.search(SPOKEN.sub(" ", CODE.sub(" ", citation.text)))
    said = distinctive_words(citation.text)
    if found is None or meet(said, _known(reach)) or any(reach.matches(word) for word in said):
        return None
    topic = found[found.lastgroup or 0]
    return Diagnostic.of(
        "VGL702",
        f"the sentence speaks of `{topic}`, and nothing in `{reach.statement.name}` has to do with any word of it",
        citation.statement.source,
        citation.place(topic),
        help="cite the sentence that asks for this statement",
    )


def _known(reach: StatementReach) -> frozenset[str]:
    """The words of a statement and of its kinds, by their names, what the vocabulary says of them, and other words."""
    found = set(reach.words) | set(parts_of(reach.statement.name))
    for kind in reach.whole.actions:
        found |= _SYNONYMS[kind] | content_words(vocabulary().kinds[kind].summary)
    return frozenset(found)
