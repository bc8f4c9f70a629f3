"""A monitor of what looks back only, as small as can be: it shows that the protocol is enough, and needs no solver.

It keeps, for each part of Θ and each binding, at which events the part holds, and adds an event to all of these. A
value that comes up for the first time is worked out for the events before it. How a call ended is known when it is
stepped.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from vigil_lang.engines.interface import Ahead, Outcome, Progress, Violation
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import FRESH, as_event, meets, texts, values, within
from vigil_lang.trace import Trace
from vigil_lang.trace.values import number, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.engines.interface import Rule
    from vigil_lang.semantics.denotation import Value
    from vigil_lang.trace import Event

Key = tuple["Value", ...]


def looks_back_only(theta: core.Theta) -> bool:
    """Whether the truth of a body at an event rests on that event and those before it."""
    ahead = core.Later | core.Clear | core.Until | core.Last
    return not any(isinstance(body, ahead) for body in core.bodies(theta))


class ToyMonitor:
    """Follows one rule whose Θ looks back only."""

    def __init__(self, rule: Rule) -> None:
        assert looks_back_only(rule.requirement.theta)
        self._rule = rule
        self._run = Trace(())
        self._held: dict[tuple[core.Theta, Key], list[bool]] = {}
        self._violations: list[Violation] = []
        self._exercised = rule.requirement.trigger is None

    def propose(self, events: Sequence[Event]) -> Ahead:
        other = deepcopy(self)
        return Ahead(other.step([replace(event, status="ok") for event in events]).violations)

    def step(self, events: Sequence[Event]) -> Progress:
        before = len(self._violations)
        for event in events:
            self._run = Trace((*self._run.events, event))
            self._judge(len(self._run) - 1)
        new = tuple(self._violations[before:])
        return Progress("violated" if self._violations else "holding", new)

    def close(self) -> Outcome:
        return Outcome(self._rule, self._run, tuple(self._violations), self._exercised)

    def _judge(self, at: int) -> None:
        requirement = self._rule.requirement
        found = None
        for binding in product((FRESH, *values(requirement.theta, self._run)), repeat=len(requirement.variables)):
            if not self._holds(requirement.theta, at, binding) and found is None:
                found = Violation(at, binding)
            if requirement.trigger is not None and self._holds(requirement.trigger, at, binding):
                self._exercised = True
        if found is not None:
            self._violations.append(found)

    def _holds(self, theta: core.Theta, at: int, binding: Key) -> bool:
        held = self._held.setdefault((theta, binding), [])
        while len(held) <= at:
            held.append(self._now(theta, len(held), binding))
        return held[at]

    def _now(self, theta: core.Theta, at: int, binding: Key) -> bool:
        run, bound_to = self._run, dict(zip(self._rule.requirement.variables, binding, strict=True))
        match theta:
            case core.Holds(condition):
                return meets(condition, run.events[at], bound_to)
            case core.Where(condition):
                return meets(condition, as_event(bound_to), bound_to)
            case core.Not(body):
                return not self._holds(body, at, binding)
            case core.And(items):
                return all(self._holds(item, at, binding) for item in items)
            case core.Or(items):
                return any(self._holds(item, at, binding) for item in items)
            case core.Implies(left, right):
                return not self._holds(left, at, binding) or self._holds(right, at, binding)
            case core.Earlier(body, bound):
                return any(self._holds(body, other, binding) and within(bound, run, other, at) for other in range(at))
            case core.Since(left, right, bound, weak):
                lefts = [self._holds(left, other, binding) for other in range(at)]
                near = [within(bound, run, other, at) for other in range(at)]
                strong = any(near[o] and all(lefts[o + 1 :]) and self._holds(right, o, binding) for o in range(at))
                return strong or (weak and all(lefts[other] for other in range(at) if near[other]))
            case core.Repeated(count, _, _, _, distinct):
                events = self._counted(theta, at, binding)
                if distinct is None:
                    return len({event.call for event in events}) >= count
                return len({text for event in events for text in texts(distinct, event)}) >= count
            case core.Exceeds(limit, field):
                if all(number(text) is None for text in texts(field, run.events[at])):
                    return True
                events = self._counted(theta, at, binding)
                return total(text for event in events for text in texts(field, event)) > limit
            case _:
                raise AssertionError(theta)

    def _counted(self, theta: core.Repeated | core.Exceeds, at: int, binding: Key) -> list[Event]:
        reset = theta.reset
        resets = [o for o in range(at) if reset is not None and self._holds(reset, o, binding)]
        places = range(resets[-1] + 1 if resets else 0, at + 1)
        met = [o for o in places if within(theta.bound, self._run, o, at) and self._holds(theta.body, o, binding)]
        return [self._run.events[other] for other in met]
