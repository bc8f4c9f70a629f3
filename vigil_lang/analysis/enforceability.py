"""Whether refusing calls can prevent a violation: when the violation becomes certain, and what a gate can do then.

A prohibition is a *provision*: the call that would break it can be refused. That something is done is an *obligation*:
it can be asked for until the run ends, and no refusal does it (the paper's section 6; spec 7.11). This is read off the
body: for each part, and for the value that the part has to a violation, when that value becomes certain. Of two parts
that both have to have their values, the later one decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.engines.wording import listed, quoted
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.semantics.lower import Statement

Kind: TypeAlias = Literal["preventable", "last-chance", "reportable", "owed"]
"""What a gate can do about one way to violate a statement.

`preventable`: refuse the call that would violate it. `last-chance`: refuse all calls but the one that is asked for,
once its bound has room for only one more; until then that call is owed. `reportable`: say so afterwards, because only
the outcome of a call shows it or a message violates it. `owed`: ask for what has to be done, until the run ends.
"""


class _When(Enum):
    """When a value becomes certain, seen from the event at which it is asked for; `order` puts later ones last."""

    def __init__(self, order: int, _: str) -> None:
        self.order = order

    PROPOSED = 0, "before the event happens: its status is taken for `ok`, its output is open"
    ENDED = 1, "when the event has its status and output"
    CALL = 2, "before a later call happens"
    OUTCOME = 2, "when a later call has its status and output"
    MESSAGE = 2, "at a later message"
    LAST_CHANCE = 2, "when a bound in calls has no room left"
    LAPSE = 2, "when time or steps have passed a bound"
    END = 3, "when the run ends"


Evidence: TypeAlias = tuple[tuple[core.Holds, bool], ...]
"""Conditions that decide, each with the value it has then; a few are enough to name."""
Ways: TypeAlias = dict[_When, Evidence]
"""When a value can become certain; empty where it cannot be had."""

_MOST = 4
_NOTHING: Ways = {_When.PROPOSED: ()}
_CALL: Literal[""] = ""
_EVENTS = (_CALL, *sorted(MESSAGES))
"""What an event is: a call, or one of the messages."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a gate can do about some of the ways to violate a statement, and the conditions that decide there.

    Of what is `reportable`, `message` says that a message violates it; of what is `owed`, `bounded` that there is a
    bound to it.
    """

    kind: Kind
    conditions: Evidence = ()
    message: bool = False
    bounded: bool = False


def enforceability(requirement: core.Requirement) -> tuple[Part, ...]:
    """What a gate can do about each way to violate a requirement; none where nothing violates it.

    All of them `preventable` means: a gate that refuses exactly the calls that would violate it for certain (a call is
    taken to succeed, its output is open) lets no run violate it, whatever statuses and outputs its calls come to have,
    as long as no step is judged by the outcome of an earlier step of its own call. It is so of every body where this
    says so; a body may be tautologous in ways that are not seen.
    """
    ways = _Ways().later(requirement.theta, False)
    last, end = ways.get(_When.LAST_CHANCE), ways.get(_When.END)
    found: list[Part] = []
    if _When.CALL in ways:
        found.append(Part("preventable", ways[_When.CALL]))
    if last is not None:
        found.append(Part("last-chance", last))
    if _When.OUTCOME in ways:
        found.append(Part("reportable", ways[_When.OUTCOME]))
    if _When.MESSAGE in ways:
        found.append(Part("reportable", ways[_When.MESSAGE], message=True))
    # What has a last chance is owed until then; it is another obligation that makes a part of its own.
    if _When.LAPSE in ways or (end is not None and (last is None or not set(end) <= set(last))):
        owed = _merged(ways.get(_When.LAPSE, ()), end or ())
        conditions = tuple([one for one in owed if last is None or one not in last])
        found.append(Part("owed", conditions, bounded=_When.LAPSE in ways))
    return tuple(found)


def kinds(parts: tuple[Part, ...]) -> tuple[Kind, ...]:
    """The kinds of a requirement's parts, each once."""
    return tuple(dict.fromkeys(part.kind for part in parts))


def conditions(statement: Statement, part: Part) -> list[str]:
    """The conditions that a part is about, as the policy wrote them: what to refuse, or what is asked for."""
    refused = part.kind in ("preventable", "reportable")
    found = [(holds, value) for holds, value in part.conditions if refused or not value]
    asked = [holds for holds, value in found if refused or holds.role != "trigger"] or [holds for holds, _ in found]
    return list(dict.fromkeys(statement.label(holds) for holds in asked))


