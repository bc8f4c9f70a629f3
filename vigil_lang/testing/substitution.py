"""A statement with the values of some variables given: what `violated with x = "M"` asks about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.engines.indexed import Judgement
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.engines.index import RunIndex


def at_fault(requirement: core.Requirement, values: Mapping[str, str], index: RunIndex) -> set[int]:
    """The indices of the events at fault under some binding that gives these values.

    Those that a run does not carry, and variables the statement does not have, are in no binding.
    """
    if not set(values) <= set(requirement.variables) or not set(values.values()) <= set(index.trace.values):
        return set()
    theta = _body(requirement.theta, values)
    given = core.Requirement(theta, core.variables_of(theta), None)
    return {violation.event for violation in Judgement(given, index).violations()}


def _body(theta: core.Theta, values: Mapping[str, str]) -> core.Theta:
    def given(test: core.Test) -> core.Condition:
        match test:
            case core.Equals(field, x) if x in values:
                return core.In(field, frozenset({values[x]}))
            case core.Contains(field, x) if x in values:
                return core.ContainsText(field, values[x])
            case _:
                return test

    return core.mapped(theta, lambda holds: replace(holds, condition=core.mapped_tests(holds.condition, given)))
