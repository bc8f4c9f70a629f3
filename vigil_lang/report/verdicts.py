"""Verdicts as a report: a result for each statement and each call that breaks it, and a case for each statement."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.report.content import Case, Place, Problem, Report, Result, Rule, Step, Suite
from vigil_lang.report.findings import results as results_of
from vigil_lang.report.fingerprint import fingerprint, line_start
from vigil_lang.report.markdown import block, code
from vigil_lang.report.paths import Places
from vigil_lang.report.recording import event_lines, file_of
from vigil_lang.verdict.calls import call_text
from vigil_lang.verdict.human import caveats
from vigil_lang.verdict.verdict import FORBIDDEN_SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.trace import Event, Run, Trace
    from vigil_lang.verdict import Offence, StatementVerdict, Verdict

# GitHub's ranks: high, medium, low.
_SECURITY = {"error": "8.0", "warning": "5.0", "info": "3.0"}
_CALL_WIDTH = 160
_LINES_SHOWN = 20
_FORM = 2_000
"""Code points of a statement that are shown."""
# As many results as GitHub shows; a report of more is not read call by call.
_WITH_STEPS = 5_000


class Verdicts:
    """What is kept of verdicts, one after the other, so that no run has to stay in memory."""

    def __init__(self, *, steps: bool = False) -> None:
        self._steps = steps
        self._places = Places.now()
        self._rules: dict[tuple[str, str], Rule] = {}
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._results: list[Result] = []
        self._suites: list[Suite] = []
        self._broken: list[Diagnostic] = []
        self._remarks: list[Diagnostic] = []
        self._figures = Counter(dict.fromkeys(("runs", "unsafe", "vacuous", "calls", "unseen"), 0))
        self._unseen_runs = 0

    def add(self, verdict: Verdict) -> None:
        """Take what is to be reported of a verdict."""
        lines = self._lines(verdict) if self._steps else {}
        for found, offence in verdict.offences():
            self._results.append(self._result(found, offence, verdict, lines))
        path = self._places.in_root(file_of(verdict.trace.run))
        figures = _figures(verdict)
        self._suites.append(Suite(self._shown(verdict.trace.run), list(self._cases(verdict)), path, figures))
        self._figures.update(figures)
        self._figures.update({"runs": 1, "unsafe": not verdict.safe})
        self._unseen_runs += figures["unseen"] > 0

    def broken(self, findings: Sequence[Diagnostic]) -> None:
        """Take what keeps a run, or the policies, from being judged."""
        self._broken += findings
        for found in findings:
            path = self._places.in_root(found.source.path)
            problem = Problem(found.message, f"{found.code} {found.message}", "input")
            self._suites.append(Suite(path, [Case("readable", path, path, error=problem)], path))

    def remark(self, findings: Iterable[Diagnostic]) -> None:
        """Take what is doubtful about a run that was judged."""
        self._remarks += findings

    def report(self, status: int) -> Report:
        """All of it."""
        results = [*results_of(self._broken, self._places), *self._results]
        headline, figures = self._headline(), dict(self._figures)
        return Report("verify", headline, results, self._places, status, (), self._remarks, self._suites, figures)

    def _headline(self) -> str:
        runs, unsafe = self._figures["runs"], self._figures["unsafe"]
        told = f"{unsafe} of {runs} {'run' if runs == 1 else 'runs'} unsafe"
        told += f", {len(self._broken)} not readable" if self._broken else ""
        return "; ".join([told, *caveats(self._figures["vacuous"], self._unseen_runs)])

    # --- results -----------------------------------------------------------------------------------------------

    def _rule(self, found: StatementVerdict, verdict: Verdict) -> Rule:
        key = (found.policy, found.name)
        if key not in self._rules:
            self._rules[key] = self._new_rule(found, verdict)
        return self._rules[key]

    def _new_rule(self, found: StatementVerdict, verdict: Verdict) -> Rule:
        statement = found.statement
        policy = next(p.name for p in verdict.policies if p.path == found.policy)
        if sum(p.name == policy for p in verdict.policies) > 1:  # their files have different names
            policy = self._places.in_root(found.policy)
        name = f"{policy}/{found.name}"
        level = statement.metadata.severity
        summary = _one_line(statement.metadata.doc) or f"the statement {found.name}"
        tags = ("security", "policy", found.form)
        return Rule(name, found.name, summary, level, summary, _page(found), tags, _SECURITY[level])

    def _result(self, found: StatementVerdict, offence: Offence, verdict: Verdict, lines: dict[int, int]) -> Result:
        statement, run = found.statement, verdict.trace.run
        rule = self._rule(found, verdict)
        where = f"`{offence.event}` of `{self._shown(run)}`"
        said = _said(offence)
        why = "" if offence.why == said else f"; {offence.why}"
        steps: tuple[Step, ...] = ()
        if self._steps and len(self._results) < _WITH_STEPS:
            steps = tuple(_steps(offence, verdict.trace, lines))
        key = (rule.id, self._shown(run), offence.event)
        self._seen[key] += 1  # a run may be given twice
        line = line_start(statement.source, statement.span)
        mark = fingerprint(rule.id, self._places.in_root(found.policy), line, self._seen[key], *key[1:])
        return Result(
            rule,
            statement.metadata.severity,
            f"{said}{why} (call {where})",
            Place.of(statement.source, statement.span),
            mark,
            steps=steps,
            notes=tuple((step.message, step.place) for step in steps if step.offends),
            subject=rule.id.replace("/", "."),
            blocks=statement.metadata.on_violation == "block",
        )

    def _lines(self, verdict: Verdict) -> dict[int, int]:
        room = max(_WITH_STEPS - len(self._results), 0)
        offences = [offence for _, offence in verdict.offences()][:room]
        return event_lines(verdict.trace, {at for offence in offences for at in _involved(offence, verdict.trace)})

    def _shown(self, run: Run) -> str:
        """A run's path from the root, with its name where it is one of many."""
        file = file_of(run)
        return self._places.in_root(file) + run.path[len(file) :]

    # --- cases -------------------------------------------------------------------------------------------------

    def _cases(self, verdict: Verdict) -> Iterator[Case]:
        for found in verdict.statements:
            source = found.statement.source
            line, _ = source.position(found.statement.span.start)
            path = self._places.in_root(found.policy)
            yield Case(
                found.name,
                path,
                path,
                line,
                found.solver.seconds,
                failure=_failure(found) if found.verdict == "violated" else None,
                output="held vacuously: nothing met its trigger" if found.vacuous else None,
            )


