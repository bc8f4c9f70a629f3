"""What led to a decision: what the gate took the call to be, the calls before it, and those that break a statement."""

from __future__ import annotations

from collections import OrderedDict
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from vigil_lang.gate.history import explained
from vigil_lang.gate.state import StateError
from vigil_lang.trace import Trace
from vigil_lang.verdict.calls import call_text
from vigil_lang.verdict.surroundings import arguments_read, surroundings

if TYPE_CHECKING:
    from vigil_lang.enforce.run import Broken
    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.history import Entry, Explained
    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.verdict.surroundings import Part

LONGEST_RUN = 2000
"""Calls of the longest run that is followed again for a page; `vigil why` follows any."""

_REMEMBERED = 64
_STEPS = 8
_BEFORE = 5
_ROOM = 400


class Call(NamedTuple):
    """An event of a run: its id, what it is, the part it has, and what is said of it.

    So many calls come before it that are not shown: `skipped`.
    """

    id: str
    text: str
    part: Part
    note: str | None
    skipped: int


class Witness(NamedTuple):
    """A statement that a call would violate, and the run that shows it."""

    name: str
    message: str
    why: str | None
    remedy: str | None
    calls: tuple[Call, ...]


class Story(NamedTuple):
    """What led to a decision. `steps` are what the call was taken to be, `more` how many are not among them; `does` are
    its actions and kinds; `before` the last calls of the run until then, of so many. `missing` says why nothing of that
    is known."""

    steps: tuple[str, ...] = ()
    more: int = 0
    does: tuple[str, ...] = ()
    before: tuple[Call, ...] = ()
    length: int = 0
    witnesses: tuple[Witness, ...] = ()
    missing: str | None = None


class Stories:
    """Tells stories of decisions, and remembers the last. Threads may share it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._known: OrderedDict[int, Story] = OrderedDict()
        self._mutex = Lock()

    def of(self, run: str, entry: Entry) -> Story:
        """The story of a decision; its arguments are known."""
        with self._mutex:
            found = self._known.get(entry.seq)
        if found is None:
            found = self._told(run, entry)
            if found.missing is None:
                with self._mutex:
                    self._known[entry.seq] = found
                    while len(self._known) > _REMEMBERED:
                        self._known.popitem(last=False)
        return found

    def _told(self, run: str, entry: Entry) -> Story:
        try:
            with self._gate.holds.transaction():
                calls = self._gate.follow(run).calls
            if calls > LONGEST_RUN:
                return Story(missing=f"the run has {calls:,} calls: `vigil why {run} {entry.seq}` follows it")
            return _story(explained(self._gate, run, entry))
        except (StateError, ValueError) as error:
            return Story(missing=str(error))


def _story(found: Explained) -> Story:
    events = found.answer.events
    before = found.before.events
    last = tuple(
        Call(event.id, call_text(event, _ROOM).plain, "around", None, len(before) - _BEFORE if at == 0 else 0)
        for at, event in enumerate(before[-_BEFORE:])
    )
    return Story(
        tuple(_pending(call_text(event, _ROOM).plain, event.status) for event in events[:_STEPS]),
        max(0, len(events) - _STEPS),
        tuple(sorted({name for event in events for name in event.names()})),
        tuple(each._replace(skipped=max(0, each.skipped)) for each in last),
        len(before),
        tuple(_witnesses(found)) if found.answer.broken else (),
    )


def _pending(text: str, status: str) -> str:
    """A call that is not made yet has not ended either."""
    return text.removesuffix(f" → {status}")


def _witnesses(found: Explained) -> list[Witness]:
    """For each statement that the call would violate, the run with the call, as `vigil verify` has it."""
    made = tuple(replace(event, status="ok") for event in found.answer.events)
    whole = Trace((*found.before.events, *made), found.before.run)
    own = {event.id for event in made}
    remedies = {each.statement.name: each.remedy for each in found.answer.broken}
    witnesses = []
    for broken in _judged(found.policies, whole):
        offence, statement = broken.offence, broken.statement
        if statement.name not in remedies or offence.event not in own:
            continue
        telling = arguments_read(statement)
        calls: list[Call] = []
        previous = -1
        for place, part, note in surroundings(offence, whole):
            event = whole.events[place]
            text = call_text(event, _ROOM, telling).plain
            if event.id in own:
                text = _pending(text, event.status)
            calls.append(Call(event.id, text, part, note, place - previous - 1))
            previous = place
        why = None if offence.why == offence.message else offence.why
        witnesses.append(Witness(statement.name, offence.message, why, remedies[statement.name], tuple(calls)))
    return witnesses


def _judged(policies: LayeredPolicies, trace: Trace) -> tuple[Broken, ...]:
    """What a run breaks, with near misses."""
    run = policies.monitor.run(trace.run)
    for _, group in groupby(trace.events, key=lambda event: event.call):
        events = tuple(group)
        run.begin(events)
        run.end(events)
    return run.close().broken
