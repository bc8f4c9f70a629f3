"""Findings as records without their sources' texts, for the cache and between processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from vigil_lang.base.files import read_source
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, InputError, Note, Severity, Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class _Fix(Struct, array_like=True, frozen=True):
    title: str
    safe: bool
    edits: list[tuple[int, int, str]]


class Record(Struct, array_like=True, frozen=True):
    """One finding; `file` and the first of a note's numbers are positions in the list of paths."""

    code: str
    message: str
    file: int
    start: int
    end: int
    severity: Severity
    help: str | None
    fix: _Fix | None
    notes: list[tuple[str, int, int, int]]


class Records(Struct, array_like=True, frozen=True):
    """Findings with the paths they speak of, and which of these have no text to be shown (a folder, a missing file)."""

    paths: list[str]
    empty: list[bool]
    found: list[Record]


def encode(findings: Iterable[Diagnostic]) -> Records:
    """The records of findings."""
    index: dict[tuple[str, bool], int] = {}

    def at(source: Source) -> int:
        return index.setdefault((source.path, not source.text), len(index))

    found = [
        Record(
            f.code,
            f.message,
            at(f.source),
            f.span.start,
            f.span.end,
            f.severity,
            f.help,
            _Fix(f.fix.title, f.fix.safe, [(*edit.span, edit.text) for edit in f.fix.edits]) if f.fix else None,
            [(note.message, at(note.source), *note.span) for note in f.notes],
        )
        for f in findings
    ]
    return Records([path for path, _ in index], [empty for _, empty in index], found)


def decode(records: Records, known: Iterable[Source] = ()) -> list[Diagnostic]:
    """The findings of records; `known` are sources that need not be read again."""
    if not records.found:
        return []
    texts = {source.path: source for source in known}
    sources = [
        Source(path, "") if empty else texts.get(path) or _read(path)
        for path, empty in zip(records.paths, records.empty, strict=True)
    ]
    return [_finding(record, sources) for record in records.found]


def _finding(record: Record, sources: Sequence[Source]) -> Diagnostic:
    fix = record.fix
    edits = tuple(Edit(Span(start, end), text) for start, end, text in fix.edits) if fix else ()
    return Diagnostic(
        record.code,
        record.message,
        sources[record.file],
        _span(record.start, record.end, sources[record.file]),
        record.severity,
        record.help,
        Fix(fix.title, edits, fix.safe) if fix else None,
        tuple(Note(text, sources[file], _span(start, end, sources[file])) for text, file, start, end in record.notes),
    )


def _span(start: int, end: int, source: Source) -> Span:
    """A span within its source, which may have changed while it was judged."""
    return Span(min(start, len(source.text)), min(end, len(source.text)))


def _read(path: str) -> Source:
    """A source as it is now; one that is gone has no text to show."""
    try:
        return read_source(path)
    except InputError:
        return Source(path, "")
