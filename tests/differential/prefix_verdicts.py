"""The four verdicts on the events so far (spec R7.11-3), worked out by trying what may come next.

Trying only refutes. A continuation that keeps a statement proves that it is not violated yet, one that violates it
that it is not satisfied: so much holds of every statement. The other direction, that all continuations tried prove a
verdict, holds only where the events tried can meet each condition under each value; whoever asks has to know that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.semantics import core
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from vigil_lang.engines.interface import PrefixVerdict

NEW = "never seen"
"""A value that no run carries."""
AHEAD = core.Later | core.Clear | core.Until | core.Last


def looks_back_only(theta: core.Theta) -> bool:
    """Whether the truth of a body at an event rests on that event and those before it."""
    return not any(isinstance(body, AHEAD) for body in core.bodies(theta))


def bounds(theta: core.Theta) -> list[core.Bound]:
    """All bounds of a body, windows of counts too."""
    bounded = core.Earlier | core.Later | core.Since | core.Until | core.Repeated | core.Exceeds
    return [body.bound for body in core.bodies(theta) if isinstance(body, bounded) and body.bound is not None]


def keeps(requirement: core.Requirement, events: Sequence[Event]) -> bool:
    """τ ⊨ □Θ of the run that ends with these events."""
    return next(iter(Judgement(requirement, RunIndex(Trace(tuple(events)))).violations()), None) is None


@dataclass(frozen=True, slots=True)
class Explored:
    """What was seen: whether the statement is true were the run to stop now, and of what may follow (nothing, too),
    whether some keeps it and some violates it."""

    holds: bool
    kept: bool
    broken: bool

    @property
    def verdict(self) -> PrefixVerdict:
        """The verdict if nothing else can follow than what was tried."""
        if not self.kept:
            return "violated"
        if not self.broken:
            return "satisfied"
        return "holding" if self.holds else "pending"

    def refutes(self, verdict: PrefixVerdict) -> bool:
        """Whether what was seen shows a verdict to be wrong."""
        match verdict:
            case "violated":
                return self.kept
            case "satisfied":
                return self.broken
            case "holding":
                return not self.holds
            case "pending":
                return self.holds


def explore(requirement: core.Requirement, events: Sequence[Event], tried: Iterator[tuple[Event, ...]]) -> Explored:
    """Try continuations until both kinds are seen."""
    holds = keeps(requirement, events)
    kept, broken = holds, not holds
    for more in tried:
        if kept and broken:
            break
        if keeps(requirement, (*events, *more)):
            kept = True
        else:
            broken = True
    return Explored(holds, kept, broken)


def alphabet(requirement: core.Requirement, events: Sequence[Event]) -> list[Event]:
    """Events that a run may go on with: those it had, and those made up. Ids, calls and times are open."""
    seen = {repr(replace(e, id="", call="", time=None)): replace(e, id="", call="", time=None) for e in events}
    return [*made_up(requirement, events), *seen.values()]


def made_up(requirement: core.Requirement, events: Sequence[Event]) -> list[Event]:
    """For each action mentioned an event with every value known or written and one with new values, one that is of all
    actions, and one that nothing mentions."""
    theta = requirement.theta
    tests = [test for held in core.conditions(theta) for test in core.tests(held.condition)]
    names = sorted({name for t in tests if isinstance(t, core.ActionIn) for name in t.names} - MESSAGES)
    read = [t.field for t in tests if not isinstance(t, core.ActionIn | core.ActionMatches | core.StatusIs)]
    read += [b.distinct for b in core.bodies(theta) if isinstance(b, core.Repeated) and b.distinct is not None]
    read += [b.field for b in core.bodies(theta) if isinstance(b, core.Exceeds)]
    fields = sorted({field.name for field in read if not field.output})
    known = dict.fromkeys((*Trace(tuple(events)).values, NEW, f"{NEW} either"))
    for test in tests:
        match test:
            case core.In(_, values):
                known.update(dict.fromkeys(sorted(values)))
            case core.ContainsText(_, text):
                known[text] = None
            case core.Compares(_, _, number):
                known.update(dict.fromkeys((str(number - 1), str(number), str(number + 1))))
    for body in core.bodies(theta):
        if isinstance(body, core.Exceeds):
            known[str(abs(body.limit) + 1)] = None
    full = {name: tuple(known) for name in fields}
    fresh = dict.fromkeys(fields, (NEW,))
    found = [Event("", name, "", args, "ok", None) for name in names for args in (full, fresh)]
    found.append(Event("", "everything", "", full, "ok", '{"q": "M", "n": 8}', tuple(names)))
    found.append(Event("", "of no concern", ""))
    return found


def placed(more: Sequence[tuple[Event, bool, int | None]], events: Sequence[Event]) -> tuple[Event, ...]:
    """Events that go on with a run: each with a new id, of the last call or of a new one, so long after the last time
    known; None for no time."""
    calls = [event.call for event in events if event.action not in MESSAGES]
    numbers = {call: at for at, call in enumerate(dict.fromkeys(calls))}
    last = max(calls, key=numbers.__getitem__) if calls else "new call"
    now = max((event.time for event in events if event.time is not None), default=0)
    found = []
    for at, (event, is_new, delay) in enumerate(more):
        last = f"new call {at}" if is_new else last
        now += delay or 0
        found.append(replace(event, id=f"new {at}", call=last, time=None if delay is None else now))
    return tuple(found)


def delays(requirement: core.Requirement, events: Sequence[Event]) -> tuple[int | None, ...]:
    """How long after the last event the next may come, as far as the statement can tell."""
    most = [bound.microseconds for bound in bounds(requirement.theta) if isinstance(bound, core.Within)]
    if not most:
        return (0,) if any(event.time is not None for event in events) else (None,)
    return (0, min(max(most), 10**12) + 1, None)


def all_of_one(requirement: core.Requirement, events: Sequence[Event]) -> Iterator[tuple[Event, ...]]:
    """Each event of the alphabet alone, at any time, of the last call and of a new one."""
    for event, is_new, delay in product(alphabet(requirement, events), (True, False), delays(requirement, events)):
        yield placed([(event, is_new, delay)], events)


def some_longer(
    requirement: core.Requirement, events: Sequence[Event], random: Random, count: int, length: int = 4
) -> Iterator[tuple[Event, ...]]:
    """Some continuations of two and more events."""
    letters, later = alphabet(requirement, events), delays(requirement, events)
    for _ in range(count):
        more = [
            (random.choice(letters), random.random() < 0.7, random.choice(later))
            for _ in range(random.randint(2, length))
        ]
        yield placed(more, events)


def in_every_order(
    requirement: core.Requirement, events: Sequence[Event], repeats: int = 4
) -> Iterator[tuple[Event, ...]]:
    """Events that meet what they can, each again and again, and in every order, in calls of their own."""
    letters, soon = made_up(requirement, events), delays(requirement, events)[0]
    for event, count in product(letters, range(2, repeats + 1)):
        yield placed([(event, True, soon)] * count, events)
    for length in (2, 3):
        for several in permutations(letters, length):
            yield placed([(event, True, soon) for event in several], events)


def out_of_order(events: Sequence[Event]) -> bool:
    """Whether some event has no time or an earlier one than the event before, or is of an earlier call."""
    times = [event.time for event in events]
    if None in times or times != sorted(times, key=lambda time: time or 0):
        return True
    return calls_out_of_order(events)


def calls_out_of_order(events: Sequence[Event]) -> bool:
    """Whether an event of an earlier call comes after one of a later call."""
    index = [
        number for number, e in zip(Trace(tuple(events)).call_index, events, strict=True) if e.action not in MESSAGES
    ]
    return index != sorted(index)
