"""From the core to a plan: where bodies are true, as relations where they give values, else as terms of other rows."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeVar

from vigil_lang.engines.columnar.plan import (
    TRUE,
    Among,
    AtEnd,
    Before,
    Carried,
    Different,
    Either,
    Events,
    Every,
    Extended,
    Joined,
    Met,
    Near,
    Nearest,
    Neg,
    Order,
    Paired,
    Place,
    Plan,
    Ranked,
    Relation,
    Selected,
    Some,
    Spread,
    Term,
    Timed,
    Total,
    Unit,
    United,
    ValueMet,
    nodes,
)
from vigil_lang.engines.functions import conjuncts, fixing
from vigil_lang.semantics import core
from vigil_lang.semantics.range_restriction import bound_by, unbound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Body = TypeVar("Body", core.Theta, core.Condition)


class NotCompiled(Exception):
    """A requirement that no plan can say, and why."""


MAX_SIZE: Final = 200
"""Operators and conditions of a requirement; a plan for more could become too large, as parts are repeated in it."""
_MAX_NODES: Final = 5_000


def compiled_plan(requirement: core.Requirement) -> Plan:
    """The plan of a requirement.

    Raises:
        NotCompiled: no plan can say it; the message has the reason in words.
    """
    if core.size(requirement.theta) > MAX_SIZE:
        raise NotCompiled("it is too large")
    if any(_reads_more(held.condition) for held in core.conditions(requirement.theta)):
        raise NotCompiled("a test of an entry's members also reads the event")
    compiler = _Compiler(requirement)
    violated = compiler.violated()
    exercised = None if requirement.trigger is None else compiler.exercised(requirement.trigger)
    for root in (violated, exercised):
        for count, _ in enumerate(() if root is None else nodes(root)):
            if count > _MAX_NODES:
                raise NotCompiled("it is too large")
    return Plan(violated, exercised, frozenset(compiler.ordered))


class _Compiler:
    """Compiles the bodies of one requirement. A relation that cannot be had is None."""

    def __init__(self, requirement: core.Requirement) -> None:
        self.ordered: set[Order] = set()
        self._requirement = requirement

    def violated(self) -> Relation:
        """The rows at which the requirement is false.

        Whatever breaks a range-restricted statement gives each variable a value that some event carries (spec 7.11), so
        that these are the values to try where the event itself gives none.
        """
        theta, variables = self._requirement.theta, self._requirement.variables
        found = self.refuted(theta)
        if found is not None and set(found.variables) == set(variables):
            return found
        if unbound(self._requirement):
            raise NotCompiled("no condition gives each of its variables a value")
        match theta:
            case core.Implies(left, right):
                parts = [left, core.negated(right)]
            case core.Not(core.And(items)):
                parts = list(items)
            case _:
                parts = [core.negated(theta)]
        return self._completed(parts, variables)

    def exercised(self, trigger: core.Theta) -> Relation:
        """The rows at which the trigger is true."""
        found, variables = self.relation(trigger), core.variables_of(trigger)
        if found is not None and set(found.variables) == set(variables):
            return found
        everything = frozenset(variables)
        if bound_by(trigger, True, everything) != everything:
            raise NotCompiled("no condition gives each variable of its trigger a value")
        return self._completed(list(trigger.items) if isinstance(trigger, core.And) else [trigger], variables)

    def _completed(self, items: Sequence[core.Theta], variables: Sequence[str]) -> Relation:
        """Rows at which all of some bodies are true: what they do not bind themselves has each value of the run."""
        found: Relation | None = None
        others: list[core.Theta] = []
        for item in items:
            relation = None if isinstance(item, core.Where) else self.relation(item)
            if relation is None or not relation.variables:
                others.append(item)
            else:
                found = _joined(found, relation)
        if found is None:
            ground = [item for item in others if self._ground(item)]
            others = [item for item in others if not self._ground(item)]
            found = _selected(Events(), _every([self.term(item, Events()) for item in ground]))
        for variable in variables:
            if variable not in found.variables:
                found = Extended(found, self._values(variable))
        return _selected(found, _every([self.term(item, found) for item in others]))

    def _values(self, variable: str) -> Relation:
        """Every value that an equality gives a variable at some event."""
        found: list[Relation | None] = []
        for holds in core.conditions(self._requirement.theta):
            fields = [
                t.field for t in core.tests(holds.condition) if isinstance(t, core.Equals) and t.variable == variable
            ]
            ground = [c for c in conjuncts(holds.condition) if not core.variables_of(c)]
            at: Term = Met(core.AndC(tuple(ground))) if ground else TRUE
            found += [Carried(field, variable, at) for field in dict.fromkeys(fields)]
        united = _united(found, (variable,))
        if united is None:
            raise NotCompiled("no condition gives each of its variables a value")
        return united

    def _ground(self, theta: core.Theta) -> bool:
        return not core.variables_of(theta)

    def relation(self, theta: core.Theta) -> Relation | None:
        """The rows at which a body is true, where these carry a value for each of its variables."""
        if self._ground(theta):
            return _selected(Events(), self.term(theta, Events()))
        match theta:
            case core.Holds(condition):
                return self._condition(condition, TRUE)
            case core.Not(body):
                return self.refuted(body)
            case core.And(items):
                return self._conjunction(items)
            case core.Or(items):
                return _united([self.relation(item) for item in items], core.variables_of(theta))
            case core.Implies(left, right):
                return self.relation(core.Or((core.Not(left), right)))
            case _:
                return None

    def refuted(self, theta: core.Theta) -> Relation | None:
        """Likewise the rows at which it is false."""
        if self._ground(theta):
            return _selected(Events(), _neg(self.term(theta, Events())))
        match theta:
            case core.Holds(core.NotC(condition)):
                return self._condition(condition, TRUE)
            case core.Not(body):
                return self.relation(body)
            case core.And(items):
                return _united([self.refuted(item) for item in items], core.variables_of(theta))
            case core.Or(items):
                return self._conjunction([core.negated(item) for item in items])
            case core.Implies(left, right):
                return self._conjunction([left, core.negated(right)])
            case _:
                return None

    def _conjunction(self, items: Sequence[core.Theta]) -> Relation | None:
        """Rows of those that give values, of which the others are true."""
        needed = {x for item in items for x in core.variables_of(item)}
        return _conjoined(
            items, needed, lambda item: None if isinstance(item, core.Where) else self.relation(item), self.term
        )

    def _condition(self, condition: core.Condition, ground: Term) -> Relation | None:
        """Where a condition holds and a term is true, with the values under which it does."""
        match condition:
            case core.Equals(field, x):
                return Carried(field, x, ground)
            case core.AndC():
                items = conjuncts(condition)
                met = [item for item in items if not core.variables_of(item)]
                ground = _every([ground, *([Met(core.AndC(tuple(met)))] if met else [])])
                others = [item for item in items if core.variables_of(item)]
                needed = set(core.variables_of(condition))
                return _conjoined(
                    others, needed, lambda item: self._condition(item, ground), lambda item, _: _test(item)
                )
            case core.OrC(items):
                return _united([self._condition(item, ground) for item in items], core.variables_of(condition))
            case core.NotC(core.NotC(inner)):
                return self._condition(inner, ground)
            case core.Entry():
                return self._entry(condition, ground)
            case _:
                return None

    def _entry(self, condition: core.Entry, ground: Term) -> Relation | None:
        """An entry's members give the values, the whole entry is tested."""
        found: Relation | None = None
        for x in core.variables_of(condition):
            fields = fixing(condition, x)
            if fields is None:
                return None
            values = _united([Carried(field, x, ground) for field in fields], (x,))
            assert values is not None
            found = _joined(found, values)
        return None if found is None else _selected(found, _test(condition))

    def term(self, theta: core.Theta, given: Relation) -> Term:
        """A body as a term of rows that have a value for each of its variables; `given` are the rows asked about.

        Raises:
            NotCompiled: there is none.
        """
        match theta:
            case core.Holds(condition):
                return _test(condition)
            case core.Not(body):
                return _neg(self.term(body, given))
            case core.And(items):
                return _every([self.term(item, given) for item in items])
            case core.Or(items):
                return _either([self.term(item, given) for item in items])
            case core.Implies(left, right):
                return _either([_neg(self.term(left, given)), self.term(right, given)])
            case core.Earlier(body, bound) | core.Later(body, bound):
                ahead = isinstance(theta, core.Later)
                return _either([self._reached(r, bound, ahead=ahead) for r in self._relations(body, given)])
            case core.Clear(resolver, forbidden):
                places = [Nearest(found, True) for found in self._relations(resolver, given)]
                # Of several kinds of what is forbidden the nearest of each has to be resolved.
                return _every(
                    [
                        _either([_neg(Some(bad, True)), *(Before(place, Nearest(bad, True)) for place in places)])
                        for bad in self._relations(forbidden, given)
                    ]
                )
            case core.Since() | core.Until():
                return self._interval(theta, given)
            case core.Repeated(count, body, bound, reset, distinct):
                return self._repeated(count, body, bound, reset, distinct, given)
            case core.Exceeds():
                return self._total(theta, given)
            case core.Where(condition):
                return ValueMet(condition)
            case core.Last():
                return AtEnd()

    def _relations(self, body: core.Theta, given: Relation) -> list[Relation]:
        """Where a body is true, by its alternatives, under the values that `given` has in the run."""
        found = self.relation(body)
        if found is not None:
            return [found]
        match body:
            case core.Or(items):
                return [relation for item in items for relation in self._relations(item, given)]
            case core.Holds(core.OrC(items)):
                held = [core.Holds(item) for item in items]
                return [relation for item in held for relation in self._relations(item, given)]
            case core.Holds(condition):
                joined = conjuncts(condition)
                ground: list[Term] = [Met(item) for item in joined if not core.variables_of(item)]
                spread = Spread(_every(ground), given, core.variables_of(body))
                tests = [_test(item) for item in joined if core.variables_of(item)]
                return [_selected(spread, _every(tests))]
            case core.And(parts):
                ground = [self.term(part, Events()) for part in parts if self._ground(part)]
                spread = Spread(_every(ground), given, core.variables_of(body))
                return [
                    _selected(spread, _every([self.term(part, spread) for part in parts if not self._ground(part)]))
                ]
            case _:
                spread = Spread(TRUE, given, core.variables_of(body))
                return [_selected(spread, self.term(body, spread))]

    def _reached(self, found: Relation, bound: core.Bound, *, ahead: bool) -> Term:
        """Whether a relation has an event on one side within a bound: it is the nearest that is far enough away."""
        if bound is None:
            return Some(found, ahead)
        unit, most, found = self._measured(found, bound)
        return Near(Nearest(found, ahead, unit, bound.least), most)

    def _measured(self, found: Relation, bound: core.Calls | core.Steps | core.Within) -> tuple[Unit, int, Relation]:
        match bound:
            case core.Steps(count):
                return "steps", count, found
            case core.Calls(count):
                self.ordered.add("calls")
                return "calls", count, found
            case core.Within(microseconds):
                self.ordered.add("times")
                return "times", microseconds, _selected(found, Timed())

    def _interval(self, theta: core.Since | core.Until, given: Relation) -> Term:
        bound, ahead = theta.bound, isinstance(theta, core.Until)
        broken = self._relations(core.negated(theta.left), given)
        nearest = [Nearest(found, ahead) for found in broken]
        reached: list[Term] = []
        for found in self._relations(theta.right, given):
            if bound is None:
                place: Place = Nearest(found, ahead)
                near: Term = Some(found, ahead)
            else:
                unit, most, measured = self._measured(found, bound)
                place = Nearest(measured, ahead, unit, bound.least)
                near = Near(place, most)
            between = [Before(breaker, place) if ahead else Before(place, breaker) for breaker in nearest]
            reached.append(_every([near, *map(_neg, between)]))
        if theta.weak:
            reached.append(_every([_neg(self._reached(found, bound, ahead=ahead)) for found in broken]))
        return _either(reached)

    def _counted(self, body: core.Theta, bound: core.Bound, given: Relation) -> tuple[Unit, int, Relation]:
        """What is counted, as one relation, and how far back."""
        found = _united(self._relations(body, given), core.variables_of(body))
        if found is None:
            raise NotCompiled("it counts what holds under some values and for all alike")
        if bound is None:
            return "steps", core.FAR, found
        if bound.least:
            raise NotCompiled("it counts what is at least so far away")
        return self._measured(found, bound)

    def _repeated(
        self,
        count: int,
        body: core.Theta,
        bound: core.Bound,
        reset: core.Theta | None,
        distinct: core.Reads | None,
        given: Relation,
    ) -> Term:
        unit, most, found = self._counted(body, bound, given)
        if distinct is not None:
            if bound is not None or reset is not None:
                raise NotCompiled("it counts different values within a window, or anew after a reset")
            return Different(found, distinct, count)
        self.ordered.add("groups")
        place = Ranked(found, count, unit)
        resets = [] if reset is None else self._relations(reset, given)
        late = [_either([Neg(Some(other, False)), Before(Nearest(other, False), place)]) for other in resets]
        return _every([Near(place, most), *late])

    def _total(self, theta: core.Exceeds, given: Relation) -> Term:
        unit, most, found = self._counted(theta.body, theta.bound, given)
        resets = [] if theta.reset is None else self._relations(theta.reset, given)
        zero = Decimal(0)
        counts = core.OrC((core.Compares(theta.field, ">=", zero), core.Compares(theta.field, "<", zero)))
        return _either([_neg(Met(counts)), Total(found, theta.field, theta.limit, unit, most, tuple(resets))])


