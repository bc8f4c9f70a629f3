"""What events carry, counted: the likely values of each argument, for completion, hovers and drafting."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import hides, learn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.trace.event import Event, Trace

MAX_VALUES = 30
"""Values kept of an argument."""

MAX_LENGTH = 200
"""Characters of a value that is kept."""

MAX_ARGUMENTS = 200
"""Arguments kept of an action."""

MAX_ACTIONS = 2_000
"""Actions kept, and kinds."""

_COUNTED = 5_000


@dataclass(frozen=True, slots=True)
class ArgumentSamples:
    """One argument of an action: how many events carry it, and its most frequent values with their counts.

    Values too long to be written in a policy are left out, not cut.
    """

    events: int
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ActionSamples:
    """How many events an action (or kind) has, and their arguments, the most frequent first."""

    events: int
    arguments: Mapping[str, ArgumentSamples] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Samples:
    """What the events of all runs carry, by action and by kind, the most frequent first."""

    actions: Mapping[str, ActionSamples] = field(default_factory=dict)
    kinds: Mapping[str, ActionSamples] = field(default_factory=dict)

    def named(self, name: str) -> ActionSamples | None:
        """Those of an action, or else of a kind."""
        return self.actions.get(name) or self.kinds.get(name)

    def arguments(self, names: Iterable[str] | None = None) -> list[tuple[str, int]]:
        """Argument names with the number of events that carry them, the most frequent first.

        Only of the actions or kinds of these names; None: of every action.
        """
        counts: dict[str, int] = {}
        for one in self._of(names):
            for name, argument in one.arguments.items():
                counts[name] = counts.get(name, 0) + argument.events
        return sorted(counts.items(), key=lambda found: (-found[1], found[0]))

    def values(self, argument: str, names: Iterable[str] | None = None) -> list[tuple[str, int]]:
        """Values of an argument with the number of events that carry them, the most frequent first."""
        counts: dict[str, int] = {}
        for one in self._of(names):
            if argument in one.arguments:
                for value, count in one.arguments[argument].values:
                    counts[value] = counts.get(value, 0) + count
        return sorted(counts.items(), key=lambda found: (-found[1], found[0]))

    def _of(self, names: Iterable[str] | None) -> list[ActionSamples]:
        if names is None:
            return list(self.actions.values())
        return [found for name in dict.fromkeys(names) if (found := self.named(name)) is not None]


class _Counts:
    """The events of one action or kind."""

    def __init__(self) -> None:
        self.events = 0
        self.carried: Counter[str] = Counter()
        self.values: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, event: Event) -> None:
        self.events += 1
        for name, texts in event.args.items():
            self.carried[name] += 1
            counter = self.values[name]
            for text in dict.fromkeys(texts):
                if len(text) <= MAX_LENGTH and (len(counter) < _COUNTED or text in counter):
                    counter[text] += 1

    def samples(self) -> ActionSamples:
        names = sorted(self.carried.items(), key=_order)[:MAX_ARGUMENTS]
        arguments = {
            name: ArgumentSamples(
                count, tuple(islice(filter(_open, sorted(self.values[name].items(), key=_order)), MAX_VALUES))
            )
            for name, count in names
        }
        return ActionSamples(self.events, arguments)


def sampled(traces: Iterable[Trace]) -> Samples:
    """What the events of runs carry, by action and by kind, but secrets: this output knows them from now on."""
    actions: dict[str, _Counts] = {}
    kinds: dict[str, _Counts] = {}
    for trace in traces:
        for event in trace.events:
            learn(event.args)
            actions.setdefault(event.action, _Counts()).add(event)
            for kind in dict.fromkeys(event.kinds):
                kinds.setdefault(kind, _Counts()).add(event)
    return Samples(_most(actions), _most(kinds))


def _open(found: tuple[str, int]) -> bool:
    return not hides(found[0])


def _most(counts: Mapping[str, _Counts]) -> dict[str, ActionSamples]:
    ordered = sorted(counts.items(), key=lambda found: (-found[1].events, found[0]))
    return {name: found.samples() for name, found in ordered[:MAX_ACTIONS]}


def _order(found: tuple[str, int]) -> tuple[int, str]:
    return -found[1], found[0]
