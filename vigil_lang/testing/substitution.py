"""A statement with the values of some variables given: what `violated with x = "M"` asks about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.indexed import Judgement
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.engines.index import RunIndex


def at_fault(requirement: core.Requirement, values: Mapping[str, str], index: RunIndex) -> set[int]:
    """The indices of the events at fault under some binding that gives these values.

    Those that a run does not carry, and variables the statement does not have, are in no binding.
    """
    if not set(values) <= set(requirement.variables):
        return set()
    given = core.AndC(tuple([core.In(core.Reads(x), frozenset({value})) for x, value in values.items()]))
    asked = core.Requirement(core.Implies(core.Where(given), requirement.theta), requirement.variables, None)
    return {violation.event for violation in Judgement(asked, index).violations()}
