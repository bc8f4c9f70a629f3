"""Events to try conditions on: some meet them, some just miss them, some were recorded or differ a little."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from vigil_lang.analysis.witness import guess
from vigil_lang.draft.evaluation.plausible_events import Plausible
from vigil_lang.engines.functions import compiled, conjuncts
from vigil_lang.engines.smt.outcomes import texts_apart
from vigil_lang.lint.judging import about
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets, texts
from vigil_lang.testing.sample_events import FILLER, distinct, matching, near_misses, samples, values_for
from vigil_lang.trace.event import Event
from vigil_lang.trace.values import canonical
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from decimal import Decimal

    from vigil_lang.semantics.denotation import Binding
    from vigil_lang.trace.event import Status, Trace

_CONDITIONS: Final = 24
_PAIRS: Final = 32
_EVENTS: Final = 96
_BINDINGS: Final = 10
_WAYS: Final = 5
_SEARCHED: Final = 1_000
_TWICE: Final = 60
_RECORDED: Final = 10
_EACH: Final = 24
"""Texts of one test."""

_PATTERNS: Final = 8
"""Patterns of one argument for which texts are sought that some match and others do not."""

_OTHER: Final = "another"
_NUMBERS: Final = (("1", "2"), ("2", "1"), ("2", "2"))
"""Values for two variables that are compared."""
_ARGUMENTS: Final = 4
_KNOWN: Final = 3
_STATUSES: Final[dict[Status, Status]] = {"ok": "error", "error": "ok", "unknown": "ok"}


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
        asked = [body for each in requirements for body in core.bodies(each.theta) if isinstance(body, core.Where)]
        self._where = [test for body in dict.fromkeys(asked) for test in core.tests(body.condition)]
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
        missing = [(one, item) for one, two in some for item in conjuncts(two) if item not in conjuncts(one)]
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
        found += self._compared(found[0])
        carriers = {x: [t.field for t in self._tests if isinstance(t, core.Equals) and t.variable == x] for x in suited}
        found += [{**found[0], x: value} for x, fields in carriers.items() for value in self._apart(fields)]
        telling = [event for _, contrast in self._contrasts if (event := guess(contrast)) is not None]
        for event in (*map(self.plausible, telling), *self._seen):
            own = {x: next((v for f in fields for v in texts(f, event)), None) for x, fields in carriers.items()}
            if any(own.values()):
                found.append({x: value or suited[x][0] for x, value in own.items()})
        return list({repr(binding): binding for binding in found}.values())[:_BINDINGS]

    def _compared(self, plain: Binding) -> Iterator[Binding]:
        """Values that `where` tests, and numbers for variables that it compares."""
        for test in self._where:
            match test:
                case core.Equals(field, other) | core.Contains(field, other) | core.ComparesWith(field, _, other):
                    yield from ({**plain, field.name: one, other: two} for one, two in _NUMBERS)
        for name, values in known_values(self._where).arguments.items():
            yield from ({**plain, name: value} for value in values[:_WAYS])

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


def _conditions(requirement: core.Requirement) -> list[core.Condition]:
    """The conditions of a requirement, in the order in which events that break it come: a scope is met first.

    Those of events whose field is counted or added up come with a test of that field besides.
    """
    held = sorted(core.conditions(requirement.theta), key=lambda holds: holds.role != "scope")
    found = [holds.condition for holds in held]
    for body in core.bodies(requirement.theta):
        match body:
            case core.Exceeds(limit, field, counted):
                found.append(core.AndC((core.conditions(counted)[0].condition, core.Compares(field, ">", limit))))
            case core.Repeated(body=counted, distinct=core.Reads() as field):
                found.append(core.AndC((core.conditions(counted)[0].condition, core.Has(field))))
    return list(dict.fromkeys(found))


# --- values worth a try ---


@dataclass(frozen=True, slots=True)
class Known:
    """Values by argument, and those of outputs."""

    arguments: Mapping[str, Sequence[str]]
    outputs: Sequence[str]


def known_values(tests: Iterable[core.Test], whole: Collection[str] = ()) -> Known:
    """The values that some tests suggest; those of `whole` arguments are whole numbers where they are numbers."""
    by_field: dict[tuple[str, bool], list[core.Test]] = {}
    for test in tests:
        if not isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs | core.Equals | core.Contains):
            by_field.setdefault((test.field.name, test.field.output), []).append(test)
    found = {field: _suggested(list(dict.fromkeys(own)), field[0] in whole) for field, own in by_field.items()}
    arguments = {name: values for (name, output), values in found.items() if not output}
    return Known(arguments, [value for (_, output), values in found.items() if output for value in values])


def _suggested(tests: Sequence[core.Test], whole: bool) -> list[str]:
    found: dict[str, None] = {}
    patterns = tuple([test.matcher for test in tests if isinstance(test, core.Matches)])
    if len(patterns) > 1:
        found.update(dict.fromkeys(texts_apart(patterns[:_PATTERNS])))
    for test in tests:
        match test:
            case core.In(_, values):
                found.update(dict.fromkeys(sorted(values)[:_EACH]))
            case core.Matches(_, matcher):
                found.update(dict.fromkeys(matching(matcher)[:_EACH]))
            case core.ContainsText(_, text):
                found.update(dict.fromkeys((text, f"see {text}")))
            case _:
                pass
    limits = sorted({test.number for test in tests if isinstance(test, core.Compares)})
    return list(dict.fromkeys([*found, *map(canonical, _around(limits, whole))]))


def _around(limits: Sequence[Decimal], whole: bool) -> Iterator[Decimal]:
    """The limits, what lies beside each, and what lies between two; no fractions where all limits are `whole`."""
    for limit in limits:
        yield from (limit - 1, limit, limit + 1)
    if not whole or any(limit % 1 for limit in limits):
        yield from ((one + two) / 2 for one, two in pairwise(limits))


# --- one difference ---


def variations(event: Event, known: Known, chance: random.Random, *, every: bool = False) -> Iterator[Event]:
    """The event without an argument, with another or a second value, with another output, with another status.

    The values are a few of those that are `known`, or `every` one of them.
    """
    names = sorted(event.args, key=lambda name: (name not in known.arguments, chance.random()))
    for name in names[:_ARGUMENTS]:
        rest = {other: values for other, values in event.args.items() if other != name}
        yield replace(event, args=rest)
        if name not in vocabulary().roles:  # abstraction gives no role without a value
            yield replace(event, args={**event.args, name: ()})
        values = event.args[name]
        suited = known.arguments.get(name, ())
        for value in (*(suited if every else _some(suited, chance)), _OTHER):
            # What a program does hangs on what it is told to do.
            kinds = () if name == "subcommand" else event.kinds
            yield replace(event, args={**event.args, name: (value,)}, kinds=kinds)
            yield replace(event, args={**event.args, name: (*values, value)})
            if len(values) > 1:
                at = chance.randrange(len(values))
                yield replace(event, args={**event.args, name: (*values[:at], value, *values[at + 1 :])})
        if len(suited) > 1:
            yield replace(event, args={**event.args, name: tuple(chance.sample(suited, 2))})
    yield replace(event, status=_STATUSES[event.status])
    for value in known.outputs if every else _some(known.outputs, chance):
        yield replace(event, output=value)
    if event.output is not None:
        yield replace(event, output=None)
    if event.kinds:
        yield replace(event, kinds=())


def _some(values: Sequence[str], chance: random.Random) -> Sequence[str]:
    return chance.sample(values, min(_KNOWN, len(values)))


def with_another_value(line: Sequence[Event], chance: random.Random) -> list[Event]:
    """The events with one of their values changed a little, in all of them alike; as they are where there is none."""
    values = sorted({value for event in line for texts in event.args.values() for value in texts if value})
    if not values:
        return list(line)
    old = chance.choice(values)
    new = chance.choice((f"{old}x", f"x{old}", old.swapcase(), old[1:], old[:-1]))
    return [
        replace(
            event,
            args={name: tuple(new if v == old else v for v in texts) for name, texts in event.args.items()},
            output=event.output and event.output.replace(old, new),
        )
        for event in line
    ]
