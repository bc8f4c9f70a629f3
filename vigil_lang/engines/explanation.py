"""Explanations of violations: what was missing, with which values, and the near misses."""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics.shorten import cut_middle
from vigil_lang.engines.effort import OFFENCE
from vigil_lang.engines.functions import compiled, conjuncts
from vigil_lang.engines.wording import LONGEST_VALUE, amount_of, because, listed, named, quoted, span_of
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets, texts, within
from vigil_lang.semantics.forms import bound_of, counted_by
from vigil_lang.semantics.metadata import PLACEHOLDER
from vigil_lang.trace.values import number
from vigil_lang.verdict import NearMiss, Offence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.engines.functions import Check
    from vigil_lang.engines.index import Binding, Key
    from vigil_lang.engines.indexed import Judgement
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Event

MAX_NEAR_MISSES = 3
_BETWEEN = 1_000
_WINDOW = 32
"""Candidates looked at on each side of an event: near misses are near, and a verdict has many offences."""

Fails: TypeAlias = "Callable[[core.Theta], bool]"
Side: TypeAlias = Literal["earlier", "later"]
Almost: TypeAlias = tuple[list[int], dict[int, core.Condition | None]]
"""Positions, ascending, with the one variable-free conjunct that fails there, if any."""


class Wanted(Frozen, frozen=True):
    """A condition that had to hold at another event: on which side of the offending one, and how near.

    `between` has to hold at all events in between; a `counted` condition had to hold more often.
    """

    holds: core.Holds
    side: Side
    bound: core.Bound
    between: core.Theta | None = None
    counted: bool = False


