"""The ways to violate a requirement: ¬Θ as alternatives, each a conjunction of literals.

A clause is found in the order in which its parts give values to variables: conditions on the current event first, then
what operators that look back remember; whatever has all its values by then is a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.base.structs import Frozen
from vigil_lang.engines.functions import compiled
from vigil_lang.engines.monitor.bodies import AtEvent, Conjunction, Disjunction, Negation, OfValues
from vigil_lang.engines.monitor.leaves import CannotJudge, Leaf
from vigil_lang.engines.monitor.memory import operator_of
from vigil_lang.engines.monitor.obligations import Breaking, Coming, ComingUnder, Missing, Pair
from vigil_lang.engines.monitor.tables import Journal, Replayed, Seen, Slices
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vigil_lang.engines.monitor.bodies import Body
    from vigil_lang.engines.monitor.leaves import Binding, Now
    from vigil_lang.engines.monitor.obligations import Obligations
    from vigil_lang.engines.monitor.tables import Table
    from vigil_lang.trace import Event

MOST_CLAUSES: Final = 64
TRUE: Final = core.And(())


class Irregular(Exception):
    """A requirement of no form that is judged clause by clause."""


class Literal(NamedTuple):
    """A part of a clause: a body that is no `and`, `or` or `not`, and whether it has to hold."""

    body: core.Theta
    holds: bool


Clause = tuple[Literal, ...]
Looking: TypeAlias = core.Earlier | core.Since | core.Repeated | core.Exceeds
"""An operator that looks back."""


# --- simplification -----------------------------------------------------------------------------------------


def folded(theta: core.Theta) -> core.Theta:
    """A body without the parts that are always true or always false."""
    match theta:
        case core.Holds(condition) | core.Where(condition):
            constant = _constant(condition)
            return theta if constant is None else TRUE if constant else core.FALSE
        case core.Not(body):
            inner = folded(body)
            return core.FALSE if inner == TRUE else TRUE if inner == core.FALSE else core.Not(inner)
        case core.Implies(left, right):
            return folded(core.Or((core.Not(left), right)))
        case core.And(items):
            kept = [item for item in map(folded, items) if item != TRUE]
            return core.FALSE if core.FALSE in kept else kept[0] if len(kept) == 1 else core.And(tuple(kept))
        case core.Or(items):
            kept = [item for item in map(folded, items) if item != core.FALSE]
            return TRUE if TRUE in kept else _or(kept)
        case core.Earlier(body) | core.Later(body):
            inner = folded(body)
            return core.FALSE if inner == core.FALSE else replace(theta, body=inner)
        case core.Clear(resolver, forbidden):
            bad = folded(forbidden)
            return TRUE if bad == core.FALSE else core.Clear(folded(resolver), bad)
        case core.Since(left, right) | core.Until(left, right):
            ends = folded(right)
            if ends == core.FALSE and not theta.weak:
                return core.FALSE
            return replace(theta, left=folded(left), right=ends)
        case core.Repeated(count, body, _, reset):
            inner = folded(body)
            if inner == core.FALSE and count:
                return core.FALSE
            return replace(theta, body=inner, reset=None if reset is None else _reset(reset))
        case core.Exceeds(body=body, reset=reset):
            return replace(theta, body=folded(body), reset=None if reset is None else _reset(reset))
        case _:
            return theta


def _reset(reset: core.Theta) -> core.Theta | None:
    found = folded(reset)
    return None if found == core.FALSE else found


def _or(items: list[core.Theta]) -> core.Theta:
    """A disjunction; alternatives that look ahead become one that looks for either."""
    later = [item for item in items if isinstance(item, core.Later)]
    for bound in dict.fromkeys(item.bound for item in later):
        same = [item for item in later if item.bound == bound]
        if len(same) > 1:
            joined = core.Later(core.Or(tuple([item.body for item in same])), bound)
            items = [*(item for item in items if item not in same), joined]
    return items[0] if len(items) == 1 else core.Or(tuple(items))


def _constant(condition: core.Condition) -> bool | None:
    """The truth of a condition that is the same for every event and binding; None for any other."""
    match condition:
        case core.ActionIn(names) if not names:
            return False
        case core.In(_, values, False) if not values:
            return False
        case core.ContainsText(_, text) if not text:
            return False
        case core.Entry(_, body) if _constant(body) is False:
            return False
        case core.NotC(body):
            inner = _constant(body)
            return None if inner is None else not inner
        case core.AndC(items):
            parts = [_constant(item) for item in items]
            return False if False in parts else None if None in parts else True
        case core.OrC(items):
            parts = [_constant(item) for item in items]
            return True if True in parts else None if None in parts else False
        case _:
            return None


def clauses(theta: core.Theta, holds: bool) -> list[Clause]:
    """The alternatives under which a body holds, or does not.

    Raises:
        Irregular: there are too many.
    """
    match theta:
        case core.Not(body):
            return clauses(body, not holds)
        case core.Implies(left, right):
            return clauses(core.Or((core.Not(left), right)), holds)
        case core.And(items) | core.Or(items):
            each = [clauses(item, holds) for item in items]
            if isinstance(theta, core.Or) is holds:
                return [clause for found in each for clause in found]
            joined: list[Clause] = [()]
            for found in each:
                joined = [(*one, *other) for one in joined for other in found]
                if len(joined) > MOST_CLAUSES:
                    raise Irregular
            return joined
        case _:
            return [(Literal(theta, holds),)]


def _witnessed(clause: Clause) -> Clause:
    """An alternative that holds under some binding, without variables where the event itself has what they need."""
    found = []
    for literal in clause:
        mine = set(core.variables_of(literal.body))
        others = {x for other in clause if other is not literal for x in core.variables_of(other.body)}
        if isinstance(literal.body, core.Holds) and literal.holds and mine and mine.isdisjoint(others):
            condition = _witness(literal.body.condition)
            literal = literal if condition is None else Literal(replace(literal.body, condition=condition), True)
        found.append(literal)
    return tuple(found)


def _witness(condition: core.Condition) -> core.Condition | None:
    """What an event meets that meets a condition under some values of its run; None where other events matter.

    What is compared with one text of an event alone can be that text.
    """
    match condition:
        case core.Equals(field) if not field.views:
            return core.In(field, frozenset(), True)
        case core.Contains(field) if not field.views:
            return core.In(field, frozenset({""}), True)
        case core.AndC(items) | core.OrC(items):
            mentioned = [x for item in items for x in core.variables_of(item)]
            if isinstance(condition, core.AndC) and len(set(mentioned)) < len(mentioned):
                return None
            parts = [part for item in items if (part := _witness(item)) is not None]
            return replace(condition, items=tuple(parts)) if len(parts) == len(items) else None
        case _:
            return None if core.variables_of(condition) else condition


# --- judged ahead -------------------------------------------------------------------------------------------


def _counts_output(theta: core.Repeated | core.Exceeds) -> bool:
    """Whether the output of the current event may make a count, or a sum, larger."""
    field = theta.distinct if isinstance(theta, core.Repeated) else theta.field
    if field is not None and field.output:
        return True
    tests = (condition.condition for condition in core.conditions(theta.body))
    return any(foreseen(condition, True) != foreseen(condition, False) for condition in tests)


def foreseen(condition: core.Condition, surely: bool) -> core.Condition:
    """A condition on an event that is still to happen: it will succeed, and a test of its output is open.

    What is open is false where the condition is to hold `surely`, and true where it is to hold possibly.
    """
    match condition:
        case core.StatusIs(status):
            return core.AndC(()) if status == "ok" else core.OrC(())
        case core.NotC(body):
            return core.NotC(foreseen(body, not surely))
        case core.AndC(items) | core.OrC(items):
            return replace(condition, items=tuple([foreseen(item, surely) for item in items]))
        case core.ActionIn() | core.ActionMatches():
            return condition
        case core.Entry(field, body) if not field.output:
            return core.Entry(field, foreseen(body, surely))
        case _:
            if not condition.field.output:
                return condition
            return core.OrC(()) if surely else core.AndC(())


# --- bodies -------------------------------------------------------------------------------------------------


class Prepared:
    """What of a rule is the same along every run: its clauses, and its conditions ready to be asked.

    Parts of clauses are known by what they are, not by what they say: to hash a body costs more than to make it.
    """

    def __init__(self, requirement: core.Requirement) -> None:
        """Raises `Irregular` where there are too many clauses."""
        self.order = requirement.variables
        self.width = len(self.order)
        trigger = requirement.trigger
        self.violating = clauses(folded(requirement.theta), False)
        self.exercising = [] if trigger is None else [_witnessed(c) for c in clauses(folded(trigger), True)]
        self._at_event: dict[tuple[int, bool | None], AtEvent] = {}
        self._negated: dict[int, core.Theta] = {}
        self._same: dict[core.Theta, core.Theta] = {}
        self._first: dict[int, core.Theta] = {}
        self._slots: dict[int, frozenset[int]] = {}
        self._certain: dict[int, bool] = {}
        self._open: dict[tuple[int, bool], bool] = {}

    def at_event(self, holds: core.Holds, surely: bool | None) -> AtEvent:
        """A condition on the current event."""
        found = self._at_event.get((id(holds), surely))
        if found is None:
            condition = holds.condition if surely is None else foreseen(holds.condition, surely)
            found = self._at_event[id(holds), surely] = AtEvent(Leaf(condition, self.order), self.width)
        return found

    def is_certain(self, holds: core.Holds) -> bool:
        """Whether what it says of an event is known before that happens."""
        found = self._certain.get(id(holds))
        if found is None:
            found = self._certain[id(holds)] = foreseen(holds.condition, True) == holds.condition
        return found

    def is_open(self, literal: Literal) -> bool:
        """Whether a literal can only be told by how the event ends."""
        body, holds = literal
        if not isinstance(body, core.Holds | core.Repeated | core.Exceeds):
            return False
        found = self._open.get((id(body), holds))
        if found is None:
            if isinstance(body, core.Holds):
                found = _constant(foreseen(body.condition, holds)) is (not holds)
            else:
                found = not holds and _counts_output(body)
            self._open[id(body), holds] = found
        return found

    def negated(self, theta: core.Theta) -> core.Theta:
        """The negation of a body, the same one each time."""
        found = self._negated.get(id(theta))
        if found is None:
            found = self._negated[id(theta)] = core.negated(theta)
        return found

    def first_like(self, theta: core.Theta) -> core.Theta:
        """The first of the bodies that say the same as this one."""
        found = self._first.get(id(theta))
        if found is None:
            found = self._first[id(theta)] = self._same.setdefault(theta, theta)
        return found

    def slots(self, theta: core.Theta) -> frozenset[int]:
        """Those of a body's variables."""
        found = self._slots.get(id(theta))
        if found is None:
            mentioned = core.variables_of(theta)
            found = frozenset(slot for slot, x in enumerate(self.order) if x in mentioned)
            self._slots[id(theta)] = found
        return found


