"""Which tests the variables of statements join, and which variables join nothing.

A statement holds for all values of its variables. One that stands only where events are forbidden or where they
trigger something may be any value there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.base.identity import by_identity
from vigil_lang.diagnostics.diagnostic import differ_by_a_slip
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.lower import Statement

MAX_VARIABLES = 20
"""Variables of one statement that are reported for one reason."""

_LEAST = 3
"""Letters of a name, below which it is as like any other."""


class Mention(NamedTuple):
    """One test of a variable, and the condition of the statement's `meaning` it stands in."""

    holds: core.Holds
    test: core.Equals | core.Contains | core.ComparesWith


@dataclass(frozen=True, slots=True)
class UnjoinedVariables:
    """The variables of one statement that join nothing, each in one of these.

    `alike` are pairs of names that differ by a slip, each on a side of its own, in the order they come up. `lone`
    stand for any value and are mentioned by one test; `counted` join a trigger to itself, as `atmost` and `rslv` do,
    and nothing else.
    """

    statement: Statement
    alike: tuple[tuple[str, str], ...]
    lone: tuple[str, ...]
    counted: tuple[str, ...]
    mentions: dict[str, list[Mention]] = field(repr=False)

    @property
    def amiss(self) -> bool:
        """Whether some variable of it is certainly at fault."""
        return bool(self.alike or self.lone)


def unjoined(statements: Iterable[Statement]) -> list[UnjoinedVariables]:
    """Those statements that have such variables, with these."""
    return [
        UnjoinedVariables(s, *found)
        for s in statements
        if s.meaning.variables and (found := _unjoined(s.meaning)) is not None
    ]


class _Unjoined(NamedTuple):
    alike: tuple[tuple[str, str], ...]
    lone: tuple[str, ...]
    counted: tuple[str, ...]
    mentions: dict[str, list[Mention]]


@by_identity
def _unjoined(requirement: core.Requirement) -> _Unjoined | None:
    variables = requirement.variables
    mentions: dict[str, list[Mention]] = {x: [] for x in variables}
    for holds in core.conditions(requirement.theta):
        for test in core.tests(holds.condition):
            if isinstance(test, core.OF_VARIABLES):
                mentions[test.variable].append(Mention(holds, test))
    limited = _limited(requirement.theta)
    suspects = [x for x in variables if x not in limited and _suspicious(mentions[x])]
    if not suspects:
        return None
    apart = [x for x in variables if len({id(m.holds) for m in mentions[x]}) == 1][:MAX_VARIABLES]
    alike = tuple((a, b) for a, b in combinations(apart, 2) if _meant_the_same(a, b, mentions))
    taken = {x for pair in alike for x in pair}
    lone: list[str] = []
    counted: list[str] = []
    for x in suspects:
        if x in taken:
            continue
        if _occurrences(mentions[x]) == 1:
            lone.append(x)
        elif len({id(m.test) for m in mentions[x]}) == 1:
            counted.append(x)
    return _Unjoined(alike, _first(lone), _first(counted), mentions)


def _limited(theta: core.Theta) -> set[str]:
    """The variables that `where` tests, so that they do not stand for any value."""
    return {
        x for body in core.bodies(theta) if isinstance(body, core.Where) for x in core.named_in_where(body.condition)
    }


def _first(variables: list[str]) -> tuple[str, ...]:
    return tuple(variables[:MAX_VARIABLES])


def _suspicious(mentions: list[Mention]) -> bool:
    return len(mentions) == 1 or len({id(m.holds) for m in mentions}) == 1


def _occurrences(mentions: list[Mention]) -> int:
    """Where a variable is tested; a trigger that is looked at twice joins it to itself, a scope does not."""
    scopes = {id(m.test) for m in mentions if m.holds.role == "scope"}
    return sum(m.holds.role != "scope" for m in mentions) + len(scopes)


def _meant_the_same(one: str, other: str, mentions: dict[str, list[Mention]]) -> bool:
    """Whether two variables are each on a side of their own, and their names look like one name."""
    apart = mentions[one][0].holds is not mentions[other][0].holds
    return apart and min(len(one), len(other)) >= _LEAST and differ_by_a_slip(one, other)