class Explainer:
    """Explains the offences of one statement on one run; what does not depend on the event is found once."""

    def __init__(self, statement: Statement, judgement: Judgement) -> None:
        self._statement = statement
        self._wording = Wording(statement)
        self._judgement = judgement
        self._trace = judgement.trace
        self._wanted = list(_wanted(statement.requirement.theta))
        self._almost: dict[int, Almost] = {}

    def offence(self, at: int, values: Key) -> Offence:
        """The offence of the event with this index under this binding of the statement's variables."""
        self._judgement.work.at = at
        self._judgement.work.spend(OFFENCE)
        event = self._trace.events[at]
        binding: Binding = dict(zip(self._statement.requirement.variables, values, strict=True))
        forbidden = self._forbidden(at, values)
        why = self._why(at, binding, values, forbidden)
        first = forbidden[0] if forbidden else None
        return Offence(
            event=event.id,
            index=at,
            call=event.call,
            bindings=binding,
            message=self._wording.own(binding) or why,
            why=why,
            near_misses=tuple(islice(self._near_misses(at, binding, values, first), MAX_NEAR_MISSES)),
            forbidden=tuple(self._trace.events[place].id for place in forbidden),
        )

    def message(self, at: int, values: Key) -> str:
        """What an offence says, without looking for near misses."""
        binding: Binding = dict(zip(self._statement.requirement.variables, values, strict=True))
        return self._wording.own(binding) or self._why(at, binding, values, self._forbidden(at, values))

    def _why(self, at: int, binding: Binding, values: Key, forbidden: Sequence[int]) -> str:
        events = self._trace.events
        met = [events[place].id for place in forbidden]
        return self._wording.why(binding, events[at], met, lambda body: not self._judgement.holds(body, at, values))

    def _forbidden(self, at: int, values: Key) -> Sequence[int]:
        """For `until`: the forbidden events with no resolver since the trigger."""
        theta = self._statement.requirement.theta
        if not isinstance(theta, core.Implies) or not isinstance(theta.right, core.Clear):
            return ()
        clear = theta.right
        positions = self._judgement.positions(clear.forbidden, values)
        resolved = self._judgement.positions(clear.resolver, values)
        end = bisect_left(resolved, at + 1)
        last = resolved[end] if end < len(resolved) else len(self._trace)
        # One that resolves, too, is forbidden all the same.
        return positions[bisect_left(positions, at + 1) : bisect_left(positions, last + 1)]

    # --- near misses ---

    def _near_misses(self, at: int, binding: Binding, values: Key, forbidden: int | None) -> Iterator[NearMiss]:
        """Events that met what was wanted in the wrong place, then events that failed one condition, nearest first.

        What `until` wants has its place between the trigger and the `forbidden` event.
        """
        end = len(self._trace) if forbidden is None else forbidden
        within = range(0 if forbidden is None else at + 1, end)
        told: set[int] = set()
        for place, why in chain(
            (found for wanted in self._wanted for found in self._misplaced(wanted, at, values, forbidden)),
            (found for wanted in self._wanted for found in self._failing_one(wanted, at, binding, within)),
        ):
            if place not in told:
                told.add(place)
                yield NearMiss(self._trace.events[place].id, why)

    def _misplaced(self, wanted: Wanted, at: int, values: Key, forbidden: int | None) -> Iterator[tuple[int, str]]:
        positions = () if wanted.counted else self._judgement.positions(wanted.holds, values)
        label = quoted(self._statement.label(wanted.holds))
        if forbidden is not None:
            late = self._trace.events[forbidden].id
            after = (place for place in positions if place > forbidden)
            yield from ((place, f"meets {label}, but only after `{late}`") for place in after)
            return
        here = self._trace.events[at].id
        for place in _nearest(positions, at):
            if place == at:
                yield place, f"meets {label} itself, but a strictly {wanted.side} event has to"
            elif (place < at) != (wanted.side == "earlier"):
                side = "after" if place > at else "before"
                yield place, f"meets {label}, but only {side} `{here}`"
            elif wanted.between is not None and (broken := self._broken(wanted.between, at, place, values)):
                yield place, f"meets {label}, but `{broken}` in between is not as asked for"
            elif wanted.bound is not None and not within(wanted.bound, self._trace, *sorted((at, place))):
                yield place, f"meets {label}, but {self._distance(wanted.bound, at, place)}"

    def _broken(self, between: core.Theta, at: int, place: int, values: Key) -> str | None:
        """The first event strictly between two at which a body does not hold, not looked for from far away."""
        places = range(min(at, place) + 1, max(at, place))[:_BETWEEN]
        found = (other for other in places if not self._judgement.holds(between, other, values))
        return next((self._trace.events[other].id for other in found), None)

    def _distance(self, bound: core.Calls | core.Steps | core.Within, at: int, place: int) -> str:
        first, second = min(at, place), max(at, place)
        if isinstance(bound, core.Steps):
            return f"{span_of(core.Steps(second - first))} away; the bound is {span_of(bound)}"
        if isinstance(bound, core.Calls):
            calls = self._trace.call_index
            apart = calls[second] - calls[first]
            return f"{apart} call{'s' * (apart != 1)} away; the bound is {span_of(bound)}"
        start, end = self._trace.events[first].time, self._trace.events[second].time
        if start is None or end is None:
            return f"without a time, and the bound is {span_of(bound)}"
        return f"{span_of(core.Within(end - start))} away; the bound is {span_of(bound)}"

    def _failing_one(self, wanted: Wanted, at: int, binding: Binding, within: range) -> Iterator[tuple[int, str]]:
        places, ground_failing = self._almost_met(wanted.holds)
        parts = conjuncts(wanted.holds.condition)
        bound = [c for c in parts if core.variables_of(c)]
        for place in _nearest(places, at):
            if place == at or place not in within:
                continue
            event, ground = self._trace.events[place], ground_failing[place]
            failing = [c for c in bound if not meets(c, event, binding)]
            if ground is not None:
                failing.append(ground)
            if len(failing) == 1 and (why := _reason(failing[0], parts, event, binding)):
                yield place, why

    def _almost_met(self, holds: core.Holds) -> Almost:
        """Events that meet all variable-free conjuncts (None) or all but one (that one)."""
        if id(holds) not in self._almost:
            parts = conjuncts(holds.condition)
            ground = [c for c in parts if not core.variables_of(c)]
            found: dict[int, core.Condition | None] = {}
            divisible = len(parts) > 1 or isinstance(parts[0], core.OrC)
            for place, event in enumerate(self._trace.events if divisible else ()):
                failing = [c for c in ground if not meets(c, event, {})]
                if len(failing) <= 1:
                    found[place] = failing[0] if failing else None
            self._almost[id(holds)] = list(found), found
        return self._almost[id(holds)]


def _reason(failing: core.Condition, among: list[core.Condition], event: Event, binding: Binding) -> str | None:
    """Why the one conjunct that fails does so, None where that would tell nothing.

    Another action is a near miss only if it touched the very value; otherwise every event would be one. Of
    alternatives, the first that lacks one thing speaks for all.
    """
    match failing:
        case core.ActionIn() | core.ActionMatches():
            touched = any(isinstance(c, core.Equals) and binding[c.variable] in texts(c.field, event) for c in among)
            return because(failing, event, binding) if touched else None
        case core.OrC(items):
            for item in items:
                parts = conjuncts(item)
                missing = [part for part in parts if not meets(part, event, binding)]
                if len(missing) == 1 and len(parts) > 1 and (why := _reason(missing[0], parts, event, binding)):
                    return why
            return None
        case core.NotC(core.AndC() | core.OrC() | core.NotC()) | core.AndC():
            return None
        case _:
            return because(failing, event, binding)