class Builder:
    """Makes the bodies and tables of one rule along one run."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.order, self.width = prepared.order, prepared.width
        self._known: dict[int, tuple[core.Theta, Table]] = {}

    @property
    def tables(self) -> list[Table]:
        """Those made so far, each before those it rests on."""
        known = sorted(self._known.values(), key=lambda pair: core.size(pair[0]), reverse=True)
        return [table for _, table in known]

    def body(self, theta: core.Theta, surely: bool | None = None) -> Body:
        """A body at the current event: as it happened, or as it surely (or possibly) will.

        Raises:
            Irregular: it looks ahead, or rests on operators that cannot list what they touch.
        """
        match theta:
            case core.Holds():
                return self.prepared.at_event(theta, surely)
            case core.Where(condition):
                return OfValues(condition, self.order, core.named_in_where(condition))
            case core.Not(body):
                return Negation(self.body(body, None if surely is None else not surely))
            case core.And(items):
                return Conjunction([self.body(item, surely) for item in items], self.width)
            case core.Or(items):
                return Disjunction([self.body(item, surely) for item in items], self.width)
            case core.Implies(left, right):
                refuted = Negation(self.body(left, None if surely is None else not surely))
                return Disjunction([refuted, self.body(right, surely)], self.width)
            case core.Earlier() | core.Since() | core.Repeated() | core.Exceeds():
                return self.operator(theta)
            case _:
                raise Irregular

    def operator(self, theta: Looking) -> Body:
        """An operator that looks back, the same for all bodies that say the same."""
        return self.table(theta)

    def pair(self, theta: core.Theta, surely: bool) -> Pair:
        """A body as it is judged when it has happened, and as it is judged ahead."""
        return Pair(self.body(theta), self.body(theta, surely))

    def table(self, theta: Looking) -> Table:
        """The table of an operator that looks back."""
        first = self.prepared.first_like(theta)
        found = self._known.get(id(first))
        if found is None:
            found = self._known[id(first)] = (first, self._table(theta))
        return found[1]

    def _table(self, theta: Looking) -> Table:
        within, broken = self.halves(theta)
        before = len(self._known)
        met, stops = self.body(within), None if broken is None else self.body(broken)
        is_plain = isinstance(theta, core.Earlier) and theta.bound is None
        if is_plain and isinstance(met, AtEvent) and met.leaf.keys is not None:
            return Seen(met.leaf, self.width)
        slots = met.slots if stops is None else met.slots | stops.slots
        parts = [met] if stops is None else [met, stops]
        if all(part.regular and part.slots in (frozenset(), slots) for part in parts):
            return Slices(operator_of(theta), met, stops, slots, self.width)
        for first in list(self._known)[before:]:
            del self._known[first]  # a journal has operators of its own
        return _Replaying(self.prepared).journal(theta)

    def halves(self, theta: Looking) -> tuple[core.Theta, core.Theta | None]:
        """What an operator looks for, and what breaks or resets it."""
        if isinstance(theta, core.Since):
            return theta.right, self.prepared.negated(theta.left)
        return theta.body, None if isinstance(theta, core.Earlier) else theta.reset


class _Replaying(Builder):
    """Makes the operators of one journal."""

    def __init__(self, prepared: Prepared) -> None:
        super().__init__(prepared)
        self._replayed: dict[int, tuple[Looking, Replayed]] = {}

    def journal(self, theta: Looking) -> Journal:
        """The journal of an operator, and of those inside it."""
        outer = self.operator(theta)
        made = sorted(self._replayed.values(), key=lambda pair: core.size(pair[0]), reverse=True)
        halves = [half for each, _ in made for half in self.halves(each) if half is not None]
        concerns = compiled(core.OrC(tuple([possibly(half, True) for half in halves])))
        return Journal([part for _, part in made], outer.slots, concerns, _shortened(theta))

    def operator(self, theta: Looking) -> Replayed:
        """See `Builder`."""
        first = self.prepared.first_like(theta)
        found = self._replayed.get(id(first))
        if found is None:
            within, broken = self.halves(theta)
            met, stops = self.body(within), None if broken is None else self.body(broken)
            slots = met.slots if stops is None else met.slots | stops.slots
            found = self._replayed[id(first)] = (theta, Replayed(operator_of(theta), met, stops, slots))
        return found[1]


def possibly(theta: core.Theta, truth: bool) -> core.Condition:
    """A condition without variables that an event meets at which the body is true (or false) under some binding."""
    match theta:
        case core.Holds(condition):
            return _ground(condition, truth)
        case core.Not(body):
            return possibly(body, not truth)
        case core.Implies(left, right):
            return possibly(core.Or((core.Not(left), right)), truth)
        case core.And(items) | core.Or(items):
            parts = tuple([possibly(item, truth) for item in items])
            return core.AndC(parts) if isinstance(theta, core.And) is truth else core.OrC(parts)
        case _:
            return core.AndC(())


def _ground(condition: core.Condition, truth: bool) -> core.Condition:
    """Likewise of a condition; one without variables may be false where it is not true."""
    match condition:
        case core.NotC(body):
            return _ground(body, not truth)
        case core.AndC(items) | core.OrC(items):
            parts = tuple([_ground(item, truth) for item in items])
            return core.AndC(parts) if isinstance(condition, core.AndC) is truth else core.OrC(parts)
        case _ if not core.variables_of(condition):
            return condition if truth else core.NotC(condition)
        case core.Equals(field) | core.Contains(field) | core.ComparesWith(field) if truth:
            return core.Has(field)
        case _:
            return core.AndC(())


def _shortened(theta: core.Theta) -> Callable[[Event], Event]:
    """From an event to one that bodies cannot tell from it, without arguments and outputs that they do not look at."""
    conditions = [holds.condition for holds in core.conditions(theta)]
    counted = [b.distinct if isinstance(b, core.Repeated) else b.field for b in _counting(theta)]
    fields = [
        *(field for each in conditions for field in _read(each)),
        *(field for field in counted if field is not None),
    ]
    names = frozenset(field.name for field in fields if not field.output)
    looks = [core.AndC(()) for field in counted if field is not None and field.output]
    prints = compiled(core.OrC((*looks, *map(_on_output, conditions))))

    def shortened(event: Event) -> Event:
        args = {name: found for name, found in event.args.items() if name in names}
        return replace(event, args=args, output=event.output if prints(event, None) else None)

    return shortened


def _counting(theta: core.Theta) -> list[core.Repeated | core.Exceeds]:
    return [body for body in core.bodies(theta) if isinstance(body, core.Repeated | core.Exceeds)]


def _read(condition: core.Condition) -> Iterator[core.Reads]:
    """The fields that a condition looks at."""
    match condition:
        case core.AndC(items) | core.OrC(items):
            for item in items:
                yield from _read(item)
        case core.NotC(body):
            yield from _read(body)
        case core.ActionIn() | core.ActionMatches() | core.StatusIs():
            pass
        case core.Entry(field, body):
            yield field
            yield from (inside for inside in _read(body) if inside.output)
        case _:
            yield condition.field


def _on_output(condition: core.Condition) -> core.Condition:
    """A condition without variables that an event meets where the truth of another may rest on the event's output."""
    match condition:
        case core.NotC(body):
            return _on_output(body)
        case core.AndC(items) | core.OrC(items):
            truth = isinstance(condition, core.AndC)
            others = [[_ground(other, truth) for other in items if other is not item] for item in items]
            return core.OrC(tuple([core.AndC((_on_output(i), *o)) for i, o in zip(items, others, strict=True)]))
        case _:
            return core.AndC(()) if any(field.output for field in _read(condition)) else core.OrC(())


