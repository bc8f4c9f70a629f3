"""VGL321: bounds that the given runs never reach, and durations where their events have no times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The bounds of statements, against all the runs that are given."""
    if not subject.runs or not any(run.events for run in subject.runs):
        return
    for statement in subject.policy.statements:
        written = list(_written(statement.syntax))
        if written:
            for bound, meant in zip(written, _meant(statement), strict=True):
                yield from _finding(statement, bound, meant, subject.runs)


def _written(statement: tree.Statement) -> Iterator[tree.Bound]:
    """The bounds of a statement, left to right."""
    if statement.form.bound is not None:
        yield statement.form.bound
    waiting: list[object] = list(reversed(statement.form.args)) if statement.form.name not in FORMS else []
    while waiting:
        match waiting.pop():
            case tree.Diamond(_, bound, body):
                if bound is not None:
                    yield bound
                waiting.append(body)
            case tree.And(items) | tree.Or(items):
                waiting += reversed(items)
            case tree.Implies(left, right):
                waiting += (right, left)
            case tree.Not(body):
                waiting.append(body)


def _meant(statement: Statement) -> list[core.Calls | core.Within]:
    """What they mean, in the same order."""
    found: list[core.Calls | core.Within] = []
    waiting: list[core.Theta] = [statement.requirement.theta]
    while waiting:
        match waiting.pop():
            case core.Earlier(body, bound) | core.Later(body, bound):
                if bound is not None:
                    found.append(bound)
                waiting.append(body)
            case core.Repeated(count):
                found.append(core.Calls(count))
            case core.And(items) | core.Or(items):
                waiting += reversed(items)
            case core.Implies(left, right) | core.Clear(left, right):
                waiting += (right, left)
            case core.Not(body):
                waiting.append(body)
    return found


def _finding(
    statement: Statement, written: tree.Bound, meant: core.Calls | core.Within, runs: Sequence[Trace]
) -> Iterator[Diagnostic]:
    shown = f"[{written.raw}]"
    if isinstance(meant, core.Calls):
        longest = max(max(run.call_index, default=-1) + 1 for run in runs)
        if meant.count < longest:
            return
        calls = f"{longest} call{'s' * (longest != 1)}"
        most = f"the longest run has {calls}" if len(runs) > 1 else f"the run has {calls}"
        message = f"`{shown}` is never reached: {most}"
        counts = statement.preset is not None and statement.preset.only_forbids
        without = "it can never be broken" if counts else "the bound makes no difference"
        help_text = f"on these runs {without}"
    else:
        if any(event.time is not None for run in runs for event in run.events):
            return
        which = "no event of the runs has" if len(runs) > 1 else "no event of the run has"
        message = f"`{shown}` is a duration, and {which} a time"
        help_text = "a duration needs events that have times; count calls instead: `[3]`"
    yield Diagnostic.of("VGL321", message, statement.source, written.span, help=help_text)
