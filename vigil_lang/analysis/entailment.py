"""Whether every run that keeps one statement keeps another. A yes is certain; a no only says that no proof was found.

Variables of the first statement stand for all values: those that the second one speaks of are tried.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from vigil_lang.analysis.implication import Implications
from vigil_lang.analysis.tableau import Tableau
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_INSTANCES: Final = 32
"""Choices of the variables that are tried."""


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
    own, others = _by_field(one.theta), _by_field(other.theta)
    choices: list[list[Value]] = []
    for variable in one.variables:
        tests = [t for tests in own.values() for t in tests if _variable(t) == variable]
        found: dict[Value, None] = {}
        for test in _of_fields(tests, others):
            match test:
                case core.Equals(_, name) | core.Contains(_, name):
                    found[name] = None
                # A text that is contained need not be a value of the run, and only those are variables' values.
                case core.In(_, values, False) if len(values) == 1 and not any(
                    isinstance(t, core.Contains) for t in tests
                ):
                    found[Text(next(iter(values)))] = None
        choices.append([*found, None])
    for chosen in islice(product(*choices), MAX_INSTANCES):
        yield instance(one.theta, dict(zip(one.variables, chosen, strict=True)))


def _by_field(theta: core.Theta) -> dict[core.Reads, list[core.Test]]:
    found: dict[core.Reads, list[core.Test]] = {}
    for holds in core.conditions(theta):
        for test in core.tests(holds.condition):
            if isinstance(test, core.Equals | core.Contains | core.In):
                found.setdefault(test.field, []).append(test)
    return found


def _of_fields(tests: Sequence[core.Test], others: dict[core.Reads, list[core.Test]]) -> Iterator[core.Test]:
    """The tests of the fields that some tests read."""
    for test in tests:
        if isinstance(test, core.Equals | core.Contains):
            yield from others.get(test.field, ())


def _variable(test: core.Test) -> str | None:
    return test.variable if isinstance(test, core.Equals | core.Contains) else None


def instance(theta: core.Theta, chosen: Mapping[str, Value]) -> core.Theta:
    """A body with its variables replaced."""

    def of_test(test: core.Test) -> core.Condition:
        return _instance_of(test, chosen)

    return core.mapped(theta, lambda holds: core.Holds(core.mapped_tests(holds.condition, of_test), holds.role))


def _instance_of(test: core.Test, chosen: Mapping[str, Value]) -> core.Condition:
    if not isinstance(test, core.Equals | core.Contains):
        return test
    match chosen[test.variable]:
        case None:
            return core.OrC(())
        case Text(text):
            return core.In(test.field, frozenset({text}))
        case str(name):
            return type(test)(test.field, name)