# --- clauses, ready to be asked -----------------------------------------------------------------------------


class Way(Frozen, frozen=True):
    """One way to violate a rule."""

    names: frozenset[str] | None
    """An event without one of these begins no violation; None where any may."""
    bindings: Callable[[Now], list[Binding]]
    """The bindings under which the current event meets every literal that can be decided at it."""
    ahead: Callable[[Now], list[Binding]]
    """Likewise for an event that is still to happen."""
    obligations: Obligations | None
    """What decides it later; None where the event alone decides it."""
    is_last: bool
    """Whether it is a violation only at the last event of the run."""
    against: tuple[Table, ...]
    """Operators without variables that must not hold: once one holds for good, nothing is violated so."""


def way(clause: Clause, builder: Builder) -> Way:
    """A clause, ready to be asked.

    Raises:
        Irregular: it looks ahead in a manner that no obligation has, or leaves a variable without a value.
    """
    future = [literal for literal in clause if isinstance(literal.body, core.Later | core.Clear | core.Until)]
    if len(future) > 1:
        raise Irregular
    is_last = any(isinstance(literal.body, core.Last) for literal in clause)
    if any(isinstance(literal.body, core.Last) and not literal.holds for literal in clause) or (is_last and future):
        raise Irregular
    rest = [literal for literal in clause if not isinstance(literal.body, core.Last) and literal not in future]
    later: frozenset[int] = frozenset()
    if future:
        later = builder.prepared.slots(future[0].body)
    asked, left, names, known = _ordered([(builder.body(t.body), t.holds) for t in rest], later)
    values = tuple([body for body, _ in left])
    obligations = _obligations(future[0], builder, known, values) if future else None
    if left and not isinstance(obligations, ComingUnder):
        raise Irregular
    find = _finding(asked, builder.width, names)
    is_certain = all(_is_certain(t, builder) for t in rest)
    ahead = find if is_certain else _ahead(rest, later, builder)
    against = tuple(
        [
            builder.table(t.body)
            for t in rest
            if not t.holds and isinstance(t.body, core.Earlier | core.Repeated) and not builder.prepared.slots(t.body)
        ]
    )
    return Way(names, find, ahead, obligations, is_last, against)


