"""Which events of a run meet a condition for some value of its variables.

What a variable's value is matters only where two tests share it: any other test of a variable holds for some value
exactly where there is something to test (`eased`). What is left is tried, at the events that meet the rest.

Events that meet a condition are the bits of a number. Each test is worked out once a run, for each text that a field
has there and not for each event; what `and`, `or` and `not` make of tests costs next to nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import product
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.base.recent import Recent
from vigil_lang.engines.functions import compiled, conjuncts
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.denotation import compare, texts
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from decimal import Decimal

    from vigil_lang.engines.functions import Check
    from vigil_lang.trace import Event, Trace

MAX_TRIED = 500_000
"""Values tried on one run, each in one test or binding; a condition that asks for more is not counted."""

REMEMBERED = 1_000
"""Conditions that are remembered, with how each run meets them: a policy of 500 lines has some 600."""

_FALSE = core.OrC(())

Meets: TypeAlias = "Callable[[Columns], int]"
"""The events of a run that meet something, as the bits of a number."""


def eased(condition: core.Condition) -> core.Condition:
    """A condition without those of its variables that a single value always decides.

    The result holds of an event for some values of its variables exactly where the condition does.
    """
    return _eased(condition, True, frozenset())


def _eased(condition: core.Condition, positive: bool, elsewhere: frozenset[str]) -> core.Condition:
    """`elsewhere` are the variables that stand in another conjunct too: no value can be chosen for them here alone."""
    match condition:
        case core.Equals(field, x) | core.Contains(field, x) | core.ComparesWith(field, _, x):
            if x in elsewhere:
                return condition
            if not positive:
                return _FALSE  # a text that no event carries makes the test false
            if isinstance(condition, core.Equals):
                return core.In(field, frozenset(), negated=True)
            if isinstance(condition, core.Contains) and not field.views:
                return core.In(field, frozenset({""}), negated=True)
            return condition  # what a view makes, and what a number is compared with, need not be a value of the run
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
    """A number for each thing that is asked of many runs, so that it is hashed only once."""

    def __init__(self, room: int) -> None:
        """`room` is how many are remembered at least; whatever was forgotten has another number afterwards."""
        self._next = 0
        self._known: Recent[Hashable, int] = Recent(room)

    def of(self, asked: Hashable) -> int:
        """The number of what is equal to this; never that of anything else."""
        number = self._known.get(asked)
        if number is None:
            self._next += 1
            number = self._next
            self._known.put(asked, number)
        return number


# --- conditions, whatever the run --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """How to find the events that meet a condition.

    Those that meet `ground` are tried, where the condition has `variables`, with `check`, for the values of the run as
    they are for the `whole` condition.
    """

    number: int
    whole: core.Holds
    ground: Meets
    check: Check | None = None
    tests: tuple[core.Test, ...] = ()
    variables: tuple[str, ...] = ()


_NUMBERS = Numbers(REMEMBERED)
_PLANS: Recent[core.Condition, Plan] = Recent(REMEMBERED)


def plan(condition: core.Condition) -> Plan:
    """The plan for a condition; the same one for equal conditions."""
    found = _PLANS.get(condition)
    if found is None:
        found = _plan(condition)
        _PLANS.put(condition, found)
    return found


def _plan(condition: core.Condition) -> Plan:
    parts = conjuncts(eased(condition))
    rest = core.AndC(tuple(c for c in parts if core.variables_of(c)))
    ground = [c for c in parts if not core.variables_of(c)]
    # Where a variable's value has to be in a field there is something in it.
    ground += [core.Has(c.field) for c in rest.items if isinstance(c, core.OF_VARIABLES)]
    number, whole, meets = _NUMBERS.of(condition), core.Holds(condition), _meets(core.AndC(tuple(ground)))
    if not rest.items:
        return Plan(number, whole, meets)
    return Plan(number, whole, meets, compiled(rest), tuple(core.tests(rest)), core.variables_of(rest))


def _meets(condition: core.Condition) -> Meets:
    """What meets a condition without variables."""
    match condition:
        case core.NotC(body):
            inner = _meets(body)
            return lambda run: run.all & ~inner(run)
        case core.AndC((item,)) | core.OrC((item,)):
            return _meets(item)
        case core.AndC(items):
            each = [_meets(item) for item in items]
            return lambda run: _common(run, each)
        case core.OrC(items):
            each = [_meets(item) for item in items]
            return lambda run: _united(run, each)
        case _:
            number = _NUMBERS.of(condition)
            return lambda run: run.tested(number, condition)


def _common(run: Columns, each: Iterable[Meets]) -> int:
    found = run.all
    for meets in each:
        found &= meets(run)
        if not found:
            break
    return found


def _united(run: Columns, each: Iterable[Meets]) -> int:
    found = 0
    for meets in each:
        found |= meets(run)
    return found


def _accepts(test: core.Test) -> Callable[[str], bool]:
    """Whether one of a field's texts is enough for a test."""
    match test:
        case core.In(_, values, negated):
            return lambda text: (text in values) != negated
        case core.Matches(_, matcher, negated):
            matches = predicate(matcher)
            return lambda text: matches(text) != negated
        case core.Compares(_, operator, limit):
            return lambda text: (n := number(text)) is not None and compare(n, operator, limit)
        case core.ContainsText(_, part):
            return lambda text: bool(part) and part in text
        case _:
            raise AssertionError(test)


