"""`vigil run`: from documents and runs to verdicts, the paper's Algorithm 1 as a whole."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.base import inputs
from vigil_lang.base.outputs import check_outputs
from vigil_lang.cli.draft_common import (
    drafted,
    header,
    model_options,
    no_obligation,
    plan_of,
    policy_name,
    reader_of,
    refuse_to_overwrite,
    take_option,
    taken,
    terms_of,
)
from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.judging import Strictness, conclude, judge_all
from vigil_lang.cli.options import (
    abstraction_options,
    complete,
    config_option,
    fail_level_option,
    levels_from,
    run_options,
    settings_of,
    strictness_options,
)
from vigil_lang.cli.output import FORMATS, Format, console, give_up, output_options, show_errors, written
from vigil_lang.cli.verdict_writer import Writer
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.project.paths import trace_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.abstraction.run import Options
    from vigil_lang.diagnostics import Severity
    from vigil_lang.draft.answer_sources import Obtained
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.draft.reports.report import Report
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature, Trace

_TELLING = ("model", "effort", "max_cost", "base_url", "offline", "refresh", "no_cache")


@click.command("run")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete)
@click.option(
    "--spec",
    "specs",
    multiple=True,
    required=True,
    metavar="SPEC",
    shell_complete=complete,
    help="A document that says what an agent must do, or a folder of them (repeatable).",
)
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    metavar="FILE",
    shell_complete=complete,
    help="Tool definitions whose names the policy may use, too (repeatable).",
)
@click.option(
    "--policy", "policy_file", metavar="FILE", help="Where to keep the policy; by default among stored answers."
)
@click.option("--force", is_flag=True, help="Replace that file, but no input.")
@take_option
@model_options
@run_options
@strictness_options
@config_option
@fail_level_option("info", "violation")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(
    runs: tuple[str, ...],
    specs: tuple[str, ...],
    signatures: tuple[str, ...],
    policy_file: str | None,
    force: bool,
    take: tuple[str, ...],
    rounds: int | None,
    batch: int,
    second_reader: bool,
    source: str | None,
    strict: bool,
    fail_on_vacuous: bool,
    config: str | None,
    isolated: bool,
    fail_level: str | None,
    output: str,
    format: Format,  # noqa: A002 - the option's name
    **given: Any,
) -> int:
    """Judge runs by what documents ask for: draft a policy in the vocabulary of the runs, then verify them.

    Drafted answers are stored, so that the same documents, vocabulary and model cost nothing the next time.

    Exit status: 0 no violation reaches the fail level, 1 some does, or a run is not seen or tested as --strict or
    --fail-on-vacuous demand, 2 something cannot be read or holds no events, or a clause has no acceptable answer while
    nothing is violated.
    """  # fmt: skip
    if policy_file == "-":
        raise click.UsageError("--policy takes a file: the verdicts go to standard output.")
    project = settings_of(config, isolated=isolated)
    terms = terms_of(project, **{name: given.pop(name) for name in _TELLING})
    refuse_to_overwrite(policy_file, "--policy", force=force)
    reached = levels_from(fail_level, "info", format)
    from vigil_lang.draft.clauses import read_clauses

    paths = trace_paths(runs)
    clauses = read_clauses(specs, policy_file, taken(take, project))
    inputs.note(*(signatures or project.signatures))
    check_outputs(policy_file, output)  # before anybody is asked
    if not clauses.clauses:
        raise click.UsageError(f"{no_obligation(clauses)}, so there is nothing to judge by.")
    options = abstraction_options(tools=project.known_tools, **given)
    from vigil_lang.draft.answer_sources import Task

    read = reader_of(clauses, terms, second=second_reader)  # before runs are read, which may take long
    recordings = _Recordings(paths, source, options)
    task_signature = recordings.signature(signatures or project.signatures)
    from vigil_lang.draft.prompting import vocabulary
    from vigil_lang.draft.reports.report import Report

    traces = recordings.traces
    plan = plan_of(project, policy_file, rounds, batch, limited=terms.limit is not None)
    reading = read(plan)
    task = Task(reading.clauses, task_signature, traces, vocabulary.describe(task_signature, traces), plan)
    found = drafted(task, terms, reading)
    name = policy_name(None, policy_file, specs)
    report = Report(found.draft, name, policy_file, found.origin, None, len(traces), task.vocabulary.cut)
    policy, kept = _policy(report, found, policy_file)
    doubts = _doubts(report, clauses, _draft_again(specs, runs, signatures, take))
    with written(output) as target:
        writer = Writer(target, format)
        _tell(report, kept)
        show_errors(doubts)
        writer.remark(doubts)
        if not policy.statements and not writer.at_the_end:
            give_up(output)
        if not policy.statements:
            return writer.finish(BAD_INPUT)
        strictness = Strictness(
            strict=strict or project.verify.strict,
            fail_on_vacuous=fail_on_vacuous or project.verify.fail_on_vacuous,
            allow_empty=options.allow_empty,
        )
        tally = judge_all([policy], recordings.paths, recordings.of, writer, strictness, observe=False)
        if format == "human":
            conclude(tally, [policy], recordings.paths, target)
            for doubt in doubts:  # beside "safe", wherever that is read
                console(target).print(doubt.message)
        if tally.broken and not writer.at_the_end:
            give_up(output)
        if tally.broken:
            return writer.finish(BAD_INPUT)
        if tally.failed or not tally.violated.isdisjoint(reached):
            return writer.finish(FINDINGS)
        # Nothing that was judged is violated, but what could not be drafted was not judged.
        return writer.finish(BAD_INPUT if reached and not report.draft.complete else CLEAN)


class _Recordings:
    """Recordings, read once: the policy is drafted in the vocabulary of them all before the first is judged."""

    def __init__(self, paths: Sequence[str], source: str | None, options: Options) -> None:
        from vigil_lang.runs import load_traces

        self.paths = list(paths)
        self._read: dict[str, list[Trace]] = {}
        self._broken: dict[str, InputError] = {}
        for path in self.paths:
            read: list[Trace] = []
            try:
                read.extend(load_traces(path, format=source, options=options))
            except InputError as error:
                self._broken[path] = error
            if read or path not in self._broken:
                self._read[path] = read

    @property
    def traces(self) -> list[Trace]:
        """All runs that could be read."""
        return [trace for path in self._read for trace in self._read[path]]

    def of(self, path: str) -> Iterator[Trace]:
        """The runs of a recording. Raises the InputError that reading it came to."""
        yield from self._read.get(path, ())
        if path in self._broken:
            raise self._broken[path]

    def signature(self, paths: Sequence[str]) -> Signature:
        """What the runs and signatures allow together.

        Raises:
            InputError: a signature cannot be read, or no recording could.
        """
        from vigil_lang.project.recordings import vocabulary

        if not self._read:
            raise InputError([found for error in self._broken.values() for found in error.diagnostics])
        found = vocabulary(paths, self.traces)
        assert found is not None
        return found


def _policy(report: Report, found: Obtained, file: str | None) -> tuple[Policy, str | None]:
    """The policy and its file: the one that was wanted, else one beside the stored answers, else none.

    One without statements is kept nowhere.
    """
    from vigil_lang.base.outputs import write_text
    from vigil_lang.draft import store
    from vigil_lang.draft.building import compose
    from vigil_lang.semantics.policy import read_policy

    text = compose.policy(report.name, report.draft.entries, report.draft.documents, header(report))
    kept = None
    if report.statements and file is not None:
        write_text(file, text)
        kept = file
    elif report.statements and found.path is not None:
        place = store.keep_policy(found.made_of, text)
        kept = str(place) if place is not None else None
    return read_policy(Source(kept or f"{report.name}.vgl", text)), kept


def _doubts(report: Report, clauses: Clauses, again: str) -> list[Diagnostic]:
    """What the verdicts do not cover: clauses that became no statement. `again` is the call that tells of each."""
    from vigil_lang.draft.reports.report import headline, many, unknown_names

    failed, total = len(report.standing("failed")), len(report.draft.entries)
    left = total - len(report.standing("kept"))
    if not left:
        return []
    message = f"{left} of {many(total, 'clause')} {'is' if left == 1 else 'are'} not judged"
    if not report.statements:
        subject = "the clause became no statement" if total == 1 else f"none of {total} clauses became a statement"
        message = f"{subject}, so nothing is judged"
    severity: Severity = "error" if not report.statements else "warning" if failed else "info"
    names = "; `--signature FILE` tells of tools that these runs did not use" if unknown_names(report) else ""
    help_text = f"{headline(report)}{names}; `{again}` tells of each why"
    return [Diagnostic.of("VGL615", message, Source(clauses.files[0], ""), help=help_text, severity=severity)]


def _draft_again(specs: Sequence[str], runs: Sequence[str], signatures: Sequence[str], take: Sequence[str]) -> str:
    """The call of `vigil draft` that is about the same, as a shell takes it."""
    given = [*(("--trace", run) for run in runs), *(("--signature", file) for file in signatures)]
    given += [("--take", reason) for reason in take]
    return shlex.join(["vigil", "draft", *specs, *(word for pair in given for word in pair)])


def _tell(report: Report, kept: str | None) -> None:
    """A line on standard error: where the policy is, and where its answers come from."""
    from rich.text import Text

    from vigil_lang.diagnostics.visible import shown_path
    from vigil_lang.draft.reports.report import spent

    where = "has no statements" if not report.statements else "kept nowhere; --policy FILE keeps it"
    where = shown_path(kept) if kept is not None else where
    line = Text.assemble(("policy", "bold"), f"  {where} · {' · '.join(spent(report))}")
    console(sys.stderr).print(line)
