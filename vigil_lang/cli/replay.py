"""`vigil replay`: recorded runs judged as if online, call by call."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.judging import hardly_read, load_policies, selected, unread
from vigil_lang.cli.options import (
    abstraction_options,
    complete,
    config_option,
    fail_level_option,
    levels_from,
    run_options,
    settings_of,
)
from vigil_lang.cli.output import ToolFault, console, for_log, give_up, output_options, show_errors, written
from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.cli.progress import steps
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.diagnostics.secrets import learn
from vigil_lang.project.paths import policy_paths, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.abstraction.run import Options
    from vigil_lang.enforce.labels import Labels
    from vigil_lang.enforce.replay import Certifier
    from vigil_lang.enforce.replay_figures import Figures
    from vigil_lang.enforce.replayed import Changed, Replayed
    from vigil_lang.enforce.run import PolicyMonitor
    from vigil_lang.project.settings import Settings

Certify: TypeAlias = Literal["none", "violations", "all"]
ReplayFormat: TypeAlias = Literal["human", "concise", "json", "junit", "markdown"]
FORMATS: tuple[ReplayFormat, ...] = ("human", "concise", "json", "junit", "markdown")
WORTH_A_PROCESS = 8
"""So many recordings are worth another process."""


@click.command("replay")
@click.argument("paths", metavar="POLICY... RUN...", nargs=-1, required=True, shell_complete=complete)
@click.option(
    "--as-if-blocked", is_flag=True, help="Leave out the calls that would have been blocked, and what they started."
)
@click.option(
    "--against",
    multiple=True,
    metavar="POLICY",
    shell_complete=complete,
    help="Compare with these other policies, such as older ones (repeatable): show only what differs.",
)
@click.option(
    "--labels", metavar="FILE", shell_complete=complete, help="JSON Lines that say which runs are benign or harmful."
)
@click.option(
    "--certify",
    type=click.Choice(["none", "violations", "all"]),
    default="none",
    show_default=True,
    help="Have Z3 confirm the violations that calls are blocked, held or warned about for; with all, also the verdicts "
    "on whole runs.",
)
@params_options
@click.option("--statement", "names", multiple=True, metavar="NAME", help="Judge by this statement only (repeatable).")
@run_options
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="How many processes to use; by default one for each processor."
)
@config_option
@fail_level_option("info", "statement")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(
    paths: tuple[str, ...],
    as_if_blocked: bool,
    against: tuple[str, ...],
    labels: str | None,
    certify: Certify,
    settings: tuple[str, ...],
    params: str | None,
    names: tuple[str, ...],
    source: str | None,
    jobs: int | None,
    config: str | None,
    isolated: bool,
    fail_level: str | None,
    output: str,
    format: ReplayFormat,  # noqa: A002 - the option's name
    **how: Any,
) -> int:
    """Replay recorded runs as if policies had been enforced: show what would have been blocked, held or warned about.

    Each call is judged by what was known when it was issued. What ends in .vgl and standard modules are policies, a
    folder gives its policies and its runs, and everything else is a run; - reads a run from standard input.

    Exit status: 0 no statement that reaches the fail level blocks, holds or warns about a call, or is violated (with
    --against: nothing differs); 1 some does; 2 something cannot be read, or a run has no events.
    """
    project = settings_of(config, isolated=isolated)
    policy_args, runs = split(paths, project.excludes)
    if not policy_args or not runs:
        missing, kept = ("policy", "run") if not policy_args else ("run", "policy")
        raise click.UsageError(f"There is no {missing} beside the {kept}: vigil replay rules.vgl run.jsonl")
    abstraction_options(**how)  # what is wrong with them is said before the work
    values = {**project.params, **read_params(settings, params)}
    old = tuple(policy_paths(against, project.excludes)) if against else ()
    task = Task(tuple(policy_args), values, names, old, source, how, project, certify, as_if_blocked=as_if_blocked)
    reached = levels_from(fail_level, "info", "human")
    with written(output) as target:
        work = Work(task)
        check_settings(settings, [*work.policies, *work.old_policies])
        writer = _Writer(target, format, _labels(labels))
        failed = broken = False
        with steps(runs) as progress:
            for _, outcomes in zip(progress, _outcomes(work, runs, jobs), strict=True):
                for outcome in outcomes:
                    if outcome.fault is not None:
                        raise ToolFault(outcome.fault)
                    with progress.aside():
                        show_errors(outcome.remarks)
                        writer.add(outcome)
                    broken = broken or outcome.replayed is None
                    failed = failed or _fails(outcome, reached)
        if broken and not writer.at_the_end:
            writer.finish()
            give_up(output)
        writer.finish()
        return BAD_INPUT if broken else FINDINGS if failed else CLEAN


def _labels(path: str | None) -> Labels | None:
    if path is None:
        return None
    from vigil_lang.enforce.labels import Labels

    return Labels(path)


def _fails(outcome: Outcome, reached: Sequence[str]) -> bool:
    if outcome.replayed is None:
        return False
    if outcome.before is not None:
        from vigil_lang.enforce import replayed

        return bool(reached) and bool(replayed.Changed(outcome.before, outcome.replayed))
    return not outcome.replayed.levels().isdisjoint(reached)


# --- the work -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done with each recording: plain data, which is sent to the worker processes."""

    policies: tuple[str, ...]
    values: dict[str, object]
    names: tuple[str, ...]
    against: tuple[str, ...]
    source: str | None
    how: dict[str, Any]
    project: Settings
    certify: Certify
    as_if_blocked: bool