def _is_certain(literal: Literal, builder: Builder) -> bool:
    """Whether what a literal says of an event is known before it happens."""
    body = literal.body
    if isinstance(body, core.Holds):
        return builder.prepared.is_certain(body)
    return not builder.prepared.is_open(literal)


def _ahead(literals: list[Literal], later: frozenset[int], builder: Builder) -> Callable[[Now], list[Binding]]:
    """Likewise of an event that is still to happen; what is open makes no violation certain."""
    if any(builder.prepared.is_open(literal) for literal in literals):
        return lambda _: []
    try:
        steps, _, names, _ = _ordered([(builder.body(body, holds), holds) for body, holds in literals], later)
    except Irregular:
        return lambda _: []
    return _finding(steps, builder.width, names)


Step = tuple["Body | None", tuple[tuple["Body", bool], ...]]
"""What gives values to variables (None where nothing does), and the literals that can be tested then."""


def _ordered(
    literals: list[tuple[Body, bool]], later: frozenset[int]
) -> tuple[list[Step], list[tuple[Body, bool]], frozenset[str] | None, frozenset[int]]:
    """The steps by which bindings are found, the literals that are left over, the names that an event needs, and the
    variables that have values then.

    Raises:
        Irregular: a variable has no value, and nothing that comes later gives it one.
    """
    named = [body.names for body, holds in literals if holds and body.names is not None]
    names = min(named, key=len) if named else None
    left = list(literals)
    known: frozenset[int] = frozenset()
    steps: list[Step] = []
    giver: Body | None = None
    while True:
        tests = tuple([literal for literal in left if literal[0].slots <= known and literal[0] is not giver])
        done = {id(body) for body, _ in tests} | {id(giver)}
        left = [literal for literal in left if id(literal[0]) not in done]
        if isinstance(giver, AtEvent) or giver is None:
            steps.append((giver, tests))
        else:
            steps.append((giver, ((giver, True), *tests)))
        givers = [body for body, holds in left if holds and not body.slots <= known and _gives(body)]
        if not givers:
            break
        giver = max(givers, key=lambda body: (isinstance(body, AtEvent), len(body.slots)))
        known |= giver.slots
    if any(not isinstance(body, OfValues) or not body.slots <= known | later for body, _ in left):
        raise Irregular
    return steps, left, names, known