def _nearest(places: Sequence[int], at: int) -> Iterator[int]:
    """Places by distance from an index, a window on each side."""
    middle = bisect_left(places, at)
    window = places[max(0, middle - _WINDOW) : middle + _WINDOW]
    yield from sorted(window, key=lambda place: (abs(place - at), place))


def _wanted(theta: core.Theta) -> Iterator[Wanted]:
    """What an offending event lacked: the conditions its obligation looks for elsewhere."""
    match theta:
        case core.Implies(_, right):
            yield from _wanted(right)
        case core.Not(core.And(items)):
            yield from _wanted(_ways_out(items))
        case core.And(items) | core.Or(items):
            for item in items:
                yield from _wanted(item)
        case core.Earlier(core.Holds() as holds, bound):
            yield Wanted(holds, "earlier", bound)
        case core.Later(core.Holds() as holds, bound):
            yield Wanted(holds, "later", bound)
        case core.Since(left, core.Holds() as holds, bound):
            yield Wanted(holds, "earlier", bound, left)
        case core.Until(left, core.Holds() as holds, bound):
            yield Wanted(holds, "later", bound, left)
        case core.Repeated(_, core.Holds() as holds, bound):
            yield Wanted(holds, "earlier", bound, counted=True)
        case core.Later(core.Or(items), bound):
            # rslv: a later trigger would only move the obligation on; what is missing is the resolution.
            yield from (Wanted(i, "later", bound) for i in items if isinstance(i, core.Holds) and i.role != "trigger")
        case core.Clear(core.Holds() as resolver, _):
            yield Wanted(resolver, "later", None)


class Wording:
    """What the offences of one statement say; what does not depend on the event is found once."""

    def __init__(self, statement: Statement) -> None:
        self._variables = statement.requirement.variables
        self._own = statement.metadata.message
        self._form = statement.preset
        self._body = quoted(statement.body) if self._form is None else ""
        theta = statement.requirement.theta
        self._statement = statement
        self._parts: dict[str, str] = {}
        self._summed: core.Reads | None = None
        self._between: tuple[Check, Check] | None = None
        match theta:
            case core.Implies(_, core.Clear(core.Holds() as resolver, core.Holds() as forbidden)):
                self._between = compiled(resolver.condition), compiled(forbidden.condition)
        self.names_events = self._between is not None
        """Whether an offence names events beside the one at fault: those that `until` forbids."""
        if self._form is not None:
            self._parts = {holds.role: quoted(statement.label(holds)) for holds in core.conditions(theta)}
            self._parts["bound"] = bound_in_words(theta)
            total = counted_by(theta)
            self._summed = total.field if isinstance(total, core.Exceeds) else None

    def message(self, values: Key, event: Event | None) -> str:
        """What is said where no run is at hand, only the event at fault, and not that in every case."""
        binding: Binding = dict(zip(self._variables, values, strict=True))
        return self.own(binding) or self.why(binding, event)

    def offence(self, at: int, event: Event, values: Key, after: Iterable[Event]) -> Offence:
        """The offence of the event with this index, without near misses.

        `after` are the events after it, which only a statement that `names_events` looks at.
        """
        binding: Binding = dict(zip(self._variables, values, strict=True))
        forbidden = tuple(self._forbidden(binding, after))
        why = self.why(binding, event, forbidden)
        return Offence(event.id, at, event.call, binding, self.own(binding) or why, why, forbidden=forbidden)

    def _forbidden(self, binding: Binding, after: Iterable[Event]) -> Iterator[str]:
        if self._between is None:
            return
        resolves, forbids = self._between
        for event in after:
            # One that resolves, too, is forbidden all the same.
            if forbids(event, binding):
                yield event.id
            if resolves(event, binding):
                return

    def own(self, binding: Binding) -> str | None:
        """What the policy says (`@message`), with the values in their places."""
        if self._own is None:
            return None

        def value(name: str) -> str:
            found = binding.get(name, "{" + name + "}")
            return "any value" if found is None else cut_middle(found, LONGEST_VALUE)

        return PLACEHOLDER.sub(lambda m: value(m.group(1)), self._own)

    def why(
        self, binding: Binding, event: Event | None, forbidden: Sequence[str] = (), fails: Fails = lambda _: True
    ) -> str:
        """What is missing or forbidden; `forbidden` are the ids of the events that met what `until` forbids.

        `fails` says of a part of the body whether it does not hold here, where that is known.
        """
        where = _where(binding)
        if self._form is None:
            missing = _missing(self._statement, self._statement.requirement.theta, fails)
            return f"{missing or f'{self._body} does not hold here'}{where}"
        summed = self._summed
        if summed is not None and event is not None and all(number(t) is None for t in texts(summed, event)):
            return f"{quoted(named(summed))} is no number{where}, so the total is not known"
        met = f"`{forbidden[0]}` " if forbidden else ""
        met += f"and {len(forbidden) - 1} more met " if forbidden[1:] else "met " if forbidden else ""
        return self._form.offence.format(**self._parts, where=where, event=met)


