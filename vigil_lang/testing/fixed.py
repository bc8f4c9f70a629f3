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
    match theta:
        case core.Holds(condition):
            return replace(theta, condition=_condition(condition, values))
        case core.And(items) | core.Or(items):
            return replace(theta, items=tuple([_body(item, values) for item in items]))
        case core.Implies(left, right):
            return core.Implies(_body(left, values), _body(right, values))
        case core.Clear(resolver, forbidden):
            return core.Clear(_body(resolver, values), _body(forbidden, values))
        case core.Not(body) | core.Earlier(body) | core.Later(body) | core.Repeated(_, body):
            return replace(theta, body=_body(body, values))


def _condition(condition: core.Condition, values: Mapping[str, str]) -> core.Condition:
    match condition:
        case core.AndC(items) | core.OrC(items):
            return replace(condition, items=tuple([_condition(item, values) for item in items]))
        case core.NotC(body):
            return core.NotC(_condition(body, values))
        case core.Equals(field, x) if x in values:
            return core.In(field, frozenset({values[x]}))
        case core.Contains(field, x) if x in values:
            return core.ContainsText(field, values[x])
        case _:
            return condition