def _gives(body: Body) -> bool:
    """Whether a body lists the bindings under which it holds."""
    if isinstance(body, AtEvent):
        return body.leaf.keys is not None
    return isinstance(body, Seen | Slices) or (body.rare and body.regular)


def _finding(steps: list[Step], width: int, names: frozenset[str] | None) -> Callable[[Now], list[Binding]]:
    """The steps as a function of the current event, which has one of the names."""
    fresh: Binding = (None,) * width
    (_, first), *rest = steps
    if len(rest) == 1 and isinstance(rest[0][0], AtEvent):
        return _finding_at_event(first, rest[0][0], rest[0][1], fresh, names)

    def find(now: Now) -> list[Binding]:
        for body, wanted in first:
            if body.holds(now, fresh) is not wanted:
                return []
        found: Iterable[Binding] = (fresh,)
        for giver, tests in rest:
            assert giver is not None, "only the first step gives nothing"
            if not isinstance(giver, AtEvent) and giver.holds(now, fresh):
                raise CannotJudge("a value that no event carries would have to be tried")
            given = list(giver.exceptions(now))
            both = (merged(one, other) for one in found for other in given)
            joined = dict.fromkeys(binding for binding in both if binding is not None)
            found = [b for b in joined if all(body.holds(now, b) is wanted for body, wanted in tests)]
        return list(found)

    return find


