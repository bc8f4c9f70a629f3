"""Documents about runs and statements, as Markdown. What runs and policies say stands in them as code or text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import learn, masked
from vigil_lang.report.markdown import block, code
from vigil_lang.report.recording import event_lines, file_of
from vigil_lang.verdict.lines import event_text
from vigil_lsp.markup import prose, sentence
from vigil_lsp.statement_wording import as_theta, wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Event, Trace
    from vigil_lang.verdict import Offence, StatementVerdict
    from vigil_lsp.recordings.cached_run import Answer
    from vigil_lsp.recordings.results import Matches, RunView, StatementNote

MAX_RUNS = 10
"""Runs whose offences are described; others are only named."""

MAX_OFFENCES = 20
"""Offences of one run that are described in full."""

MAX_LINES = 5_000
"""Events that a timeline shows."""

_CONTEXT = 2
_ROOM = 110


def shown_path(path: str, folder: str) -> str:
    """A path as it is shown: from the project's folder where it lies in it."""
    try:
        return str(Path(path).relative_to(folder))
    except ValueError:
        return path


def link(shown: str, path: str, line: int | None = None) -> str:
    """A link to a file, or to one of its lines; the shown text stands as code."""
    try:
        target = Path(path).absolute().as_uri()
    except ValueError:
        return code(shown)
    return f"[{code(shown) or '·'}]({target}{f'#L{line}' if line is not None else ''})"


# --- the witness -------------------------------------------------------------------------------------------


def witness(
    statement: Statement, verdicts: Sequence[tuple[Trace, StatementVerdict]], others: Sequence[str], folder: str
) -> str:
    """Where runs break a statement, and why; `others` are further runs that do."""
    count = len(verdicts) + len(others)
    told = f"violated in {_many(count, 'run')}" if count else "not violated"
    parts = [f"# {code(statement.name)}: {told}", *_statement(statement, folder)]
    if not verdicts:
        parts.append("No run violates it.")
    for trace, verdict in verdicts:
        parts += _run(trace, verdict, folder)
    if others:
        parts.append("## And also\n\n" + "\n".join(f"- {code(shown_path(run, folder))}" for run in others))
    return "\n\n".join(parts) + "\n"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _statement(statement: Statement, folder: str) -> Iterator[str]:
    """The statement as written, where it stands, and the sentences it enforces."""
    syntax, source = statement.syntax, statement.source
    if statement.metadata.doc:
        yield "\n".join(f"> {line}" for line in prose(statement.metadata.doc).splitlines())
    yield block(source.text[syntax.span.start : syntax.span.end], "vigil")
    line, _ = source.position(statement.span.start)
    yield f"In {link(f'{shown_path(source.path, folder)}:{line}', source.path, line)}."
    for file, cited in statement.metadata.cites:
        yield f"It enforces {code(file)}: “{sentence(cited)}”"


def _run(trace: Trace, verdict: StatementVerdict, folder: str) -> Iterator[str]:
    run, file = trace.run, file_of(trace.run)
    shown = shown_path(file, folder) + run.path[len(file) :]
    yield f"## {link(shown, file)}: {len(verdict.offending)} of {_many(len(trace), 'event')} at fault"
    told = verdict.offending[:MAX_OFFENCES]
    lines = event_lines(trace, {at for offence in told for at in _around(offence, trace)})
    for offence in told:
        yield from _offence(offence, trace, file, lines)
    rest = verdict.offending[MAX_OFFENCES:]
    if rest:
        some = ", ".join(code(offence.event) for offence in rest[:MAX_OFFENCES])
        yield f"And {len(rest)} more: {some}{', …' if len(rest) > MAX_OFFENCES else ''}."


