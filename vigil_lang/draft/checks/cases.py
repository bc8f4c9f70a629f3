"""The ways in which a condition may hold, and what each of them tells of the event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from vigil_lang.analysis.reachability import Reachability
from vigil_lang.draft.checks.patterns import says_nothing
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.trace import Signature

Asked: TypeAlias = tuple[core.Test, bool]
"""A test that is to hold or to fail."""

MAX_CASES: Final = 200
"""Ways in which a condition may hold, beyond which nothing is said of it."""

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
            return wanted and not says_nothing(matcher)
        case core.In(_, _, negated):
            return wanted != negated
        case core.Matches(_, matcher, negated):
            return wanted != negated and not says_nothing(matcher)
        case core.ContainsText(_, text):
            return wanted and len(text.strip()) > 1
        case core.Compares():
            return True
        case _:
            return False


def meets_most(way: Sequence[Asked], signature: Signature | None) -> bool:
    """Whether a case that names actions can be met by more than half of those that a signature has."""
    if signature is None or len(signature.actions) < _FEW_ACTIONS:
        return False
    occurrence = Reachability(signature)
    whole = core.AndC(tuple(test if wanted else core.NotC(test) for test, wanted in way))
    met = sum(occurrence.condition(whole, name, action).hold for name, action in signature.actions.items())
    return 2 * met > len(signature.actions)


def field_of(test: core.Test) -> str:
    """The argument that a test reads; empty for the action and the status."""
    return "" if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs) else test.field.name


def taken_out(test: core.Test, wanted: bool) -> list[str]:
    """The values, names or patterns by which a test takes events out; none where it does not."""
    match test:
        case core.In(_, values, negated) if negated == wanted:
            return sorted(values)
        case core.Matches(_, matcher, negated) if negated == wanted:
            return [matcher.pattern]
        case core.ActionIn(names) if not wanted:
            return sorted(names)
        case core.ActionMatches(matcher) if not wanted:
            return [matcher.pattern]
        case core.ContainsText(_, text) if not wanted:
            return [text]
        case core.Has(field) if not wanted:
            return [field.name]
        case _:
            return []


def looked_for(test: core.Test, wanted: bool) -> list[str]:
    """The values that a test of an argument or the output looks for."""
    match test:
        case core.In(_, values, False) if wanted:
            return sorted(values)
        case core.Matches(_, matcher, False) if wanted:
            return [matcher.pattern]
        case core.ContainsText(_, text) if wanted:
            return [text]
        case core.Has(field) if wanted:
            return [field.name]
        case _:
            return []
