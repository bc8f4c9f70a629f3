"""The signature Σ = (A, K, V): what a policy may speak of (Definition 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import field

from vigil_lang.base.node import Node
from vigil_lang.base.structs import Frozen, Mutable
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.trace.event import Trace

ValueType = Literal["text", "number", "bool"]
Origin = Literal["observed", "declared"]

VALUES_KEPT = 1000
"""Distinct values kept of an observed argument, and of outputs; a set with more counts as open."""


class Argument(Frozen, frozen=True):
    """One argument name of one action.

    `values` is None when the set of values is open (a declared schema without an enumeration, or an observed
    argument with more distinct values than are kept).
    """

    types: frozenset[ValueType]
    many: bool = False
    values: frozenset[str] | None = None


class Action(Frozen, frozen=True):
    """One action with its argument names; `open` when it may carry names that are not listed."""

    args: dict[str, Argument] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    open: bool = False


_FEW = 2


class Signature(Node, frozen=True, eq=False, gc=False):
    """Actions by name. `origin` is "observed" (values closed) or "declared" (values open)."""

    _ASIDE: ClassVar[frozenset[str]] = frozenset({"runs"})

    actions: dict[str, Action]
    origin: Origin
    outputs: frozenset[str] | None = None
    """Observed outputs; None when open."""
    runs: int = 0
    """Of how many runs at hand all of it was observed; 0 for a signature that was given as such."""

    @property
    def shows_little(self) -> bool:
        """Whether one or two runs are all that it was observed in, so that what it lacks is only a hint."""
        return self.origin == "observed" and 0 < self.runs <= _FEW

    @property
    def place(self) -> str:
        """Where a reader finds what it has, after a negation: the runs, if these were given."""
        if self.origin == "declared" or not self.runs:
            return "in the signature"
        return "in the run" if self.runs == 1 else f"in any of the {self.runs} runs"

    def names(self) -> frozenset[str]:
        """The names of actions and of kinds."""
        return frozenset(self.actions).union(*(action.kinds for action in self.actions.values()))


def type_of(text: str) -> ValueType:
    """The type a canonical text has by its looks: `6` is a number, `true` a bool, all else text."""
    if text in ("true", "false"):
        return "bool"
    return "text" if number(text) is None else "number"


def observe(traces: Iterable[Trace], *, limit: int = VALUES_KEPT) -> Signature:
    """The signature that runs exhibit: the names they use and, up to `limit` an argument, the values."""
    actions: dict[str, dict[str, _Seen]] = {}
    kinds: dict[str, set[str]] = {}
    outputs, runs = _Seen(), 0
    for trace in traces:
        runs += 1
        for event in trace.events:
            args = actions.setdefault(event.action, {})
            kinds.setdefault(event.action, set()).update(event.kinds)
            for name, texts in event.args.items():
                args.setdefault(name, _Seen()).add(texts, limit)
            if event.output is not None:
                outputs.add((event.output,), limit)
    return Signature(
        {
            action: Action({name: seen.argument() for name, seen in args.items()}, frozenset(kinds[action]))
            for action, args in actions.items()
        },
        "observed",
        outputs.argument().values,
        runs,
    )


class _Seen(Mutable):
    """What has been seen of one argument so far."""

    types: set[ValueType] = field(default_factory=set)
    many: bool = False
    values: set[str] | None = field(default_factory=set)

    def add(self, texts: tuple[str, ...], limit: int) -> None:
        self.many = self.many or len(texts) != 1
        for text in texts:
            if self.values is None or text not in self.values:
                self.types.add(type_of(text))
                if self.values is not None:
                    self.values.add(text)
                    self.values = self.values if len(self.values) <= limit else None

    def argument(self) -> Argument:
        values = None if self.values is None else frozenset(self.values)
        return Argument(frozenset(self.types), self.many, values)


def merge(first: Signature, *others: Signature) -> Signature:
    """What any of the signatures allows; values are closed where all that know the argument close them.

    Beside a declared signature a run only adds names: what values those have it does not say.
    """
    actions = dict(first.actions)
    origin, outputs = first.origin, first.outputs
    for other in others:
        for name, action in other.actions.items():
            actions[name] = _merge_actions(actions[name], action) if name in actions else action
        origin = "observed" if origin == other.origin == "observed" else "declared"
        outputs = None if outputs is None or other.outputs is None else outputs | other.outputs
    if origin == "declared":
        declared = [one.actions for one in (first, *others) if one.origin == "declared"]
        actions = {name: _opened(a, [d[name] for d in declared if name in d]) for name, a in actions.items()}
    counts = [first.runs, *(other.runs for other in others)]
    return Signature(actions, origin, outputs, sum(counts) if all(counts) else 0)


def _opened(action: Action, declared: list[Action]) -> Action:
    """An action that has any value in what none of its declarations says."""
    stated = {name for one in declared for name in one.args}
    args = {name: a if name in stated else Argument(frozenset(), a.many) for name, a in action.args.items()}
    return Action(args, action.kinds, action.open or not declared)


def _merge_actions(one: Action, other: Action) -> Action:
    args = dict(one.args)
    for name, argument in other.args.items():
        args[name] = _merge_arguments(args[name], argument) if name in args else argument
    return Action(args, one.kinds | other.kinds, one.open or other.open)


def _merge_arguments(one: Argument, other: Argument) -> Argument:
    values = None if one.values is None or other.values is None else one.values | other.values
    return Argument(one.types | other.types, one.many or other.many, values)
