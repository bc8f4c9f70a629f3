"""`vigil lint`: everything that can be found wrong with policies, as a project wants it."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

import click

from vigil_lang.base.collector import collector_paused
from vigil_lang.cli.exit_codes import BAD_INPUT, BROKEN_TOOL, CLEAN, FINDINGS
from vigil_lang.cli.lint_session import Linting, Options, Outcome
from vigil_lang.cli.options import against_options, complete, config_option, fail_level_option, settings_of
from vigil_lang.cli.output import FORMATS, REPORTS, for_log, output_options, show_errors, show_findings, written
from vigil_lang.cli.params import params_options
from vigil_lang.diagnostics import CODES, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.cli.output import Format
    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.report.findings import Suppressed

_TICK = 0.4
"""Seconds between two looks at the files that are watched."""


@click.command("lint")
@click.argument("paths", metavar="[POLICY]...", nargs=-1, shell_complete=complete)
@click.option("--select", multiple=True, metavar="CODES", help="Look for these codes only (VGL302,VGL4 or ALL).")
@click.option("--extend-select", multiple=True, metavar="CODES", help="Also look for these codes.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not look for these codes.")
@click.option("--fix", is_flag=True, help="Apply fixes that change no meaning, and show what is left.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also apply fixes that may change the meaning."
)
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
    "--benign-threshold", type=click.FloatRange(0, 1), help="The share of benign runs that may violate a statement; 0."
)
@click.option("--obligations", is_flag=True, help="Also find what cited documents ask for and no statement cites.")
@click.option(
    "--document",
    "documents",
    multiple=True,
    metavar="FILE",
    shell_complete=complete,
    help="Like --obligations, for a document that no policy cites (repeatable).",
)
@click.option("--baseline", metavar="FILE", help="A file with known findings, which are not reported.")
@click.option("--update-baseline", is_flag=True, help="Write all findings into the baseline.")
@click.option("--statistics", is_flag=True, help="Show how often each code was found instead of the findings.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes, until interrupted.")
@click.option("--no-ignores", is_flag=True, help="Report findings in spite of `vigil: ignore` comments.")
@click.option("--no-cache", is_flag=True, help="Do not use stored results.")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="How many processes to use; by default one for each processor."
)
@params_options
@config_option
@fail_level_option("warning", "finding")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(config: str | None, isolated: bool, watch: bool, **given: Any) -> int:
    """Find all that is wrong with policies: files, folders, globs, standard modules, or - for standard input.

    Without a POLICY it lints the working directory. `vigil explain CODE` tells what a finding means.

    By default warnings fail: with errors a policy judges nothing, with warnings maybe not what was meant.

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
        raise click.UsageError(f"--statistics makes no report: it cannot be used with --format {options.format}.")
    if options.fix and options.diff:
        raise click.UsageError("--fix changes files and --diff does not: choose one.")
    if (options.fix or options.diff) and options.update_baseline:
        raise click.UsageError("--update-baseline records findings, --fix and --diff mend them: choose one.")
    if "ALL" in (code.strip().upper() for text in options.ignore for code in text.split(",")):
        raise click.UsageError("--ignore ALL would leave nothing to look for.")
    if "-" in options.paths and (options.fix or options.update_baseline):
        raise click.UsageError("Standard input cannot be fixed and has no baseline; --diff shows its fixes.")
    if watch and (options.fix or options.diff or options.update_baseline or "-" in options.paths):
        raise click.UsageError("--watch only reports: it cannot be used with --fix, --diff, --update-baseline or -.")


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
        return BROKEN_TOOL
    if outcome.unreadable:
        return BAD_INPUT
    return FINDINGS if any(f.severity in linting.levels for f in outcome.findings) else CLEAN


def _show_difference(linting: Linting, paths: Sequence[str]) -> int:
    from vigil_lang.cli.diff import difference

    changed = False
    for before, after in linting.fixed(paths):
        changed = True
        print(difference(before, after.text), end="", file=for_log(sys.stdout))
    show_errors(linting.refused)
    return BAD_INPUT if linting.refused else FINDINGS if changed else CLEAN


# --- what is shown -----------------------------------------------------------------------------------------


def _show(outcome: Outcome, options: Options, status: int) -> None:
    with written(options.output) as target:
        if options.statistics:
            _show_statistics(outcome.findings, options.format, target)
        else:
            suppressed = _suppressed(outcome) if options.format in REPORTS else ()
            show_findings(
                outcome.findings, options.format, target, files=outcome.paths, status=status, suppressed=suppressed
            )
        if options.format == "human":
            for line in _closing(outcome, options):
                print(line, file=target)


def _show_statistics(found: Sequence[Diagnostic], format: Format, stream: IO[str]) -> None:  # noqa: A002
    """Write codes by how often they were found; as JSON where a program reads it."""
    from vigil_lang.diagnostics.visible import safe_json

    fixable = Counter(f.code for f in found if f.fix)
    counts = sorted(Counter(f.code for f in found).items(), key=lambda item: (-item[1], item[0]))
    if format != "human":
        codes = [
            {"code": code, "count": count, "fixable": fixable[code], "summary": CODES[code].summary}
            for code, count in counts
        ]
        print(safe_json({"schema": "vigil.statistics/1", "codes": codes}), file=stream)
        return
    wide = max((len(str(count)) for _, count in counts), default=1)
    for code, count in counts:
        fixes = f" ({fixable[code]} with a fix)" if fixable[code] else ""
        print(f"{count:>{wide}}  {code}  {CODES[code].summary}{fixes}", file=stream)


def _suppressed(outcome: Outcome) -> Sequence[Suppressed]:
    from vigil_lang.report.content import Suppression
    from vigil_lang.report.findings import Suppressed

    by_baseline = [Suppressed(finding, Suppression("external", "in the baseline")) for finding in outcome.known]
    return [*by_baseline, *(Suppressed(finding, Suppression("inSource")) for finding in outcome.ignored)]


def _closing(outcome: Outcome, options: Options) -> Sequence[str]:
    """The lines after the findings."""
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
    status, seen = CLEAN, None
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
        return BAD_INPUT


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
