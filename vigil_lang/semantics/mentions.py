"""Where the source mentions a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.meanings import Place, Scope, Variable
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module

_LITERALS = (tree.String, tree.Number, tree.Boolean)


def first_mention(statement: Statement, variable: str, module: Module, conditions: Conditions) -> Place | None:
    """Where a statement of the module writes a variable first: the argument of a pattern, if it is given to one.

    The free variable of a pattern in the standard library is found at the pattern's application.
    """
    places = (mention(part.expr, variable, Scope(module), conditions) for part in parts(statement.syntax))
    return next((p for p in places if p is not None), None)


def mention(expr: tree.Expr, variable: str, scope: Scope, conditions: Conditions) -> Place | None:
    """Where a condition writes a variable first, likewise."""
    match expr:
        case tree.And(items) | tree.Or(items):
            found = (mention(item, variable, scope, conditions) for item in items)
            return next((p for p in found if p is not None), None)
        case tree.Not(body) | tree.Entry(_, body):
            return mention(body, variable, scope, conditions)
        case tree.Test(_, _, tree.Name(name) as operand):
            if name in scope.arguments:
                argument = scope.arguments[name]
                return argument.place if argument.meaning == Variable(variable) else None
            if name != variable or scope.module.find(name) is not None:
                return None
            return scope.entry if is_shipped(scope.module.source.path) and scope.entry else scope.place(operand.span)
        case tree.Apply(_, args):
            pattern = conditions.pattern_of(expr, scope)
            if pattern is not None:
                inner = conditions.inside(expr, pattern[1], pattern[0], scope)
                return mention(pattern[1].body, variable, inner, conditions)
            found = (mention(arg, variable, scope, conditions) for arg in args or () if not isinstance(arg, _LITERALS))
            return next((p for p in found if p is not None), None)
        case _:
            return None