def _figures(verdict: Verdict) -> dict[str, int]:
    """What a run's verdict rests on, in numbers."""
    seen = verdict.seen
    return {"vacuous": int(verdict.vacuous), "calls": seen.calls, "unseen": len(seen.unseen)}


def _involved(offence: Offence, trace: Trace) -> set[int]:
    """The places in the run of the call at fault and of those that come into its explanation."""
    return {offence.index, *offence.notes(trace)}


def _steps(offence: Offence, trace: Trace, lines: dict[int, int]) -> Iterator[Step]:
    notes = offence.notes(trace) | {offence.index: offence.why}
    source = Source(file_of(trace.run), "")
    for index in sorted(_involved(offence, trace)):
        event = trace.events[index]
        text = f"{event.id}  {_call(event)}: {notes[index]}"
        yield Step(event.id, index, text, Place(source, None, lines.get(index)), index == offence.index, event.time)


def _call(event: Event) -> str:
    return call_text(event, _CALL_WIDTH).plain


def _failure(found: StatementVerdict) -> Problem:
    lines: list[str] = []
    for offence in found.offending[:_LINES_SHOWN]:
        lines.append(f"{offence.event}: {_said(offence)}")
        lines += [f"    {offence.why}"] if offence.why != _said(offence) else []
        lines += [f"    near miss {miss.event}: {miss.why}" for miss in offence.near_misses]
        if offence.forbidden:
            others = ", …" * (len(offence.forbidden) > FORBIDDEN_SHOWN)
            lines.append(f"    forbidden: {', '.join(offence.forbidden[:FORBIDDEN_SHOWN])}{others}")
    more = len(found.offending) - _LINES_SHOWN
    lines += [f"and {more} more"] if more > 0 else []
    return Problem(_said(found.offending[0]), "\n".join(lines), found.statement.metadata.severity)


# --- what a statement says, as the help of its rule --------------------------------------------------------


def _page(found: StatementVerdict) -> str:
    """The statement as Markdown: how it is written, and the sentences it enforces."""
    cites = [f"{code(file)}: {code(sentence)}" for file, sentence in found.statement.metadata.cites]
    return "\n\n".join((block(f"statement {found.name}: {cut(found.statement.body, _FORM)}", "vgl"), *cites))


def _said(offence: Offence) -> str:
    """The policy's own message, unless there is nothing to read in it."""
    return offence.message if offence.message.strip() else offence.why


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
