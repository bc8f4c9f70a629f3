"""Findings as text for programs: one line each, or one JSON object (`vigil.findings/1`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.visible import safe_json, shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics.diagnostic import Diagnostic, Fix, Source, Span

SCHEMA = "vigil.findings/1"


def concise(found: Diagnostic) -> str:
    """`file:line:column: VGL201 message`, on one line whatever the file or the message holds."""
    line, column = found.source.position(found.span.start)
    return f"{shown_path(found.source.path)}:{line}:{column}: {found.code} {visible(found.message)}"


def findings_json(findings: Iterable[Diagnostic]) -> str:
    """The published object, on one line."""
    return safe_json({"schema": SCHEMA, "findings": [to_json(found) for found in findings]})


def finding_json(found: Diagnostic) -> str:
    """One finding in its published form, on one line."""
    return safe_json(to_json(found))


def to_json(found: Diagnostic) -> dict[str, Any]:
    """One finding in its published form; `help` and `fix` are null where there is none."""
    return {
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "help": found.help,
        "file": found.source.path,
        **_range(found.source, found.span),
        "fix": _fix(found.source, found.fix) if found.fix and not found.fix.hides else None,
    }


def _fix(source: Source, fix: Fix) -> dict[str, Any]:
    edits = [{**_range(source, edit.span), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}


def _range(source: Source, span: Span) -> dict[str, Any]:
    return {"start": _place(source, span.start), "end": _place(source, span.end)}


def _place(source: Source, offset: int) -> dict[str, int]:
    line, column = source.position(offset)
    return {"line": line, "column": column}
