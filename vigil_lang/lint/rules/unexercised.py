"""VGL332: statements that no given run puts to the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The statements that the runs satisfy only because nothing in them is what the statements are about.

    Where the signature tells already that a trigger cannot occur, that is VGL408.
    """
    if not subject.runs or not subject.policy.statements:
        return
    from vigil_lang.lint.signature.vacuity import vacuous

    statements, runs, reachability = subject.policy.statements, subject.runs, subject.reachability
    for statement, verdicts in zip(statements, subject.judged(runs), strict=True):
        if any(v.concerned for v in verdicts):
            continue
        if (
            reachability is not None
            and (told := vacuous(statement, reachability)) is not None
            and told.code == "VGL408"
        ):
            continue
        what = "its trigger never occurs" if statement.requirement.trigger is not None else "no event concerns it"
        which = f"none of the {len(runs)} runs puts" if len(runs) > 1 else "the run does not put"
        yield Diagnostic.of(
            "VGL332",
            f"{which} `{statement.name}` to the test: {what}",
            statement.source,
            statement.span,
            help="compare its names with those of the runs, or add a run that puts it to the test",
        )
