"""Test results on a terminal, in the style of pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from vigil_lang.diagnostics.excerpt import excerpt
from vigil_lang.diagnostics.human import hanging, print_findings
from vigil_lang.diagnostics.shorten import fit, middle
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.testing.case import OF_RULES
from vigil_lang.verdict.calls import call_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from vigil_lang.testing.case import Failure, Outcome
    from vigil_lang.testing.session import FileResult, Session
    from vigil_lang.trace import Trace

_PAD = "    "
_EVENTS = 12
_NAME = 60
_IN_FULL = 3


class Progress:
    """The lines that grow while tests run: a mark a test behind its file, or with `verbose` a line a test."""

    def __init__(self, session: Session, console: Console, *, verbose: bool) -> None:
        self.session = session
        self.console = console
        self.verbose = verbose
        self.total = max(len(session.cases), 1)
        self.done = 0
        self.file: FileResult | None = None
        self.line = 0

    def start(self) -> None:
        """Begin: the number of tests is known."""
        cases, files = len(self.session.cases), len(self.session.files)
        self.console.print(_rule("tests", self.console.width, "bold"))
        chosen = f" · {self.session.deselected} deselected" if self.session.deselected else ""
        self.console.print(f"{_many(cases, 'test')} in {_many(files, 'file')}{chosen}")
        self.console.print()

    def add(self, file: FileResult, outcome: Outcome) -> None:
        """Show the result of one test."""
        if self.file is not file and not self.verbose:
            self._end_line()
            self._mark(Text(shown_path(file.path) + " "))
        self.file = file
        self.done += 1
        style = "green" if outcome.passed else "bold red"
        if self.verbose:
            word = "PASSED" if outcome.passed else "FAILED"
            line = Text(f"{shown_path(file.path)}::{visible(outcome.case.name)} ")
            fit(line, self.console.width - 16)
            line.append(word, style)
            self.console.print(self._with_share(line))
            return
        if self.line >= self.console.width - 8:
            self._end_line()
        self._mark(Text("." if outcome.passed else "F", style))

    def finish(self) -> None:
        """End the line after the last test."""
        self._end_line()

    def _mark(self, text: Text) -> None:
        self.console.print(text, end="")
        self.line += text.cell_len

    def _end_line(self) -> None:
        if self.line:
            share = f"[{self.done * 100 // self.total:3d}%]"
            self.console.print(Text(f"{share:>{max(self.console.width - self.line, len(share) + 1)}}", "cyan"))
            self.line = 0

    def _with_share(self, line: Text) -> Text:
        share = f"[{self.done * 100 // self.total:3d}%]"
        return line.append(f"{share:>{max(self.console.width - line.cell_len, len(share) + 1)}}", "cyan")


def print_outcome(session: Session, console: Console, *, notes: Iterable[tuple[str, str]] = ()) -> None:
    """What is wrong with tests, each failure with what happened in its run, and the summary.

    `notes` are further reasons for a bad end, as (word, text).
    """
    if session.findings:
        console.print()
        console.print(_rule("errors", console.width, "bold red"))
        print_findings(session.findings, console, summary=False)
    if session.failed:
        if not session.findings:
            console.print()
        console.print(_rule("failures", console.width, "bold red"))
        for outcome in session.failed:
            for line in _failed(outcome, console):
                console.print(line)
            console.print()
    summary = list(_summary(session, notes))
    if summary:
        if not session.failed and not session.findings:
            console.print()
        console.print(_rule("short summary", console.width, "bold"))
        for line in summary:
            fit(line, console.width)
            console.print(line)
    elif not session.failed:
        console.print()
    console.print(_conclusion(session, console.width))


def heading(title: str, console: Console) -> None:
    """The heading of a part of the output."""
    console.print()
    console.print(_rule(title, console.width, "bold"))


# --- one failure -------------------------------------------------------------------------------------------


def _failed(outcome: Outcome, console: Console) -> Iterator[Text]:
    case = outcome.case
    yield _rule(middle(visible(case.name), _NAME), console.width, "red", mark="_")
    if case.doc:
        yield from hanging(console, Text(""), " ".join(case.doc.split()), "italic")
    for failure in outcome.failures:
        yield Text()
        yield from _failure(failure, outcome, console)
    yield Text()
    yield from _story(outcome, console)


def _failure(failure: Failure, outcome: Outcome, console: Console) -> Iterator[Text]:
    """Where the expectation stands, underlined, and what came instead."""
    source = outcome.case.source
    line, column = source.position(failure.span.start)
    yield Text(f"{shown_path(source.path)}:{line}:{column}", "dim")
    for row in excerpt(source, failure.span, max(console.width - 2, 20)):
        shown = Text.assemble(("> " if row.number else "  ", "red"), row.bar)
        shown.append(row.text, "bold red" if row.number is None else "")
        shown.rstrip()
        yield shown
    yield from hanging(console, Text("E ", "bold red"), failure.message, "bold red")


def _story(outcome: Outcome, console: Console) -> Iterator[Text]:
    """The statements that came out otherwise, as `vigil verify` shows them, and the run where none is violated."""
    from msgspec.structs import replace

    from vigil_lang.engines.smt.verify import verify
    from vigil_lang.verdict.human import told

    names = {(f.expected.policy, f.expected.statement) for f in outcome.failures}
    policies = []
    for policy in outcome.case.policies:
        chosen = tuple(s for s in policy.statements if (policy.path, s.name) in names)
        if chosen:
            policies.append(replace(policy, statements=chosen))
    verdict = verify(policies, outcome.case.trace)
    yield from told(verdict, console, in_full=_IN_FULL)
    is_of_rules = any(f.expected.verdict in OF_RULES for f in outcome.failures)
    if is_of_rules or any(s.verdict == "satisfied" for s in verdict.statements):
        yield from _run(outcome.case.trace, console)


def _run(trace: Trace, console: Console) -> Iterator[Text]:
    yield Text()
    ids = [middle(event.id, 24) for event in trace.events[:_EVENTS]]
    column = max(map(cell_len, ids), default=0)
    for name, event in zip(ids, trace.events, strict=False):
        head = Text(f"{_PAD}{name:<{column}}  ", "dim")
        yield Text.assemble(head, call_text(event, max(console.width - head.cell_len, 20)))
    if len(trace) > _EVENTS:
        yield Text(f"{_PAD}⋮  {_many(len(trace) - _EVENTS, 'more event')}", "dim")
    if not trace.events:
        yield Text(f"{_PAD}the run holds no events", "dim")


# --- the end -----------------------------------------------------------------------------------------------


def _summary(session: Session, notes: Iterable[tuple[str, str]]) -> Iterator[Text]:
    for finding in session.findings:
        line, _ = finding.source.position(finding.span.start)
        where = f"{shown_path(finding.source.path)}:{line}" if finding.source.text else shown_path(finding.source.path)
        yield Text.assemble(("ERROR ", "bold red"), where, f" - {finding.code} {visible(finding.message)}")
    for outcome in session.failed:
        path, name = shown_path(outcome.case.path), visible(outcome.case.name)
        yield Text.assemble(
            ("FAILED ", "bold red"), f"{path}::", (name, "bold"), f" - {visible(outcome.failures[0].message)}"
        )
    for word, text in notes:
        yield Text.assemble((f"{word} ", "bold red"), text)


def _conclusion(session: Session, width: int) -> Text:
    """`==== 1 failed, 4 passed in 0.12s ====`."""
    failed = len(session.failed)
    parts = (
        (failed, "failed"),
        (len(session.outcomes) - failed, "passed"),
        (len(session.cases) - len(session.outcomes), "not run"),
        (session.deselected, "deselected"),
        (len(session.findings), "error" if len(session.findings) == 1 else "errors"),
    )
    told = ", ".join(f"{number} {word}" for number, word in parts if number) or "no tests"
    bad = failed or session.findings
    return _rule(f"{told} in {session.seconds:.2f}s", width, "bold red" if bad else "bold green")


def _rule(title: str, width: int, style: str, mark: str = "=") -> Text:
    room = max(width - cell_len(title) - 2, 6)
    left = room // 2
    return Text(f"{mark * left} {title} {mark * (room - left)}", style)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
