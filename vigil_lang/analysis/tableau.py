"""A search for a run in which bodies hold and fail as asked, given what holds at every event of it.

It takes bodies apart as semantic tableaux do. What is asked of one event goes to the question whether a condition can
hold; what is asked of others opens a search of its own there. Where it finds no such run, there is certainly none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.analysis.condition_implication import Implications

MAX_STEPS: Final = 300
"""Bodies the search takes apart before it gives up."""

MAX_DEPTH: Final = 4
"""How far from where it began the search looks, in temporal operators."""

Signed: TypeAlias = tuple[core.Theta, bool]
"""A body that is to hold, or to fail, at the event at hand."""


@dataclass
class Tableau:
    """Looks for an event of some run at which bodies hold and fail as asked, given what holds at every event."""

    known: Implications
    always: tuple[Signed, ...]
    _steps: int = field(default=0)

    def closed(self, wanted: Sequence[Signed], depth: int = 0) -> bool:
        """Whether it is certain that there is none."""
        if depth > MAX_DEPTH:
            return False
        return self._branch([*wanted, *self.always], [], [], [], depth)

    def _branch(
        self,
        waiting: list[Signed],
        choices: list[list[Signed]],
        conditions: list[core.Condition],
        temporal: list[Signed],
        depth: int,
    ) -> bool:
        """Take apart what waits; what gives a choice is put off, conditions and temporal bodies are kept."""
        while waiting:
            self._steps += 1
            if self._steps > MAX_STEPS:
                return False
            theta, sign = waiting.pop()
            match theta:
                case core.Holds(condition):
                    conditions.append(condition if sign else core.NotC(condition))
                case core.Not(body):
                    waiting.append((body, not sign))
                case core.And(items) | core.Or(items):
                    parts = [(item, sign) for item in items]
                    if isinstance(theta, core.And) == sign:
                        waiting += parts
                    else:
                        choices.append(parts)
                case core.Where(condition):
                    conditions.append(_of_variables(condition if sign else core.NotC(condition)))
                case core.Implies(left, right):
                    parts = [(left, not sign), (right, sign)]
                    if sign:
                        choices.append(parts)
                    else:
                        waiting += parts
                case _:
                    temporal.append((theta, sign))
        if not choices:
            return self._leaf(conditions, temporal, depth)
        *others, choice = choices
        return self._impossible(conditions) or all(
            self._branch([alternative], list(others), list(conditions), list(temporal), depth) for alternative in choice
        )

    def _leaf(self, conditions: list[core.Condition], temporal: list[Signed], depth: int) -> bool:
        return self._impossible(conditions) or self._elsewhere(temporal, depth)

    def _impossible(self, conditions: list[core.Condition]) -> bool:
        return bool(conditions) and self.known.impossible(conditions) is True

    def _elsewhere(self, temporal: list[Signed], depth: int) -> bool:
        """Whether what is asked of other events cannot be."""
        if any(isinstance(t, core.Repeated) and t.count < 1 and not sign for t, sign in temporal):
            return True
        if any((t, True) in temporal for t, sign in temporal if not sign):
            return True
        return any(self._nowhere(one, temporal, depth) for one in temporal)

    def _nowhere(self, one: Signed, temporal: list[Signed], depth: int) -> bool:
        """Whether there is no event that one of the bodies asks for."""
        match one:
            case core.Earlier(body, bound), True:
                return self._no_event(core.Earlier, (body, True), bound, temporal, depth)
            case core.Later(body, bound), True:
                return self._no_event(core.Later, (body, True), bound, temporal, depth)
            case core.Since(_, right, bound, False), True if self._no_event(
                core.Earlier, (right, True), bound, temporal, depth
            ):
                return True
            case core.Until(_, right, bound, False), True if self._no_event(
                core.Later, (right, True), bound, temporal, depth
            ):
                return True
            case (core.Since() | core.Until()) as interval, True:
                others = [t for t, sign in temporal if type(t) is type(interval) and not sign]
                return any(self._goes_on(interval, other, depth) for other in others)
            case core.Repeated(count, body, bound, _, distinct) as counted, True if count > 0:
                counts = [t for t, sign in temporal if isinstance(t, core.Repeated) and not sign]
                return (
                    any(t.count <= count and t.distinct == distinct and self._counts(counted, t, depth) for t in counts)
                    or self.closed([(body, True)], depth + 1)
                    # Of two calls one is earlier.
                    or (
                        (count > 1 and distinct is None)
                        and self._no_event(core.Earlier, (body, True), bound, temporal, depth)
                    )
                )
            case core.Exceeds(limit, field) as total, True:
                totals = [t for t, sign in temporal if isinstance(t, core.Exceeds) and not sign]
                return any(t.limit <= limit and t.field == field and self._counts(total, t, depth) for t in totals)
            case core.Clear(resolver, forbidden), False:
                clear = [t for t, sign in temporal if isinstance(t, core.Clear) and sign]
                return any(
                    self.closed([(forbidden, True), (other.forbidden, False)], depth + 1)
                    and self.closed([(other.resolver, True), (resolver, False)], depth + 1)
                    for other in clear
                ) or self._no_event(core.Later, (forbidden, True), None, temporal, depth)
            case _:
                return False

    def _goes_on(self, interval: core.Since | core.Until, other: core.Since | core.Until, depth: int) -> bool:
        """Whether an interval is another one as well."""
        wide = (
            within(interval.bound, other.bound) if not interval.weak else interval.bound == other.bound and other.weak
        )
        return (
            wide
            and self.closed([(interval.left, True), (other.left, False)], depth + 1)
            and self.closed([(interval.right, True), (other.right, False)], depth + 1)
        )

    def _counts(self, one: core.Repeated | core.Exceeds, other: core.Repeated | core.Exceeds, depth: int) -> bool:
        """Whether one counts or adds up nothing that another one does not."""
        return (
            within(one.bound, other.bound)
            and (other.reset is None or other.reset == one.reset)
            and self.closed([(one.body, True), (other.body, False)], depth + 1)
        )

    def _no_event(
        self,
        diamond: type[core.Earlier | core.Later],
        body: Signed,
        bound: core.Bound,
        temporal: list[Signed],
        depth: int,
    ) -> bool:
        """Whether no event in that direction, within the bound, can be as the body asks."""
        wanted = [body]
        for theta, sign in temporal:
            if isinstance(theta, diamond) and not sign and within(bound, theta.bound):
                wanted.append((theta.body, False))
                if theta.bound is None:  # what is earlier than an earlier event is earlier
                    wanted.append((theta, False))
        return self.closed(wanted, depth + 1)


def _of_variables(condition: core.Condition) -> core.Condition:
    """A condition on variables as one on arguments that nothing else reads."""

    def renamed(test: core.Test) -> core.Condition:
        if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs):
            return test
        return replace(test, field=replace(test.field, name=f"\N{SYMBOL FOR NULL}{test.field.name}"))

    return core.mapped_tests(condition, renamed)


def within(bound: core.Bound, other: core.Bound) -> bool:
    """Whether all that is within one bound is within another."""
    match bound, other:
        case _, None:
            return True
        case (core.Calls(most, least), core.Calls(limit, from_)) | (core.Steps(most, least), core.Steps(limit, from_)):
            return from_ <= least and most <= limit
        case core.Within(most, least), core.Within(limit, from_):
            return from_ <= least and most <= limit
        case _:
            return False