def _test(condition: core.Condition) -> Term:
    """A condition as a term of rows that have a value for each of its variables."""
    variables = core.variables_of(condition)
    if not variables:
        return Met(condition)
    match condition:
        case core.Equals(field, x):
            return Among(Carried(field, x, TRUE))
        case core.Contains() | core.ComparesWith() | core.Entry():
            return Paired(condition)
        case core.NotC(body):
            return _neg(_test(body))
        case core.AndC(items):
            return _every([_test(item) for item in items])
        case core.OrC(items):
            return _either([_test(item) for item in items])
        case _:
            raise AssertionError(condition)


def _reads_more(condition: core.Condition) -> bool:
    """Whether a test of an entry reads more than the entry's members."""
    match condition:
        case core.Entry(_, body):
            tests = core.tests(body)
            of_event = (core.ActionIn, core.ActionMatches, core.StatusIs)
            return any(isinstance(test, of_event) or test.field.output for test in tests)
        case core.NotC(body):
            return _reads_more(body)
        case core.AndC(items) | core.OrC(items):
            return any(map(_reads_more, items))
        case _:
            return False


def _conjoined(
    items: Sequence[Body],
    needed: set[str],
    relation: Callable[[Body], Relation | None],
    term: Callable[[Body, Relation], Term],
) -> Relation | None:
    """Rows of those bodies, or conditions, that give the values that are needed, of which the others are true."""
    found: Relation | None = None
    others: list[Body] = []
    for item in items:
        missing = needed - set(() if found is None else found.variables)
        rows = relation(item) if missing & set(core.variables_of(item)) else None
        if rows is None:
            others.append(item)
        else:
            found = _joined(found, rows)
    if found is None or set(found.variables) != needed:
        return None
    return _selected(found, _every([term(item, found) for item in others]))


def _joined(one: Relation | None, other: Relation) -> Relation:
    return other if one is None else Joined(one, other)


def _selected(of: Relation, where: Term) -> Relation:
    return of if where == TRUE else Selected(of, where)


def _every(items: Sequence[Term]) -> Term:
    flat = tuple([part for item in items for part in (item.items if isinstance(item, Every) else (item,))])
    return flat[0] if len(flat) == 1 else Every(flat)


def _either(items: Sequence[Term]) -> Term:
    return items[0] if len(items) == 1 else Either(tuple(items))


def _neg(item: Term) -> Term:
    return item.item if isinstance(item, Neg) else Neg(item)


def _united(items: Sequence[Relation | None], variables: Iterable[str]) -> Relation | None:
    """Relations together, where each has all the variables; what holds whatever a value is gives none."""
    found = [item for item in items if item is not None]
    if not found or len(found) < len(items) or any(set(item.variables) != set(variables) for item in found):
        return None
    return found[0] if len(found) == 1 else United(tuple(found))