def in_words(statement: Statement, part: Part, quote: Callable[[str], str] = quoted) -> str:
    """What a gate can do about one part of a statement, in words that follow the statement's name."""
    about = [quote(text) for text in conditions(statement, part)]
    if part.kind == "preventable":
        # Of several conditions it is not said which have to hold together.
        (_, holds), *more = [*part.conditions, (None, False)]
        which = f"that meets {about[0]} and would violate it" if holds and len(more) == 1 else "that would violate it"
        return f"can be prevented: refuse the call {which}"
    if part.kind == "reportable" and part.message:
        which = f"a message that meets {about[0]}" if len(about) == 1 and part.conditions[0][1] else "a message"
        return f"can be reported, not prevented: {which} can violate it, and only calls can be refused"
    if part.kind == "reportable":
        whose = f"of {listed(about, 'or')}" if about else "of a call"
        return f"can be reported, not prevented: only the outcome {whose} tells"
    what = f"do {listed(about, 'or')}" if about else "do what it asks for"
    if part.kind == "last-chance":
        which = f"but {listed(about, 'or')}" if about else "but what it asks for"
        return (
            f"can be prevented only at its last chance: refuse every call {which} once the bound has room for one; "
            f"nothing can make the agent {what}"
        )
    when = "in time" if part.bounded else "before the run ends"
    return f"can be asked for, not prevented: nothing can make the agent {what} {when}"


