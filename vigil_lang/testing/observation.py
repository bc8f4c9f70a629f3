"""What runs show of a statement, of its conditions and of their parts."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Final

from vigil_lang.engines.functions import compiled
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets, texts
from vigil_lang.testing.expectations import answer
from vigil_lang.testing.operands import operands
from vigil_lang.testing.rules_under_test import RuleUnderTest
from vigil_lang.testing.vacuous_joins import certain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.engines.functions import Check
    from vigil_lang.engines.index import RunIndex
    from vigil_lang.semantics.denotation import Binding
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.testing.condition_parts import ConditionPart, Reader
    from vigil_lang.testing.coverage_points import PartKind, Point, Points, Seen
    from vigil_lang.trace import Event, Trace

_LIVE: Final = 64
"""Bindings that put a statement to the test, of one run."""

_TRIED: Final = 16
"""Bindings tried on one event."""

_OPERANDS: Final[dict[str, PartKind]] = {
    "and": "conjunct",
    "call": "conjunct",
    "or": "disjunct",
    "pattern": "pattern",
}


class ObservedStatement:
    """One statement with the points of its parts."""

    def __init__(self, statement: Statement, reader: Reader, points: Points) -> None:
        self.statement = statement
        requirement = statement.requirement
        # Of a rule its condition tells all there is to be seen.
        wanted: set[Seen] = set() if isinstance(statement, RuleUnderTest) else {"satisfied", "violated"}
        if requirement.trigger is not None:
            wanted.add("exercised")
        self._point = points.point("statement", statement.source, statement.span, wanted)
        self._points = points
        conditions = reader.statement(statement)
        giving = [] if requirement.trigger is None else [h.span for h in core.conditions(requirement.trigger)]
        giving = giving or [holds.span for holds, _ in conditions[:1]]
        given = {x for holds, _ in conditions if holds.span in giving for x in core.variables_of(holds.condition)}
        self._giving: list[_Condition] = []
        self._others: list[_Condition] = []
        self._operands = operands(statement, points)
        for holds, written in conditions:
            gives = holds.span in giving
            of_rule = isinstance(statement, RuleUnderTest)
            condition = _Condition(written, points, set() if gives else given, of_rule=of_rule)
            (self._giving if gives else self._others).append(condition)

    def run(self, index: RunIndex) -> None:
        """Note what a run makes of the statement and of its conditions."""
        trace = index.trace
        found = answer(self.statement, index)
        if found.offending:
            self._point.seen |= {"violated", "exercised"}
        elif found.exercised and trace.events:
            self._point.seen |= {"satisfied", "exercised"}
        for operand in self._operands:
            operand.run(index, self._points)
        if all(c.done for c in (*self._giving, *self._others)):
            return
        self._lend(trace)
        live = {c.variables: c.run(trace, self._points, None) for c in self._giving}
        for condition in self._others:
            if not condition.done:
                condition.run(trace, self._points, _relevant(live, condition))

    def _lend(self, trace: Trace) -> None:
        """A condition that only searches for a variable's value (`contains`) has it from the others."""
        for condition in self._giving:
            for x, fields in condition.carriers.items():
                if not fields:
                    others = [f for c in (*self._giving, *self._others) for f in c.carriers.get(x, ())]
                    values = (v for event in trace.events for field in others for v in texts(field, event))
                    condition.lent[x] = list(islice(dict.fromkeys(values), _LIVE))


def _relevant(live: dict[tuple[str, ...], list[Binding]], condition: _Condition) -> list[Binding]:
    """The bindings that put the statement to the test, as far as they are given to a condition's variables."""
    if not condition.given:
        return [{}]
    known = max(live, key=lambda names: len(condition.given & set(names)))
    found = {tuple([b.get(x) for x in known if x in condition.given]): b for b in live[known]}
    return [{x: binding[x] for x in known if x in condition.given} for binding in found.values()]


