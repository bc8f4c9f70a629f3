"""One rule along one run: the ways to violate it, what is owed, and what was violated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from vigil_lang.engines.interface import Outcome, Owed, Violation
from vigil_lang.engines.monitor.clauses import Builder, Irregular, way
from vigil_lang.engines.monitor.leaves import CannotJudge, Now

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.engines.interface import PrefixVerdict, Rule
    from vigil_lang.engines.monitor.clauses import Prepared, Way
    from vigil_lang.engines.monitor.leaves import Binding
    from vigil_lang.engines.monitor.obligations import Obligations
    from vigil_lang.engines.monitor.tables import Table


class Part(NamedTuple):
    """What of a rule an event with certain names concerns."""

    rule: int
    judged: Judged
    advancing: tuple[Obligations, ...]
    beginning: tuple[Way, ...]
    exercising: tuple[Way, ...]
    is_idle: bool = False
    """Whether it is asked only until the rule is exercised."""
    decides: bool = False
    """Whether such an event is judged at once, and no other event with it."""


class Judged(Protocol):
    """A rule along one run."""

    rule: Rule
    violations: Violations
    exercised: bool
    """Whether some event put it to the test, as far as that is asked before the run ends."""
    tables: list[Table]
    """What the monitor updates after all rules have judged an event."""
    ends_with_calls: bool
    """Whether the end of a call can violate it."""
    counts: bool
    """Whether one of its operators counts the current event."""

    def part(self, place: int, names: frozenset[str]) -> Part | None:
        """What of it an event with these names concerns; None where nothing."""

    def judge(self, now: Now, part: Part, ahead: bool) -> list[int]:
        """The events that are violations for certain now, by their indices, and were not before."""

    def end_call(self, now: Now) -> list[int]:
        """Likewise, when the call that the current event belongs to is over."""

    def verdict(self) -> PrefixVerdict:
        """The verdict on the events so far."""

    def owed(self, now: Now, place: int) -> list[Owed]:
        """What has to come, oldest first."""

    def close(self) -> Outcome:
        """The run is over."""

    def state(self) -> Any:
        """All it remembers, as JSON."""

    def load(self, state: Any) -> None:
        """Take over what `state` gave."""


MOST_VIOLATIONS: Final = 1_000_000
"""Events at fault that are remembered."""


class Violations:
    """The events at fault, each with the first binding in the order of the run that is known to fail it."""

    def __init__(self, rank: Callable[[Binding], tuple[int, ...]]) -> None:
        self.found: dict[int, tuple[str, Binding]] = {}
        self._rank = rank

    def note(self, index: int, id: str, binding: Binding, now: Now) -> bool:  # noqa: A002 - an event's
        """Take in one; whether its event is new."""
        known = self.found.get(index)
        if known is not None and self._rank(known[1]) <= self._rank(binding):
            return False
        if len(self.found) >= MOST_VIOLATIONS:
            raise CannotJudge(f"more than {MOST_VIOLATIONS:,} events are at fault")
        if now.trail is not None:
            now.trail.append((self._restore, (index, known)))
        self.found[index] = (id, binding)
        return known is None

    def first(self, bindings: list[Binding]) -> Binding:
        """The first of some bindings."""
        return bindings[0] if len(bindings) == 1 else min(bindings, key=self._rank)

    def _restore(self, index: int, known: tuple[str, Binding] | None) -> None:
        if known is None:
            del self.found[index]
        else:
            self.found[index] = known

    def copy(self) -> Violations:
        """The same, to be changed apart."""
        other = Violations(self._rank)
        other.found = dict(self.found)
        return other

    def state(self) -> Any:
        """As JSON."""
        return [[index, name, binding] for index, (name, binding) in self.found.items()]

    def load(self, state: Any) -> None:
        """Take over what `state` gave."""
        self.found = {index: (name, tuple(binding)) for index, name, binding in state}

    def listed(self) -> tuple[Violation, ...]:
        """In the order of the run."""
        return tuple([Violation(index, self.found[index][1]) for index in sorted(self.found)])


class Sliced:
    """A rule judged by slices: what an event costs rests on what it touches, not on the run."""

    def __init__(self, rule: Rule, prepared: Prepared, rank: Callable[[Binding], tuple[int, ...]]) -> None:
        """Raises `Irregular` where the rule is not of the forms that are judged so."""
        self.rule = rule
        builder = Builder(prepared)
        self.ways = [way(clause, builder) for clause in prepared.violating]
        self._exercising = [way(clause, builder) for clause in prepared.exercising]
        if any(each.obligations is not None for each in self._exercising):
            raise Irregular
        self.exercised = rule.requirement.trigger is None
        self.waits_for_last = any(each.is_last for each in self.ways)
        if self.waits_for_last and not all(each.is_last for each in self.ways):
            raise Irregular
        self.last: Now | None = None
        self.violations = Violations(rank)
        self._tables = builder.tables
        self.tables = [] if self.waits_for_last else self._tables
        self.counts = any(table.counts_here for table in self._tables)
        self.obligations = [each.obligations for each in self.ways if each.obligations is not None]
        self.ends_with_calls = any(each.ends_with_calls for each in self.obligations)

    def part(self, place: int, names: frozenset[str]) -> Part | None:
        """See `Judged`."""
        advancing = tuple([o for o in self.obligations if _concerns(o.names, names)])
        if self.waits_for_last:
            return Part(place, self, advancing, (), tuple(self._exercising))
        beginning = tuple([each for each in self.ways if _concerns(each.names, names)])
        exercising = () if self.exercised else tuple([w for w in self._exercising if _concerns(w.names, names)])
        decides = not advancing and all(each.obligations is None for each in beginning)
        concerned = advancing or beginning or exercising
        is_idle = not advancing and not beginning
        return Part(place, self, advancing, beginning, exercising, is_idle, decides) if concerned else None

    def judge(self, now: Now, part: Part, ahead: bool) -> list[int]:
        """See `Judged`."""
        new: list[int] = []
        note = self.violations.note
        if self.waits_for_last:
            self._move_on(now)
        for obligations in part.advancing:
            for over in obligations.advance(now, ahead):
                if note(over.index, over.id, over.binding, now):
                    new.append(over.index)
        for each in part.beginning:
            found = each.ahead(now) if ahead else each.bindings(now)
            if not found:
                continue
            if now.trail is None:
                self.exercised = True
            if each.obligations is None:
                if note(now.index, now.event.id, self.violations.first(found), now):
                    new.append(now.index)
            else:
                for binding in found:
                    for over in each.obligations.open(now, binding):
                        if note(over.index, over.id, over.binding, now):
                            new.append(over.index)
        if not self.exercised and now.trail is None:
            self.exercised = any(not each.is_last and found_at(each, now) for each in part.exercising)
        return sorted(new)

    def _move_on(self, now: Now) -> None:
        """Take in the event that was the last: what holds of a last event is asked before it is taken in."""
        if self.last is not None:
            self.last.trail = now.trail
            for table in self._tables:
                if table.told_by is None or not table.told_by.isdisjoint(self.last.event.names()):
                    table.update(self.last)
            self.last.trail = None
        if now.trail is not None:
            now.trail.append((setattr, (self, "last", self.last)))
        self.last = now.copy()

    def end_call(self, now: Now) -> list[int]:
        """See `Judged`."""
        over = [each for obligations in self.obligations for each in obligations.expire(now)]
        return [each.index for each in over if self.violations.note(each.index, each.id, each.binding, now)]

    def verdict(self) -> PrefixVerdict:
        """See `Judged`."""
        if self.violations.found:
            return "violated"
        if any(o.owes and o.is_waiting() for o in self.obligations) or self._fails_at_last():
            return "pending"
        dead = all(any(table.is_settled(self.last) for table in each.against) for each in self.ways)
        return "satisfied" if dead and not any(o.is_waiting() for o in self.obligations) else "holding"

    def _fails_at_last(self) -> list[Binding]:
        if self.last is None:
            return []
        return [binding for each in self.ways for binding in found_at(each, self.last)]

    def owed(self, now: Now, place: int) -> list[Owed]:
        """See `Judged`."""
        found = [
            Owed(place, each.index, each.id, each.binding, obligations.left(each, now))
            for obligations in self.obligations
            if obligations.owes
            for each in obligations.waiting()
            if each.index not in self.violations.found
        ]
        if self.last is not None and (failing := self._fails_at_last()):
            found.append(Owed(place, self.last.index, self.last.event.id, self.violations.first(failing)))
        return sorted(found, key=lambda each: each.event)

    def close(self) -> Outcome:
        """See `Judged`."""
        violations = self.violations.copy()
        for obligations in self.obligations:
            if obligations.owes:
                for each in obligations.waiting():
                    violations.note(each.index, each.id, each.binding, Now.nowhere())
        exercised = self.exercised
        if self.last is not None:
            if failing := self._fails_at_last():
                violations.note(self.last.index, self.last.event.id, violations.first(failing), self.last)
            exercised = exercised or any(found_at(each, self.last) for each in self._exercising)
        return Outcome(self.rule, violations.listed(), exercised or bool(violations.found))

    def state(self) -> Any:
        """See `Judged`."""
        return [
            self.exercised,
            self.violations.state(),
            None if self.last is None else self.last.state(),
            [obligations.state() for obligations in self.obligations],
            [table.state() for table in self._tables],
        ]

    def load(self, state: Any) -> None:
        """See `Judged`."""
        self.exercised, violations, last, obligations, tables = state
        self.violations.load(violations)
        self.last = None if last is None else Now.from_state(last)
        for each, of_it in zip(self.obligations, obligations, strict=True):
            each.load(of_it)
        for table, of_it in zip(self._tables, tables, strict=True):
            table.load(of_it)


def found_at(one: Way, now: Now) -> list[Binding]:
    """The bindings of a way at an event of any name."""
    return one.bindings(now) if _concerns(one.names, frozenset(now.event.names())) else []


def _concerns(some: frozenset[str] | None, names: frozenset[str]) -> bool:
    return some is None or not some.isdisjoint(names)
