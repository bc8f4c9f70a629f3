"""`vigil test`: what policies are expected to say of runs, held against what they say."""

from __future__ import annotations

import os
import sys
from io import StringIO
from typing import IO, TYPE_CHECKING

import click

from vigil_lang.base.outputs import check_outputs, write_text
from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.options import complete, config_option, settings_of
from vigil_lang.cli.output import ToolFault, console, output_options
from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lang.diagnostics.visible import safe_json
from vigil_lang.project.paths import test_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.testing.coverage import Coverage
    from vigil_lang.testing.mutate import Mutation
    from vigil_lang.testing.session import Session


@click.command("test")
@click.argument("paths", metavar="[PATH]...", nargs=-1, shell_complete=complete)
@click.option("-k", "wanted", default="", metavar="EXPR", help="Only tests whose names fit: `mask and not slow`.")
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option("-v", "--verbose", is_flag=True, help="A line for each test.")
@click.option("--coverage", "coverage_shown", is_flag=True, help="Which statements and conditions the tests exercise.")
@click.option("--coverage-html", metavar="FILE", help="The same as a page for a browser.")
@click.option("--coverage-json", metavar="FILE", help="The same as a `vigil.coverage/1` object.")
@click.option("--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="The least coverage that will do.")
@click.option("--mutate", "mutated", is_flag=True, help="Change the policies and see whether the tests notice.")
@config_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write the result; the screen by default.")
@output_options("human", "json", "junit")
def command(
    paths: tuple[str, ...],
    wanted: str,
    exitfirst: bool,
    verbose: bool,
    coverage_shown: bool,
    coverage_html: str | None,
    coverage_json: str | None,
    fail_under: float | None,
    mutated: bool,
    config: str | None,
    isolated: bool,
    output: str,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Run the tests of policies: files called *_test.vgl, folders with all of them, and standard modules.

    Without a PATH it runs those below the working directory. With -o the result goes to a file, and what people read
    still to the screen.

    Exit status: 0 every test passed, 1 some failed, too little is covered or a mutant survived, 2 a test is not valid.
    """
    from vigil_lang.testing.name_filter import name_filter
    from vigil_lang.testing.session import FileResult, collect

    try:
        fits = name_filter(wanted)
    except ValueError as error:
        raise click.UsageError(f"-k: {error}.") from error
    project = settings_of(config, isolated=isolated)
    settings = project.test
    paths = tuple(map(_place, paths))
    refused: list[Diagnostic] = []
    found = test_paths(paths or settings.paths or (".",), project.excludes, refused)
    check_outputs(coverage_html, coverage_json, output)
    session = collect(map(os.path.normpath, found), fits, project.known_tools)
    session.files += (FileResult(finding.source.path, (finding,)) for finding in refused)
    if wanted.strip() and not session.cases and not session.findings:
        raise click.UsageError(f"-k: no test's name fits '{wanted}'.")
    saved = StringIO()
    # A result for machines that goes to a file leaves the screen to people.
    screen: IO[str] = saved if (output == "-") == (format != "human") else sys.stdout
    _run_all(session, screen, exitfirst=exitfirst, verbose=verbose)
    fail_under = settings.fail_under or None if fail_under is None else fail_under
    coverage: Coverage | None = None
    if coverage_shown or coverage_html or coverage_json or fail_under is not None:
        from vigil_lang.testing.coverage import measure

        coverage = measure([outcome.case for outcome in session.outcomes], session.policies)
    mutation: Mutation | None = None
    if mutated and not session.failed:
        from vigil_lang.testing.mutate import mutate

        mutation = mutate(session.cases, session.policies)
    if coverage_html and coverage:
        from vigil_lang.testing.coverage_html import coverage_html as page

        write_text(coverage_html, page(coverage))
    if coverage_json and coverage:
        from vigil_lang.testing.coverage_report import coverage_json as as_json

        write_text(coverage_json, safe_json(as_json(coverage)) + "\n")
    notes = list(_notes(session, coverage, mutation, fail_under, mutated=mutated))
    _show(session, coverage if coverage_shown else None, mutation, notes, screen)
    if format != "human":
        text = _machine(session, coverage, mutation, format)
        write_text(output, text)
    elif output != "-":
        write_text(output, saved.getvalue())
    if session.findings:
        return BAD_INPUT
    return FINDINGS if session.failed or notes else CLEAN


def _place(path: str) -> str:
    """Where the tests of a standard module are (`std.guard`); any other path as it is."""
    from vigil_lang.semantics.modules import TESTS, is_standard, standard_path

    return f"{str(standard_path(path)).removesuffix('.vgl')}{TESTS}" if is_standard(path) else path


def _run_all(session: Session, screen: IO[str], *, exitfirst: bool, verbose: bool) -> None:
    """Run the tests, each marked on the screen as soon as it is over."""
    from vigil_lang.engines.smt.solve import SolverDisagrees
    from vigil_lang.testing.session import run
    from vigil_lang.testing.terminal import Progress

    progress = Progress(session, console(screen), verbose=verbose)
    progress.start()
    try:
        for file, outcome in run(session, first_failure=exitfirst):
            progress.add(file, outcome)
            screen.flush()
    except SolverDisagrees as error:
        message = f"the solver did not confirm a verdict: {error}"
        raise ToolFault(Diagnostic.of("VGL901", message, Source("<tests>", ""))) from error
    progress.finish()


def _notes(
    session: Session,
    coverage: Coverage | None,
    mutation: Mutation | None,
    fail_under: float | None,
    *,
    mutated: bool,
) -> Iterator[tuple[str, str]]:
    """What makes the end a bad one beside failures."""
    if coverage is not None and fail_under is not None and coverage.percent < fail_under:
        yield "COVERAGE", f"{coverage.percent:.1f} % of the policies are covered, less than {fail_under:g} %"
    if mutation is not None and mutation.survived:
        yield "MUTANTS", f"no test notices {mutation.survived} changes of the policies"
    if mutated and session.failed:
        yield "MUTANTS", "none were tried: tests that fail notice nothing"
    elif mutated and session.findings:
        yield "MUTANTS", "tests that could not be run noticed nothing; with them fewer may survive"


def _show(
    session: Session,
    coverage: Coverage | None,
    mutation: Mutation | None,
    notes: list[tuple[str, str]],
    screen: IO[str],
) -> None:
    from vigil_lang.testing.terminal import heading, print_outcome

    shown = console(screen)
    if coverage is not None:
        from vigil_lang.testing.coverage_report import print_coverage

        heading("coverage", shown)
        print_coverage(coverage, shown)
    if mutation is not None:
        from vigil_lang.testing.mutate_report import print_mutation

        heading("mutants", shown)
        print_mutation(mutation, shown)
    print_outcome(session, shown, notes=notes)


def _machine(session: Session, coverage: Coverage | None, mutation: Mutation | None, format: str) -> str:  # noqa: A002
    """The result as `vigil.test/1`, or as JUnit."""
    from vigil_lang.testing.report import session_json, session_junit

    if format == "junit":
        return session_junit(session)
    found = session_json(session)
    if coverage is not None:
        from vigil_lang.testing.coverage_report import coverage_json

        found["coverage"] = coverage_json(coverage)
    if mutation is not None:
        from vigil_lang.testing.mutate_report import mutation_json

        found["mutation"] = mutation_json(mutation)
    return safe_json(found) + "\n"
