"""VGL331: statements that benign runs break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject

_SHOWN = 3


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The statements that more of the benign runs break than may."""
    if not subject.benign or not subject.policy.statements:
        return
    statements, runs = subject.policy.statements, subject.benign
    for statement, verdicts in zip(statements, subject.judged(runs), strict=True):
        broken = [v for v in verdicts if v.offending is not None]
        if not broken or len(broken) <= subject.benign_threshold * len(runs):
            continue
        shown = ", ".join(f"`{v.offending}` of {v.run.run.path}" for v in broken[:_SHOWN])
        more = f" and {len(broken) - _SHOWN} more" if len(broken) > _SHOWN else ""
        share = f"{len(broken)} of {len(runs)} benign runs break" if len(runs) > 1 else "a benign run breaks"
        if len(broken) == 1 < len(runs):
            share = f"1 of {len(runs)} benign runs breaks"
        yield Diagnostic.of(
            "VGL331",
            f"{share} `{statement.name}`",
            statement.source,
            statement.span,
            help=f"see {shown}{more}",
        )
