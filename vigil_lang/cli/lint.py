"""`vigil lint`: everything that can be found wrong with policies, as a project wants it."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.base.collector import collector_paused
from vigil_lang.cli.levels import fail_level_option
from vigil_lang.cli.linting import Linting, Options, Outcome
from vigil_lang.cli.output import FORMATS, REPORTS, for_log, output_options, show_errors, show_findings, written
from vigil_lang.cli.params import params_options
from vigil_lang.cli.paths import complete
from vigil_lang.cli.settings import config_option, settings_of
from vigil_lang.cli.signature_options import against_options
from vigil_lang.diagnostics import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.report.findings import Suppressed

_CLEAN, _FINDINGS, _BAD_INPUT, _BROKEN_TOOL = 0, 1, 2, 3
_TICK = 0.4
"""Seconds between two looks at the files that are watched."""


@click.command("lint")
@click.argument("paths", metavar="[POLICY]...", nargs=-1, shell_complete=complete)
@click.option("--select", multiple=True, metavar="CODES", help="Look for these codes only (VGL302,VGL4 or ALL).")
@click.option("--extend-select", multiple=True, metavar="CODES", help="Look for these codes, too.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Leave these codes out.")
@click.option("--fix", is_flag=True, help="Apply fixes that change no meaning, and show what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: apply those that may change it, too.")
@click.option("--diff", is_flag=True, help="Write nothing; show what fixes would change.")
@against_options
@click.option(
    "--benign",
    multiple=True,
    metavar="RUN",
    shell_complete=complete,
    help="A run in which nothing is wrong, or a folder of them (repeatable).",
)
@click.option(
    "--benign-threshold", type=click.FloatRange(0, 1), help="The share of benign runs a statement may fire on; 0."
)
@click.option("--obligations", is_flag=True, help="Also find what cited documents ask for and no statement cites.")
@click.option(
    "--document",
    "documents",
    multiple=True,
    metavar="FILE",
    shell_complete=complete,
    help="The same of a document that need not be cited (repeatable).",
)
@click.option("--baseline", metavar="FILE", help="Findings that are let pass.")
@click.option("--update-baseline", is_flag=True, help="Write all findings into the baseline.")
@click.option("--statistics", is_flag=True, help="How often each code was found, instead of the findings.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes, until interrupted.")
@click.option("--no-ignores", is_flag=True, help="Pay no heed to `vigil: ignore` comments.")
@click.option("--no-cache", is_flag=True, help="Work everything out anew.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; by default one for each processor.")
@params_options
@config_option
@fail_level_option("warning", "finding")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(config: str | None, isolated: bool, watch: bool, **given: Any) -> int:
    """Find all that is wrong with policies: files, folders, globs, standard modules, or - for standard input.

    Without a POLICY it lints the working directory. `vigil explain CODE` tells what a finding means.

    Exit status: 0 nothing reaches the fail level, 1 something does, 2 a file cannot be read, 3 a rule failed.
    """  # fmt: skip
    options = Options(**given)
    _refuse_contradictions(options, watch=watch)
    if watch:
        return _watch(options, config, isolated=isolated)
    return _once(Linting(options, settings_of(config, isolated=isolated)))


def _refuse_contradictions(options: Options, *, watch: bool) -> None:
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff.")
    if options.statistics and options.format in REPORTS:
        raise click.UsageError(f"--statistics is no report: it goes without --format {options.format}.")
    if options.fix and options.diff:
        raise click.UsageError("--fix changes files and --diff does not: choose one.")
    if (options.fix or options.diff) and options.update_baseline:
        raise click.UsageError("--update-baseline keeps what is found, --fix and --diff mend it: choose one.")
    if "ALL" in (code.strip().upper() for text in options.ignore for code in text.split(",")):
        raise click.UsageError("--ignore ALL would leave nothing to look for.")
    if "-" in options.paths and (options.fix or options.update_baseline):
        raise click.UsageError("Standard input can neither be mended nor have a baseline; --diff shows its fixes.")
    if watch and (options.fix or options.diff or options.update_baseline or "-" in options.paths):
        raise click.UsageError("--watch only looks: it goes without --fix, --diff, --update-baseline and -.")


def _once(linting: Linting) -> int:
    paths = linting.paths()
    if linting.options.diff:
        return _show_difference(linting, paths)
    with collector_paused():
        outcome = linting.run(paths)
        status = _status(outcome, linting)
        _show(outcome, linting.options, status)
    return status


def _status(outcome: Outcome, linting: Linting) -> int:
    if any(f.code == "VGL902" for f in outcome.findings):
        return _BROKEN_TOOL
    if outcome.unreadable:
        return _BAD_INPUT
    return _FINDINGS if any(f.severity in linting.levels for f in outcome.findings) else _CLEAN


def _show_difference(linting: Linting, paths: Sequence[str]) -> int:
    from vigil_lang.cli.difference import difference

    changed = False
    for before, after in linting.fixed(paths):
        changed = True
        print(difference(before, after.text), end="", file=for_log(sys.stdout))
    show_errors(linting.refused)
    return _BAD_INPUT if linting.refused else _FINDINGS if changed else _CLEAN


# --- what is shown -----------------------------------------------------------------------------------------


def _show(outcome: Outcome, options: Options, status: int) -> None:
    with written(options.output) as target:
        if options.statistics:
            from vigil_lang.cli.tallies import show_statistics

            show_statistics(outcome.findings, options.format, target)
        else:
            suppressed = _suppressed(outcome) if options.format in REPORTS else ()
            show_findings(
                outcome.findings, options.format, target, files=outcome.paths, status=status, suppressed=suppressed
            )
        if options.format == "human":
            for line in _closing(outcome, options):
                print(line, file=target)


def _suppressed(outcome: Outcome) -> Sequence[Suppressed]:
    from vigil_lang.report.content import Suppression
    from vigil_lang.report.findings import Suppressed

    by_baseline = [Suppressed(finding, Suppression("external", "in the baseline")) for finding in outcome.known]
    return [*by_baseline, *(Suppressed(finding, Suppression("inSource")) for finding in outcome.ignored)]


def _closing(outcome: Outcome, options: Options) -> Sequence[str]:
    """What is to be said after the findings."""
    from vigil_lang.diagnostics.visible import shown_path

    lines: list[str] = []
    for figures in outcome.coverage:
        share = f"{figures.cited} of {_many(len(figures.obligations), 'obligation')} cited, {figures.percent:.0f} %"
        lines.append(f"{shown_path(figures.document.source.path)}: {share}")
    if outcome.mended:
        lines.append(f"{_many(outcome.mended, 'finding')} fixed")
    if not outcome.findings:
        new = " new" if outcome.known else ""
        lines.append(f"{_many(len(outcome.paths), 'policy')} linted, no{new} findings")
    let_pass = [
        *([f"{len(outcome.known)} by the baseline"] if outcome.known else ()),
        *([f"{len(outcome.ignored)} by comments"] if outcome.ignored else ()),
    ]
    if let_pass:
        lines.append(f"let pass: {', '.join(let_pass)}")
    if outcome.gone:
        verb, them = ("is", "it") if outcome.gone == 1 else ("are", "them")
        lines.append(f"{_many(outcome.gone, 'finding')} of the baseline {verb} gone: --update-baseline forgets {them}")
    safe = sum(1 for f in outcome.findings if f.fix and f.fix.safe)
    unsafe = sum(1 for f in outcome.findings if f.fix and not f.fix.safe)
    if safe:
        lines.append(f"{safe} can be fixed with --fix" + (f", {unsafe} more with --unsafe-fixes" if unsafe else ""))
    elif unsafe and not options.unsafe_fixes:
        lines.append(f"{unsafe} can be fixed with --fix --unsafe-fixes; look at what changes")
    return lines


def _many(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun.removesuffix('y') + 'ies' if noun.endswith('y') else noun + 's'}"


# --- watching ----------------------------------------------------------------------------------------------


def _watch(options: Options, config: str | None, *, isolated: bool) -> int:
    """Lint whenever something changes, until the user has seen enough."""
    status, seen = _CLEAN, None
    try:
        while True:
            now = _times(options)
            if now != seen:
                seen = now
                if sys.stdout.isatty():
                    click.clear()
                status = _round(options, config, isolated=isolated)
                print("watching for changes; interrupt to end", flush=True)
            time.sleep(_TICK)
    except KeyboardInterrupt:
        return status


def _round(options: Options, config: str | None, *, isolated: bool) -> int:
    """A file may be half-written or gone for a moment: that ends a round, not the watch."""
    try:
        return _once(Linting(options, settings_of(config, isolated=isolated)))
    except InputError as error:
        show_errors(error.diagnostics)
        return _BAD_INPUT


def _times(options: Options) -> dict[str, int]:
    """When the files in the folders that are watched were changed last."""
    found: dict[str, int] = {}
    for path in (*(options.paths or (".",)), *options.runs, *options.benign, *options.signatures):
        for name in _below(path):
            try:
                found[name] = os.stat(name).st_mtime_ns  # noqa: PTH116 - texts, for speed
            except OSError:
                continue
    return found


def _below(path: str) -> list[str]:
    if not os.path.isdir(path):  # noqa: PTH112
        return [path]
    names: list[str] = []
    for place, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names += (os.path.join(place, name) for name in files if not name.startswith("."))  # noqa: PTH118
    return names
