"""The temporal body of `always` apart from what `after` and `where` ask for, and together with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.semantics.lower import Statement


def unscoped(statement: Statement) -> tuple[core.Theta, tuple[core.Theta, ...]]:
    """The body as it is written, and what the scope of the statement asks for besides."""
    theta, syntax = statement.requirement.theta, statement.syntax
    asked = (syntax.after is not None) + (syntax.where is not None)
    if not asked:
        return theta, ()
    assert isinstance(theta, core.Implies)
    if isinstance(syntax.form.args[0], tree.Implies):
        assert isinstance(theta.left, core.And)
        body, *scope = theta.left.items
        return core.Implies(body, theta.right), tuple(scope)
    return theta.right, theta.left.items if asked > 1 and isinstance(theta.left, core.And) else (theta.left,)


def scoped(body: core.Theta, scope: tuple[core.Theta, ...]) -> core.Theta:
    """The two together, as lowering joins them."""
    if scope and isinstance(body, core.Implies):
        return core.Implies(core.And((body.left, *scope)), body.right)
    if scope:
        return core.Implies(core.And(scope) if scope[1:] else scope[0], body)
    return body
