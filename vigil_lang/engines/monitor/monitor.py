"""The online engine (interim: it judges the whole prefix anew)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import IndexedEngine, Judgement
from vigil_lang.engines.interface import Ahead, Breach, Outcome, Owed, PrefixVerdict, Progress, Rule, Unjudged
from vigil_lang.semantics import core
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence


class MonitorEngine:
    """Rules, compiled once, that runs are followed by."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)

    def run(self) -> RunMonitor:
        """A monitor at the beginning of a run."""
        return RunMonitor(self)

    def restore(self, state: bytes) -> RunMonitor:
        """The monitor that a snapshot was taken of, under the same rules.

        Raises:
            ValueError: it is no snapshot, or of other rules.
        """
        monitor = RunMonitor(self)
        for event, ended in msgspec.json.decode(state, type=list[tuple[Event, bool]]):
            monitor.step([event], ended=ended)
        return monitor


class RunMonitor:
    """Follows rules along one run."""

    def __init__(self, engine: MonitorEngine) -> None:
        self._engine = engine
        self._events: list[Event] = []
        self._open: set[str] = set()
        self._known: set[tuple[int, int]] = set()

    def propose(self, events: Sequence[Event]) -> Ahead:
        """What would be if a call with these events succeeded; nothing remembers it."""
        ahead = Trace((*self._events, *(replace(event, status="ok", output=None) for event in events)))
        found = [b for b in self._breaches(ahead) if (b.rule, b.event) not in self._known]
        return Ahead(tuple(found))

    def step(self, events: Sequence[Event], *, ended: bool = True) -> Progress:
        """Take in what happened: new events, and by their ids the ends of those in flight."""
        for event in events:
            if event.id in self._open:
                self._events[[e.id for e in self._events].index(event.id)] = event
                if ended:
                    self._open.discard(event.id)
            elif any(e.id == event.id for e in self._events):
                raise ValueError(f"the event {event.id} has ended")
            else:
                self._events.append(event)
                if not ended:
                    self._open.add(event.id)
        settled = next((i for i, e in enumerate(self._events) if e.id in self._open), len(self._events))
        found = self._breaches(Trace(tuple(self._events[:settled])))
        new = [b for b in found if (b.rule, b.event) not in self._known]
        self._known.update((b.rule, b.event) for b in new)
        return Progress(tuple(new))

    def verdicts(self) -> tuple[PrefixVerdict, ...]:
        """What each rule says of the events so far."""
        known = {b.rule for b in self._breaches(Trace(tuple(self._events)))}
        owed = {o.rule for o in self.pending()}
        return tuple(
            "violated" if i in known else "pending" if i in owed else "holding" for i in range(len(self._engine.rules))
        )

    def pending(self) -> tuple[Owed, ...]:
        """What is owed, rule by rule, oldest first."""
        trace = Trace(tuple(self._events))
        return tuple(
            Owed(at, v.event, trace.events[v.event].id, v.binding)
            for at, rule in enumerate(self._engine.rules)
            if _looks_ahead(rule)
            for v in Judgement(rule.requirement, RunIndex(trace)).violations()
        )

    def close(self) -> tuple[Outcome | Unjudged, ...]:
        """The run is over: what a batch engine says of it, rule by rule."""
        return tuple(IndexedEngine().judge(self._engine.rules, [Trace(tuple(self._events))]))

    def snapshot(self) -> bytes:
        """The whole state as JSON."""
        return msgspec.json.encode([(e, e.id not in self._open) for e in self._events])

    def _breaches(self, trace: Trace) -> list[Breach]:
        return [
            Breach(at, v.event, trace.events[v.event].id, v.binding)
            for at, rule in enumerate(self._engine.rules)
            if not _looks_ahead(rule)
            for v in Judgement(rule.requirement, RunIndex(trace)).violations()
        ]


def _looks_ahead(rule: Rule) -> bool:
    ahead = core.Later | core.Until | core.Last
    return any(isinstance(body, ahead) for body in core.bodies(rule.requirement.theta))
