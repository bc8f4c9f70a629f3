"""Conditions as they are written, part by part, each with what it means where it stands.

The core has no spans below a whole condition. Here every connective, call, pattern and test keeps its place in the
source, so that what a run makes of a part can be shown there, and a part can be taken for another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Conditions
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.meanings import Scope, Values
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Diagnostic, Source, Span
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy

Kind: TypeAlias = Literal["and", "or", "not", "call", "pattern", "test"]


class Place(NamedTuple):
    """Where a part stands; a part of a pattern's body is at one place however often the pattern is applied."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class ConditionPart:
    """A part of a condition. `items` are the operands, a call's arguments, or the body of an applied pattern."""

    kind: Kind
    expr: tree.Expr
    scope: Scope
    condition: core.Condition
    items: tuple[ConditionPart, ...] = ()

    @property
    def source(self) -> Source:
        """The text it stands in."""
        return self.scope.module.source

    @property
    def span(self) -> Span:
        """Where it stands there."""
        return self.expr.span

    @property
    def place(self) -> Place:
        """The same as one key."""
        return Place(self.source.path, *self.expr.span)

    def replaced(
        self, by: Callable[[ConditionPart], core.Condition | None], known: dict[int, core.Condition] | None = None
    ) -> core.Condition:
        """The condition with other meanings for some parts; `by` has None for those that keep theirs.

        A pattern without parameters is one object wherever it is applied: `known` has what it became.
        """
        known = {} if known is None else known
        if id(self) not in known:
            known[id(self)] = by(self) or self._replaced(by, known)
        return known[id(self)]

    def _replaced(
        self, by: Callable[[ConditionPart], core.Condition | None], known: dict[int, core.Condition]
    ) -> core.Condition:
        if not self.items:
            return self.condition
        items = tuple([item.replaced(by, known) for item in self.items])
        if all(new is item.condition for new, item in zip(items, self.items, strict=True)):
            return self.condition
        match self.kind:
            case "and":
                return core.AndC(items)
            case "or":
                return core.OrC(items)
            case "not":
                return core.NotC(items[0])
            case "call":
                assert isinstance(self.condition, core.AndC)
                return core.AndC((self.condition.items[0], *items))
            case _:
                return items[0]


@dataclass
class Reader:
    """Reads the conditions of one policy's statements part by part."""

    policy: Policy
    _plain: dict[tuple[Module, str], ConditionPart] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.conditions = Conditions(Values(self.policy.params), _ignored)

    def statement(self, statement: Statement) -> list[tuple[core.Holds, ConditionPart]]:
        """Each condition of the core, once, with the parts it is made of."""
        self.restart()
        by_span = {holds.span: holds for holds in core.conditions(statement.requirement.theta)}
        scope = Scope(self.policy.module)
        found = ((by_span.get(part.expr.span), part.expr) for part in parts(statement.syntax))
        return [(holds, self.read(expr, scope)) for holds, expr in found if holds is not None]

    def restart(self) -> None:
        """Conditions have a budget; what resolves within it once does so again."""
        self.conditions.refill()
        self.conditions.start()

    def read(self, expr: tree.Expr, scope: Scope) -> ConditionPart:
        """The parts of an expression.

        Raises:
            Failed: it has no meaning; never of a statement that was lowered.
        """
        match expr:
            case tree.And(operands) | tree.Or(operands):
                items = tuple([self.read(operand, scope) for operand in operands])
                conditions = tuple([item.condition for item in items])
                if isinstance(expr, tree.And):
                    return ConditionPart("and", expr, scope, core.AndC(conditions), items)
                return ConditionPart("or", expr, scope, core.OrC(conditions), items)
            case tree.Not(body):
                inner = self.read(body, scope)
                return ConditionPart("not", expr, scope, core.NotC(inner.condition), (inner,))
            case tree.Apply():
                return self._applied(expr, scope)
            case _:
                return ConditionPart("test", expr, scope, self.conditions.condition(expr, scope))

    def _applied(self, expr: tree.Apply, scope: Scope) -> ConditionPart:
        found = self.conditions.pattern_of(expr, scope)
        if found is None:
            items = tuple([self.read(arg, scope) for arg in expr.args or () if not isinstance(arg, _LITERALS)])
            call: core.Condition = core.ActionIn(frozenset({self.conditions.called(expr, scope)}))
            if items:
                call = core.AndC((call, *(item.condition for item in items)))
            return ConditionPart("call", expr, scope, call, items)
        module, pattern = found
        key = (module, pattern.name.text)
        body = None if pattern.params else self._plain.get(key)
        if body is None:
            body = self.read(pattern.body, self.conditions.inside(expr, pattern, module, scope))
            if not pattern.params:
                self._plain[key] = body
        return ConditionPart("pattern", expr, scope, body.condition, (body,))


_LITERALS = (tree.String, tree.Number, tree.Boolean)


def substituted(theta: core.Theta, conditions: dict[Span, core.Condition]) -> core.Theta:
    """The body with other conditions at some places."""

    def change(holds: core.Holds) -> core.Holds:
        new = None if holds.span is None else conditions.get(holds.span)
        return holds if new is None or new is holds.condition else replace(holds, condition=new)

    return core.mapped(theta, change)


def _ignored(finding: Diagnostic) -> None:
    pass
