"""VGL321: bounds that the given runs never reach, and durations where their events have no times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import bound_of, counted_by
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace


class _Limit(NamedTuple):
    """A bound as it is written and what it means; a count asks for so many calls, this one among them."""

    written: tree.Bound
    meant: core.Bound
    counts: bool = False


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The bounds of statements, against all the runs that are given."""
    if not subject.runs or not any(run.events for run in subject.runs):
        return
    for statement in subject.policy.statements:
        for limit in _limits(statement):
            yield from _finding(statement, limit, subject.runs)


def _limits(statement: Statement) -> Iterator[_Limit]:
    """The bounds of a statement, left to right."""
    form, theta = statement.syntax.form, statement.meaning.theta
    if statement.preset is None:
        written, meant = list(_written(form.args[0])), list(_meant(theta))
        yield from (_Limit(bound, *of) for bound, of in zip(written, meant, strict=True))
        return
    counted = counted_by(theta)
    if form.bound is not None and isinstance(counted, core.Repeated):
        yield _Limit(form.bound, core.Calls(counted.count), counts=True)
    elif form.bound is not None:
        yield _Limit(form.bound, bound_of(theta))
    if form.window is not None and counted is not None:
        yield _Limit(form.window, counted.bound)


def _written(body: tree.Expr) -> Iterator[tree.Bound]:
    waiting = [body]
    while waiting:
        match waiting.pop():
            case tree.Diamond(_, bound, inner):
                if bound is not None:
                    yield bound
                waiting.append(inner)
            case tree.Interval(_, _, bound, left, right):
                if bound is not None:
                    yield bound
                waiting += (right, left)
            case tree.Repeated(bound, inner):
                yield bound
                waiting.append(inner)
            case tree.And(items) | tree.Or(items):
                waiting += reversed(items)
            case tree.Implies(left, right):
                waiting += (right, left)
            case tree.Not(inner):
                waiting.append(inner)


def _meant(theta: core.Theta) -> Iterator[tuple[core.Bound, bool]]:
    """What the bounds of a body mean, in the same order, and whether each is a count."""
    for body in core.bodies(theta):
        match body:
            case core.Earlier(_, bound) | core.Later(_, bound) | core.Since(_, _, bound) | core.Until(_, _, bound):
                if bound is not None:
                    yield bound, False
            case core.Repeated(count):
                yield core.Calls(count), True


def _finding(statement: Statement, limit: _Limit, runs: Sequence[Trace]) -> Iterator[Diagnostic]:
    written, meant = limit.written, limit.meant
    shown = f"[{written.raw}]" if written is not statement.syntax.form.window else f"in {written.raw}"
    match meant:
        case core.Within():
            if any(event.time is not None for run in runs for event in run.events):
                return
            which = "no event of the runs has" if len(runs) > 1 else "no event of the run has"
            message = f"`{shown}` is a duration, and {which} a time"
            help_text = "a duration needs events that have times; count calls instead: `[3]`"
        case core.Calls(count, least) | core.Steps(count, least):
            steps = isinstance(meant, core.Steps)
            longest = max(len(run.events) if steps else max(run.call_index, default=-1) + 1 for run in runs)
            follows = _help(statement, limit, count, least, longest)
            if follows is None:
                return
            help_text = follows
            unit = f"{'event' if steps else 'call'}{'s' * (longest != 1)}"
            most = f"the longest run has {longest} {unit}" if len(runs) > 1 else f"the run has {longest} {unit}"
            message = f"`{shown}` is never reached: {most}"
        case None:
            return
    yield Diagnostic.of("VGL321", message, statement.source, written.span, help=help_text)


def _help(statement: Statement, limit: _Limit, count: int, least: int, longest: int) -> str | None:
    """What follows from a bound that runs of so many calls never reach; None where they reach it."""
    preset = statement.preset
    if limit.counts and preset is not None and preset.only_forbids:
        return "on these runs it can never be broken" if count >= longest else None
    if limit.counts:
        return "on these runs it never holds" if count > longest else None
    if least:
        return "on these runs nothing is that far away" if least >= longest else None
    return "on these runs the bound makes no difference" if count >= longest else None
