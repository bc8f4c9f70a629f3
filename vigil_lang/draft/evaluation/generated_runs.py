"""Runs made up to tell statements apart: of events that meet their conditions, just miss them, or were recorded."""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from vigil_lang.draft.evaluation.candidate_events import Events, variations, with_another_value
from vigil_lang.semantics import core
from vigil_lang.testing.distinguishing_runs import SECOND, bounds, repetitions
from vigil_lang.testing.sample_events import FILLER, content
from vigil_lang.trace.event import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.trace.event import Event

RUNS: Final = 240
"""Runs that are made by default."""

_SINGLE: Final = 4
"""One run in so many has a single event: most statements are about several."""

_LONGEST: Final = 7
_WINDOW: Final = 24
_STRETCH: Final = 400
"""Events of a run that a bound may ask for."""

_IN_VAIN: Final = 20
"""Lines that may be made for a run; where there are few, runs come again."""


def generated(
    sides: Sequence[Sequence[core.Requirement]], recorded: Sequence[Trace], seed: str, count: int = RUNS
) -> tuple[Trace, ...]:
    """Runs to try requirements on, the same for the same arguments.

    `sides` are the two sets that are to be told apart, or one for which runs are wanted; events on which the conditions
    of one side hold and those of the other fail come first. Runs that were `recorded` lend their events and values, and
    are themselves changed: an event less, one more, two in the other order.
    """
    return tuple(islice(_Generator(sides, recorded, random.Random(seed)).runs(count), count))


class _Generator:
    """Makes lines of events in several ways."""

    def __init__(
        self, sides: Sequence[Sequence[core.Requirement]], recorded: Sequence[Trace], chance: random.Random
    ) -> None:
        self._chance = chance
        self._recorded = [trace for trace in recorded if trace.events]
        self._events = Events(sides, self._recorded, chance)
        thetas = [requirement.theta for side in sides for requirement in side]
        known = [bound for theta in thetas for bound in bounds(theta)]
        self._calls = [bound.count for bound in known if isinstance(bound, core.Calls)]
        self._times = [bound.microseconds for bound in known if isinstance(bound, core.Within)]
        self._counts = [count for theta in thetas for count in repetitions(theta)]

    def runs(self, count: int) -> Iterator[Trace]:
        """Runs of one event, then longer ones, each once where there are that many."""
        seen: set[tuple[object, ...]] = set()
        for tried, (line, steps) in enumerate(self._lines(count // _SINGLE)):
            key = tuple(content(event) for event in line)
            if key not in seen or tried > _IN_VAIN * count:
                seen.add(key)
                yield self._timed(line, steps)

    def _lines(self, single: int) -> Iterator[tuple[Sequence[Event], bool]]:
        """Lines of events, each with whether some may be steps of one call."""
        for event in self._events.every[:single]:
            yield (event,), False
        while True:
            kind = self._chance.random()
            stretched = 0.55 <= kind < 0.65
            if kind < 0.4:
                line = self._in_turn()
            elif kind < 0.55 and self._recorded:
                line = self._changed()
            elif stretched:
                line = self._stretched()
            else:
                line = self._some(self._chance.randint(2, _LONGEST))
            if self._chance.random() < 0.15:
                line = with_another_value(line, self._chance)
            yield [self._events.plausible(event) for event in line], not stretched

    def _in_turn(self) -> list[Event]:
        """An event for each condition of one side's statement, of one object, in their order or another."""
        line = [self._chance.choice(events) for events in self._events.in_turn(self._chance)]
        if self._chance.random() < 0.4:
            self._chance.shuffle(line)
        if self._chance.random() < 0.3:
            line.insert(self._chance.randint(0, len(line)), self._chance.choice(line or [FILLER]))
        return line or [FILLER]

    def _some(self, length: int) -> list[Event]:
        """Events of one object mostly, with others in between."""
        related = self._events.related(self._chance)
        return [
            self._chance.choice(related if self._chance.random() < 0.6 else self._events.every) for _ in range(length)
        ]

    def _changed(self) -> list[Event]:
        """A part of a recorded run with a small change."""
        events = self._chance.choice(self._recorded).events
        start = self._chance.randrange(max(1, len(events) - _WINDOW + 1))
        line = list(events[start : start + _WINDOW])
        at = self._chance.randrange(len(line))
        match self._chance.randrange(5):
            case 0:
                del line[at]
            case 1:
                line.insert(at, self._chance.choice(self._events.every))
            case 2:
                line[at:] = [*line[at + 1 :], line[at]]
            case 3:
                del line[at + 1 :]
            case _:
                line[at] = self._chance.choice([*variations(line[at], self._events.known, self._chance), line[at]])
        return line

    def _stretched(self) -> list[Event]:
        """As many repetitions, or calls in between, as some bound counts, one less and one more."""
        line = self._some(2)
        if self._counts and self._chance.random() < 0.7:
            some = self._events.related(self._chance)
            times = self._chance.choice(self._counts) + self._chance.randint(-1, 1)
            same = [self._chance.choice(some)] * min(max(times, 0), _STRETCH)
            return [*same, *line, *same[:1]]
        between = self._chance.choice(self._calls) + self._chance.randint(-2, 0) if self._calls else 1
        return [line[0], *[FILLER] * min(max(between, 0), _STRETCH), line[1]]

    def _timed(self, line: Sequence[Event], steps: bool) -> Trace:
        """The run with ids and calls of its own; moments lie as far apart as bounds ask, where there are such."""
        events: list[Event] = []
        moment, call = 0, 0
        for number, event in enumerate(line, 1):
            call += not events or not steps or self._chance.random() < 0.85
            if self._times:
                moment += max(0, self._chance.choice([0, *self._times]) + self._chance.choice((-SECOND, 0, SECOND)))
            time = moment if self._times else None
            events.append(replace(event, id=f"e{number}", call=f"c{call}", time=time))
        return Trace(tuple(events))
