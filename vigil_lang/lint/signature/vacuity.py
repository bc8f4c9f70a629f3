"""VGL408 and VGL409: statements that are vacuous, or always violated, within a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.semantics import core
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.analysis.reachability import Reachability
    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.lower import Statement


def vacuous(statement: Statement, reachability: Reachability) -> Diagnostic | None:
    """What can never occur of a statement within a signature, if that makes it idle or unkeepable.

    On a recorded run a prohibition is not idle because nobody broke it; a tool's definition is another matter.
    """
    theta, trigger, form = statement.requirement.theta, statement.requirement.trigger, statement.syntax.form
    body = form.args[0]
    if trigger is not None and not reachability.body(trigger).hold:
        message = f"the trigger of `{statement.name}` can never occur, so the statement says nothing"
        return _finding("VGL408", message, statement, body.left.span if isinstance(body, tree.Implies) else body.span)
    if reachability.signature.origin == "declared" and not reachability.body(theta).fail:
        message = f"what `{statement.name}` forbids can never occur, so the statement says nothing"
        return _finding("VGL408", message, statement, body.span if len(form.args) == 1 else form.span)
    wanted = _wanted(statement)
    if wanted is None or reachability.body(wanted[0]).hold:
        return None
    preset = statement.preset
    role, consequence = (preset.wanted, preset.unmet) if preset else ("consequence", "every trigger is a violation")
    message = f"the {role} of `{statement.name}` can never occur, so {consequence}"
    return _finding("VGL409", message, statement, wanted[1])


def _wanted(statement: Statement) -> tuple[core.Theta, Span] | None:
    """What has to occur once the trigger has, and where it is written."""
    theta, form = statement.requirement.theta, statement.syntax.form
    preset = statement.preset
    if not isinstance(theta, core.Implies) or (preset is not None and not preset.wanted):
        return None
    if preset is None:
        body = form.args[0]
        return (theta.right, body.right.span) if isinstance(body, tree.Implies) else None
    holds = next(h for h in core.conditions(theta.right) if h.role == preset.wanted)
    return holds, form.args[preset.roles.index(preset.wanted)].span


def _finding(code: str, message: str, statement: Statement, span: Span) -> Diagnostic:
    return Diagnostic.of(code, message, statement.source, span)
