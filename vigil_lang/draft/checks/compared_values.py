"""What a statement asks of values beside its conditions: tests in `where`, and views of what an event carries.

A `where` takes out of the statement all objects that it does not hold of; a view passes over what it is not defined of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.draft.checks.cases import TooMany, cases, says_nothing
from vigil_lang.draft.checks.exceptions import exceptions
from vigil_lang.draft.checks.mentions import mentions
from vigil_lang.draft.checks.narrower_than_sentence import narrower, shown
from vigil_lang.draft.checks.weakness import Weakness
from vigil_lang.engines.wording import named
from vigil_lang.english.phrases import COMPARED, SAME_THING, excepting
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said
    from vigil_lang.semantics.forms import Form
    from vigil_lang.trace import Signature

_ROLE = "where"
_PARTIAL = frozenset({"host", "ext", "json"})
"""Views that are not defined of every text."""


def compared(theta: core.Theta, form: Form, said: Said, signature: Signature | None) -> Iterator[Weakness]:
    """What `where` takes out, and the clause does not."""
    for where in dict.fromkeys(body for body in core.bodies(theta) if isinstance(body, core.Where)):
        try:
            ways = cases(where.condition)
        except TooMany:
            yield Weakness(f"{_ROLE}: it has too many cases to be understood; split or simplify it")
            continue
        for test in dict.fromkeys(test for way in ways for test, _ in way):
            told = f"{_ROLE}: nothing in the clause compares as `{shown(test)}` does"
            match test:
                case core.Equals() | core.Contains() if not SAME_THING.search(said.text):
                    yield Weakness(told)
                case core.ComparesWith() if not COMPARED.search(said.text):
                    yield Weakness(told)
                case core.Compares(_, operator, number) if not said.has_threshold(operator, number):
                    yield Weakness(f"{_ROLE}: the clause has no number {number}")
        yield from exceptions(_ROLE, ways, form, said)
        yield from unasked_views(_ROLE, ways, said)
        for text in dict.fromkeys(text for way in ways for text in narrower(way, said, signature)):
            yield Weakness(f"{_ROLE}: narrower than the sentence: only `{text}`", certain=False)


def unasked_views(role: str, ways: Sequence[Sequence[Asked]], said: Said) -> Iterator[Weakness]:
    """Views that may pass over what the sentence speaks of."""
    known = mentions(said.own_text, frozenset())
    tests = dict.fromkeys(test for way in ways for test, _ in way)
    fields = [test.field for test in tests if not isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs)]
    for field in dict.fromkeys(fields):
        for view in field.views:
            told = f"{role}: what `{named(field)}` is not defined of is passed over"
            if view.name in _PARTIAL:
                yield Weakness(told, certain=False)
            elif view.name == "find" and not (view.expression is None or known.meets(view.expression)):
                yield Weakness(f"{role}: only what `{named(field)}` finds counts", certain=False)
            elif view.name == "without" and view.expression is not None:
                taken = f"{role}: `{named(field)}` takes out what the sentence does not except"
                if says_nothing(view.expression) or excepting(said.sentence) is None:
                    yield Weakness(taken)
                elif not known.meets(view.expression):
                    yield Weakness(taken, certain=False)