class _Ways:
    """Reads ways off bodies, each once for each value and event."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool, str], Ways] = {}

    def later(self, body: core.Theta, value: bool) -> Ways:
        """When it becomes certain that a body has a value at an event that is not there yet."""
        return _later(lambda event: self.at(body, value, event))

    def earlier(self, body: core.Theta, value: bool) -> Ways:
        """When it becomes certain that a body has a value at a strictly earlier event."""
        return _earlier([self.at(body, value, event) for event in _EVENTS])

    def at(self, theta: core.Theta, value: bool, event: str) -> Ways:
        """When it becomes certain that a body has a value at the event at hand: a call, or a message by its action."""
        key = id(theta), value, event
        if key not in self._known:
            self._known[key] = self._at(theta, value, event)
        return self._known[key]

    def _at(self, theta: core.Theta, value: bool, event: str) -> Ways:
        match theta:
            case core.Holds(condition):
                return dict.fromkeys(_decided(condition, value, event), ((theta, value),))
            case core.Not(body):
                return self.at(body, not value, event)
            case core.And(items) | core.Or(items):
                parts = [self.at(item, value, event) for item in items]
                return _all(parts) if value == isinstance(theta, core.And) else _any(parts)
            case core.Implies(left, right):
                sides = [self.at(left, not value, event), self.at(right, value, event)]
                return _any(sides) if value else _all(sides)
            case core.Where():
                return _NOTHING
            case core.Last():
                return {_When.END: ()} if value else {_When.LAPSE: ()}
            case core.Earlier(body):
                found = self.earlier(body, value)
                return found if value else _any([_NOTHING, found])
            case core.Since(left, right, _, weak):
                before = _any([_NOTHING, self.earlier(left, value)])
                if not value:
                    return _any([before, self.earlier(right, False)])
                since = _all([self.earlier(right, True), before])
                return _any([since, before]) if weak else since
            case (
                core.Repeated(body=body, reset=reset, distinct=field)
                | core.Exceeds(body=body, reset=reset, field=field)
            ):
                found = _any([_NOTHING, self.at(body, value, event), self.earlier(body, value)])
                if reset is not None:
                    found = _any([found, self.earlier(reset, not value)])
                of_output: Ways = {_When.ENDED: ()} if field is not None and field.output else {}
                return _any([found, of_output])
            case core.Later(body, bound):
                return self.later(body, True) if value else self._throughout(body, False, bound)
            case core.Clear(resolver, forbidden):
                if value:
                    return _any([self._throughout(forbidden, False, None), self.later(resolver, True)])
                return _all([self.later(forbidden, True), _any([_NOTHING, self.earlier(resolver, False)])])
            case _:
                return self._until(theta, value)

    def _until(self, theta: core.Until, value: bool) -> Ways:
        left, right, bound = theta.left, theta.right, theta.bound
        if value:
            found = _all([self.later(right, True), _any([_NOTHING, self.earlier(left, True)])])
            return _any([found, self._throughout(left, True, bound)]) if theta.weak else found
        broken = _later(lambda event: _all([self.at(left, False, event), self.at(right, False, event)]))
        if bound is not None and bound.least:  # what is nearer than the least distance resolves nothing
            broken = _any([broken, self.later(left, False)])
        return broken if theta.weak else _any([broken, self._throughout(right, False, bound)])

    def _throughout(self, body: core.Theta, value: bool, bound: core.Bound) -> Ways:
        """When it becomes certain that a body has a value at all later events within a bound."""
        each = _any([self.at(body, value, event) for event in _EVENTS])
        deciding: Evidence = _merged(*each.values())
        over: Ways = {_When.END: deciding}
        if isinstance(bound, core.Calls) and bound.count < core.FAR:
            over[_When.LAST_CHANCE] = deciding
            if _When.ENDED in self.at(body, value, _CALL):
                over[_When.OUTCOME] = each[_When.ENDED]  # the last call may turn out not to have done it
        elif bound is not None and (bound.microseconds if isinstance(bound, core.Within) else bound.count) < core.FAR:
            over[_When.LAPSE] = deciding
        ahead = {when: evidence for when, evidence in each.items() if when.order >= _When.CALL.order}
        return _any([over, _all([over, ahead])])


def _decided(condition: core.Condition, value: bool, event: str) -> frozenset[_When]:
    """When it becomes certain that a condition has a value: PROPOSED, ENDED, either, or never.

    PROPOSED: whatever the status and the output, it has the value only if it has it for `ok` and every output.
    A message has a text and is `ok`; it has no kind, no other argument and no output (R5.4-10).
    """
    match condition:
        case core.ActionIn(names):
            possible = (event in names) == value if event else not value or bool(names - MESSAGES)
            return frozenset({_When.PROPOSED} if possible else ())
        case core.ActionMatches(matcher):
            possible = not event or predicate(matcher)(event) == value
            return frozenset({_When.PROPOSED} if possible else ())
        case core.StatusIs(status):
            if (status == "ok") == value:
                return frozenset({_When.PROPOSED})
            return frozenset(() if event else {_When.ENDED})
        case core.NotC(body):
            return _decided(body, not value, event)
        case core.AndC(items) | core.OrC(items):
            parts = [_decided(item, value, event) for item in items]
            if value != isinstance(condition, core.AndC):
                return frozenset[_When]().union(*parts)
            found = frozenset({_When.PROPOSED})
            for part in parts:
                found = frozenset(max(pair, key=_order) for pair in product(found, part))
            return found
    field = condition.field
    if event and not field.views and (field.output or field.name != "text"):
        return frozenset(() if value else {_When.PROPOSED})
    if field.output:
        return frozenset({_When.ENDED})
    if isinstance(condition, core.Entry):
        inside = _decided(condition.body, value, "")
        return inside if value else inside | {_When.PROPOSED}
    return frozenset({_When.PROPOSED})


def _order(when: _When) -> int:
    return when.order


def _any(parts: list[Ways]) -> Ways:
    """When one of several ways is taken."""
    found: Ways = {}
    for part in parts:
        for when, evidence in part.items():
            found[when] = _merged(found.get(when, ()), evidence)
    return found


def _all(parts: list[Ways]) -> Ways:
    """When each of several things has become certain: the last of them decides."""
    found: Ways = _NOTHING
    for part in parts:
        both: list[Ways] = []
        for (first, of_first), (second, of_second) in product(found.items(), part.items()):
            if first.order == second.order:
                both.append(_any([{first: of_first}, {second: of_second}]))
            else:
                early, late = (of_first, of_second) if first.order < second.order else (of_second, of_first)
                # That the run ends says nothing of what it lacks.
                both.append({max(first, second, key=_order): late or tuple([one for one in early if not one[1]])})
        found = _any(both)
    return found


def _merged(*parts: Evidence) -> Evidence:
    return tuple(dict.fromkeys(one for part in parts for one in part))[:_MOST]


def _later(ways: Callable[[str], Ways]) -> Ways:
    """The ways of an event at hand, seen before it is there."""
    found: list[Ways] = []
    for event in _EVENTS:
        for when, evidence in ways(event).items():
            if when.order < _When.CALL.order:
                when = _When.MESSAGE if event else _When.CALL if when is _When.PROPOSED else _When.OUTCOME
            found.append({when: evidence})
    return _any(found)


def _earlier(parts: list[Ways]) -> Ways:
    """The ways of a strictly earlier event: what was certain then is, and so may be what came to be since."""
    found: Ways = {}
    for when, evidence in _any(parts).items():
        if when.order < _When.END.order:
            found[_When.PROPOSED] = ()
        if when is _When.OUTCOME:
            found[_When.ENDED] = ()
        if when.order >= _When.CALL.order:
            found[when] = evidence
    return found
