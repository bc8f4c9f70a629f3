"""The actions of a signature, found by any of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.analysis.outside_signature import may_be_derived
from vigil_lang.diagnostics import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from vigil_lang.trace import Action, Signature

Actions: TypeAlias = frozenset[str]
"""Actions of the signature, by their own names, that a condition may be about."""

_PROGRAM = "program"


class Vocabulary:
    """A signature, its actions found by any of their names."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.actions = signature.actions
        self.declared = signature.origin == "declared"
        self.all: Actions = frozenset(signature.actions)
        self._called: dict[str, set[str]] = {}
        self._near: dict[str, list[str]] = {}
        for own, action in signature.actions.items():
            for name in (own, *action.kinds):
                self._called.setdefault(name, set()).add(own)

    @property
    def names(self) -> Collection[str]:
        """The names of actions and of kinds."""
        return self._called.keys()

    def called(self, names: Iterable[str]) -> Actions:
        """The actions with one of these names or kinds."""
        return frozenset[str]().union(*(self._called.get(name, ()) for name in names))

    def may_be_derived(self, name: str) -> bool:
        """Whether an event may have a name that is none of a listed tool."""
        return may_be_derived(name, self.signature)

    def may_be_of(self, action: str, programs: Collection[str]) -> bool:
        """Whether an event of an action may be of one of some programs, as far as was seen."""
        program = self.actions[action].args.get(_PROGRAM)
        return program is None or program.values is None or not program.values.isdisjoint(programs)

    def may_carry(self, action: Action, argument: str) -> bool:
        """Whether an action's events may have an argument; programs have options that no run shows."""
        return action.open or argument in action.args or (not self.declared and "process.run" in action.kinds)

    def near(self, name: str) -> list[str]:
        """The names a person may have meant."""
        if name not in self._near:
            self._near[name] = nearest(name, self.names)
        return self._near[name]
