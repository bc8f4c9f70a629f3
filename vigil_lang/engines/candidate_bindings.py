"""Which bindings of a statement's variables have to be tried at an event: those under which it can fail.

Every other binding makes Θ(e, x̄) true by the shape of Θ alone. A trigger such as `warp(transform = x)` fixes x to the
values the event carries, so that most events have no binding to try and few have more than one.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.engines.effort import Work
    from vigil_lang.engines.equivalent_values import EquivalentValues
    from vigil_lang.engines.index import Key, Occurrences
    from vigil_lang.trace import Trace


class _Unset:
    """The value of a variable that nothing fixes yet."""


UNSET: Final = _Unset()
_PAIRS_A_STEP: Final = 8
Partial: TypeAlias = tuple[Any, ...]
"""A value, None (the fresh text) or UNSET for each variable of the statement, in order."""


class Candidates:
    """The bindings to try, for one statement on one run."""

    def __init__(
        self,
        requirement: core.Requirement,
        trace: Trace,
        occurrences: Callable[[core.Holds], Occurrences],
        work: Work,
        values: Sequence[str],
        alike: EquivalentValues | None = None,
    ) -> None:
        """`values` are those a variable can have, in the order of bindings."""
        self._values = values
        self._work = work
        self._alike = alike
        self._requirement = requirement
        self._trace = trace
        self._occurrences = occurrences
        self._nothing: Partial = (UNSET,) * len(requirement.variables)
        self._polarity = _polarity(requirement.theta)
        self._domains: dict[str, list[str | None]] = {}

    def failing(self, at: int) -> Iterable[Key]:
        """A superset of the bindings under which Θ fails at an event, with one to stand for each group alike."""
        partials = self._refuters(self._requirement.theta, at)
        if len(partials) == 1:
            return self._complete(partials[0], hardest=True)
        found: dict[Key, None] = {}
        for partial in partials:
            for key in self._complete(partial, hardest=True):
                found[key] = None
                self._work.hold(len(found))
        return found

    def meeting(self, theta: core.Theta, at: int) -> Iterable[Key]:
        """Likewise a superset of the bindings under which a body holds at an event."""
        used = core.variables_of(theta)
        for partial in dict.fromkeys(self._supporters(theta, at)):
            order = zip(self._requirement.variables, partial, strict=True)
            yield from self._complete(tuple([v if x in used else None for x, v in order]), hardest=False)

    def suspects(self) -> Iterable[int]:
        """A superset, ascending, of the events at which Θ can fail."""
        match self._requirement.theta:
            case core.Implies(left, _) | core.Not(left):
                return self.events(left)
            case _:
                return range(len(self._trace.events))

    def events(self, theta: core.Theta) -> Iterable[int]:
        """A superset, ascending, of the events at which a body can hold under some binding."""
        match theta:
            case core.Holds():
                return self._occurrences(theta).events()
            case core.And((core.Holds() as first, *_)):
                return self._occurrences(first).events()
            case core.Last() | core.And((core.Last(), *_)):
                events = self._trace.events
                return range(len(events))[-1:]
            case _:
                return range(len(self._trace.events))

    def _complete(self, partial: Partial, *, hardest: bool) -> Iterable[Key]:
        """Give the unset variables the values some test can tell apart.

        Where a variable occurs only positively, the fresh text is hardest to satisfy, and stands for all values.
        """
        if UNSET not in partial:
            return (partial,)
        choices: list[Sequence[str | None]] = []
        for variable, value in zip(self._requirement.variables, partial, strict=True):
            if value is not UNSET:
                choices.append((value,))
            elif hardest and self._polarity.get(variable) == {True}:
                choices.append((None,))
            else:
                choices.append(self._domain(variable))
        self._work.spend(sum(map(len, choices)) // _PAIRS_A_STEP)
        return product(*choices)

    def _domain(self, variable: str) -> list[str | None]:
        """The fresh text, and the values that some test on the variable can tell from it."""
        if variable not in self._domains:
            found: dict[str | None, None] = {None: None}
            for body in core.bodies(self._requirement.theta):
                if isinstance(body, core.Where) and variable in core.named_in_where(body.condition):
                    found.update(dict.fromkeys(self._values))
            for holds in core.conditions(self._requirement.theta):
                for test in core.tests(holds.condition):
                    if isinstance(test, core.Contains | core.ComparesWith) and test.variable == variable:
                        found.update(dict.fromkeys(self._values))
                    elif isinstance(test, core.Equals) and test.variable == variable:
                        carried = _carried(test.field, self._trace)
                        found.update(
                            dict.fromkeys(self._alike.one_for(variable, v) if self._alike else v for v in carried)
                        )
            self._domains[variable] = list(found)
        return self._domains[variable]

    def _refuters(self, theta: core.Theta, at: int) -> list[Partial]:
        """Partial bindings that cover every binding under which a body is false at an event."""
        match theta:
            case core.Implies(left, right):
                supporters = self._supporters(left, at)
                if isinstance(right, core.Clear) and any(UNSET in partial for partial in supporters):
                    return self._join(supporters, self._breaking(right, at))
                if not supporters or isinstance(right, (core.Earlier, core.Later, core.Clear, core.Since, core.Until)):
                    return supporters
                return self._join(supporters, self._refuters(right, at))
            case core.Not(body):
                return self._supporters(body, at)
            case core.And(items):
                return [p for item in items for p in self._refuters(item, at)]
            case core.Or(items):
                joined = [self._nothing]
                for item in items:
                    joined = self._join(joined, self._refuters(item, at))
                return joined
            case core.Holds():
                found = self._occurrences(theta)
                return [] if not found.variables and found.supporters(at) else [self._nothing]
            case _:
                return [self._nothing]

    def _breaking(self, clear: core.Clear, at: int) -> list[Partial]:
        """Likewise for `until`: what is forbidden before the next resolver binds its variables, if that has none."""
        resolver, forbidden = clear.resolver, clear.forbidden
        if not (isinstance(resolver, core.Holds) and isinstance(forbidden, core.Holds)):
            return [self._nothing]
        resolved, found = self._occurrences(resolver), self._occurrences(forbidden)
        if resolved.variables:
            return [self._nothing]
        places = resolved.positions(())
        rank = bisect_right(places, at)
        last = places[rank] if rank < len(places) else len(self._trace.events)
        bad = found.events()
        keys: dict[Key, None] = {}
        for place in bad[bisect_right(bad, at) : bisect_right(bad, last)]:
            supporting = found.supporters(place)
            if supporting is None:
                return [self._nothing]
            keys.update(dict.fromkeys(supporting))
            self._work.hold(len(keys))
        return [found.spread(key, self._nothing) for key in keys]

    def _supporters(self, theta: core.Theta, at: int) -> list[Partial]:
        """Partial bindings that cover every binding under which a body is true at an event."""
        match theta:
            case core.Holds():
                found = self._occurrences(theta)
                keys = found.supporters(at)
                return [self._nothing] if keys is None else [found.spread(key, self._nothing) for key in keys]
            case core.Not(body):
                return self._refuters(body, at)
            case core.And(items):
                joined = [self._nothing]
                for item in items:
                    joined = self._join(joined, self._supporters(item, at))
                return joined
            case core.Or(items):
                return [p for item in items for p in self._supporters(item, at)]
            case core.Implies(left, right):
                return [*self._refuters(left, at), *self._supporters(right, at)]
            case _:
                return [self._nothing]

    def _join(self, left: list[Partial], right: list[Partial]) -> list[Partial]:
        """Every way to combine a partial binding of each side without contradiction."""
        if len(right) == 1 and all(value is UNSET for value in right[0]):
            return left
        self._work.spend(len(left) * len(right) // _PAIRS_A_STEP)
        joined = []
        for one in left:
            for other in right:
                if all(a is UNSET or b is UNSET or a == b for a, b in zip(one, other, strict=True)):
                    joined.append(tuple([b if a is UNSET else a for a, b in zip(one, other, strict=True)]))
            self._work.hold(len(joined))
        return joined


def _carried(reads: core.Reads, trace: Trace) -> Iterable[str]:
    return (text for event in trace.events for text in texts(reads, event))


def _polarity(theta: core.Theta) -> dict[str, set[bool]]:
    """For each variable, whether its tests occur under an even (True) or odd number of negations."""
    found: dict[str, set[bool]] = {}

    def walk(node: core.Theta | core.Condition, positive: bool) -> None:
        match node:
            case core.Holds(condition):
                walk(condition, positive)
            case core.Not(body) | core.NotC(body):
                walk(body, not positive)
            case core.And(items) | core.Or(items) | core.AndC(items) | core.OrC(items):
                for item in items:
                    walk(item, positive)
            case core.Implies(left, right):
                walk(left, not positive)
                walk(right, positive)
            case core.Clear(resolver, forbidden):
                walk(resolver, positive)
                walk(forbidden, not positive)
            case core.Since(left, right) | core.Until(left, right):
                walk(left, positive)
                walk(right, positive)
            case core.Earlier(body) | core.Later(body):
                walk(body, positive)
            case core.Repeated(body=body, reset=reset) | core.Exceeds(body=body, reset=reset):
                walk(body, positive)
                if reset is not None:
                    walk(reset, not positive)
            case core.Where(condition):
                for x in core.named_in_where(condition):
                    found.setdefault(x, set()).update((True, False))
            case core.Entry(_, condition):
                walk(condition, positive)
            case core.Equals(_, x) | core.Contains(_, x) | core.ComparesWith(_, _, x):
                found.setdefault(x, set()).add(positive)

    walk(theta, True)
    return found
