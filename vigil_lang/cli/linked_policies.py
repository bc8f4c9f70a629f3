"""What the verbs that judge have in common: policies loaded together, and a run judged by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.cli.output import ToolFault
from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.engines.effort import Effort
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace
    from vigil_lang.verdict import Verdict


def load_policies(paths: Iterable[str], values: Mapping[str, object] | None = None) -> list[Policy]:
    """The policies of several arguments.

    Raises:
        InputError: with what is wrong in any of them, not only in the first.
    """
    from vigil_lang.semantics.policy import load_policy

    policies: list[Policy] = []
    wrong: list[Diagnostic] = []
    for path in paths:
        try:
            policies.append(load_policy(path, values))
        except InputError as error:
            wrong += error.diagnostics
    if wrong:
        raise InputError(wrong)
    return policies


def judge(policies: Sequence[Policy], trace: Trace, effort: Effort | None = None) -> Verdict:
    """A run judged by policies; runs of one recording share an `effort`.

    Raises:
        InputError: VGL003, that would take more than the size of the run warrants.
        ToolFault: VGL901, the solver did not confirm the verdict.
    """
    from vigil_lang.engines.smt.solve import SolverDisagrees
    from vigil_lang.engines.smt.verify import verify

    try:
        return verify(policies, trace, effort)
    except SolverDisagrees as error:
        message = f"the solver did not confirm the verdict: {error}"
        raise ToolFault(Diagnostic.of("VGL901", message, Source(trace.run.path, ""))) from error
