"""From when on a statement counts: an `after` narrows it to what comes later, so the clause has to say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.draft.checks.narrower_than_sentence import actions_of, narrower
from vigil_lang.draft.checks.topics import all_words_of, left_of, speaks_of
from vigil_lang.draft.checks.weakness import Weakness, listed
from vigil_lang.english.phrases import AFTERWARDS, AGAIN, OUTCOME, RESTARTED
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said
    from vigil_lang.trace import Signature


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
        asked = AGAIN.search(said.text) or RESTARTED.search(said.text) or (AFTERWARDS.search(said.text) and not flows)
        ended = any(isinstance(test, core.StatusIs) for test, _ in way)
        again = bool(asked or (ended and OUTCOME["error"].search(said.text)))
    else:
        left = left_of(said.text_words, all_words_of(spoken, signature))
        again = outputs or any(speaks_of(left, name, signature) for name in actions)
        again = again and bool(flows or AFTERWARDS.search(said.text))
    return again and not list(narrower(way, said.with_lead(), signature))
