"""What a policy's last text meant, so that after an edit only what changed is given a meaning anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import astuple

from vigil_lang.diagnostics import Span
from vigil_lang.semantics import core
from vigil_lang.semantics.layout import Layout, layout_of
from vigil_lang.semantics.lower import Statement
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.conditions import Conditions, Spent
    from vigil_lang.semantics.modules import Module


class _Known(NamedTuple):
    """What is known of an item that began at `start`: a statement's meaning, and what finding it took and used."""

    start: int
    statement: Statement | None
    used: frozenset[str]
    spent: Spent


class Memory:
    """What the items of a policy's last text meant, of those of which nothing had to be said.

    Whoever reads with it is the only one to do so at that time.
    """

    def __init__(self) -> None:
        self._layout: Layout | None = None
        self._known: dict[str, _Known] = {}
        self._params: Mapping[str, object] = {}

    def begin(self, module: Module, params: Mapping[str, object]) -> Recollection:
        """What is still true of the next text."""
        layout = layout_of(module)
        known: dict[str, _Known] = {}
        if self._layout is not None and self._params == params:
            changed = layout.changed(self._layout)
            if changed is not None:
                known = {name: one for name, one in self._known.items() if name not in changed}
        return Recollection(module, layout, known)

    def keep(self, found: Recollection, params: Mapping[str, object]) -> None:
        """That text is the last one now."""
        self._layout, self._known, self._params = found.layout, found.kept, params


class Recollection:
    """What is known of the items of one text, and what is found out of the others."""

    def __init__(self, module: Module, layout: Layout, known: dict[str, _Known]) -> None:
        self.layout = layout
        self.kept: dict[str, _Known] = {}
        self.used: set[str] = set()
        self._module, self._known = module, known

    def recalls(self, item: tree.Item, conditions: Conditions) -> Statement | bool:
        """A statement that is known, or True of another item that is; False where nothing is known.

        What finding it out took is taken again, and what it `used` is noted.
        """
        name = self.layout.name(item)
        known = self._known.get(name) if name is not None else None
        if known is None or name is None:
            return False
        conditions.spend(known.spent)
        self.used |= known.used
        start, statement = item.span.start, known.statement
        by = start - known.start
        if statement is None:
            self.kept[name] = known if by == 0 else _Known(start, None, known.used, known.spent)
            return True
        assert isinstance(item, tree.Statement)
        statement = _elsewhere(statement, item, self._module.source, by)
        self.kept[name] = _Known(start, statement, known.used, known.spent)
        return statement

    def remember(self, item: tree.Item, statement: Statement | None, used: frozenset[str], spent: Spent) -> None:
        """Keep what was found of an item of which there was nothing to say."""
        if (name := self.layout.name(item)) is not None:
            self.kept[name] = _Known(item.span.start, statement, used, spent)

    def has(self, statement: Statement) -> bool:
        """Whether a statement was known."""
        name = self.layout.name(statement.syntax)
        return name is not None and name in self._known

    def forget(self, statement: Statement) -> None:
        """There is something to say of it after all."""
        if (name := self.layout.name(statement.syntax)) is not None:
            self.kept.pop(name, None)


def _elsewhere(known: Statement, item: tree.Statement, source: Source, by: int) -> Statement:
    """A statement that means the same in another text; its conditions are the very objects."""
    name, form, requirement, _, _, about, params, origin = astuple(known)  # as they are stored: nobody is looking yet
    if origin is None:
        origin = requirement
    if by:
        moving = requirement.__class__ is tree.Moved
        requirement = requirement.further(by) if moving else tree.Moved(_moved, (requirement, by))
    return Statement(name, form, requirement, item, source, about, params, origin)


def _moved(requirement: core.Requirement, by: int) -> core.Requirement:
    """A requirement that was written so many code points further on."""

    def holds(old: core.Holds) -> core.Holds:
        return core.Holds(old.condition, old.role, _span(old.span, by))

    def where(old: core.Where) -> core.Where:
        return core.Where(old.condition, old.role, _span(old.span, by))

    theta, trigger = core.mapped(requirement.theta, holds, where), requirement.trigger
    if trigger is not None:
        shared = isinstance(theta, core.Implies) and trigger is getattr(requirement.theta, "left", None)
        trigger = theta.left if shared and isinstance(theta, core.Implies) else core.mapped(trigger, holds, where)
    return core.Requirement(theta, requirement.variables, trigger)


def _span(span: Span | None, by: int) -> Span | None:
    return None if span is None else Span(span.start + by, span.end + by)
