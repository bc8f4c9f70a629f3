"""The operands of `and` and `or` in the temporal body of `always`, as questions to a run.

What should be seen of an operand is asked as a body of its own: `always a() implies (earlier b() or later c())` shows
its first disjunct false where some event meets `a() and not earlier b()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vigil_lang.engines.indexed import Judgement
from vigil_lang.semantics import core
from vigil_lang.syntax import tree
from vigil_lang.testing.always_body import unscoped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vigil_lang.engines.index import RunIndex
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.testing.coverage_points import Point, Points, Seen


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand's point, and for each thing to be seen of it the body that holds at some event of a run showing it."""

    point: Point
    asked: Mapping[Seen, core.Theta]

    def run(self, index: RunIndex, points: Points) -> None:
        """Note what a run shows of the operand."""
        for seen, theta in self.asked.items():
            if seen not in self.point.seen and points.spend(len(index.trace) * len(core.conditions(theta))):
                requirement = core.Requirement(core.Not(theta), core.variables_of(theta), None)
                if any(Judgement(requirement, index).violations()):
                    self.point.seen.add(seen)


def operands(statement: Statement, points: Points) -> list[Operand]:
    """The operands in a statement's body, each with its point; none but `always` has such."""
    if statement.preset is not None:
        return []
    body, scope = unscoped(statement)
    walk = _operands(statement.syntax.form.args[0], body, lambda theta: core.And((theta, *scope)) if scope else theta)
    return [
        Operand(points.point(kind, statement.source, expr.span, set(asked)), asked)
        for kind, expr, asked in walk
        if asked
    ]


def _operands(
    expr: tree.Expr, theta: core.Theta, reached: Callable[[core.Theta], core.Theta]
) -> Iterator[tuple[Literal["conjunct", "disjunct"], tree.Expr, dict[Seen, core.Theta]]]:
    """Operands as written, with what is asked. `reached` has a body hold where this one matters to the statement.

    The tree and the core are built alike.
    """
    match expr, theta:
        case tree.Diamond(_, _, body), core.Earlier(inner, bound):
            yield from _operands(body, inner, lambda new: reached(core.Earlier(new, bound)))
        case tree.Diamond(_, _, body), core.Later(inner, bound):
            yield from _operands(body, inner, lambda new: reached(core.Later(new, bound)))
        case tree.Implies(before, after), core.Implies(left, right):
            yield from _operands(before, left, reached)
            yield from _operands(after, right, lambda new: reached(core.And((left, new))))
        case tree.Not(body), core.Not(inner):
            yield from _operands(body, inner, reached)
        case tree.Or(parts), core.Or(items):
            for part, item in zip(parts, items, strict=True):
                yield "disjunct", part, {"true": reached(item), "false": reached(core.Not(item))}
                yield from _operands(part, item, reached)
        case tree.And(parts), core.And(items):
            for part, item in zip(parts, items, strict=True):
                alone = core.And(tuple([core.Not(item) if other is item else other for other in items]))
                yield "conjunct", part, {} if _names_actions(item) else {"decides": reached(alone)}
                yield from _operands(part, item, reached)


def _names_actions(theta: core.Theta) -> bool:
    """Whether this is a condition on actions: that others come where it is asked for need not be shown."""
    return isinstance(theta, core.Holds) and any(
        isinstance(test, core.ActionIn | core.ActionMatches) for test in core.tests(theta.condition)
    )