def _finding_at_event(
    first: tuple[tuple[Body, bool], ...],
    giver: AtEvent,
    tests: tuple[tuple[Body, bool], ...],
    fresh: Binding,
    names: frozenset[str] | None,
) -> Callable[[Now], list[Binding]]:
    """The usual case: one condition on the event gives all values."""
    keys, spread = giver.leaf.keys, giver.spread
    assert keys is not None
    if giver.names != names:
        first = ((_Named(giver.leaf), True), *first)

    match tests:
        case ((Seen(slots=slots) as guard, False),) if not first and slots == giver.slots:
            seen = guard.seen
            return lambda now: [spread(key) for key in keys(now.event) if key not in seen]

    def find(now: Now) -> list[Binding]:
        for body, wanted in first:
            if body.holds(now, fresh) is not wanted:
                return []
        found = []
        for key in keys(now.event):
            binding = spread(key)
            for body, wanted in tests:
                if body.holds(now, binding) is not wanted:
                    break
            else:
                found.append(binding)
        return found

    return find


class _Named(AtEvent):
    """Whether the current event has one of a condition's names."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf

    def holds(self, now: Now, binding: Binding) -> bool:
        """See `Body`."""
        return self.leaf.is_named(now.event)


def merged(one: Binding, other: Binding) -> Binding | None:
    """Two bindings together; None where they give a variable two values."""
    merged = []
    for a, b in zip(one, other, strict=True):
        if a is not None and b is not None and a != b:
            return None
        merged.append(b if a is None else a)
    return tuple(merged)


def _obligations(literal: Literal, builder: Builder, known: frozenset[int], values: tuple[Body, ...]) -> Obligations:
    resolver: core.Theta | None = None
    match literal:
        case Literal(core.Later(body, bound), False):
            if not builder.prepared.slots(body) <= known:
                raise Irregular
            return Missing(builder.pair(body, False), bound)
        case Literal(core.Until() as until, False):
            if not builder.prepared.slots(until) <= known:
                raise Irregular
            return Breaking(builder.pair(until.left, False), builder.pair(until.right, False), until)
        case Literal(core.Later(body, bound), True):
            forbidden = body
        case Literal(core.Clear() as clear, False):
            bound, forbidden, resolver = None, clear.forbidden, clear.resolver
        case _:
            raise Irregular
    bad = builder.pair(forbidden, True)
    clears = None if resolver is None or resolver == core.FALSE else builder.pair(resolver, False)
    if bad.actual.slots <= known and (clears is None or clears.actual.slots <= known):
        return Coming(bad, clears, bound)
    can_list = (
        bad.actual.rare
        and bad.actual.regular
        and (clears is None or not clears.actual.slots or (clears.actual.rare and clears.actual.regular))
    )
    if not can_list or not (frozenset() if clears is None else clears.actual.slots) <= known | bad.actual.slots:
        raise Irregular
    return ComingUnder(bad, clears, bound, values)
