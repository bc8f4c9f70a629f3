"""The summary of a job, in Markdown that hostile names and messages cannot break out of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lang.report.content import by_severity
from vigil_lang.report.markdown import cell

if TYPE_CHECKING:
    from vigil_lang.report.content import Report, Result

# GitHub takes a MiB from a step.
MAX_BYTES = 1 << 20
_ROOM_FOR_END = 200
_SIGNS = {"error": "🔴 error", "warning": "🟠 warning", "info": "🔵 note"}


def summary(report: Report, room: int = MAX_BYTES) -> str:
    """A heading and a table with a row for each result that counts, in at most `room` bytes."""
    text = f"### vigil {report.verb}: {report.headline}\n\n"
    results = by_severity(report.counted)
    if results:
        text += "| | Where | What | Message |\n|---|---|---|---|\n"
    parts, used = [text], len(text.encode())
    for number, result in enumerate(results):
        row = _row(report, result)
        used += len(row.encode())
        if used > room - _ROOM_FOR_END:
            parts.append(f"\nand {len(results) - number} more.\n")
            break
        parts.append(row)
    parts.append("\n")
    whole = "".join(parts)
    return whole if len(whole.encode()) <= room else ""


def append_summary(report: Report, path: str) -> list[Diagnostic]:
    """Append the summary to the file that GitHub names for it; what kept it from being written, as findings.

    The file holds what earlier commands of the same step wrote, which counts towards its size.
    """
    try:
        with Path(path).open("ab") as stream:
            stream.write(summary(report, MAX_BYTES - stream.tell()).encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        message = f"the summary of the job cannot be written: {reason.lower()}"
        return [Diagnostic.of("VGL004", message, Source(path, ""), severity="warning")]
    return []


def _row(report: Report, result: Result) -> str:
    where = f"{report.places.in_root(result.place.path)}:{result.place.line or 1}"
    what = result.subject or result.rule.id
    cells = (_SIGNS[result.level], cell(where), cell(what), cell(result.message))
    return f"| {' | '.join(cells)} |\n"
