"""Events that conditions are about: some meet them, some just miss them, some were recorded."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Final

from vigil_lang.analysis.witness import guess
from vigil_lang.draft.evaluation.known import known_values
from vigil_lang.draft.evaluation.plausible import Plausible
from vigil_lang.draft.evaluation.variations import distinct, variations
from vigil_lang.engines.functions import compiled
from vigil_lang.lint.judging import about
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets, texts
from vigil_lang.testing.sample_events import near_misses, samples, values_for
from vigil_lang.trace.event import Event

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from vigil_lang.semantics.denotation import Binding
    from vigil_lang.trace.event import Trace

FILLER: Final = Event("e", "other", "e", status="ok")
"""An event that no condition is likely to be about."""

_CONDITIONS: Final = 24
_PAIRS: Final = 32
_EVENTS: Final = 96
_BINDINGS: Final = 10
_WAYS: Final = 5
_SEARCHED: Final = 1_000
_TWICE: Final = 60
_RECORDED: Final = 10


class Events:
    """The events for some sets of requirements; what was recorded lends values, too."""

    def __init__(
        self, sides: Sequence[Sequence[core.Requirement]], recorded: Sequence[Trace], chance: random.Random
    ) -> None:
        requirements = [requirement for side in sides for requirement in side]
        own = [_conditions(requirement) for requirement in requirements]
        self._conditions = list(dict.fromkeys(c for conditions in own for c in conditions))[:_CONDITIONS]
        self._statements = [[c for c in conditions if c in self._conditions] for conditions in own]
        self._tests = [test for condition in self._conditions for test in core.tests(condition)]
        self.plausible = Plausible(self._conditions, recorded).event
        self._variables = list(dict.fromkeys(x for requirement in requirements for x in requirement.variables))
        self.known = known_values(self._tests, _whole_numbers(recorded))
        self._contrasts = self._differences(sides, chance)
        self._seen = self._seen_events(recorded)
        self._bindings = self._bound()
        self._of = [self._events_of(binding) for binding in self._bindings]
        self._carriers = [self._values_apart(binding) for binding in self._bindings]
        self.every = self._all(chance)
        self._search(chance)

    def in_turn(self, chance: random.Random) -> list[list[Event]]:
        """For each condition of one statement the events to choose from, all of one object."""
        at = chance.randrange(len(self._of))
        events = self._of[at]
        found = [events[condition] for condition in chance.choice(self._statements or [[]]) if events[condition]]
        if found and self._carriers[at] and chance.random() < 0.5:
            found.insert(chance.randint(0, len(found)), self._carriers[at])
        return found

    def related(self, chance: random.Random) -> list[Event]:
        """The events of one object; there is one at least."""
        return [event for events in chance.choice(self._of).values() for event in events] or [FILLER]

    def _differences(
        self, sides: Sequence[Sequence[core.Requirement]], chance: random.Random
    ) -> list[tuple[core.Condition, core.Condition]]:
        """Pairs of a condition of one side, and the same with one of the other side failing."""
        by_side = [list(dict.fromkeys(c for r in side for c in _conditions(r))) for side in sides]
        pairs = [(c, d) for one in by_side for two in by_side if one is not two for c, d in product(one, two) if c != d]
        some = pairs if len(pairs) <= _PAIRS else chance.sample(pairs, _PAIRS)
        missing = [(one, item) for one, two in some for item in _conjuncts(two) if item not in _conjuncts(one)]
        missing = missing if len(missing) <= _PAIRS else chance.sample(missing, _PAIRS)
        return [(one, core.AndC((one, core.NotC(two)))) for one, two in (*missing, *some)]

    def _seen_events(self, recorded: Sequence[Trace]) -> list[Event]:
        """Recorded events that some condition is about."""
        wanted = [about(condition) for condition in self._conditions]
        found = (e for trace in recorded for e in trace.events if any(meets(c, e, {}) for c in wanted))
        return distinct(found)[:_RECORDED]

    def _bound(self) -> list[Binding]:
        """Values for the variables: two that suit what else is asked of them, a mixture, and those of known events."""
        if not self._variables:
            return [{}]
        suited = {x: values_for(x, self._tests) for x in self._variables}
        found: list[Binding] = [{x: suited[x][at] for x in self._variables} for at in (0, 1)]
        if self._variables[1:]:
            found.append({x: suited[x][at % 2] for at, x in enumerate(self._variables)})
        carriers = {x: [t.field for t in self._tests if isinstance(t, core.Equals) and t.variable == x] for x in suited}
        found += [{**found[0], x: value} for x, fields in carriers.items() for value in self._apart(fields)]
        telling = [event for _, contrast in self._contrasts if (event := guess(contrast)) is not None]
        for event in (*map(self.plausible, telling), *self._seen):
            own = {x: next((v for f in fields for v in texts(f, event)), None) for x, fields in carriers.items()}
            if any(own.values()):
                found.append({x: value or suited[x][0] for x, value in own.items()})
        return list({repr(binding): binding for binding in found}.values())[:_BINDINGS]

    def _apart(self, fields: Sequence[core.Reads]) -> list[str]:
        """A value for each way in which the tests of some arguments come out."""
        asked = [t for t in self._tests if isinstance(t, core.In | core.Matches) and t.field in fields]
        found: dict[tuple[bool, ...], str] = {}
        for text in dict.fromkeys(value for field in fields for value in self.known.arguments.get(field.name, ())):
            carrying = [Event("e", "", "e", {test.field.name: (text,)}, output=text) for test in asked]
            found.setdefault(tuple(meets(t, e, {}) for t, e in zip(asked, carrying, strict=True)), text)
        return list(found.values())[:_WAYS]

    def _events_of(self, binding: Binding) -> dict[core.Condition, list[Event]]:
        """Events for each condition under a binding; those that another side sees otherwise come twice."""
        found = {condition: list(islice(self._made(condition, binding), 3)) for condition in self._conditions}
        for condition in self._conditions:
            found[condition] += map(self.plausible, islice(near_misses(condition, binding), 3))
        for condition, contrast in self._contrasts:
            if condition in found:
                found[condition] += [event for event in islice(self._made(contrast, binding), 2) for _ in range(2)]
        if any(isinstance(test, core.Contains) for test in self._tests):
            for at, (condition, events) in enumerate(found.items()):
                apart = (_worded(event, binding, at) for event in distinct(events))
                events += [event for event in apart if event is not None and meets(condition, event, binding)]
        for one, two in self._pairs():
            for event in islice(self._made(core.AndC((one, two)), binding), 1):
                found[one].append(event)
                found[two].append(event)
        return found

    def _made(self, condition: core.Condition, binding: Binding, *, wanted: bool = True) -> Iterator[Event]:
        """Events made to measure that still fit as a run would have them."""
        for event in map(self.plausible, samples(condition, binding, wanted)):
            if meets(condition, event, binding) == wanted:
                yield event

    def _pairs(self) -> list[tuple[core.Condition, core.Condition]]:
        """Conditions of one statement of which one event may meet both."""
        pairs = (pair for conditions in self._statements for pair in combinations(conditions, 2))
        return list(dict.fromkeys(pairs))[:_PAIRS]

    def _values_apart(self, binding: Binding) -> list[Event]:
        """Events that say nothing but a value, where statements look for values inside of others."""
        if not any(isinstance(test, core.Contains) for test in self._tests):
            return []
        return [replace(FILLER, args={"value": (value,)}) for value in binding.values() if value]

    def _search(self, chance: random.Random) -> None:
        """Look for events where none could be made to measure: that meet two tests of one argument, say."""
        wanted: list[tuple[core.Condition, core.Condition, Binding, list[Event]]] = []
        for binding, events in zip(self._bindings, self._of, strict=True):
            for condition, asked in (*((c, c) for c in self._conditions), *self._contrasts):
                if condition in events and next(self._made(asked, binding), None) is None:
                    wanted.append((condition, asked, binding, events[condition]))
        if not wanted:
            return
        some = [self._named(condition) for condition in dict.fromkeys(condition for condition, *_ in wanted)]
        start = [*self._seen, *(event for event in some if event is not None)]
        varied = [v for event in start for v in variations(event, self.known, chance, every=True)]
        twice = chance.sample(varied, min(_TWICE, len(varied)))
        varied += [w for v in twice for w in variations(v, self.known, chance)]
        varied = distinct(map(self.plausible, varied))
        tried = varied if len(varied) <= _SEARCHED else chance.sample(varied, _SEARCHED)
        for _, asked, binding, own in wanted[:_SEARCHED]:
            check = compiled(asked)
            found = [event for event in tried if check(event, binding)][:3]
            own += found
            self.every += found

    def _named(self, condition: core.Condition) -> Event | None:
        """An event with the names a condition asks for, and a value for each argument it tests."""
        event = next(self._made(about(condition), {}), None)
        if event is None:
            return None
        fields = (
            t.field for t in core.tests(condition) if isinstance(t, core.In | core.Matches) and not t.field.output
        )
        values = {field.name: tuple(self.known.arguments.get(field.name, ())[:1]) for field in fields}
        return replace(event, args={name: some for name, some in values.items() if some})

    def _all(self, chance: random.Random) -> list[Event]:
        """Events of all kinds, those that show a difference first."""
        first = self._bindings[0]
        telling = [
            e for b in self._bindings for _, contrast in self._contrasts for e in islice(self._made(contrast, b), 2)
        ]
        met = distinct([*telling, *(e for events in self._of for own in events.values() for e in own)])
        missing = [self.plausible(e) for c in self._conditions for e in near_misses(c, first)]
        failing = [e for c in self._conditions for e in islice(self._made(c, first, wanted=False), 2)]
        varied = [v for event in (*self._seen, *met[:_EVENTS]) for v in variations(event, self.known, chance)]
        every = distinct([*telling, *self._seen, *met, *missing, *failing])[:_EVENTS]
        room = max(_EVENTS - len(every), _EVENTS // 2)
        return distinct([*every, *map(self.plausible, chance.sample(varied, min(room, len(varied)))), FILLER])


def _worded(event: Event, binding: Binding, at: int) -> Event | None:
    """The event with other words around a variable's value, so that no other event has the same text by chance."""

    def other(text: str) -> str:
        inside = [value for value in binding.values() if value and value != text and value in text]
        return f"{inside[0]} at {at}" if inside else text

    args = {name: tuple(map(other, values)) for name, values in event.args.items()}
    output = None if event.output is None else other(event.output)
    return None if (args, output) == (event.args, event.output) else replace(event, args=args, output=output)


def _whole_numbers(recorded: Sequence[Trace]) -> frozenset[str]:
    """The arguments that were recorded with whole numbers only."""
    whole: dict[str, bool] = {}
    for event in (event for trace in recorded for event in trace.events):
        for name, texts_of in event.args.items():
            whole[name] = whole.get(name, True) and all(re.fullmatch(r"-?[0-9]+", text) for text in texts_of)
    return frozenset(name for name, holds in whole.items() if holds)


def _conjuncts(condition: core.Condition) -> list[core.Condition]:
    """What a condition asks for at once, nested conjunctions taken apart."""
    if isinstance(condition, core.AndC):
        return [part for item in condition.items for part in _conjuncts(item)]
    return [condition]


def _conditions(requirement: core.Requirement) -> list[core.Condition]:
    return list(dict.fromkeys(holds.condition for holds in core.conditions(requirement.theta)))
