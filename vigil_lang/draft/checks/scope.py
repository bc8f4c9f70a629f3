"""From when on a statement counts: an `after` narrows it to what comes later, so the clause has to say so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vigil_lang.draft.checks.narrower_than_sentence import actions_of, narrower
from vigil_lang.draft.checks.topics import all_words_of, left_of, speaks_of
from vigil_lang.draft.checks.weakness import FAILING, Weakness, listed
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said
    from vigil_lang.trace import Signature

_ORDERED: Final = re.compile(
    r"\b(?:after\w*|once|when\w*|if|while|during|following|since|as soon as|upon|already|previous\w*|then|until|from|"
    r"subsequent\w*|having|has been|have been)\b",
    re.IGNORECASE,
)
_REPEATED: Final = re.compile(
    r"\b(?:again|repeat\w*|retr(?:y|ies|ied|ying)|re-?(?:run|submit|send|try|start|do)\w*)\b", re.IGNORECASE
)


def unasked_scope(
    ways: Sequence[Sequence[Asked]], said: Said, spoken: frozenset[str], signature: Signature | None
) -> Iterator[Weakness]:
    """Whether the sentence (or its lead) says from when on it holds: in one of the cases, by all that it looks for."""
    if not any(_is_asked_after(way, said, spoken, signature) for way in ways):
        named = listed(sorted({name for way in ways for name in actions_of(way)})) or "something"
        yield Weakness(f"after: nothing in the clause says that it holds only after {named}")


def _is_asked_after(way: Sequence[Asked], said: Said, spoken: frozenset[str], signature: Signature | None) -> bool:
    # What ties two events about one thing (a value that flows from one to the other) is no time of day.
    flows = any(wanted and isinstance(test, core.Equals | core.Contains) for test, wanted in way)
    outputs = any(isinstance(t, core.Equals) and t.field.output for t, _ in way) and "output" in said.text_words
    actions = actions_of(way)
    if actions & spoken and not outputs:
        asked = _REPEATED.search(said.text) or (_ORDERED.search(said.text) and not flows)
        ended = any(isinstance(test, core.StatusIs) for test, _ in way)
        again = bool(asked or (ended and FAILING.search(said.text)))
    else:
        left = left_of(said.text_words, all_words_of(spoken, signature))
        again = outputs or any(speaks_of(left, name, signature) for name in actions)
        again = again and bool(flows or _ORDERED.search(said.text))
    return again and not list(narrower(way, said.with_lead(), signature))
