"""The report of a draft for the terminal: what is in the policy, what is not, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.human import hanging
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.draft.reports.not_taken import by_reason, not_taken
from vigil_lang.draft.reports.report import (
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.draft.clause_result import Clause, Drafted, Entry, Other
    from vigil_lang.draft.reports.report import Report

_PAD = "    "
_PATH = 60
_SENTENCE = 400
_PROBLEMS = 3
_MARKS = {
    "kept": ("✓", "green"),
    "unsupported": ("○", "yellow"),
    "failed": ("✗", "bold red"),
    "not_normative": ("–", "dim"),
}
_TITLES = {
    "kept": "In the policy",
    "not_normative": "Not normative: no rule for a run",
    "unsupported": "Unsupported: no statement says what these ask for",
    "failed": "Without an acceptable answer",
}


def print_report(report: Report, console: Console) -> None:
    """The whole report: what is no clause, the clauses by how they came out, what needs a look last, what it took."""
    for line in _lines(report, console):
        console.print(line)


def print_not_taken(others: Sequence[Other], console: Console) -> None:
    """What is no clause, a line for each, under the reasons."""
    for line in _not_taken(others, console):
        console.print(line)


def print_headline(report: Report, console: Console) -> None:
    """One line: where the policy is and how many clauses are in it."""
    for line in _headline(report, console):
        console.print(line)


def _lines(report: Report, console: Console) -> Iterator[Text]:
    yield from _headline(report, console)
    if report.draft.others:
        yield Text()
        yield from _not_taken(report.draft.others, console)
    told: set[str] = set()
    for standing in _TITLES:
        entries = [entry for entry in report.draft.entries if standing_of(entry) == standing]
        if not entries:
            continue
        yield Text()
        yield Text(_TITLES[standing], "bold")
        for entry in entries:
            yield from _entry(entry, console, told)
    yield from _remarks(report, console)
    yield Text()
    yield from hanging(console, Text(), Text(" · ".join(spent(report)), "dim"))


def _not_taken(others: Sequence[Other], console: Console) -> Iterator[Text]:
    yield from hanging(console, Text(), not_taken(others), "bold")
    alone = len({other.path for other in others}) == 1  # then the report's other lines name the document
    for title, listed in by_reason(others):
        yield Text(f" {title}")
        for other in listed:
            where = f"{other.line:>4}" if alone else f"{middle(other.path, _PATH)}:{other.line}"
            line = Text.assemble("   ", (where, "dim"), "  ", visible(other.text))
            line.truncate(console.width, overflow="ellipsis")
            yield line


def _headline(report: Report, console: Console) -> Iterator[Text]:
    word, style = ("drafted", "bold green") if report.draft.complete else ("incomplete", "bold red")
    if not report.statements:
        word, style = "no policy", "bold red"
    where = shown_path(report.policy) if report.policy else visible(report.name)
    body = Text.assemble((where, "bold"), f" · {headline(report)}")
    yield from hanging(console, Text.assemble((word, style), "  "), body)


# --- a clause ------------------------------------------------------------------------------------------------------


def _entry(entry: Entry, console: Console, told: set[str]) -> Iterator[Text]:
    mark, style = _MARKS[standing_of(entry)]
    head = Text.assemble(" ", (mark, style), " ", (place(entry.clause), "dim"), "  ")
    if head.cell_len <= console.width // 3:
        yield from hanging(console, head, in_context(entry.clause, _SENTENCE), "italic")
    else:
        head.rstrip()
        yield head
        yield from hanging(console, Text(_PAD), in_context(entry.clause, _SENTENCE), "italic")
    if entry.clause.hostile is not None:
        doubt = f"may speak to the model: {entry.clause.hostile}"
        yield from hanging(console, Text(f"{_PAD}! ", "bold red"), doubt, "red")
    for drafted in entry.statements:
        yield from _statement(drafted, console, told)
    if entry.outcome != "kept":
        said = why(entry) or ("" if entry.outcome == "not_normative" else "no reason given")
        yield from hanging(console, Text(_PAD), said) if said else ()
        yield from _problems(entry.problems, console)


def place(clause: Clause) -> str:
    """`SKILL.md:12`, made fit for a terminal."""
    return f"{middle(clause.path, _PATH)}:{clause.line}"


def _statement(drafted: Drafted, console: Console, told: set[str]) -> Iterator[Text]:
    name = drafted.statement.name.text
    if name in told:
        yield Text.assemble(_PAD, (visible(name), "bold"), ("  as above", "dim"))
        yield from _notes(drafted, console)
        return
    told.add(name)
    yield from hanging(console, Text.assemble(_PAD, (visible(name), "bold"), "  "), form_text(drafted), "cyan")
    found = runs_text(drafted.run_counts)
    if found:
        yield Text(
            f"{_PAD}  {found}", "yellow" if drafted.run_counts.violated or not drafted.run_counts.exercised else ""
        )
    yield from _notes(drafted, console)


def _notes(drafted: Drafted, console: Console) -> Iterator[Text]:
    for note in notes(drafted):
        yield from hanging(console, Text(f"{_PAD}  note: ", "bold"), note)


def _problems(problems: Iterable[str], console: Console) -> Iterator[Text]:
    every = list(problems)
    for problem in every[:_PROBLEMS]:
        yield from hanging(console, Text(f"{_PAD}- ", "dim"), problem, "dim")
    if every[_PROBLEMS:]:
        yield Text(f"{_PAD}  and {many(len(every) - _PROBLEMS, 'more finding')}", "dim")


# --- the draft as a whole ------------------------------------------------------------------------------------------


def _remarks(report: Report, console: Console) -> Iterator[Text]:
    told = [("problem: ", "bold red", text) for text in report.draft.problems]
    told += [("note: ", "bold green", text) for text in remarks(report)]
    if told:
        yield Text()
    for head, style, text in told:
        yield from hanging(console, Text(head, style), text)
