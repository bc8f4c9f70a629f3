"""The Reviewdog Diagnostic Format, as one `DiagnosticResult`. Its columns count bytes of UTF-8, from 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.visible import safe_json, visible
from vigil_lang.report.paths import as_unicode

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source, Span
    from vigil_lang.report.content import Place, Report, Result

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(report: Report) -> str:
    """One JSON object on one line. Paths are relative to the working directory, where reviewdog is run."""
    diagnostics = [_diagnostic(report, result) for result in report.counted]
    return safe_json({"source": {"name": "vigil"}, "diagnostics": diagnostics}) + "\n"


def _diagnostic(report: Report, result: Result) -> dict[str, Any]:
    location: dict[str, Any] = {"path": as_unicode(report.places.from_here(result.place.path))}
    found = _place(result.place)
    if found is not None:
        location["range"] = found
    diagnostic: dict[str, Any] = {
        "message": "\n".join(map(visible, (result.message, *((result.help,) if result.help else ())))),
        "location": location,
        "severity": _SEVERITIES[result.level],
        "code": {"value": visible(result.rule.id)},
    }
    if result.fix is not None and not result.fix.hides:
        diagnostic["suggestions"] = [
            {"range": _range(result.place.source, edit.span), "text": edit.text} for edit in result.fix.edits
        ]
    return diagnostic


def _place(place: Place) -> dict[str, Any] | None:
    if place.span is not None:
        return _range(place.source, place.span)
    return None if place.line is None else {"start": {"line": place.line}}


def _range(source: Source, span: Span) -> dict[str, Any]:
    return {"start": _position(source, span.start), "end": _position(source, max(span.start, span.end))}


def _position(source: Source, offset: int) -> dict[str, int]:
    line, column = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return {"line": line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
