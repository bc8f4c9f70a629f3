"""VGL701: sentences of success (`passing`) or failure (`if … fails`) where the statement looks at no status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.english.sentences import CODE, SPOKEN
from vigil_lang.english.stems import meet
from vigil_lang.english.words import distinctive_words, parts_of, word_list
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.cited import Cited
    from vigil_lang.lint.source.reach import Reach

_SUCCESS = re.compile(
    r"\b(?:successfully|succeeded|green|successful(?= [a-z])|"
    r"(?:passed|passing)(?! (?:to|as|in|into|by|on|over|through|along|it|the|an?)\b)|"
    r"(?<=tests )pass|(?<=tests all )pass|(?<=checks )pass|(?<=suite )passes|(?<=build )(?:passes|succeeds)|"
    r"(?<=check )passes|(?<=scan )passes|cleanly|without (?:any )?(?:errors?|failures?)|"
    r"if (?:none|nothing|no \w+) (?:fails?|failed))\b",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"^\W*(?:if|when|whenever|once|after) (?P<what>[^,;:.]{1,60}?) "
    r"(?P<word>fails?|failed|errors? out|breaks|crashe[sd]|(?:does|do|did|has|have) not (?:succeed(?:ed)?|pass(?:ed)?)|"
    r"(?:is|was|were|gets?) (?:rejected|refused|unsuccessful))\b(?! to\b)",
    re.IGNORECASE,
)
"""A failure that something is to be done about."""
_NEGATED = re.compile(r"(?:\bnot?|n['’]t|\bnever|\bwithout|\bnon-?|\bfail\w*) (?:\w+ )?$", re.IGNORECASE)
_NEIGHBOURS = 3
"""How many words around a word of success tell what has it: `the tests have all passed`."""
_SHOWN = word_list("success")
_TURNS = word_list("turns")


def outcomes(citation: Citation, cited: Cited) -> Iterator[Diagnostic]:
    """Words of success whose part of the statement tests no status, or that of a failure."""
    form = citation.statement.preset
    if form is None or not form.wanted:
        return  # what forbids looks for the failure
    for sentence in citation.sentences:
        spoken = SPOKEN.sub(" ", CODE.sub(" ", sentence))
        if form.looks == "ahead" and (failed := _FAILURE.match(spoken)) is not None:
            part, words = cited.reach(citation.statement).part_reaches[0], cited.reach(citation.statement).parts[0]
            other = "tests for `status = ok`" if part.statuses == {"ok"} else "tells no failure from success"
            if meet(distinctive_words(failed["what"]), words) and _shows_no_failure(part, words):
                yield Diagnostic.of(
                    "VGL701",
                    f"the sentence says `{failed['word']}`, and the trigger of `{citation.statement.name}` {other}",
                    citation.statement.source,
                    citation.place(failed["word"]),
                    help="test what shows failure: `status = error`, or the output",
                )
                return
        for found in _SUCCESS.finditer(spoken):
            if _NEGATED.search(spoken[: found.start()]):
                continue
            reach = cited.reach(citation.statement)
            near = _neighbours(spoken, found)
            about = [n for n, part in enumerate(reach.parts) if meet(near, part)]
            if len(about) != 1:
                continue
            part, role = reach.part_reaches[about[0]], form.roles[about[0]]
            lacks = _lacks(part, reach.parts[about[0]])
            if lacks is not None:
                yield Diagnostic.of(
                    "VGL701",
                    f"the sentence says `{found.group()}`, and the {role} of `{citation.statement.name}` {lacks}",
                    citation.statement.source,
                    citation.place(found.group()),
                    help="test what shows success: `status = ok`, or the output",
                )
                return


def _neighbours(text: str, found: re.Match[str]) -> frozenset[str]:
    """The words that say what the success is of: those closest before, or behind where it stands before its noun."""
    before = re.findall(r"[\w-]+|[,;:.]", text[: found.start()])
    behind = re.findall(r"[\w-]+|[,;:.]", text[found.end() :])
    return distinctive_words(" ".join([*_up_to_a_stop(before[::-1]), *_up_to_a_stop(behind)]))


def _up_to_a_stop(words: list[str]) -> list[str]:
    near: list[str] = []
    for word in words[:_NEIGHBOURS]:
        if not word[0].isalnum() or word.lower() in _TURNS:
            break
        near.append(word)
    return near


def _shows_no_failure(part: Reach, words: frozenset[str]) -> bool:
    shown = part.compared or part.matchers or meet(frozenset({"fail", "error"}), words)
    return part.statuses == {"ok"} or not (part.statuses or shown)


def _lacks(part: Reach, words: frozenset[str]) -> str | None:
    words -= {word for kind in part.actions if kind in vocabulary().kinds for word in parts_of(kind)}
    if "ok" in part.statuses or (meet(_SHOWN, words) and not part.statuses) or part.compared or part.matchers:
        return None
    return "tests for `status = error`" if part.statuses else "tells no success from failure"
