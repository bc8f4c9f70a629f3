"""`vigil verify`: recorded runs judged by policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.judging import Strictness, conclude, judge_all, load_policies, selected
from vigil_lang.cli.options import (
    abstraction_options,
    complete,
    config_option,
    fail_level_option,
    levels_from,
    no_such_run,
    run_options,
    settings_of,
    strictness_options,
)
from vigil_lang.cli.output import FORMATS, Format, give_up, output_options, show_errors, written
from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.cli.verdict_writer import Writer
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.trace import Trace


FOLLOWED: Final[tuple[Format, ...]] = ("human", "concise", "json", "json-lines")
"""The formats that `--follow` can write: each violation at once."""


@click.command("verify")
@click.argument("paths", metavar="POLICY... RUN...", nargs=-1, required=True, shell_complete=complete)
@params_options
@click.option("--statement", "names", multiple=True, metavar="NAME", help="Judge by this statement only (repeatable).")
@click.option("--run", "only", multiple=True, metavar="NAME|N", help="Only this run of the recordings (repeatable).")
@click.option("--follow", is_flag=True, help="Judge one run while it is recorded: a file that grows, or a pipe.")
@click.option(
    "--idle-timeout",
    "idle",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="With --follow: end the run when nothing was appended for so long.",
)
@click.option(
    "--certify",
    type=click.Choice(("none", "violations", "all")),
    help="With --follow: which verdicts Z3 confirms; the run is then kept in memory.  [default: none]",
)
@click.option("--no-check", is_flag=True, help="Do not look for names that the runs do not know.")
@run_options
@strictness_options
@config_option
@fail_level_option("info", "violation")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(
    paths: tuple[str, ...],
    settings: tuple[str, ...],
    params: str | None,
    names: tuple[str, ...],
    only: tuple[str, ...],
    follow: bool,
    idle: float | None,
    certify: Literal["none", "violations", "all"] | None,
    no_check: bool,
    source: str | None,
    strict: bool,
    fail_on_vacuous: bool,
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

    Exit status: 0 no violation reaches the fail level; 1 some does, or a run fails by --strict or --fail-on-vacuous;
    2 something cannot be read, or a run has no events.
    """
    _check_options(output, format, idle, certify, follow=follow)
    project = settings_of(config, isolated=isolated)
    policy_args, runs = split(paths, project.excludes)
    if not policy_args or not runs:
        missing, kept = ("policy", "run") if not policy_args else ("run", "policy")
        raise click.UsageError(f"There is no {missing} beside the {kept}: vigil verify rules.vgl run.jsonl")
    if follow and only:
        raise click.UsageError("--follow judges every run of what it follows: leave out --run.")
    if follow and len(runs) > 1:
        raise click.UsageError(f"--follow takes one run, not {len(runs)}.")
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
            return writer.finish(BAD_INPUT)
        check_settings(settings, policies)
        policies = selected(policies, names)
        observe = format == "human" and not no_check
        options = abstraction_options(tools=project.known_tools, **how)
        chosen = Chosen(only)

        def traces_of(path: str) -> Iterable[Trace]:
            from vigil_lang.runs import load_traces

            traces = load_traces(path, format=source, options=options)
            return chosen(traces) if only else traces

        strictness = Strictness(
            strict=strict or project.verify.strict,
            fail_on_vacuous=fail_on_vacuous or project.verify.fail_on_vacuous,
            allow_empty=options.allow_empty,
        )
        if follow:
            from vigil_lang.cli.follow import follow as followed

            return followed(
                policies,
                runs[0],
                target,
                format=format,
                source=source,
                options=options,
                strictness=strictness,
                reached=reached,
                certify=certify or "none",
                idle=idle,
            )
        tally = judge_all(policies, runs, traces_of, writer, strictness, observe=observe)
        if format == "human":
            conclude(tally, policies, runs, target)
        if chosen.missing and not tally.broken:
            raise click.UsageError(chosen.missing)
        if tally.broken and not writer.at_the_end:
            give_up(output)
        failed = bool(tally.failed) or not tally.violated.isdisjoint(reached)
        return writer.finish(BAD_INPUT if tally.broken else FINDINGS if failed else CLEAN)


def _check_options(output: str, format: Format, idle: float | None, certify: str | None, *, follow: bool) -> None:  # noqa: A002
    """Raise click.UsageError for options that make no sense together."""
    if not follow and (idle is not None or certify is not None):
        option = "--certify" if idle is None else "--idle-timeout"
        raise click.UsageError(f"{option} needs --follow.")
    if follow and output != "-":
        raise click.UsageError("--follow writes to standard output: redirect it instead of --output.")
    if follow and format not in FOLLOWED:
        raise click.UsageError(f"--follow writes {', '.join(FOLLOWED)}, not {format}: that format is one document.")


class Chosen:
    """The runs that `--run` asks for: by label, by name, or by number where no run of the recording is called so."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._found: set[str] = set()
        self._runs: dict[str, None] = {}

    def __call__(self, traces: Iterable[Trace]) -> Iterator[Trace]:
        """Those of one recording."""
        called: set[str] = set()
        numbered: list[tuple[str, Trace]] = []
        for number, trace in enumerate(traces, 1):
            self._runs[trace.run.label or trace.run.name or str(number)] = None
            mine = {name for name in self._names if trace.run.is_called(name)}
            called |= mine
            if mine:
                yield trace
            elif str(number) in self._names:
                numbered.append((str(number), trace))
        for name, trace in numbered:
            if name not in called:
                called.add(name)
                yield trace
        self._found |= called

    @property
    def missing(self) -> str | None:
        """The message that there is no such run as was asked for."""
        lacking = next((name for name in self._names if name not in self._found), None)
        return None if lacking is None else no_such_run(lacking, self._runs)
