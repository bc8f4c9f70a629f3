"""Whether every run that keeps one statement keeps another. A yes is certain; a no only says that no proof was found.

Variables of the first statement stand for all values: those that the second one speaks of are tried.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.analysis.condition_implication import Implications
from vigil_lang.analysis.tableau import Tableau
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_INSTANCES: Final = 32
"""Choices of the variables that are tried."""


_NO_VALUE: Final = "\N{SYMBOL FOR NULL}"
"""What stands in `where` for a variable that has no value."""


class Text(NamedTuple):
    """A text that a variable stands for."""

    text: str


Value: TypeAlias = str | Text | None
"""What a variable becomes: another variable, a text, or (None) a text that no event carries."""


def entails(one: core.Requirement, other: core.Requirement, known: Implications | None = None) -> bool:
    """Whether it is certain that every run that satisfies `one` satisfies `other`."""
    known = known or Implications()
    return one.theta == other.theta or any(
        Tableau(known, ((body, True),)).closed([(other.theta, False)]) for body in instances(one, other)
    )


def valid(requirement: core.Requirement, known: Implications | None = None) -> bool:
    """Whether it is certain that every run satisfies the requirement."""
    return Tableau(known or Implications(), ()).closed([(requirement.theta, False)])


def instances(one: core.Requirement, other: core.Requirement) -> Iterator[core.Theta]:
    """The body of `one` with its variables replaced by what `other` has in the same fields."""
    if not one.variables:
        yield one.theta
        return
    own, others = _tests(one.theta), _by_field(other.theta)
    in_where = {
        x for b in core.bodies(one.theta) if isinstance(b, core.Where) for x in core.named_in_where(b.condition)
    }
    same_values = _viewed(_tests(other.theta)) <= _viewed(own)
    choices: list[list[Value]] = []
    for variable in one.variables:
        tests = [t for t in own if isinstance(t, core.OF_VARIABLES) and t.variable == variable]
        # Values of variables are those of the run. What is none equals nothing, but may be contained or compared.
        equal = variable not in in_where and all(isinstance(t, core.Equals) for t in tests)
        found: dict[Value, None] = {}
        for test in (t for field in dict.fromkeys(t.field for t in tests) for t in others.get(field, ())):
            match test:
                case core.Equals(_, name) | core.Contains(_, name) if equal or same_values:
                    found[name] = None
                case core.In(_, values, False) if len(values) == 1 and equal:
                    found[Text(next(iter(values)))] = None
        choices.append([*found, None])
    for chosen in islice(product(*choices), MAX_INSTANCES):
        yield instance(one.theta, dict(zip(one.variables, chosen, strict=True)))


def _by_field(theta: core.Theta) -> dict[core.Reads, list[core.Test]]:
    found: dict[core.Reads, list[core.Test]] = {}
    for test in _tests(theta):
        if isinstance(test, core.Equals | core.Contains | core.In):
            found.setdefault(test.field, []).append(test)
    return found


def _tests(theta: core.Theta) -> list[core.Test]:
    return [test for holds in core.conditions(theta) for test in core.tests(holds.condition)]


def _viewed(tests: Sequence[core.Test]) -> set[core.Reads]:
    """The views that give variables values."""
    return {test.field for test in tests if isinstance(test, core.Equals) and test.field.views}


def instance(theta: core.Theta, chosen: Mapping[str, Value]) -> core.Theta:
    """A body with its variables replaced."""

    def of_test(test: core.Test) -> core.Condition:
        return _instance_of(test, chosen)

    def of_variable(test: core.Test) -> core.Condition:
        return _of_variable(test, chosen)

    return core.mapped(
        theta,
        lambda holds: replace(holds, condition=core.mapped_tests(holds.condition, of_test)),
        lambda where: replace(where, condition=core.mapped_tests(where.condition, of_variable)),
    )


def _instance_of(test: core.Test, chosen: Mapping[str, Value]) -> core.Condition:
    if not isinstance(test, core.OF_VARIABLES):
        return test
    match chosen[test.variable]:
        case None:
            return core.OrC(())
        case Text(text):
            return core.In(test.field, frozenset({text}))
        case str(name):
            return replace(test, variable=name)


def _of_variable(test: core.Test, chosen: Mapping[str, Value]) -> core.Condition:
    """A test of a variable in `where`, for which no text is chosen."""
    if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs):
        return test
    name = chosen[test.field.name]
    if name is None and not any(view.name == "count" for view in test.field.views):
        return core.OrC(())
    return _instance_of(replace(test, field=replace(test.field, name=name or _NO_VALUE)), chosen)
