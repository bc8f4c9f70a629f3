"""GitLab's code quality report: an array of issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.visible import safe_json, visible
from vigil_lang.report.paths import as_unicode

if TYPE_CHECKING:
    from vigil_lang.report.content import Report, Result

# `blocker` and `critical` are what a merge request shows first.
_SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}


def render(report: Report) -> str:
    """One JSON array on one line."""
    return safe_json([_issue(report, result) for result in report.counted]) + "\n"


def _issue(report: Report, result: Result) -> dict[str, Any]:
    found = result.place.range()
    lines = {"begin": result.place.line or 1}
    if found is not None:
        lines["end"] = found[1][0]
    return {
        "description": visible(result.message + (f"; {result.help}" if result.help else "")),
        "check_name": visible(result.rule.id),
        "fingerprint": result.fingerprint,
        "severity": "blocker" if result.blocks and result.level == "error" else _SEVERITIES[result.level],
        "location": {"path": as_unicode(report.places.in_root(result.place.path)), "lines": lines},
    }