def _missing(statement: Statement, theta: core.Theta, fails: Fails) -> str | None:
    """What it means that a formula of `always` fails, where that is the lack or the presence of some conditions."""
    match theta:
        case core.Implies(_, right):
            return _missing(statement, right, fails)
        case core.Earlier(core.Holds() as holds, bound) | core.Later(core.Holds() as holds, bound):
            side = "earlier" if isinstance(theta, core.Earlier) else "later"
            return f"nothing {side} met {quoted(statement.label(holds))}{_near(bound)}"
        case core.Not(core.Earlier(core.Holds() as holds, None)):
            return f"something earlier met {quoted(statement.label(holds))}"
        case core.Not(core.Later(core.Holds() as holds, None)):
            return f"something later met {quoted(statement.label(holds))}"
        case core.Not(core.Holds() as holds):
            return f"{quoted(statement.label(holds))} must not happen here"
        case core.Not(core.And(items)):
            return _missing(statement, _ways_out(items), fails)
        case core.Since(left, core.Holds() as holds, bound, weak=False) | core.Until(
            left, core.Holds() as holds, bound, weak=False
        ):
            side = "earlier" if isinstance(theta, core.Since) else "later"
            between = _in_between(statement, left)
            return between and f"nothing {side} met {quoted(statement.label(holds))}{_near(bound)} {between} in between"
        case core.Or(items) if any(isinstance(item, core.Holds) for item in items):
            # The event itself is what it is: what else would have done is missing.
            others = core.Or(tuple(item for item in items if not isinstance(item, core.Holds)))
            return _missing(statement, others, fails)
        case core.Or(items) | core.And(items) if items:
            if isinstance(theta, core.And):  # what holds of several is not missing
                items = tuple(filter(fails, items))
            each = [_missing(statement, item, fails) for item in items]
            known = [one for one in each if one is not None]
            if known and len(known) == len(each):
                return (" and " if isinstance(theta, core.Or) else ", or ").join(known)
    return None


def _near(bound: core.Bound) -> str:
    """` within 3 calls`; with a least distance ` exactly 1 call away`, ` 2 to 3 calls away`."""
    if bound is None:
        return ""
    return f" {span_of(bound)} away" if bound.least else f" within {span_of(bound)}"


def _ways_out(items: Sequence[core.Theta]) -> core.Or:
    """What had to be otherwise where things must not come together, other than the event at fault."""
    rest = (item for item in items if not isinstance(item, core.Holds))
    return core.Or(tuple(item.body if isinstance(item, core.Not) else core.Not(item) for item in rest))


def _in_between(statement: Statement, body: core.Theta) -> str | None:
    """What the events between two had to be, where that is one condition or none of one."""
    match body:
        case core.Not(core.Holds() as holds):
            return f"without {quoted(statement.label(holds))}"
        case core.Holds(core.NotC()) if statement.label(body).startswith("not "):
            return f"without {quoted(statement.label(body).removeprefix('not '))}"
        case core.Holds():
            return f"with only {quoted(statement.label(body))}"
    return None


def bound_in_words(theta: core.Theta) -> str:
    """The bound of a form, or the amount that it counts to."""
    counted = counted_by(theta)
    return span_of(bound_of(theta)) if counted is None else amount_of(counted)


def remedy(statement: Statement, values: Key) -> str | None:
    """What would have had to happen before, for an event at fault to be allowed; None where nothing would do."""
    form = statement.preset
    return None if form is None or not form.wanted or form.looks == "ahead" else required(statement, values)


def required(statement: Statement, values: Key) -> str:
    """What an obligation of the statement asks for under a binding: "`close(file = x)` with `x` = `a`"."""
    requirement, form = statement.requirement, statement.preset
    wanted = [holds for holds in core.conditions(requirement.theta) if form is not None and holds.role == form.wanted]
    what = statement.label(wanted[0]) if wanted else statement.body
    return quoted(what) + _where(dict(zip(requirement.variables, values, strict=True)))


def _where(binding: Binding) -> str:
    """` with x = …`, for the variables that were given a value."""
    parts = [f"`{x}` = {quoted(v)}" for x, v in binding.items() if v is not None]
    return f" with {listed(parts)}" if parts else ""
