"""What the verbs that give verdicts share: recordings judged one after the other, and what is said at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

import click
from msgspec.structs import replace

from vigil_lang.cli.output import ToolFault, console, show_errors
from vigil_lang.cli.progress import steps
from vigil_lang.diagnostics import Diagnostic, InputError, Source, nearest
from vigil_lang.diagnostics.secrets import learn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from vigil_lang.cli.verdict_writer import Writer
    from vigil_lang.engines.effort import Effort
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Run, Signature, Trace
    from vigil_lang.trace.unseen import CallsSeen
    from vigil_lang.verdict import Verdict

_TOLD = 3


@dataclass(frozen=True, slots=True)
class Strictness:
    """What makes a run fail although no statement is violated. The reason is then reported as an error."""

    strict: bool = False
    """Whether a run fails that was not wholly seen or understood."""
    fail_on_vacuous: bool = False
    """Whether a run fails that puts no statement to the test."""
    allow_empty: bool = False
    """Whether `strict` lets pass a run without events, and a recording that was hardly understood."""


def load_policies(paths: Iterable[str], values: Mapping[str, object] | None = None) -> list[Policy]:
    """The policies of several arguments.

    Raises:
        InputError: with what is wrong in any of them, not only in the first.
    """
    from vigil_lang.semantics.policy import load_policy

    policies: list[Policy] = []
    wrong: list[Diagnostic] = []
    for path in paths:
        try:
            policies.append(load_policy(path, values))
        except InputError as error:
            wrong += error.diagnostics
    if wrong:
        raise InputError(wrong)
    return policies


def selected(policies: Sequence[Policy], names: Sequence[str]) -> list[Policy]:
    """The policies with the named statements only, all where none is named.

    Raises:
        click.UsageError: there is no such statement, or none at all.
    """
    known = {statement.name for policy in policies for statement in policy.statements}
    if not known:
        has = "rules for a gate alone" if any(policy.rules for policy in policies) else "none"
        raise click.UsageError(f"There is no statement to judge by: the policies hold {has}.")
    for name in names:
        if name not in known:
            near = nearest(name, known, 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"There is {', '.join(sorted(known))}."
            raise click.UsageError(f"No policy has a statement '{name}'. {hint}")
    if not names:
        return list(policies)
    return [replace(p, statements=tuple(s for s in p.statements if s.name in names)) for p in policies]


def judge(policies: Sequence[Policy], trace: Trace, effort: Effort | None = None) -> Verdict:
    """A run judged by policies; runs of one recording share an `effort`.

    Raises:
        InputError: VGL003, that would take more than the size of the run warrants.
        ToolFault: VGL901, the solver did not confirm the verdict.
    """
    from vigil_lang.engines.smt.solve import SolverDisagrees
    from vigil_lang.engines.smt.verify import verify

    try:
        verdict = verify(policies, trace, effort)
    except SolverDisagrees as error:
        message = f"the solver did not confirm the verdict: {error}"
        raise ToolFault(Diagnostic.of("VGL901", message, Source(trace.run.path, ""))) from error
    if verdict.verdict == "unsafe":  # what is said of an offence has values without their names
        for event in trace.events:
            learn(event.args)
    return verdict


@dataclass(slots=True)
class Tally:
    """How the runs came out so far, the levels of what they violate, and the vocabulary they show together."""

    safe: int = 0
    unsafe: int = 0
    broken: int = 0
    vacuous: int = 0
    unseen: int = 0
    """Runs with calls that are not wholly seen."""
    failed: int = 0
    """Runs that `Strictness` makes fail."""
    violated: set[str] = field(default_factory=set)
    below_details: bool = False
    signature: Signature | None = None


def judge_all(
    policies: Sequence[Policy],
    runs: Sequence[str],
    traces_of: Callable[[str], Iterable[Trace]],
    writer: Writer,
    strictness: Strictness,
    *,
    observe: bool,
) -> Tally:
    """Judge one recording after the other, each run written as soon as it is known.

    A recording that cannot be read (`traces_of` raises InputError) does not stop the others. With `observe` the
    tally gets the vocabulary of all runs.
    """
    from vigil_lang.engines.effort import Effort

    tally = Tally()
    with steps(runs) as progress:
        for path in progress:
            effort = Effort()
            try:
                for trace in traces_of(path):
                    verdict = judge(policies, trace, effort)
                    remarks = tuple(_remarks(verdict, strictness))
                    _count(tally, verdict, observe=observe)
                    tally.failed += any(found.severity == "error" for found in remarks)
                    with progress.aside():
                        show_errors(found for found in remarks if found.severity != "info" or not writer.tells_all)
                        writer.add(verdict, remarks, alone=len(runs) == 1 and not trace.run.one_of_many)
            except InputError as error:
                tally.broken += 1
                with progress.aside():
                    show_errors(error.diagnostics)
                writer.broken(error.diagnostics)
    writer.settle()
    return tally


def _count(tally: Tally, verdict: Verdict, *, observe: bool) -> None:
    tally.below_details = verdict.verdict == "unsafe"
    if verdict.verdict == "unsafe":
        tally.unsafe += 1
        tally.violated |= {s.statement.metadata.severity for s in verdict.statements if s.verdict == "violated"}
    else:
        tally.safe += 1
    tally.vacuous += verdict.vacuous
    tally.unseen += bool(verdict.seen.unseen)
    if observe and verdict.trace.events:
        from vigil_lang.trace import merge
        from vigil_lang.trace import observe as vocabulary

        seen = vocabulary([verdict.trace])
        tally.signature = merge(tally.signature, seen) if tally.signature else seen


def _remarks(verdict: Verdict, strictness: Strictness) -> Iterator[Diagnostic]:
    """What is doubtful about a verdict, as an error where that makes the run fail."""
    from vigil_lang.trace.event import MESSAGES

    events = verdict.trace.events
    read = hardly_read(verdict.trace.run, len(events), said_only=all(event.action in MESSAGES for event in events))
    for found in (*read, *unread(verdict.trace.run, verdict.seen), *_unseen(verdict), *_cut(verdict)):
        allowed = strictness.allow_empty and found.code in ("VGL605", "VGL609")
        fails = strictness.strict and not allowed
        yield replace(found, severity="error") if fails else found
    if verdict.vacuous:
        source = Source(verdict.trace.run.path, "")
        message = "no statement was put to the test: nothing the policies speak of happened"
        yield Diagnostic.of("VGL616", message, source, severity="error" if strictness.fail_on_vacuous else "info")


def hardly_read(run: Run, events: int, *, said_only: bool) -> Iterator[Diagnostic]:
    """The warning that little or nothing was there to be judged; `said_only` where no event is of a call."""
    from vigil_lang.runs import why_unusable

    source = Source(run.path, "")
    doubt = why_unusable(run, events)
    if doubt is not None:
        yield replace(doubt, severity="warning", help=None)
        return
    if run.not_understood:
        records = f"{run.records} record{'s' * (run.records != 1)}"
        verb = "was" if run.not_understood == 1 else "were"
        message = f"{run.not_understood} of {records} {verb} not understood as `{run.format}`"
        yield Diagnostic.of("VGL609", message, source)
    if said_only:
        message = "the run holds no calls" if events else "the run holds no events"
        refused = f"{run.not_executed} call{'s' * (run.not_executed != 1)}"
        help_text = f"{refused} in it, and none was executed" if run.not_executed else None
        yield Diagnostic.of("VGL605", message, source, help=help_text, severity="warning")


def unread(run: Run, seen: CallsSeen) -> Iterator[Diagnostic]:
    """The warning that calls carry what looks like commands and is not read."""
    if told := seen.unread_told():
        help_text = "`[tools]` in vigil.toml says which argument of a tool is a command line, code or SQL"
        yield Diagnostic.of("VGL607", told, Source(run.path, ""), help=help_text)


def _unseen(verdict: Verdict) -> Iterator[Diagnostic]:
    """The warning that not all that calls do is known."""
    from vigil_lang.abstraction.events import not_understood

    trace, seen = verdict.trace, verdict.seen
    unclear = [(event.id, reasons) for event in trace.events if (reasons := not_understood(event))]
    if unclear:
        message = (
            f"{len(unclear)} calls were not wholly understood" if unclear[1:] else "a call was not wholly understood"
        )
        if not {event for event, _ in unclear}.issuperset(seen.unseen):
            message += f", and {seen.told()}"
        told = "; ".join(f"`{event}`: {', '.join(reasons)}" for event, reasons in unclear[:_TOLD])
        more = "; `vigil abstract --stats` lists them all" if unclear[_TOLD:] else ""
        yield Diagnostic.of("VGL607", message, Source(trace.run.path, ""), help=told + more)
    elif seen.unseen:
        some = ", ".join(f"`{event}`" for event in seen.unseen[:_TOLD]) + (", …" if seen.unseen[_TOLD:] else "")
        help_text = f"{some}; `vigil abstract --explain` shows what is open in each"
        source = Source(trace.run.path, "")
        yield Diagnostic.of("VGL607", seen.told(), source, help=help_text, severity="info")


def _cut(verdict: Verdict) -> Iterator[Diagnostic]:
    """The warning that statements were decided by outputs of which a part is missing."""
    for found in verdict.statements:
        if found.truncated:
            some = ", ".join(f"`{event}`" for event in found.truncated[:_TOLD]) + (
                ", …" if found.truncated[_TOLD:] else ""
            )
            message = f"the verdict on `{found.name}` rests on output that was cut"
            help_text = f"of {some}; `--keep-output N` keeps more of it"
            yield Diagnostic.of("VGL608", message, Source(verdict.trace.run.path, ""), help=help_text)


def conclude(tally: Tally, policies: Sequence[Policy], runs: Sequence[str], target: IO[str]) -> None:
    """What is to be said of all runs together: how many are safe, and which names none of them knows."""
    screen = console(target)
    if tally.safe + tally.unsafe + tally.broken > 1:
        from vigil_lang.verdict.human import totals

        if not tally.below_details:  # else a blank line is there already
            screen.print()
        screen.print(totals(tally.safe, tally.unsafe, tally.broken, vacuous=tally.vacuous, unseen=tally.unseen))
    if tally.signature is not None:
        from vigil_lang.cli.vocabulary_findings import print_vocabulary_findings

        print_vocabulary_findings(policies, runs, tally.signature, screen)
