"""Range restriction: every way to violate a statement binds each of its variables by an equality (spec 7.11).

`contains x` and negated tests look at a value that something else has to give; only `k = x` gives one. A statement
some of whose variables nothing binds would ask about every text there is: its verdict on an event could change with
whatever values turn up later, so it is refused.
"""

from __future__ import annotations

from typing import TypeAlias

from vigil_lang.semantics import core

Variables: TypeAlias = frozenset[str]
_NONE: Variables = frozenset()


def unbound(requirement: core.Requirement) -> tuple[str, ...]:
    """The variables that some way to violate a requirement leaves without a value, in order of appearance."""
    if not requirement.variables:
        return ()
    bound = bound_by(requirement.theta, False, frozenset(requirement.variables))
    return tuple([x for x in requirement.variables if x not in bound])


def bound_by(node: core.Theta | core.Condition, true: bool, everything: Variables) -> Variables:
    """The variables that get a value however a body or condition comes to be true (or false).

    `everything` is what a thing binds that can never be so: an `or` of nothing, an `and` that is to be false.
    """
    match node:
        case core.Equals(_, x):
            return frozenset({x}) if true else _NONE
        case core.Holds(condition):
            return bound_by(condition, true, everything)
        case core.Not(body) | core.NotC(body):
            return bound_by(body, not true, everything)
        case core.And(items) | core.AndC(items):
            return (_some if true else _each)([bound_by(item, true, everything) for item in items], everything)
        case core.Or(items) | core.OrC(items):
            return (_each if true else _some)([bound_by(item, true, everything) for item in items], everything)
        case core.Implies(left, right):
            sides = [bound_by(left, not true, everything), bound_by(right, true, everything)]
            return (_each if true else _some)(sides, everything)
        # What an event elsewhere met is found at that event; that no event met it may be because there is none.
        case core.Earlier(body) | core.Later(body) | core.Repeated(body=body):
            return bound_by(body, True, everything) if true else _NONE
        case core.Since(_, right, _, weak) | core.Until(_, right, _, weak):
            return bound_by(right, True, everything) if true and not weak else _NONE
        case core.Entry(_, body):
            return bound_by(body, True, everything) if true else _NONE
        case core.Clear(_, forbidden):
            return _NONE if true else bound_by(forbidden, True, everything)
        case _:
            return _NONE


def _some(parts: list[Variables], _: Variables) -> Variables:
    return frozenset[str]().union(*parts)


def _each(parts: list[Variables], everything: Variables) -> Variables:
    return everything.intersection(*parts)
