"""How much a statement allows or asks for: each number of it has to be one of its clause.

A bound, a limit and a count are the clause's own. A window, a new start and the counting of distinct values only make a
count smaller, so that the clause has to have words for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.draft.checks.cases import looked_for
from vigil_lang.draft.checks.mentions import mentions
from vigil_lang.draft.checks.narrower_than_sentence import actions_of
from vigil_lang.draft.checks.topics import speaks_of
from vigil_lang.draft.checks.weakness import Weakness, listed
from vigil_lang.engines.wording import named, span_of
from vigil_lang.english.constraints import constraints
from vigil_lang.english.phrases import ANEW, DIFFERENT, IMMEDIATELY, forbids_outright
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import counted_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said
    from vigil_lang.semantics.forms import Form
    from vigil_lang.trace import Signature

_SOON = 3
_ORDERED = frozenset({"past", "future", "bounded"})
"""Orders of a sentence that are lost where something may happen at any time."""


def bounds(theta: core.Theta, form: Form, said: Said) -> Iterator[Weakness]:
    """In what the numbers of a statement are not those of the clause."""
    match theta:
        case core.Implies(_, core.Later(_, core.Calls(count) | core.Steps(count))):
            if not said.has_count(count, calls=True) and not (count <= _SOON and IMMEDIATELY.search(said.text)):
                yield Weakness(f"bound: the clause has no number {count}")
        case core.Implies(_, core.Later(_, core.Within(microseconds) as bound)):
            if not said.has_time(microseconds):
                yield Weakness(f"bound: the clause has no such time as {span_of(bound)}")
    counted = counted_by(theta)
    match counted:
        case core.Repeated(count) if form.looks == "ahead":
            if not said.has_least(count):
                yield Weakness(f"bound: the clause asks for more than {count}")
            ordered = [word.word for word in constraints(said.own_text).temporal if word.order in _ORDERED]
            if ordered and not any(isinstance(body, core.Earlier) for body in core.bodies(theta)):
                yield Weakness(f"the sentence says `{ordered[0]}`, and `{form.name}` asks for it at any time")
        case core.Repeated(count) if not said.has_count(count):
            yield Weakness(f"bound: the clause has no number {count}")
        case core.Repeated() if forbids_outright(said.sentence) and not said.counts:
            yield Weakness("bound: the sentence forbids it altogether, and not only more often than it says")
        case core.Exceeds(limit, field):
            if limit and limit not in said.numbers:
                yield Weakness(f"bound: the clause has no number {limit}")
            if not mentions(said.own_text, frozenset()).has_name(field.name):
                yield Weakness(f"counting: nothing in the sentence names `{named(field)}`", certain=False)
    if counted is not None:
        yield from _counted_anew(counted, form, said)


def _counted_anew(counted: core.Repeated | core.Exceeds, form: Form, said: Said) -> Iterator[Weakness]:
    """A window, and the distinct values of a field, that the clause does not speak of."""
    match counted.bound:
        case core.Within(microseconds) if not said.has_time(microseconds):
            yield Weakness(f"counting: the clause has no such time as {span_of(counted.bound)}")
        case core.Calls(count) | core.Steps(count) if count == 1 or not said.has_count(count, calls=True):
            yield Weakness(f"counting: the clause does not count within {span_of(counted.bound)}")
    different = isinstance(counted, core.Repeated) and counted.distinct is not None and form.looks != "ahead"
    if different and not DIFFERENT.search(said.text):
        yield Weakness("counting: the clause says nothing of different values, so each call counts; leave `field` out")


def unasked_reset(ways: Sequence[Sequence[Asked]], said: Said, signature: Signature | None) -> Iterator[Weakness]:
    """Whether the sentence (or its lead) says that a count starts anew: after each of the events that make it so."""
    if not ANEW.search(said.text):
        yield Weakness("since: nothing in the clause says that it is counted anew")
    for way in ways:
        actions = sorted(actions_of(way))
        looked = [text for asked in way for text in looked_for(*asked)]
        if not any(speaks_of(said.text_words, name, signature) for name in actions) and not any(
            said.names(text, signature, said.text_words) for text in looked
        ):
            yield Weakness(f"since: nothing in the sentence speaks of {listed(actions) or 'it'}")
