"""Where conditions hold: one pass over the run per condition, indexed by the values its variables take.

The text tests of a condition are decided here, outside the solver (paper, 5.1); the solver sees their outcomes.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import compare, texts
from vigil_lang.semantics.text import predicate
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.trace import Event, Trace

Key: TypeAlias = tuple[str | None, ...]
"""The values of a condition's variables, in their order; None is the fresh text."""
Binding: TypeAlias = dict[str, str | None]
Check: TypeAlias = "Callable[[Event, Binding], bool]"


def compiled(condition: core.Condition) -> Check:
    """ψ(e, x̄) as a function; the same meaning as `denotation.meets`, with the dispatch done once."""
    match condition:
        case core.ActionIn(names):
            return lambda e, _: e.action in names or any(k in names for k in e.kinds)
        case core.ActionMatches(matcher):
            test = predicate(matcher)
            return lambda e, _: any(map(test, e.names()))
        case core.StatusIs(status):
            return lambda e, _: e.status == status
        case core.Has(core.Reads(name, output)):
            return (lambda e, _: e.output is not None) if output else (lambda e, _: name in e.args)
        case core.In(field, values, negated):
            return lambda e, _: any((text in values) != negated for text in texts(field, e))
        case core.Matches(field, matcher, negated):
            test = predicate(matcher)
            return lambda e, _: any(test(text) != negated for text in texts(field, e))
        case core.Compares(field, operator, limit):
            return lambda e, _: any(
                n is not None and compare(n, operator, limit) for n in map(number, texts(field, e))
            )
        case core.Equals(field, x):
            return lambda e, b: b[x] is not None and b[x] in texts(field, e)
        case core.Contains(field, x):
            return lambda e, b: bool(v := b[x]) and any(v in text for text in texts(field, e))
        case core.ContainsText(field, part):
            return lambda e, _: bool(part) and any(part in text for text in texts(field, e))
        case core.NotC(body):
            inner = compiled(body)
            return lambda e, b: not inner(e, b)
        case core.AndC(items):
            checks = [compiled(item) for item in items]
            return lambda e, b: all(check(e, b) for check in checks)
        case core.OrC(items):
            checks = [compiled(item) for item in items]
            return lambda e, b: any(check(e, b) for check in checks)


class Leaf:
    """One condition of a statement on one run.

    A condition whose variables are each fixed by some `k = x` among its conjuncts is indexed by their values: its
    positions for one binding are a look-up. Any other condition with variables is tried, for each binding asked
    for, at the events that meet its variable-free conjuncts.
    """

    def __init__(self, holds: core.Holds, trace: Trace, candidates: Candidates) -> None:
        self.holds = holds
        self.variables = core.variables_of(holds.condition)
        self._trace = trace
        conjuncts = _conjuncts(holds.condition)
        ground = [c for c in conjuncts if not core.variables_of(c)]
        self._rest = [c for c in conjuncts if core.variables_of(c)]
        check = compiled(core.AndC(tuple(ground)))
        self._ground = [i for i in candidates.of(ground) if check(trace.events[i], {})]
        self.indexed = {t.variable for t in self._rest if isinstance(t, core.Equals)} >= set(self.variables)
        self._positions: dict[Key, list[int]] = {}
        self._keys: dict[int, list[Key]] = {}
        if self.indexed:
            self._index()
        else:
            self._open = compiled(core.AndC(tuple(self._rest)))
            self._possible = frozenset(self._ground)

    def _index(self) -> None:
        positions: dict[Key, list[int]] = defaultdict(list)
        equals = [t for t in self._rest if isinstance(t, core.Equals)]
        filters = [compiled(c) for c in self._rest if not isinstance(c, core.Equals)]
        for at in self._ground:
            keys = self._solutions(self._trace.events[at], equals, filters)
            if keys:
                self._keys[at] = keys
            for key in keys:
                positions[key].append(at)
        self._positions = dict(positions)

    def _solutions(self, event: Event, equals: list[core.Equals], filters: list[Check]) -> list[Key]:
        """The values of the variables, in their order, under which the condition holds at the event."""
        if not self.variables:
            return [()]
        choices: list[dict[str, None]] = []
        for variable in self.variables:
            fields = [texts(t.field, event) for t in equals if t.variable == variable]
            first, *others = fields
            choices.append(dict.fromkeys(v for v in first if all(v in other for other in others)))
        found: list[Key] = list(product(*choices))
        if filters:
            bound = ((key, dict(zip(self.variables, key, strict=True))) for key in found)
            found = [key for key, binding in bound if all(check(event, binding) for check in filters)]
        return found

    def key(self, binding: Binding) -> Key:
        """The part of a binding this condition depends on."""
        return tuple([binding[x] for x in self.variables])

    def positions(self, key: Key) -> list[int]:
        """The indices of the events at which the condition holds, ascending."""
        if self.indexed:
            return self._positions.get(key, [])
        if key not in self._positions:
            binding = dict(zip(self.variables, key, strict=True))
            events = self._trace.events
            self._positions[key] = [i for i in self._ground if self._open(events[i], binding)]
        return self._positions[key]

    def supporters(self, at: int) -> list[Key] | None:
        """The keys under which the condition may hold at an event; None when they are not so few to list."""
        if self.indexed:
            return self._keys.get(at, [])
        return None if at in self._possible else []

    def first_positions(self) -> Iterable[int]:
        """Every event at which the condition holds or may hold."""
        return self._keys if self.indexed else self._possible


def _conjuncts(condition: core.Condition) -> list[core.Condition]:
    if isinstance(condition, core.AndC):
        return [c for item in condition.items for c in _conjuncts(item)]
    return [condition]


class Candidates:
    """Events by action name and kind, so that a condition on the action visits only those."""

    def __init__(self, trace: Trace) -> None:
        self._all = range(len(trace.events))
        by_name: dict[str, list[int]] = defaultdict(list)
        for at, event in enumerate(trace.events):
            for name in dict.fromkeys(event.names()):
                by_name[name].append(at)
        self._by_name = dict(by_name)

    def of(self, conjuncts: Iterable[core.Condition]) -> Iterable[int]:
        """A superset, ascending, of the events that meet the conjuncts."""
        for conjunct in conjuncts:
            if isinstance(conjunct, core.ActionIn):
                lists = [self._by_name[name] for name in conjunct.names if name in self._by_name]
                return lists[0] if len(lists) == 1 else sorted({i for found in lists for i in found})
        return self._all