class Outcome(NamedTuple):
    """The result of one run: its replay, and the one by other policies; where there is none, `remarks` say why."""

    replayed: Replayed | None
    before: Replayed | None = None
    remarks: Sequence[Diagnostic] = ()
    fault: Diagnostic | None = None
    """VGL901: the solver did not confirm something."""


class Work:
    """A task with its policies read, ready for any number of recordings."""

    def __init__(self, task: Task) -> None:
        """Read the policies.

        Raises:
            InputError: with what is wrong in any of them.
        """
        from vigil_lang.enforce.run import PolicyMonitor

        self.task = task
        self.policies = selected(load_policies(task.policies, task.values), task.names)
        self.old_policies = load_policies(task.against, task.values)
        self.options: Options = abstraction_options(tools=task.project.known_tools, **task.how)
        self._monitor = PolicyMonitor(self.policies)
        self._before = PolicyMonitor(self.old_policies) if task.against else None

    def outcomes(self, path: str) -> Iterator[Outcome]:
        """The runs of one recording, one after the other."""
        from vigil_lang.enforce.replay import replay
        from vigil_lang.runs import load_records, why_unusable

        refused: list[Diagnostic] = []
        disagrees, certifier = self._certifier()
        try:
            for survey, records in load_records(path, format=self.task.source, options=self.options):

                def under(monitor: PolicyMonitor, certifier: Certifier | None) -> Replayed:
                    return replay(
                        monitor,
                        survey,  # noqa: B023
                        records,  # noqa: B023
                        self.options,
                        as_if_blocked=self.task.as_if_blocked,
                        certifier=certifier,
                    )

                found = under(self._monitor, certifier)
                doubt = None if self.options.allow_empty else why_unusable(found.run, found.events)
                if doubt is not None:
                    refused.append(doubt)
                    continue
                before = None if self._before is None else under(self._before, None)
                yield Outcome(found, before, tuple(_remarks(found)))
        except InputError as error:
            refused += error.diagnostics
        except disagrees as error:
            message = f"the solver did not confirm a decision: {error}"
            yield Outcome(None, fault=Diagnostic.of("VGL901", message, Source(path, "")))
        if refused:
            yield Outcome(None, None, refused)

    def _certifier(self) -> tuple[tuple[type[Exception], ...], Certifier | None]:
        """What has a solver confirm decisions, and the error that it raises where the solver does not."""
        if self.task.certify == "none":
            return (), None
        from vigil_lang.cli.replay_certificates import SolverCertifier
        from vigil_lang.engines.smt.solve import SolverDisagrees

        return (SolverDisagrees,), SolverCertifier(self.policies, whole=self.task.certify == "all")


def _remarks(found: Replayed) -> Iterator[Diagnostic]:
    yield from hardly_read(found.run, found.events, said_only=len(found.decisions) <= found.run.not_executed)
    yield from unread(found.run, found.seen)


def _outcomes(work: Work, paths: Sequence[str], jobs: int | None) -> Iterator[Iterator[Outcome] | list[Outcome]]:
    """The results of each recording, in order."""
    from vigil_lang.base.processes import can_spawn, processors, spawned

    jobs = min(jobs or processors(), len(paths))
    if jobs == 1 or len(paths) < WORTH_A_PROCESS or "-" in (*paths, *work.task.policies) or not can_spawn():
        yield from map(work.outcomes, paths)
        return
    with spawned(jobs, _prepare, work.task) as pool:
        yield from pool.map(_all_outcomes, paths)