# --- one run -----------------------------------------------------------------------------------------------


class Columns:
    """The conditions that the events of one run meet, each worked out once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._events = trace.events
        self.all = (1 << len(trace.events)) - 1
        self._known: Recent[int, tuple[int | None]] = Recent(REMEMBERED)
        self._tested: Recent[int, int] = Recent(REMEMBERED)
        self._named: dict[str, list[int]] = {}
        for at, event in enumerate(trace.events):
            for name in dict.fromkeys(event.names()):
                self._named.setdefault(name, []).append(at)
        self._texts: dict[core.Reads, dict[str, list[int]]] = {}
        """The events that carry each text, by field."""

    def meeting(self, plan: Plan) -> int | None:
        """The events that meet a condition, as the bits of a number; None where that would take too long."""
        known = self._known.get(plan.number)
        if known is None:
            known = (self._found(plan),)
            self._known.put(plan.number, known)
        return known[0]

    def events(self, condition: core.Condition) -> tuple[int, ...] | None:
        """The indices of the events, ascending; None as `meeting` has it."""
        found = self.meeting(plan(condition))
        return None if found is None else tuple(places(found))

    def tested(self, number: int, test: core.Test | core.Entry) -> int:
        """The events that meet a test without a variable, which has this number."""
        found = self._tested.get(number)
        if found is None:
            found = _bits(self._meeting(test), len(self._events))
            self._tested.put(number, found)
        return found

    def _meeting(self, test: core.Test | core.Entry) -> Iterable[int]:
        events = self._events
        match test:
            case core.ActionIn(names):
                return (at for name in names for at in self._named.get(name, ()))
            case core.ActionMatches(matcher):
                matches = predicate(matcher)
                return (at for name, named in self._named.items() if matches(name) for at in named)
            case core.StatusIs(status):
                return (at for at, event in enumerate(events) if event.status == status)
            case core.Has(field) if field.views:
                return (at for carrying in self._carried(field).values() for at in carrying)
            case core.Has(field):
                if field.output:
                    return (at for at, event in enumerate(events) if event.output is not None)
                return (at for at, event in enumerate(events) if field.name in event.args)
            case core.In(field, values, negated=False):
                carried = self._carried(field)
                return (at for text in values for at in carried.get(text, ()))
            case core.Entry():
                check = compiled(test)
                return (at for at, event in enumerate(events) if check(event, {}))
            case _:
                accepts = _accepts(test)
                return (at for text, carrying in self._carried(test.field).items() if accepts(text) for at in carrying)

    def _carried(self, field: core.Reads) -> dict[str, list[int]]:
        found = self._texts.get(field)
        if found is None:
            found = self._texts[field] = {}
            for at, event in enumerate(self._events):
                for text in texts(field, event):
                    found.setdefault(text, []).append(at)
        return found

    def _found(self, plan: Plan) -> int | None:
        ground, holds = plan.ground(self), plan.check
        if holds is None:
            return ground
        found: list[int] = []
        tried = 0
        values = Values(denotation.values(plan.whole, self._trace))
        for at in places(ground):
            event = self._events[at]
            tried += sum(values.looked_at(x, plan.tests, event) for x in plan.variables)
            if tried > MAX_TRIED:
                return None
            choices = [values.choices(x, plan.tests, event) for x in plan.variables]
            tried += prod(map(len, choices))
            if tried > MAX_TRIED:
                return None
            if any(holds(event, dict(zip(plan.variables, chosen, strict=True))) for chosen in product(*choices)):
                found.append(at)
        return _bits(found, len(self._events))


class Values:
    """The values that variables of a condition range over, and which of them have to be tried at an event."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = tuple(values)
        self._numbers = sorted((n, v) for v in self._values if (n := number(v)) is not None)

    def looked_at(self, variable: str, tests: Iterable[core.Test], event: Event) -> int:
        """How often `choices` looks at one value."""
        own = _of(variable, tests)
        contained = sum(len(texts(test.field, event)) for test in own if isinstance(test, core.Contains))
        return contained * len(self._values)

    def choices(self, variable: str, tests: Iterable[core.Test], event: Event) -> list[str | None]:
        """The values of a variable that its tests can tell apart at an event, and one (None) for all others."""
        choices: dict[str | None, None] = {None: None}
        own = _of(variable, tests)
        ordered = all(isinstance(test, core.ComparesWith) for test in own)
        for test in own:
            whole = texts(test.field, event)
            match test:
                case core.Equals():
                    choices.update(dict.fromkeys(whole))
                case core.Contains():
                    choices.update((v, None) for v in self._values if v and any(v in text for text in whole))
                case _ if ordered:
                    choices.update(dict.fromkeys(v for text in whole for v in self._around(number(text))))
                case _:
                    choices.update((v, None) for _, v in self._numbers)
        return list(choices)

    def _around(self, limit: Decimal | None) -> Iterable[str]:
        """A value for the numbers below a limit, one for those above, and the limit itself, as far as there are any.

        Of the numbers between two limits the one next to either speaks for all.
        """
        if limit is None:
            return
        below = bisect_left(self._numbers, limit, key=itemgetter(0))
        above = bisect_right(self._numbers, limit, key=itemgetter(0))
        for at in {max(below - 1, 0), below, above}:
            if at < len(self._numbers):
                yield self._numbers[at][1]


def _of(variable: str, tests: Iterable[core.Test]) -> list[core.Equals | core.Contains | core.ComparesWith]:
    return [t for t in tests if isinstance(t, core.OF_VARIABLES) and t.variable == variable]


def _bits(positions: Iterable[int], length: int) -> int:
    found = bytearray(length // 8 + 1)
    for at in positions:
        found[at >> 3] |= 1 << (at & 7)
    return int.from_bytes(found, "little")


def places(bits: int) -> list[int]:
    """The places of the bits of a number, ascending."""
    if not bits:
        return []
    written = bin(bits)[:1:-1]  # the lowest first, without `0b`
    found, at = [], written.find("1")
    while at >= 0:
        found.append(at)
        at = written.find("1", at + 1)
    return found


class ColumnIndex(RunIndex):
    """An index of a run of which much is asked: each test is worked out once, whichever requirements share it."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.columns = Columns(trace)

    def meeting(self, ground: list[core.Condition]) -> list[int]:
        found = self.columns.all
        for condition in ground:
            met = self.columns.meeting(plan(condition))
            assert met is not None  # there is no variable to try values of
            found &= met
        return places(found)
