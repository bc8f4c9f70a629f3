"""Whether some run breaks a requirement: shown by one that does, or for want of it by the solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.analysis.counterexample import counterexample
from vigil_lang.analysis.entailment import valid
from vigil_lang.engines.smt.event import meeting
from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from vigil_lang.draft.clause_result import Fared

_FEW: Final = 3
_LIMIT: Final = "(set-option :reproducible-resource-limit 200000)"
"""Counted in Z3's steps, so that the answer does not depend on how busy the machine is."""


def breakable(requirement: core.Requirement, fared: Fared) -> bool:
    """Whether a requirement says anything: a given run breaks it, a guessed one, or (if need be) a conceivable one.

    In doubt it says nothing: a condition so involved that neither guesses nor the solver find an event for it is none
    that a reviewer understands.
    """
    if fared.violated or counterexample(_with_few(requirement)) is not None:
        return True
    if valid(requirement):
        return False
    theta = requirement.theta
    wanted = core.conditions(theta.left if isinstance(theta, core.Implies) else theta)
    return fared.exercised > 0 or all(_possible(holds.condition) for holds in wanted)


def _with_few(requirement: core.Requirement) -> core.Requirement:
    """A requirement with its count made small: if many events can pass it, few can pass the small one."""
    match requirement.theta:
        case core.Implies(left, core.Not(core.Repeated(count, body))) if count > _FEW:
            theta = core.Implies(left, core.Not(core.Repeated(_FEW, body)))
            return core.Requirement(theta, requirement.variables, requirement.trigger)
        case _:
            return requirement


def _possible(condition: core.Condition) -> bool:
    script = meeting([condition], lists=True)
    return script is not None and evaluate([_LIMIT, *script, "(check-sat)"]) == "sat"
