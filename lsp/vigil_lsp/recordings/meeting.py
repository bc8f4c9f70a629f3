"""Which events of a run meet a condition for some value of its variables.

What a variable's value is matters only where two tests share it: any other test of a variable holds for some value
exactly where there is something to test (`eased`). What is left is tried, at the events that meet the rest.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts
from vigil_lang.smt.leaves import compiled

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from vigil_lang.trace import Event, Trace

MAX_BINDINGS = 20_000
"""Bindings tried at one event; a condition that asks for more is not counted."""

NUMBERED = 50_000
"""Things that are told apart by number; where there are more, all are numbered anew."""

_FALSE = core.OrC(())


def eased(condition: core.Condition) -> core.Condition:
    """A condition without those of its variables that a single value always decides.

    The result holds of an event for some values of its variables exactly where the condition does.
    """
    return _eased(condition, True, frozenset())


def _eased(condition: core.Condition, positive: bool, elsewhere: frozenset[str]) -> core.Condition:
    """`elsewhere` are the variables that stand in another conjunct too: no value can be chosen for them here alone."""
    match condition:
        case core.Equals(field, x) | core.Contains(field, x):
            if x in elsewhere:
                return condition
            if not positive:
                return _FALSE  # a text that no event carries makes the test false
            empty = frozenset({""}) if isinstance(condition, core.Contains) else frozenset[str]()
            return core.In(field, empty, negated=True)
        case core.NotC(body):
            return core.NotC(_eased(body, not positive, elsewhere))
        case core.AndC(items) | core.OrC(items):
            joined = isinstance(condition, core.AndC) == positive
            parts = []
            for at, item in enumerate(items):
                others = [x for n, other in enumerate(items) if n != at for x in core.variables_of(other)]
                parts.append(_eased(item, positive, elsewhere.union(others) if joined else elsewhere))
            return type(condition)(tuple(parts))
        case _:
            return condition


class Numbers:
    """A number for each thing that is asked of many runs: comparing it once is dear enough."""

    def __init__(self) -> None:
        self._next = 0
        self._known: dict[Hashable, int] = {}

    def of(self, asked: Hashable) -> int:
        """The number of what is equal to this; never that of anything else."""
        number = self._known.get(asked)
        if number is None:
            if len(self._known) >= NUMBERED:
                self._known.clear()
            self._next += 1
            number = self._known[asked] = self._next
        return number


CONDITIONS = Numbers()


class Meeting:
    """The conditions that the events of one run meet, each worked out once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._events = trace.events
        self._known: dict[int, tuple[int, ...] | None] = {}
        named: dict[str, list[int]] = defaultdict(list)
        carried: dict[core.Reads, list[int]] = defaultdict(list)
        for at, event in enumerate(trace.events):
            for name in dict.fromkeys(event.names()):
                named[name].append(at)
            for name in event.args:
                carried[core.Reads(name)].append(at)
            if event.output is not None:
                carried[core.Reads("output", output=True)].append(at)
        self._named = dict(named)
        self._carried = dict(carried)

    def events(self, condition: core.Condition, number: int | None = None) -> tuple[int, ...] | None:
        """The indices of the events, ascending; None where that would take too long to find out.

        `number` is the condition's in `CONDITIONS`, where that is known.
        """
        number = CONDITIONS.of(condition) if number is None else number
        if number not in self._known:
            self._known[number] = self._found(eased(condition))
        return self._known[number]

    def forget(self) -> None:
        """Forget what was worked out."""
        self._known.clear()

    @property
    def size(self) -> int:
        """How many conditions were worked out."""
        return len(self._known)

    def _found(self, condition: core.Condition) -> tuple[int, ...] | None:
        conjuncts = _conjuncts(condition)
        places = self._places(conjuncts)
        ground = [c for c in conjuncts if not core.variables_of(c)]
        if ground:
            check = compiled(core.AndC(tuple(ground)))
            places = [at for at in places if check(self._events[at], {})]
        rest = core.AndC(tuple(c for c in conjuncts if core.variables_of(c)))
        if not rest.items:
            return tuple(places)
        holds, tests = compiled(rest), core.tests(rest)
        variables = core.variables_of(rest)
        found = []
        for at in places:
            event = self._events[at]
            choices = [self._choices(x, tests, event) for x in variables]
            if prod(map(len, choices)) > MAX_BINDINGS:
                return None
            if any(holds(event, dict(zip(variables, values, strict=True))) for values in product(*choices)):
                found.append(at)
        return tuple(found)

    def _places(self, conjuncts: Iterable[core.Condition]) -> Sequence[int]:
        """A superset of the events, ascending: those that the rarest name or argument asked for leaves over."""
        best: Sequence[int] = range(len(self._events))
        for conjunct in conjuncts:
            match conjunct:
                case core.ActionIn(names):
                    lists = [self._named[name] for name in names if name in self._named]
                    places = lists[0] if len(lists) == 1 else sorted({at for some in lists for at in some})
                case core.StatusIs() | core.ActionMatches() | core.NotC() | core.AndC() | core.OrC():
                    continue
                case _:
                    places = self._carried.get(conjunct.field, [])
            if len(places) < len(best):
                best = places
        return best

    def _choices(self, variable: str, tests: Iterable[core.Test], event: Event) -> list[str | None]:
        """The values of a variable that its tests can tell apart at an event, and one (None) for all others."""
        choices: dict[str | None, None] = {None: None}
        for test in tests:
            if isinstance(test, core.Equals) and test.variable == variable:
                choices.update(dict.fromkeys(texts(test.field, event)))
            elif isinstance(test, core.Contains) and test.variable == variable:
                whole = texts(test.field, event)
                choices.update((v, None) for v in self._trace.values if v and any(v in text for text in whole))
        return list(choices)


def _conjuncts(condition: core.Condition) -> list[core.Condition]:
    if isinstance(condition, core.AndC):
        return [c for item in condition.items for c in _conjuncts(item)]
    return [condition]
