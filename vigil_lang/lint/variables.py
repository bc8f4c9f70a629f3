"""What the variables of statements join, and which of them join nothing.

A statement holds for all values of its variables. One that stands only where events are asked for (in a guard, a
response) asks for every value at once; one that stands only where they are forbidden or where they trigger something
may be any value there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.semantics import core
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.lower import Statement

MAX_VARIABLES = 20
"""Variables of one statement that are reported for one reason."""

_LEAST = 3
"""Letters of a name, below which it is as like any other."""


class Mention(NamedTuple):
    """One test of a variable: the condition it stands in, and whether its failing is what can break the statement.

    `asked` where its condition is one that some other event has to meet.
    """

    holds: core.Holds
    positive: bool
    asked: bool
    test: core.Equals | core.Contains


@dataclass(frozen=True, slots=True)
class Unjoined:
    """The variables of one statement that join nothing, each in one of these.

    `alike` are pairs of names that differ by a slip, each on a side of its own, in the order they come up; `unfixed`
    are wanted for every value at once; `lone` stand for any value and are mentioned by one test. `counted` join a
    trigger to itself, as `atmost` and `rslv` do, and nothing else.
    """

    statement: Statement
    alike: tuple[tuple[str, str], ...]
    unfixed: tuple[str, ...]
    lone: tuple[str, ...]
    counted: tuple[str, ...]
    mentions: dict[str, list[Mention]] = field(repr=False)

    @property
    def amiss(self) -> bool:
        """Whether some variable of it is certainly at fault."""
        return bool(self.alike or self.unfixed or self.lone)


def unjoined(statements: Iterable[Statement]) -> list[Unjoined]:
    """Those statements that have such variables, with these."""
    return [found for s in statements if s.requirement.variables and (found := _unjoined(s)) is not None]


def _unjoined(statement: Statement) -> Unjoined | None:
    variables = statement.requirement.variables
    mentions: dict[str, list[Mention]] = {x: [] for x in variables}
    _walk(statement.requirement.theta, True, False, mentions)
    suspects = [x for x in variables if _suspicious(mentions[x])]
    if not suspects:
        return None
    apart = [x for x in variables if len({id(m.holds) for m in mentions[x]}) == 1][:MAX_VARIABLES]
    alike = tuple((a, b) for a, b in combinations(apart, 2) if _meant_the_same(a, b, mentions))
    taken = {x for pair in alike for x in pair}
    unfixed: list[str] = []
    lone: list[str] = []
    counted: list[str] = []
    for x in suspects:
        if x in taken:
            continue
        if _wanted(mentions[x]):
            unfixed.append(x)
        elif _occurrences(mentions[x]) == 1:
            lone.append(x)
        elif len({id(m.test) for m in mentions[x]}) == 1:
            counted.append(x)
    return Unjoined(statement, alike, _first(unfixed), _first(lone), _first(counted), mentions)


def _first(variables: list[str]) -> tuple[str, ...]:
    return tuple(variables[:MAX_VARIABLES])


def _walk(theta: core.Theta, positive: bool, asked: bool, mentions: dict[str, list[Mention]]) -> None:
    match theta:
        case core.Holds(condition):
            _tests(condition, positive, theta, asked and positive, mentions)
        case core.Not(body):
            _walk(body, not positive, asked, mentions)
        case core.And(items) | core.Or(items):
            for item in items:
                _walk(item, positive, asked, mentions)
        case core.Implies(left, right):
            _walk(left, not positive, asked, mentions)
            _walk(right, positive, asked, mentions)
        case core.Earlier(body) | core.Later(body) | core.Repeated(_, body):
            _walk(body, positive, asked or positive, mentions)
        case core.Clear(resolver, forbidden):
            _walk(resolver, positive, asked or positive, mentions)
            _walk(forbidden, not positive, asked, mentions)


def _tests(
    condition: core.Condition, positive: bool, holds: core.Holds, asked: bool, mentions: dict[str, list[Mention]]
) -> None:
    if isinstance(condition, core.AndC | core.OrC):
        for item in condition.items:
            _tests(item, positive, holds, asked, mentions)
    elif isinstance(condition, core.NotC):
        _tests(condition.body, not positive, holds, asked, mentions)
    elif isinstance(condition, core.Equals | core.Contains):
        mentions[condition.variable].append(Mention(holds, positive, asked, condition))


def _suspicious(mentions: list[Mention]) -> bool:
    return len(mentions) == 1 or _wanted(mentions) or len({id(m.holds) for m in mentions}) == 1


def _wanted(mentions: list[Mention]) -> bool:
    """Whether every value is wanted: a text that no event carries is then the hardest to find."""
    return all(m.positive for m in mentions) or all(m.asked for m in mentions)


def _occurrences(mentions: list[Mention]) -> int:
    """Where a variable is tested; a trigger that is looked at twice joins it to itself, a scope does not."""
    scopes = {id(m.test) for m in mentions if m.holds.role == "scope"}
    return sum(m.holds.role != "scope" for m in mentions) + len(scopes)


def _meant_the_same(one: str, other: str, mentions: dict[str, list[Mention]]) -> bool:
    """Whether two variables are each on a side of their own, and their names look like one name."""
    apart = mentions[one][0].holds is not mentions[other][0].holds
    return apart and min(len(one), len(other)) >= _LEAST and differ_by_a_slip(one, other)


def differ_by_a_slip(one: str, other: str) -> bool:
    """Whether one letter (no digit), or two that are swapped, are all that tells two names apart."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1 or short == long:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :] and not long[at].isdigit()
    if short[at + 1 :] == long[at + 1 :]:
        return not (short[at].isdigit() or long[at].isdigit())
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


def test_at(items: Iterable[tree.Item], span: Span) -> tree.Test | None:
    """The test of a file whose operand has a span."""
    waiting: list[object] = []
    for item in items:
        if isinstance(item, tree.Pattern):
            waiting.append(item.body)
        elif isinstance(item, tree.Statement):
            waiting += (item.after, *item.form.args)
    while waiting:
        match waiting.pop():
            case tree.Test() as test:
                if test.operand.span == span:
                    return test
            case tree.And(parts) | tree.Or(parts):
                waiting += parts
            case tree.Apply(_, args):
                waiting += args or ()
            case tree.Not(body):
                waiting.append(body)
            case tree.Implies(left, right):
                waiting += (left, right)
            case tree.Diamond() as diamond:
                waiting.append(diamond.body)
    return None
