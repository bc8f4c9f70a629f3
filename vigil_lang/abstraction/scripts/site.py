"""A call: its arguments and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.values import active

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.tree import Expr
    from vigil_lang.abstraction.scripts.values import Scope, Value


@dataclass(slots=True)
class Arguments:
    """The arguments of a call, each with what is written; `more` where it is not known how many there are."""

    positional: list[tuple[Expr, Value]] = field(default_factory=list)
    named: dict[str, tuple[Expr, Value]] = field(default_factory=dict)
    more: bool = False
    held: list[Value] = field(default_factory=list)
    """What could do something and is among those of which it is not known how many there are."""
    _active: tuple[Value, ...] | None = None

    def active(self) -> tuple[Value, ...]:
        """What of them could do something when it is called."""
        if self._active is None:
            self._active = active(*self.values())
        return self._active

    def values(self) -> list[Value]:
        """The values of all arguments."""
        found = [v for _, v in self.positional]
        if self.named:
            found += [v for _, v in self.named.values()]
        return found + self.held if self.held else found

    def get(self, index: int, name: str = "") -> Value | None:
        """The value of one argument, by place or by name; None (or a None) where it is not given."""
        if name in self.named:
            return self.named[name][1]
        return self.positional[index][1] if 0 <= index < len(self.positional) else None


@dataclass(slots=True)
class Site:
    """Where a call stands."""

    scope: Scope
    line: int
    names: tuple[str, ...] = ()
    """What its result is assigned to."""
