"""VGL408 and VGL409: statements that are vacuous, or always violated, within a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.semantics import core
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.analysis.reachability import Reachability
    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Signature

_OBSERVED: Final = "look for a slip in it, or add a recording that has it; only tool definitions tell what never occurs"


def vacuous(statement: Statement, reachability: Reachability) -> Diagnostic | None:
    """What can never occur of a statement within a signature, if that makes it idle or unkeepable.

    On a recorded run a prohibition is not idle because nobody broke it; a tool's definition is another matter.
    """
    theta, trigger, form = statement.requirement.theta, statement.requirement.trigger, statement.syntax.form
    body = form.args[0]
    if trigger is not None and not reachability.body(trigger).hold:
        message = _said(f"the trigger of `{statement.name}`", "the statement says nothing", reachability.signature)
        span = body.left.span if isinstance(body, tree.Implies) else body.span
        return _finding("VGL408", message, statement, span, reachability.signature)
    if reachability.signature.origin == "declared" and not reachability.body(theta).fail:
        message = f"what `{statement.name}` forbids can never occur, so the statement says nothing"
        span = body.span if len(form.args) == 1 else form.span
        return _finding("VGL408", message, statement, span, reachability.signature)
    wanted = _wanted(statement)
    if wanted is None or reachability.body(wanted[0]).hold:
        return None
    preset = statement.preset
    role, consequence = (preset.wanted, preset.unmet) if preset else ("consequence", "every trigger is a violation")
    message = _said(f"the {role} of `{statement.name}`", consequence, reachability.signature)
    return _finding("VGL409", message, statement, wanted[1], reachability.signature)


def _said(subject: str, consequence: str, signature: Signature) -> str:
    """What runs show is a fact about them; what can never occur only a declaration tells."""
    if signature.origin == "declared":
        return f"{subject} can never occur, so {consequence}"
    if not signature.runs:
        return f"{subject} does not occur in what the signature was observed in; there {consequence}"
    where = "does not occur in the run" if signature.runs == 1 else f"occurs in none of the {signature.runs} runs"
    return f"{subject} {where}; there {consequence}"


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


def _finding(code: str, message: str, statement: Statement, span: Span, signature: Signature) -> Diagnostic:
    return Diagnostic.of(
        code,
        message,
        statement.source,
        span,
        severity="info" if signature.shows_little else None,
        help=_OBSERVED if signature.origin == "observed" else None,
    )