_prepared: list[Work] = []


def _prepare(task: Task) -> None:
    from vigil_lang.base import cache

    cache.say_nothing()
    _prepared.append(Work(task))


def _all_outcomes(path: str) -> list[Outcome]:
    return list(_prepared[0].outcomes(path))


# --- what is written ----------------------------------------------------------------------------------------


class _Writer:
    """Takes outcomes, and writes each at once or all together at the end."""

    def __init__(self, target: IO[str], format: ReplayFormat, labels: Labels | None) -> None:  # noqa: A002
        from vigil_lang.enforce.replay_figures import Figures

        self._target = target
        self._format = format
        self._labels = labels
        self._figures: Figures = Figures()
        self._broken = 0
        self._comparing = False
        self._runs = self._changed = 0
        self._changes = Counter[tuple[str, str]]()
        """Calls that are decided differently, by what was and what is decided."""
        self._gap = False
        """Whether what was shown last is set apart from what follows."""
        self._collected = None
        if self.at_the_end:
            from vigil_lang.report.replays import Replays

            self._collected = Replays()

    @property
    def at_the_end(self) -> bool:
        """Whether nothing is written before `finish`, so that even what cannot be read has a place in it."""
        return self._format in ("junit", "markdown")

    def add(self, outcome: Outcome) -> None:
        """Take in the result of one run."""
        found, before = outcome.replayed, outcome.before
        if found is None:
            self._broken += 1
            if self._collected is not None:
                self._collected.broken(outcome.remarks)
            return
        for call in (decision.shown for decision in found.disturbed):
            learn({} if call is None else call.args)
        label = None if self._labels is None else self._labels.of(found.run.path)
        self._figures.add(found, label)
        if before is not None:
            from vigil_lang.enforce import replayed

            self._comparing = True
            self._add_changed(replayed.Changed(before, found))
        elif self._collected is not None:
            self._collected.add(found)
        else:
            self._write(found, label)
        self._target.flush()

    def finish(self) -> None:
        """Write what is to be written at the end."""
        unused = 0 if self._labels is None else self._labels.unused
        if self._format == "human" and self._comparing:
            from vigil_lang.report.replay_screen import changed_totals

            print(file=self._target)
            print(changed_totals(self._runs, self._changed, self._changes, self._broken), file=self._target)
        elif self._format == "human":
            from vigil_lang.report.replay_screen import print_figures

            print_figures(self._figures, console(self._target), broken=self._broken, unused_labels=unused)
        elif self._collected is not None:
            text = (
                self._collected.junit() if self._format == "junit" else self._collected.markdown(self._figures, unused)
            )
            self._target.write(text)

    def _write(self, found: Replayed, label: str | None) -> None:
        if self._format == "human":
            from vigil_lang.report.replay_screen import print_replayed

            self._apart()
            self._gap = print_replayed(found, console(self._target))
        elif self._format == "concise":
            from vigil_lang.report.replays import lines

            self._print(lines(found))
        else:
            published = found.to_json()
            if label is not None:
                published["run"]["label"] = label
            self._print_json(published)

    def _add_changed(self, changed: Changed) -> None:
        from vigil_lang.report.replay_screen import WORDS

        self._runs += 1
        self._changed += bool(changed)
        for was, now in changed.decisions:
            pair = [("left out" if decision is None else WORDS[decision.decided]) for decision in (was, now)]
            self._changes[pair[0], pair[1]] += 1
        if self._collected is not None:
            self._collected.add_changed(changed)
        elif self._format == "human":
            from vigil_lang.report.replay_screen import print_changed

            self._apart()
            self._gap = print_changed(changed, console(self._target))
        elif self._format == "concise":
            from vigil_lang.report.replays import changed_lines

            self._print(changed_lines(changed))
        else:
            self._print_json(changed.to_json())

    def _apart(self) -> None:
        if self._gap:
            print(file=self._target)

    def _print(self, lines: Iterator[str]) -> None:
        stream = for_log(self._target)
        for line in lines:
            print(line, file=stream)

    def _print_json(self, value: object) -> None:
        from vigil_lang.diagnostics.visible import safe_json

        print(safe_json(value), file=self._target)
