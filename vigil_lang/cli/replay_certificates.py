"""Decisions of a replay confirmed by the SMT engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.interface import Violation
from vigil_lang.engines.smt.breach import Breaches
from vigil_lang.engines.smt.solve import SolverDisagrees
from vigil_lang.engines.smt.verify import verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.enforce.run import Broken
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace
    from vigil_lang.verdict import SolverAnswer


class SolverCertifier:
    """Has Z3 confirm each violation ahead on the slice of the run that decides it; at the end, with `whole`, all."""

    def __init__(self, policies: Sequence[Policy], *, whole: bool) -> None:
        self._policies = policies
        self._of = {id(statement): policy for policy in policies for statement in policy.statements}
        self._whole = whole

    def breach(self, broken: Broken, trace: Trace, without: Trace | None) -> SolverAnswer | None:
        """The answer on a violation by a pending call; None where only what calls in flight may do bears it out.

        Raises:
            SolverDisagrees: no call is in flight, and Z3 does not confirm it; a fault of this program.
            TooCostly: VGL003, that would take more than the size of the run warrants.
        """
        for prefix in (trace,) if without is None else (trace, without):
            at = prefix.index_of.get(broken.offence.event)
            if at is None:
                continue
            found = Violation(at, tuple(broken.offence.bindings.values()))
            try:
                judged = Breaches(prefix).certified(self._of[id(broken.statement)], broken.statement, found)
            except SolverDisagrees:
                if without is None:
                    raise
            else:
                return judged.solver
        return None

    def end(self, trace: Trace) -> tuple[SolverAnswer, ...]:
        """The answers on the whole run.

        Raises:
            SolverDisagrees, TooCostly: as `breach` does.
        """
        if not self._whole:
            return ()
        return tuple(found.solver for found in verify(self._policies, trace).statements)