class _Condition:
    """One condition of a statement, as a function that notes what it makes of an event's parts."""

    def __init__(self, written: ConditionPart, points: Points, given: set[str], *, of_rule: bool = False) -> None:
        """`given` are variables that have their values from other conditions."""
        self._of_rule = of_rule
        self.variables = core.variables_of(written.condition)
        self.given = given & set(self.variables)
        self._tests = core.tests(written.condition)
        equal = [t for t in self._tests if isinstance(t, core.Equals)]
        self.carriers = {x: [t.field for t in equal if t.variable == x] for x in self.variables}
        self._certain = {(field, x) for field, x in certain(written.condition) if x not in given}
        self.lent: dict[str, list[str]] = {}
        self._size = max(1, len(self._tests))
        self._made: list[Point] = []
        whole = self._point("condition", written, {"true", "false"}, points)
        self._look = self._looking(written, whole, points)

    @property
    def done(self) -> bool:
        """Whether everything has been seen."""
        return all(p.done for p in self._made)

    def run(self, trace: Trace, points: Points, live: list[Binding] | None) -> list[Binding]:
        """Try the condition on every event; the bindings, not all where there are many, under which it holds somewhere.

        `live` are the values of given variables that matter; None for a condition that itself gives them.
        """
        met: dict[tuple[str | None, ...], Binding] = {}
        for event in trace.events:
            if self.done and (live is not None or not self.variables or len(met) >= _LIVE):
                break
            for binding in self._bindings(event, live):
                if not points.spend(self._size):
                    return list(met.values())
                if self._look(event, binding) and len(met) < _LIVE:
                    met.setdefault(tuple(binding.values()), binding)
        return list(met.values())

    def _bindings(self, event: Event, live: list[Binding] | None) -> Iterator[Binding]:
        """Given variables have live values, first those that the event carries; the others the event's own."""
        own = {x: list(dict.fromkeys(v for f in fs for v in texts(f, event))) for x, fs in self.carriers.items()}
        own |= {x: self._searched(x, values, event) for x, values in self.lent.items()}
        if live is None:
            yield from _combined(own)
            return
        free = {x: values for x, values in own.items() if live and x not in live[0]}
        fits = (b for b in live if all(value in own[x] for x, value in b.items()))
        for binding in [*islice(fits, _TRIED), *live[:_TRIED]]:
            yield from ({**binding, **rest} for rest in _combined(free))

    def _searched(self, variable: str, values: list[str], event: Event) -> list[str]:
        """The lent values that the event holds somewhere, and else one that it does not."""
        tests = [t for t in self._tests if isinstance(t, core.Contains | core.ComparesWith) and t.variable == variable]
        found = [value for value in values if any(meets(test, event, {variable: value}) for test in tests)]
        return found or values[:1]

    # --- parts ---

    def _point(self, kind: PartKind, part: ConditionPart, wanted: set[Seen], points: Points) -> Point:
        point = points.point(kind, part.source, part.span, wanted)
        self._made.append(point)
        return point

    def _wanted(self, kind: PartKind, item: ConditionPart) -> set[Seen]:
        """What should be seen of an operand."""
        if kind != "conjunct":
            return {"true", "false"}
        match item.condition:
            case core.ActionIn() | core.ActionMatches():
                return set()  # whether other actions carry the same arguments need not be shown
            case core.Equals(field, x) if (field, x) in self._certain:
                return set()  # it holds of every value there is
            case core.Has() if self._of_rule:
                return set()  # without it the gate cannot tell, which a run does not show
            case _:
                return {"decides"}

    def _looking(self, part: ConditionPart, own: Point | None, points: Points) -> Check:
        """The part as a function of an event and a binding, the same as `denotation.meets`, that notes what it sees."""
        kind = _OPERANDS.get(part.kind)
        of_items = [self._point(kind, item, self._wanted(kind, item), points) if kind else None for item in part.items]
        items = [self._looking(item, point, points) for item, point in zip(part.items, of_items, strict=True)]
        plain = _value(part, items, of_items)
        if own is None:
            return plain
        seen = own.seen

        def noting(event: Event, binding: Binding) -> bool:
            value = plain(event, binding)
            seen.add("true" if value else "false")
            return value

        return noting


def _value(part: ConditionPart, items: Sequence[Check], of_items: Sequence[Point | None]) -> Check:
    match part.kind:
        case "and" | "call" if items:
            assert isinstance(part.condition, core.AndC)
            called = compiled(part.condition.items[0]) if part.kind == "call" else None
            return _conjunction(items, of_items, called)
        case "or":
            # Every operand is looked at, also where an earlier one decides.
            return lambda event, binding: [item(event, binding) for item in items].count(True) > 0
        case "not":
            return lambda event, binding: not items[0](event, binding)
        case "pattern":
            return items[0]
        case _:
            return compiled(part.condition)


def _conjunction(items: Sequence[Check], of_items: Sequence[Point | None], called: Check | None) -> Check:
    def value(event: Event, binding: Binding) -> bool:
        values = [item(event, binding) for item in items]
        if called is not None and not called(event, binding):
            return False
        if values.count(False) == 1:
            point = of_items[values.index(False)]
            if point is not None:
                point.seen.add("decides")
        return all(values)

    return value


def _combined(values: dict[str, list[str]]) -> Iterator[Binding]:
    """Combinations of values, up to a limit; a variable without a value has the fresh text."""
    names = list(values)
    choices: list[list[str | None]] = [[*values[x]] or [None] for x in names]
    for chosen in islice(product(*choices), _TRIED):
        yield dict(zip(names, chosen, strict=True))
