"""SARIF 2.1.0 (OASIS), within the limits of GitHub's code scanning.

Columns count code points. Paths are percent-encoded and relative to `%SRCROOT%`, whose place is left to the reader.
"""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vigil_lang.diagnostics.visible import safe_json, visible
from vigil_lang.report.content import Place, by_severity
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Diagnostic, Fix
    from vigil_lang.report.content import Report, Result, Rule, Step
    from vigil_lang.report.paths import Places

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

# GitHub refuses a file beyond these, or does not show what is beyond them.
MAX_BYTES = 10_000_000
MAX_RESULTS = 25_000
_MAX_STEPS = 1_000
_MAX_RELATED = 100
_MAX_REMARKS = 1_000

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}


def render(report: Report) -> str:
    """One JSON object on one line; the most severe results only where all would be more than GitHub takes."""
    kept = MAX_RESULTS
    while True:
        text = safe_json(_log(report, kept)) + "\n"
        if kept <= 1 or not _too_large(text):
            return text
        kept = min(kept, len(report.results)) // 2


def _too_large(text: str) -> bool:
    data = text.encode("utf-8", "backslashreplace")
    return len(data) > MAX_BYTES and len(gzip.compress(data, 6)) > MAX_BYTES


def _log(report: Report, limit: int) -> dict[str, Any]:
    results = _kept(report.results, limit)
    rules: dict[str, tuple[int, Rule]] = {}
    for result in results:
        rules.setdefault(result.rule.id, (len(rules), result.rule))
    remarks = [_remark(found, report.places) for found in report.remarks[:_MAX_REMARKS]]
    cut = len(report.results) - len(results)
    if cut:
        message = (
            f"{cut} of {len(report.results)} results were left out, the least severe: GitHub does not take as many"
        )
        remarks.append({"level": "warning", "message": _message(message)})
    invocation: dict[str, Any] = {"executionSuccessful": report.status < 2, "exitCode": report.status}
    if remarks:
        invocation["toolExecutionNotifications"] = remarks
    driver = {
        "name": "vigil",
        "version": __version__,
        "semanticVersion": __version__,
        "language": "en",
        "rules": [_rule(rule) for _, rule in rules.values()],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"vigil-{report.verb}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": _message("the root of the repository")}},
        "invocations": [invocation],
        "results": [_result(result, rules[result.rule.id][0], report.places) for result in results],
    }
    if report.figures:
        run["properties"] = dict(report.figures)
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _kept(results: Sequence[Result], limit: int) -> Sequence[Result]:
    if len(results) <= limit:
        return results
    counted = [result for result in results if result.suppressed is None]
    rest = [result for result in results if result.suppressed is not None]
    return (by_severity(counted) + by_severity(rest))[:limit]


# --- rules and results -------------------------------------------------------------------------------------


def _rule(rule: Rule) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "tags": [visible(tag) for tag in rule.tags],
        "precision": "very-high",
        "problem.severity": _PROBLEMS[rule.level],
    }
    if rule.security is not None:
        properties["security-severity"] = rule.security
    return {
        "id": visible(rule.id),
        "name": visible(rule.name),
        "shortDescription": {"text": visible(rule.summary)},
        "fullDescription": {"text": visible(rule.description)},
        "help": {"text": rule.page, "markdown": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": properties,
    }


def _result(result: Result, index: int, places: Places) -> dict[str, Any]:
    related = [
        {"id": number, **_location(place, places), "message": _message(message)}
        for number, (message, place) in enumerate(result.notes[:_MAX_RELATED], 1)
    ]
    location = _location(result.place, places)
    if result.subject is not None:
        name = visible(result.subject)
        location["logicalLocations"] = [
            {"name": name.rpartition(".")[2], "fullyQualifiedName": name, "kind": "declaration"}
        ]
    found: dict[str, Any] = {
        "ruleId": visible(result.rule.id),
        "ruleIndex": index,
        "level": _LEVELS[result.level],
        "message": _message(result.message + (f"; {result.help}" if result.help else "")),
        "locations": [location],
        "partialFingerprints": {
            "primaryLocationLineHash": f"{result.fingerprint[:16]}:1",
            "vigilFinding/v1": result.fingerprint,
        },
    }
    if related:
        found["relatedLocations"] = related
    if result.steps:
        found["codeFlows"] = [{"threadFlows": [{"locations": _flow(result.steps, places)}]}]
    if result.fix is not None and not result.fix.hides:
        found["fixes"] = [_fix(result.fix, result.place, places)]
    if result.suppressed is not None:
        reason = visible(result.suppressed.reason)
        found["suppressions"] = [
            {"kind": result.suppressed.kind, "status": "accepted"} | ({"justification": reason} if reason else {})
        ]
    return found


def _flow(steps: Sequence[Step], places: Places) -> list[dict[str, Any]]:
    offending = [step for step in steps if step.offends]
    kept = steps if len(steps) <= _MAX_STEPS else (offending + [s for s in steps if not s.offends])[:_MAX_STEPS]
    return [_step(step, places) for step in sorted(kept, key=lambda step: step.index)]


def _step(step: Step, places: Places) -> dict[str, Any]:
    found: dict[str, Any] = {
        "location": {**_location(step.place, places), "message": _message(step.message)},
        "kinds": ["call"],
        "executionOrder": step.index + 1,
        "importance": "essential" if step.offends else "important",
    }
    if step.time is not None and (time := _time(step.time)) is not None:
        found["executionTimeUtc"] = time
    return found


def _time(microseconds: int) -> str | None:
    try:
        time = datetime.fromtimestamp(microseconds / 1_000_000, UTC)
    except (OverflowError, ValueError, OSError):  # a year that a date cannot have
        return None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fix(fix: Fix, place: Place, places: Places) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(Place.of(place.source, edit.span)), "insertedContent": {"text": edit.text}}
        for edit in fix.edits
    ]
    title = fix.title + ("" if fix.safe else " (may change what the policy means)")
    return {
        "description": _message(title),
        "artifactChanges": [{"artifactLocation": _artifact(place.path, places), "replacements": replacements}],
    }


def _remark(found: Diagnostic, places: Places) -> dict[str, Any]:
    return {
        "descriptor": {"id": found.code},
        "level": _LEVELS[found.severity],
        "message": _message(found.message + (f"; {found.help}" if found.help else "")),
        "locations": [_location(Place.of(found.source, found.span), places)],
    }


# --- places ------------------------------------------------------------------------------------------------


def _location(place: Place, places: Places) -> dict[str, Any]:
    region = _region(place)
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.path, places)}
    # GitHub does not take a place in a file without a line.
    physical["region"] = region or {"startLine": 1}
    return {"physicalLocation": physical}


def _artifact(path: str, places: Places) -> dict[str, str]:
    return {"uri": quote(_bytes(places.in_root(path)), safe="/"), "uriBaseId": "%SRCROOT%"}


def _bytes(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # no name of a file, but a URI all the same
        return path.encode("utf-8", "surrogatepass")


def _region(place: Place) -> dict[str, int]:
    found = place.range()
    if found is None:
        return {} if place.line is None else {"startLine": place.line}
    (line, column), (end_line, end_column) = found
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _message(text: str) -> dict[str, str]:
    """A message that is text and no link: SARIF's own `[text](target)` is only ever ours to write."""
    shown = visible(text)
    if "](" in shown:
        shown = shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"text": shown}
