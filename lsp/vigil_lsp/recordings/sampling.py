"""What events carry, counted: for completion, hovers and hints, which need the likely values and not all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.trace import Action, Argument, Signature
from vigil_lsp.recordings.results import ActionSamples, ArgumentSamples, Samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.trace import Event, Trace

MAX_VALUES = 30
"""Values kept of an argument."""

MAX_LENGTH = 200
"""Characters of a value that is kept."""

MAX_ARGUMENTS = 200
"""Arguments kept of an action."""

MAX_ACTIONS = 2_000
"""Actions kept, and kinds."""

MAX_TEXT = 200_000
"""Characters of the values of one argument that cross to the server; one with more counts as open there."""

_COUNTED = 5_000


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
            name: ArgumentSamples(count, tuple(sorted(self.values[name].items(), key=_order)[:MAX_VALUES]))
            for name, count in names
        }
        return ActionSamples(self.events, arguments)


def sampled(traces: Iterable[Trace]) -> Samples:
    """What the events of runs carry, by action and by kind."""
    actions: dict[str, _Counts] = {}
    kinds: dict[str, _Counts] = {}
    for trace in traces:
        for event in trace.events:
            actions.setdefault(event.action, _Counts()).add(event)
            for kind in dict.fromkeys(event.kinds):
                kinds.setdefault(kind, _Counts()).add(event)
    return Samples(_most(actions), _most(kinds))


def _most(counts: Mapping[str, _Counts]) -> dict[str, ActionSamples]:
    ordered = sorted(counts.items(), key=lambda found: (-found[1].events, found[0]))
    return {name: found.samples() for name, found in ordered[:MAX_ACTIONS]}


def _order(found: tuple[str, int]) -> tuple[int, str]:
    return -found[1], found[0]


def slim(signature: Signature) -> Signature:
    """A signature that the server can hold: sets of long values are open in it.

    An open set never makes a finding that the closed one would not.
    """
    actions = {
        name: Action({key: _slim(value) for key, value in action.args.items()}, action.kinds, action.open)
        for name, action in signature.actions.items()
    }
    outputs = signature.outputs
    if outputs is not None and sum(map(len, outputs)) > MAX_TEXT:
        outputs = None
    return replace(signature, actions=actions, outputs=outputs)


def _slim(argument: Argument) -> Argument:
    if argument.values is None or sum(map(len, argument.values)) <= MAX_TEXT:
        return argument
    return replace(argument, values=None)
