"""What the verbs that give verdicts share: recordings judged one after the other, and what is said at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from vigil_lang.cli.judge import judge
from vigil_lang.cli.progress import steps
from vigil_lang.cli.show import console, show_errors
from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.cli.verdicts import Writer
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature, Trace
    from vigil_lang.verdict import Verdict

_TOLD = 3


@dataclass(slots=True)
class Tally:
    """How the runs came out so far, the levels of what they violate, and the vocabulary they show together."""

    safe: int = 0
    unsafe: int = 0
    broken: int = 0
    violated: set[str] = field(default_factory=set)
    below_details: bool = False
    signature: Signature | None = None


def judge_all(
    policies: Sequence[Policy],
    runs: Sequence[str],
    traces_of: Callable[[str], Iterable[Trace]],
    writer: Writer,
    *,
    observe: bool,
) -> Tally:
    """Judge one recording after the other, each run written as soon as it is known.

    A recording that cannot be read (`traces_of` raises InputError) does not stop the others. With `observe` the
    tally gets the vocabulary of all runs.
    """
    from vigil_lang.smt.effort import Effort

    tally = Tally()
    with steps(runs) as progress:
        for path in progress:
            effort = Effort()
            try:
                for trace in traces_of(path):
                    verdict = judge(policies, trace, effort)
                    _count(tally, verdict, observe=observe)
                    remarks = (*_doubts(trace), *_cut(verdict))
                    with progress.aside():
                        show_errors(remarks)
                        writer.add(verdict, remarks, alone=len(runs) == 1 and not trace.run.one_of_many)
            except InputError as error:
                tally.broken += 1
                with progress.aside():
                    show_errors(error.diagnostics)
                writer.broken(error.diagnostics)
    return tally


def _count(tally: Tally, verdict: Verdict, *, observe: bool) -> None:
    tally.below_details = verdict.verdict == "unsafe"
    if verdict.verdict == "unsafe":
        tally.unsafe += 1
        tally.violated |= {s.statement.metadata.severity for s in verdict.statements if s.verdict == "violated"}
    else:
        tally.safe += 1
    if observe and verdict.trace.events:
        from vigil_lang.trace import merge
        from vigil_lang.trace import observe as vocabulary

        seen = vocabulary([verdict.trace])
        tally.signature = merge(tally.signature, seen) if tally.signature else seen


def _doubts(trace: Trace) -> Iterable[Diagnostic]:
    """The warning that nothing was there to be judged, or not all that was there."""
    from vigil_lang.abstraction.events import not_understood

    unclear = [(event.id, reasons) for event in trace.events if (reasons := not_understood(event))]
    if unclear:
        message = (
            f"{len(unclear)} calls were not wholly understood" if unclear[1:] else "a call was not wholly understood"
        )
        told = "; ".join(f"`{event}`: {', '.join(reasons)}" for event, reasons in unclear[:_TOLD])
        more = "; `vigil abstract --stats` lists them all" if unclear[_TOLD:] else ""
        yield Diagnostic.of("VGL607", message, Source(trace.run.path, ""), help=told + more)
    if trace.events:
        return
    skipped = trace.run.not_executed
    help_text = f"it shows {skipped} calls, none of which was executed" if skipped else None
    yield Diagnostic.of("VGL605", "the run holds no events", Source(trace.run.path, ""), help=help_text)


def _cut(verdict: Verdict) -> Iterable[Diagnostic]:
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
        screen.print(totals(tally.safe, tally.unsafe, tally.broken))
    if tally.signature is not None:
        from vigil_lang.cli.beside import print_doubts

        print_doubts(policies, runs, tally.signature, screen)
