"""The conditions of a policy's text: every expression that speaks of one event, and what it means there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.lint.policy_parts import ParameterTests, roots
from vigil_lang.semantics.conditions import Conditions, Failed
from vigil_lang.semantics.meanings import Argument, Hole, Place, Scope, Values, Variable
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Diagnostic, Span
    from vigil_lang.semantics import core
    from vigil_lang.semantics.policy import Policy

Item: TypeAlias = tree.Pattern | tree.Statement

MAX_SHARED = frozenset({"=", "contains"})
"""Operators after which a parameter means the same as a variable does."""

_COMPARING = frozenset({"<", "<=", ">", ">=", "in", "not in"})
_LITERALS = (tree.String, tree.Number, tree.Boolean)


class Meanings:
    """What the expressions of one policy mean."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._conditions = Conditions(Values(policy.params), _ignored)
        self._handed = ParameterTests()

    def of(self, item: Item) -> Iterator[tuple[Span, core.Condition]]:
        """The conditions of an item with their places. Parameters of a pattern stand for any value.

        What has no meaning is left out, and so is a pattern one of whose parameters has to be a number or a set.
        """
        scope = self._scope(item)
        if scope is None:
            return
        self._conditions.start()
        self._conditions.refill()
        for expr in _expressions(item):
            try:
                yield expr.span, self._conditions.condition(expr, scope)
            except Failed:
                continue

    def _scope(self, item: Item) -> Scope | None:
        module = self._policy.module
        if isinstance(item, tree.Statement) or not item.params:
            return Scope(module)
        tracked = self._handed.of(module, item)
        arguments = {}
        for param in item.params:
            operators = {operator for _, operator in tracked.get(param.text, ())}
            if operators & _COMPARING:
                return None
            meaning = Variable(param.text) if operators <= MAX_SHARED else Hole()
            arguments[param.text] = Argument(meaning, Place(module.source, param.span), param.text)
        return Scope(module, arguments)


def _expressions(item: Item) -> Iterator[tree.Expr]:
    """Every expression that is a condition on one event, the outer ones first.

    What is only a name, as an argument of a pattern, is none.
    """
    waiting: list[tree.Expr] = list(reversed(roots(item)))
    while waiting:
        expr = waiting.pop()
        match expr:
            case tree.Diamond(_, _, body) | tree.Repeated(_, body):
                waiting.append(body)
                continue
            case tree.Implies(left, right) | tree.Interval(left=left, right=right):
                waiting += (right, left)
                continue
            case tree.And(items) | tree.Or(items):
                waiting += reversed(items)
            case tree.Not(body):
                waiting.append(body)
            case tree.Apply(_, args):
                inner = [a for a in args or () if not isinstance(a, _LITERALS)]
                waiting += reversed([a for a in inner if not (isinstance(a, tree.Apply) and a.args is None)])
        yield expr


def _ignored(finding: Diagnostic) -> None:
    pass
