"""`vigil verify`: recorded runs judged by policies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

import click

from vigil_lang.cli.judge import judge, load_policies
from vigil_lang.cli.levels import fail_level_option, levels_from
from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.cli.paths import complete
from vigil_lang.cli.progress import steps
from vigil_lang.cli.recordings import options_of, run_options
from vigil_lang.cli.settings import config_option, settings_of
from vigil_lang.cli.show import FORMATS, Format, console, output_options, show_errors, written
from vigil_lang.cli.verdicts import Writer
from vigil_lang.diagnostics import Diagnostic, InputError, Source, nearest
from vigil_lang.paths import split

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.abstraction.run import Options
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature, Trace
    from vigil_lang.verdict import Verdict

_CLEAN, _FINDINGS, _BAD_INPUT = 0, 1, 2
_TOLD = 3


@dataclass(slots=True)
class _Tally:
    """How the runs came out so far, the levels of what they violate, and the vocabulary they show together."""

    safe: int = 0
    unsafe: int = 0
    broken: int = 0
    violated: set[str] = field(default_factory=set)
    below_details: bool = False
    signature: Signature | None = None


@click.command("verify")
@click.argument("paths", metavar="POLICY... RUN...", nargs=-1, required=True, shell_complete=complete)
@params_options
@click.option("--statement", "names", multiple=True, metavar="NAME", help="Judge by this statement only (repeatable).")
@click.option("--no-check", is_flag=True, help="Do not look for names that the runs do not know.")
@run_options
@config_option
@fail_level_option("info", "violation")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(
    paths: tuple[str, ...],
    settings: tuple[str, ...],
    params: str | None,
    names: tuple[str, ...],
    no_check: bool,
    source: str | None,
    config: str | None,
    isolated: bool,
    fail_level: str | None,
    output: str,
    format: Format,  # noqa: A002 - the option's name
    **how: Any,
) -> int:
    """Judge recorded runs by policies.

    What ends in .vgl and standard modules (std.secrets) are policies, a folder gives its policies and its runs, and
    everything else is a run; - reads a run from standard input.

    Exit status: 0 no violation reaches the fail level, 1 some does, 2 something cannot be read.
    """
    project = settings_of(config, isolated=isolated)
    policy_args, runs = (
        [path for path in found if path in paths or not project.excludes(path)] for found in split(paths)
    )
    if not policy_args or not runs:
        missing, kept = ("policy", "run") if not policy_args else ("run", "policy")
        raise click.UsageError(f"There is no {missing} beside the {kept}: vigil verify rules.vgl run.jsonl")
    values = {**project.params, **read_params(settings, params)}
    reached = levels_from(fail_level, "info", format)
    with written(output) as target:
        writer = Writer(target, format)
        try:
            policies = load_policies(policy_args, values)
        except InputError as error:
            if not writer.at_the_end:
                raise
            show_errors(error.diagnostics)
            writer.broken(error.diagnostics)
            return writer.finish(_BAD_INPUT)
        check_settings(settings, policies)
        policies = _selected(policies, names)
        observe = format == "human" and not no_check
        tally = _judge_all(policies, runs, writer, observe=observe, source=source, options=options_of(**how))
        if format == "human":
            _conclude(tally, policies, runs, target)
        failed = not tally.violated.isdisjoint(reached)
        return writer.finish(_BAD_INPUT if tally.broken else _FINDINGS if failed else _CLEAN)


def _selected(policies: Sequence[Policy], names: Sequence[str]) -> list[Policy]:
    """The policies with the named statements only, all where none is named.

    Raises:
        click.UsageError: there is no such statement, or none at all.
    """
    known = {statement.name for policy in policies for statement in policy.statements}
    if not known:
        raise click.UsageError("There is no statement to judge by: the policies hold none.")
    for name in names:
        if name not in known:
            near = nearest(name, known, 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"There is {', '.join(sorted(known))}."
            raise click.UsageError(f"No policy has a statement '{name}'. {hint}")
    if not names:
        return list(policies)
    return [replace(p, statements=tuple(s for s in p.statements if s.name in names)) for p in policies]


def _judge_all(
    policies: Sequence[Policy],
    runs: Sequence[str],
    writer: Writer,
    *,
    observe: bool,
    source: str | None,
    options: Options,
) -> _Tally:
    """Judge one run after the other, each written as soon as it is known; a broken one does not stop the others."""
    from vigil_lang.runs import load_traces

    tally = _Tally()
    with steps(runs) as progress:
        for path in progress:
            try:
                for trace in load_traces(path, format=source, options=options):
                    verdict = judge(policies, trace)
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


def _count(tally: _Tally, verdict: Verdict, *, observe: bool) -> None:
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


def _conclude(tally: _Tally, policies: Sequence[Policy], runs: Sequence[str], target: IO[str]) -> None:
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
