"""The ways in which a condition may hold, and what each of them tells of the event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from vigil_lang.analysis.occurs import Occurrence
from vigil_lang.semantics import core
from vigil_lang.semantics.text import predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.semantics.text import Matcher
    from vigil_lang.trace import Signature

Asked: TypeAlias = tuple[core.Test, bool]
"""A test that is to hold or to fail."""

MAX_CASES: Final = 200
"""Ways in which a condition may hold, beyond which nothing is said of it."""

_ANYTHING = ("", "a", "0", "/tmp/x y", "Qx-7", "\n", "é", "file.read", "true")
_FEW_ACTIONS = 4


class TooMany(Exception):
    """A condition may hold in more than MAX_CASES ways."""


def cases(condition: core.Condition, *, wanted: bool = True) -> list[list[Asked]]:
    """The ways in which a condition holds (or fails), each a conjunction of tests.

    Raises:
        TooMany: there are more than MAX_CASES.
    """
    match condition:
        case core.NotC(body):
            return cases(body, wanted=not wanted)
        case core.AndC(items) | core.OrC(items) if isinstance(condition, core.OrC) == wanted:
            found = [way for item in items for way in cases(item, wanted=wanted)]
        case core.AndC(items) | core.OrC(items):
            found = [[]]
            for item in items:
                more = cases(item, wanted=wanted)
                if len(found) * len(more) > MAX_CASES:
                    raise TooMany
                found = [before + after for before in found for after in more]
        case _:
            return [[(condition, wanted)]]
    if len(found) > MAX_CASES:
        raise TooMany
    return found


def is_telling(test: core.Test, wanted: bool) -> bool:
    """Whether a test tells an event from most others, rather than what it is not, or that it is there at all."""
    match test:
        case core.ActionIn():
            return wanted
        case core.ActionMatches(matcher):
            return wanted and not _matches_anything(matcher)
        case core.In(_, _, negated):
            return wanted != negated
        case core.Matches(_, matcher, negated):
            return wanted != negated and not _matches_anything(matcher)
        case core.ContainsText(_, text):
            return wanted and len(text.strip()) > 1
        case core.Compares():
            return True
        case _:
            return False


def _matches_anything(matcher: Matcher) -> bool:
    """Whether a pattern matches so many texts that it says nothing."""
    accepts = predicate(matcher)
    return sum(map(accepts, _ANYTHING)) > len(_ANYTHING) // 2


def meets_most(way: Sequence[Asked], signature: Signature | None) -> bool:
    """Whether a case that names actions can be met by more than half of those that a signature has."""
    if signature is None or len(signature.actions) < _FEW_ACTIONS:
        return False
    occurrence = Occurrence(signature)
    whole = core.AndC(tuple(test if wanted else core.NotC(test) for test, wanted in way))
    met = sum(occurrence.condition(whole, name, action).hold for name, action in signature.actions.items())
    return 2 * met > len(signature.actions)
