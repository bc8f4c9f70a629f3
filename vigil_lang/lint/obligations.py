"""The events that a statement asks for, whatever its form: a guard before its trigger, a response after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement


class Obligation(NamedTuple):
    """One event that a trigger asks for, earlier or later; `scoped` where only triggers after something count."""

    trigger: core.Holds
    wanted: core.Holds
    scoped: bool


def obligations(requirement: core.Requirement, diamond: type[core.Earlier | core.Later]) -> Iterator[Obligation]:
    """The obligations of a requirement in one direction."""
    theta = requirement.theta
    if type(theta) is not core.Implies:
        return
    trigger = triggering(theta.left)
    if trigger is None:
        return
    right = theta.right
    for part in right.items if isinstance(right, core.And) else (right,):
        if isinstance(part, diamond) and isinstance(part.body, core.Holds):
            yield Obligation(trigger, part.body, trigger is not theta.left)


def triggering(left: core.Theta) -> core.Holds | None:
    """The condition of a trigger, with `after` and `where` or without; None for a trigger of another shape."""
    match left:
        case core.Holds():
            return left
        case core.And((core.Holds() as first, *scope)) if all(map(_is_scope, scope)):
            return first
        case _:
            return None


def _is_scope(theta: core.Theta) -> bool:
    return isinstance(theta, core.Where) or (
        isinstance(theta, core.Earlier) and theta.bound is None and isinstance(theta.body, core.Holds)
    )


def implied(subject: Subject, statement: Statement, one: core.Holds, other: core.Holds) -> bool:
    """Whether it is certain that all events of one condition meet another, and that there are such events.

    Whatever the values of params are: with some it may be so by chance.
    """
    if statement.params and statement.label(one) != statement.label(other):
        return False
    known = subject.implications
    return known.suspected(one.condition, other.condition) and known.impossible((one.condition,)) is not True
