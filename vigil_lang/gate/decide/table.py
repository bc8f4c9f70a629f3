"""Rules compiled once, and found by the names of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vigil_lang.gate.decide.conditions import Facts, allows, asked, concerns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.gate.decide.conditions import Allows, Asked
    from vigil_lang.gate.decide.model import Rule
    from vigil_lang.semantics.core import Condition
    from vigil_lang.trace import Event

_CARRIERS = frozenset({"process.run", "code.call"})
"""Kinds that say how something is done: where an event has others, those say what."""

_SHELL = "shell.run"


Context: TypeAlias = "Mapping[str, tuple[str, ...]]"
"""The values of the `context.` fields, by their full names."""


class Compiled(NamedTuple):
    """A rule, and its condition as functions."""

    rule: Rule
    asked: Asked
    allows: Allows


class Table:
    """The rules in force, by the actions and kinds that they concern. `implied` has the kinds that each kind implies.

    Raises:
        ValueError: a rule has a variable, or a name that another of its layer has.
    """

    def __init__(self, rules: Iterable[Rule] = (), implied: Mapping[str, frozenset[str]] | None = None) -> None:
        self.rules = tuple(rules)
        self.implied = dict(implied or {})
        self._named: dict[str, list[tuple[int, Compiled]]] = {}
        self._others: list[tuple[int, Compiled]] = []
        if len({(rule.layer, rule.name) for rule in self.rules}) < len(self.rules):
            raise ValueError("two rules of a layer have one name")
        for at, rule in enumerate(self.rules):
            entry = at, Compiled(rule, asked(rule.condition), allows(rule.condition))
            names = concerns(rule.condition)
            if names is None:
                self._others.append(entry)
            for name in names or ():
                self._named.setdefault(name, []).append(entry)

    def of(self, names: tuple[str, ...]) -> list[Compiled]:
        """The rules that may concern an event with these names, in their order."""
        found = dict(self._others)
        for name in names:
            found.update(self._named.get(name, ()))
        return [found[at] for at in sorted(found)]

    def outside(self, grants: Iterable[Condition], events: Sequence[Event], context: Context) -> list[Event]:
        """The events that some grant does not allow: each has to allow every thing that an event is."""
        each = [allows(grant) for grant in grants]
        return [event for event in events if not all(self.covers(one, event, events, context) for one in each)]

    def covers(self, allowed: Allows, event: Event, events: Sequence[Event], context: Context) -> bool:
        """Whether something that allows covers all that an event is, and the event was wholly seen."""
        if "unresolved" in event.args:
            return False
        return all(allowed(Facts((event.action, *kind), event.args, context)) for kind in self._claims(event, events))

    def _claims(self, event: Event, events: Sequence[Event]) -> list[tuple[str, ...]]:
        """The kinds of an event that have to be allowed, each apart; without any, its action alone."""
        if _SHELL in event.kinds and any(other.id.startswith(f"{event.id}.") for other in events):
            return []  # what it does are its steps
        told = frozenset(kind for other in event.kinds for kind in self.implied.get(other, ()) if kind != other)
        what = [kind for kind in event.kinds if kind not in told and kind not in _CARRIERS]
        return [(kind,) for kind in what or event.kinds] or [()]
