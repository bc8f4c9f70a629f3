"""A search for a run in which bodies hold and fail as asked, given what holds at every event of it.

It takes bodies apart as semantic tableaux do. What is asked of one event goes to the question whether a condition can
hold; what is asked of others opens a search of its own there. Where it finds no such run, there is certainly none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.analysis.implication import Implications

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
        return any(self._nowhere(one, temporal, depth) for one in temporal)

    def _nowhere(self, one: Signed, temporal: list[Signed], depth: int) -> bool:
        """Whether there is no event that one of the bodies asks for."""
        match one:
            case core.Earlier(body, bound), True:
                return self._no_event(core.Earlier, (body, True), bound, temporal, depth)
            case core.Later(body, bound), True:
                return self._no_event(core.Later, (body, True), bound, temporal, depth)
            case core.Repeated(count, body), True if count > 0:
                counts = [t for t, sign in temporal if isinstance(t, core.Repeated) and not sign]
                return any(
                    t.count <= count and self.closed([(body, True), (t.body, False)], depth + 1) for t in counts
                ) or self._no_event(core.Earlier, (body, True), None, temporal, depth)
            case core.Clear(resolver, forbidden), False:
                clear = [t for t, sign in temporal if isinstance(t, core.Clear) and sign]
                return any(
                    self.closed([(forbidden, True), (other.forbidden, False)], depth + 1)
                    and self.closed([(other.resolver, True), (resolver, False)], depth + 1)
                    for other in clear
                ) or self._no_event(core.Later, (forbidden, True), None, temporal, depth)
            case _:
                return False

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


def within(bound: core.Bound, other: core.Bound) -> bool:
    """Whether all that is within one bound is within another."""
    match bound, other:
        case _, None:
            return True
        case core.Calls(count), core.Calls(limit):
            return count <= limit
        case core.Within(duration), core.Within(limit):
            return duration <= limit
        case _:
            return False
