"""Rules compiled once, and found by the names of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.gate.decide.conditions import Facts, ask, compiled, concerns, every, some
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.gate.decide.conditions import Asked
    from vigil_lang.gate.decide.model import Rule
    from vigil_lang.trace import Event

_CARRIERS = frozenset({"process.run", "code.call"})
"""Kinds that say how something is done: where an event has others, those say what."""

_SHELL = "shell.run"

_NONE: frozenset[str] = frozenset()


class Compiled(NamedTuple):
    """A rule, and its condition as functions: whether it matches, and what it relaxes other rules for, if any."""

    rule: Rule
    matches: Asked
    relaxing: Asked | None


class Table:
    """The rules in force, by the actions and kinds that they concern. `implied` has the kinds that each kind implies.

    Raises:
        ValueError: a rule has a variable, a pattern that is none, a condition that is nested too deeply, or a name that
            another of its layer has.
    """

    def __init__(self, rules: Iterable[Rule] = (), implied: Mapping[str, frozenset[str]] | None = None) -> None:
        self.rules = tuple(rules)
        self.implied = dict(implied or {})
        self._others: dict[int, Compiled] = {}
        self._named: dict[str, dict[int, Compiled]] = {}
        if len({(rule.layer, rule.name) for rule in self.rules}) < len(self.rules):
            raise ValueError("two rules of a layer have one name")
        for place, rule in enumerate(self.rules):
            relaxing = compiled(rule.condition, every) if rule.relaxes and rule.layer != "default" else None
            names = concerns(rule.condition)
            entry = Compiled(rule, compiled(_without(rule.condition, names), some), relaxing)
            for found in [self._others] if names is None else [self._named.setdefault(name, {}) for name in names]:
                found[place] = entry

    def of(self, names: tuple[str, ...]) -> dict[int, Compiled]:
        """The rules that may concern an event with these names, by their place."""
        found = dict(self._others)
        for name in names:
            found.update(self._named.get(name, {}))
        return found

    def claims(self, event: Event) -> list[tuple[str, ...]]:
        """What an event is, thing by thing: each of its kinds that no other says more exactly, with those it implies.

        Where it has no kinds, it is its action alone.
        """
        implied = {kind: self.implied.get(kind, _NONE) for kind in event.kinds}
        told = {other for kind, names in implied.items() for other in names if kind not in implied.get(other, _NONE)}
        exact = [kind for kind in implied if kind not in told]
        what = [kind for kind in exact if kind not in _CARRIERS] or exact
        return [(event.action, kind, *filter(implied[kind].__contains__, implied)) for kind in what] or [
            (event.action,)
        ]


def _without(condition: core.Condition, names: frozenset[str] | None) -> core.Condition:
    """A condition without the conjunct that is true of every event for which the table is asked under some names."""
    if not isinstance(condition, core.AndC):
        return condition
    rest = tuple(item for item in condition.items if not (isinstance(item, core.ActionIn) and item.names == names))
    return rest[0] if len(rest) == 1 else core.AndC(rest)


def covers(allows: Asked, claims: Iterable[tuple[str, ...]], facts: Facts) -> bool:
    """Whether something that allows does so for every claim of an event, and the event was wholly seen."""
    names, _, args, context = facts
    return "unresolved" not in args and all(ask(allows, Facts(names, claim, args, context)) for claim in claims)


def shell_told_by_steps(event: Event, events: Sequence[Event]) -> bool:
    """Whether an event is a shell line and nothing else, of which the steps say what it does."""
    if _SHELL not in event.kinds or not _CARRIERS.issuperset(set(event.kinds) - {_SHELL}):
        return False
    return any(other.id.startswith(f"{event.id}.") for other in events)
