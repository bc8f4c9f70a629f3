"""The report of a draft in Markdown, for a pull request.

What documents and models wrote stands in code spans, where no reader of Markdown takes it for a link, a mention, or
HTML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.draft.reports.not_taken import by_reason, not_taken
from vigil_lang.draft.reports.report import (
    FAILED,
    form_text,
    headline,
    in_context,
    many,
    notes,
    remarks,
    runs_text,
    spent,
    standing_of,
    why,
)
from vigil_lang.report.markdown import cell, code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.draft.clause_result import Entry
    from vigil_lang.draft.reports.report import Report, Standing

MAX_CHARS = 60_000
"""Characters of a report; GitHub takes 65,536 of a comment."""

_SENTENCE = 300
_ROOM_FOR_END = 1_600
_REMARKS = 20
_SECTIONS: tuple[tuple[Standing, str, str], ...] = (
    ("kept", "In the policy", "Statement"),
    ("failed", "Without an acceptable answer", "Why"),
    ("unsupported", "Unsupported", "Why"),
    ("not_normative", "Not normative", "Why"),
)


@dataclass(slots=True)
class _Page:
    """Lines of Markdown that have room for so many characters."""

    lines: list[str] = field(default_factory=list)
    used: int = 0

    def add(self, *lines: str) -> None:
        self.lines += lines
        self.used += sum(len(line) + 1 for line in lines)

    def fits(self, line: str) -> bool:
        """Add a line if there is room for it, and for the end of the page."""
        if self.used + len(line) > MAX_CHARS - _ROOM_FOR_END:
            return False
        self.add(line)
        return True


def to_markdown(report: Report) -> str:
    """Headings and tables of the clauses, at most `MAX_CHARS` characters; says how much had no room.

    What is no clause is folded away behind them.
    """
    where = code(report.policy or report.name)
    title = where if report.statements else f"no policy for {where}"
    page = _Page()
    page.add(f"### vigil draft: {title}", "", _sentence_of(report), "")
    left = 0
    for standing, title, column in _SECTIONS:
        entries = report.standing(standing)
        if not entries:
            continue
        page.add(f"#### {title}", "", f"| Clause | {column} |", "|---|---|")
        left += sum(not page.fits(_row(entry)) for entry in entries)
        page.add("")
    if left:
        page.add(f"There is no room here for {many(left, 'more clause')}; the JSON report has all.", "")
    told = list(_remarks(report))
    for remark in told[:_REMARKS]:
        page.fits(remark)
    page.add(*([""] if told else []))
    _fold_others(report, page)
    page.add(" · ".join(spent(report, code)), "")
    return "\n".join(page.lines)


def _fold_others(report: Report, page: _Page) -> None:
    """What is no clause, under the reasons, as far as there is room."""
    others = report.draft.others
    if not others or not page.fits(f"<details><summary>{not_taken(others)}</summary>"):
        return
    left = 0
    for title, listed in by_reason(others):
        page.add("", f"**{title}**", "")
        left += sum(not page.fits(f"- {code(f'{o.path}:{o.line}')} {code(o.text[:_SENTENCE])}") for o in listed)
    if left:
        page.add("", f"There is no room here for {left:,} more; the JSON report has all.")
    page.add("", "</details>", "")


def _sentence_of(report: Report) -> str:
    documents = ", ".join(code(document) for document in report.draft.documents[:5])
    more = f" and {many(len(report.draft.documents) - 5, 'more document')}" if report.draft.documents[5:] else ""
    counted = headline(report)
    if report.draft.complete:
        return f"From {documents}{more}: {counted}."
    return f"From {documents}{more}: {counted}. **The draft is incomplete.**"


def _row(entry: Entry) -> str:
    clause = entry.clause
    shown = [f"{cell(f'{clause.path}:{clause.line}')} {cell(in_context(clause, _SENTENCE))}"]
    if clause.hostile is not None:
        shown.append(f"⚠️ may speak to the model: {cell(clause.hostile)}")
    return f"| {'<br>'.join(shown)} | {'<br>'.join(_answer(entry))} |"


def _answer(entry: Entry) -> Iterator[str]:
    """What the second column says, line by line."""
    for drafted in entry.statements:
        yield f"**{cell(drafted.statement.name.text)}** {cell(form_text(drafted))}"
        if found := runs_text(drafted.run_counts):
            yield found
        yield from (f"note: {cell(note)}" for note in notes(drafted))
    if entry.outcome != "kept":
        if standing_of(entry) == "failed" and entry.cause is not None:
            yield FAILED[entry.cause].partition(":")[0]
        if said := why(entry):
            yield cell(said)
        yield from (cell(problem) for problem in entry.problems[:3])


def _remarks(report: Report) -> Iterator[str]:
    yield from (f"- problem: {code(text)}" for text in report.draft.problems)
    yield from (f"- note: {code(text)}" for text in remarks(report))
