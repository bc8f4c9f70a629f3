"""Findings about policies as a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.report.content import Place, Report, Result, Suppression, count
from vigil_lang.report.fingerprint import fingerprints
from vigil_lang.report.pages import rule_of
from vigil_lang.report.paths import Places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that does not count, and why."""

    finding: Diagnostic
    why: Suppression


def findings_report(
    findings: Sequence[Diagnostic],
    *,
    verb: str = "check",
    files: Sequence[str] = (),
    status: int = 0,
    suppressed: Sequence[Suppressed] = (),
) -> Report:
    """A report of findings. `files` are all that were looked at, also those that are clean."""
    places = Places.now()
    return Report(
        verb,
        count(found.severity for found in findings),
        results(findings, places, suppressed),
        places,
        status,
        files,
    )


def results(findings: Sequence[Diagnostic], places: Places, suppressed: Sequence[Suppressed] = ()) -> list[Result]:
    """A result for each finding, those that are suppressed last.

    Fingerprints count all of them, so that one does not change because another is put into a baseline.
    """
    every = [*findings, *(item.finding for item in suppressed)]
    reasons: list[Suppression | None] = [None] * len(findings)
    reasons += [item.why for item in suppressed]
    marks = fingerprints(every, places.in_root)
    return [_result(found, mark, why) for found, mark, why in zip(every, marks, reasons, strict=True)]


def _result(found: Diagnostic, mark: str, why: Suppression | None) -> Result:
    return Result(
        rule_of(found.code),
        found.severity,
        found.message,
        Place.of(found.source, found.span),
        mark,
        found.help,
        tuple((note.message, Place.of(note.source, note.span)) for note in found.notes),
        found.fix,
        suppressed=why,
    )