def _offence(offence: Offence, trace: Trace, file: str, lines: dict[int, int]) -> Iterator[str]:
    around = _around(offence, trace)
    for at in around:
        learn(trace.events[at].args)
    yield f"### {link(offence.event, file, lines.get(offence.index))} {sentence(masked(offence.message))}"
    if offence.why != offence.message:
        yield f"Why: {sentence(masked(offence.why))}."
    bound = [
        f"- {code(x)} = {'any other value' if v is None else code(masked(v))}" for x, v in offence.bindings.items()
    ]
    if bound:
        yield "\n".join(bound)
    notes = {trace.index_of[miss.event]: f"near miss: {sentence(masked(miss.why))}" for miss in offence.near_misses}
    notes |= dict.fromkeys((trace.index_of[event] for event in offence.forbidden[:MAX_OFFENCES]), "forbidden here")
    notes[offence.index] = "**at fault**"
    yield "\n".join(
        f"- {link(trace.events[at].id, file, lines.get(at))} {_called(trace.events[at])}"
        + (f" ({notes[at]})" if at in notes else "")
        for at in around
    )


def _around(offence: Offence, trace: Trace) -> list[int]:
    """The events that come into an offence, and what stands around it."""
    at = offence.index
    found = set(range(max(0, at - _CONTEXT), min(len(trace), at + _CONTEXT + 1)))
    found |= {trace.index_of[miss.event] for miss in offence.near_misses}
    found |= {trace.index_of[event] for event in offence.forbidden[:MAX_OFFENCES]}
    return sorted(found)


def _called(event: Event) -> str:
    return code(event_text(event, _ROOM).plain)


# --- the timeline ------------------------------------------------------------------------------------------


def timeline(run: RunView, where: dict[tuple[str, str], int], folder: str) -> str:
    """A run event by event, with the statements it violates; `where` has the line of each statement."""
    shown = shown_path(run.file, folder) + run.path[len(run.file) :]
    parts = [f"# {link(shown, run.file)}", f"{_many(run.length, 'event')}, {run.at_fault or 'none'} at fault."]
    rows = []
    for event in run.events:
        head = f"- {link(event.id, run.file, event.line)} {code(event.text)}"
        rows.append(head + "".join(f" **violates** {_violated(one, where)}" for one in event.violates))
    parts.append("\n".join(rows) or "The run has no events.")
    if run.length > len(run.events):
        parts.append(f"And {_many(run.length - len(run.events), 'more event')}.")
    return "\n\n".join(parts) + "\n"


def _violated(one: StatementNote, where: dict[tuple[str, str], int]) -> str:
    return f"{link(one.statement, one.policy, where.get((one.policy, one.statement)))}: {sentence(one.message)}"


# --- what a statement means --------------------------------------------------------------------------------


def explanation(
    statement: Statement,
    conditions: Iterable[tuple[str, str, Matches | None]],
    answers: Sequence[tuple[str, Answer]],
    folder: str,
) -> str:
    """A statement in words and as □Θ, its conditions (role, text, matches), and the answer of each run by its path."""
    parts = [f"# {code(statement.name)}", wording(statement), *_statement(statement, folder)]
    parts += ["Its meaning:", block(as_theta(statement))]
    about = statement.metadata
    parts.append(f"A violation is reported as {code(about.severity)}; a gate would {code(about.on_violation)}.")
    rows = [
        f"- {role}: {code(' '.join(text.split()))}{'' if found is None else f', met by {_met(found)}'}"
        for role, text, found in conditions
    ]
    parts.append("Its conditions:\n\n" + "\n".join(rows))
    if answers:
        violated = [(run, answer) for run, answer in answers if answer.offending]
        exercised = sum(answer.exercised or bool(answer.offending) for _, answer in answers)
        count = f"violated in {len(violated)} of {_many(len(answers), 'run')}, exercised in {exercised}."
        parts.append(f"On the recorded runs: {count}")
        parts += [
            "\n".join(f"- {code(shown_path(run, folder))} at {_ids(answer.offending)}" for run, answer in violated)
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _met(found: Matches) -> str:
    return f"{_many(found.events, 'event')} of {_many(found.runs, 'run')}"


def _ids(events: Sequence[tuple[int, str, str]]) -> str:
    some = ", ".join(code(event) for _, event, _ in events[:5])
    return some + (f" and {len(events) - 5} more" if len(events) > 5 else "")
