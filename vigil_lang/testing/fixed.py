"""A statement with the values of some variables given: what `violated with x = "M"` asks about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.semantics import core
from vigil_lang.smt.encode import Encoding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.smt.leaves import Matching
    from vigil_lang.trace import Trace


def at_fault(
    requirement: core.Requirement, values: Mapping[str, str], trace: Trace, matching: Matching | None = None
) -> set[int]:
    """The indices of the events at fault under some binding that gives these values.

    Those that a run does not carry, and variables the statement does not have, are in no binding.
    """
    if not set(values) <= set(requirement.variables) or not set(values.values()) <= set(trace.values):
        return set()
    theta = _body(requirement.theta, values)
    encoding = Encoding(core.Requirement(theta, core.variables_of(theta), None), trace, matching)
    failing = (c.event for c in encoding.conditions if not all(encoding.query.value(formula) for _, formula in c.cases))
    return set(failing)


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
