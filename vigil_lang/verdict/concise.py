"""A verdict as lines for other programs: `run.jsonl:e5: R3 message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.verdict.verdict import Verdict


def lines(verdict: Verdict) -> Iterator[str]:
    """One line an offence; none for a run that is safe."""
    path = shown_path(verdict.trace.run.path)
    for statement, offence in verdict.offences():
        yield f"{path}:{visible(offence.event)}: {visible(statement.name)} {visible(offence.message)}"
