"""How verbs speak: findings in the chosen format, colours where they are wanted."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from io import StringIO
from typing import IO, TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, cast

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, BROKEN_TOOL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.report.content import Report
    from vigil_lang.report.findings import Suppressed

Format: TypeAlias = Literal[
    "human", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson"
]  # fmt: skip
FORMATS: tuple[Format, ...] = (
    "human", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson",
)  # fmt: skip
"""How findings and verdicts are written."""

REPORTS = frozenset(FORMATS) - {"human", "concise", "json", "json-lines"}
"""The formats that are made of everything at once, by `vigil_lang.report`."""


class ToolFault(click.ClickException):
    """A fault of this program that has a code; exit status 3."""

    exit_code = BROKEN_TOOL

    def __init__(self, finding: Diagnostic) -> None:
        super().__init__(finding.message)
        self.finding = finding

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        show_errors([self.finding])


# A pipe has no width: wide enough for most lines of a log, narrow enough to read.
_WIDTH = 100
_FORMAT = "vigil.format"


def show_findings(
    findings: Iterable[Diagnostic],
    format: Format = "human",  # noqa: A002 - the option's name
    stream: IO[str] | None = None,
    *,
    summary: bool = True,
    files: Sequence[str] = (),
    status: int = 0,
    suppressed: Sequence[Suppressed] = (),
) -> None:
    """Write findings in one of `FORMATS`.

    `human` has excerpts, `concise` a line each, `json` is one `vigil.findings/1` object, `json-lines` an object of it a
    line; the others are those of `vigil_lang.report`. `summary` adds how many there are, for people. What only some
    formats tell: the `files` that were looked at, the verb's exit `status`, and findings that do not count.

    Raises:
        OSError: the stream cannot be written.
    """
    found = list(findings)
    if format in REPORTS:
        from vigil_lang.report.findings import findings_report

        report = findings_report(found, verb=_verb(), files=files, status=status, suppressed=suppressed)
        show_report(report, format, stream)
        return
    if format == "human":
        if found:
            from vigil_lang.diagnostics.human import print_findings

            print_findings(found, console(stream), summary=summary)
        return
    from vigil_lang.diagnostics import render

    if format == "concise":
        stream = for_log(stream or sys.stdout)
        lines: Iterable[str] = map(render.concise, found)
    else:
        lines = [render.findings_json(found)] if format == "json" else map(render.finding_json, found)
    for line in lines:
        print(line, file=stream or sys.stdout)


def show_report(report: Report, format: Format, stream: IO[str] | None = None) -> None:  # noqa: A002
    """Write a report in one of `REPORTS`; `github` also appends it to the summary of the job.

    Raises:
        OSError: the stream cannot be written.
    """
    from vigil_lang.report.write import write

    (stream or sys.stdout).write(write(report, format))
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if format == "github" and path:
        from vigil_lang.report.summary import append_summary

        show_errors(append_summary(report, path))


@contextmanager
def written(output: str) -> Iterator[IO[str]]:
    """The stream for a verb's result: standard output for `-`, else a file that is written whole at the end.

    Raises:
        InputError: VGL004, the file cannot be written, or is one that is read; it is as it was.
    """
    if output == "-":
        yield sys.stdout
        return
    from vigil_lang.base.outputs import check_outputs, write_text

    check_outputs(output)  # before the work, which may be long
    saved = StringIO()
    yield saved
    write_text(output, saved.getvalue())


def give_up(output: str) -> NoReturn:
    """End a call whose result would lack what could not be read, without a word of it in there.

    In a `written` block: the file that the result was to go to is as it was.
    """
    from vigil_lang.diagnostics.visible import shown_path

    if output != "-":
        click.echo(f"{shown_path(output)} is not written: the result would not be whole", err=True)
    click.get_current_context().exit(BAD_INPUT)


def for_log(stream: IO[str]) -> IO[str]:
    """The stream, or on GitHub one whose lines the runner does not take for commands."""
    if not os.environ.get("GITHUB_ACTIONS"):
        return stream
    from vigil_lang.diagnostics.log import Log

    return cast("IO[str]", Log(stream))


def _verb() -> str:
    context = click.get_current_context(silent=True)
    return (context.info_name if context else None) or "check"


def show_errors(findings: Iterable[Diagnostic]) -> None:
    """Write findings that are beside the verb's result to standard error, in a form that goes with it."""
    context = click.get_current_context(silent=True)
    chosen = context.find_root().meta.get(_FORMAT, "human") if context else "human"
    found = list(findings)
    show_findings(found, "human" if chosen == "human" else "concise", sys.stderr, summary=len(found) > 1)


def console(stream: IO[str] | None = None) -> Console:
    """A console that prints texts as they are: no wrapping, no markup, colours only where they are wanted."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            """Pass the BrokenPipeError on: rich would end the process with status 1, which says: findings."""
            raise  # rich calls this while it handles the error

    context = click.get_current_context(silent=True)
    wanted = context.find_root().color if context else None
    if wanted is None and os.environ.get("NO_COLOR"):
        wanted = False
    return Screen(
        file=for_log(stream or sys.stdout),
        width=width(),
        force_terminal=wanted,
        color_system=None if wanted is False else "auto",
        soft_wrap=True,
        markup=False,
        emoji=False,
        highlight=False,
    )


def width() -> int:
    """Columns to lay out for: `COLUMNS`, else the terminal's, else 100."""
    return max(40, shutil.get_terminal_size((_WIDTH, 24)).columns)


def _set_color(ctx: click.Context, param: click.Parameter, value: str) -> None:  # noqa: ARG001 - click's signature
    if not ctx.resilient_parsing and value != "auto":
        ctx.find_root().color = value == "always"


def _set_secrets(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - click's
    if value and not ctx.resilient_parsing:
        from vigil_lang.diagnostics.secrets import show_secrets

        show_secrets()


def _set_format(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's signature
    ctx.find_root().meta[_FORMAT] = value
    return value


def secrets_option(command: Any) -> Any:
    """`--show-secrets`, for verbs that show what stands in runs, policies or requests."""
    return click.option(
        "--show-secrets", is_flag=True, expose_value=False, callback=_set_secrets,
        help="Show texts that look like secrets; they are masked by default.",
    )(command)  # fmt: skip


def output_options(*formats: str) -> Callable[[Any], Any]:
    """`--format` with the given choices, the first being the default, `--color` and `--show-secrets`."""

    def add(command: Any) -> Any:
        command = secrets_option(command)
        command = click.option(
            "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
            expose_value=False, callback=_set_color, help="When to use colours; NO_COLOR is respected.",
        )(command)  # fmt: skip
        return click.option(
            "--format", type=click.Choice(formats), default=formats[0], show_default=True,
            callback=_set_format, is_eager=True, help="How to write the result.",
        )(command)  # fmt: skip

    return add


def each_once(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding once: what is wrong with a module is found again with every policy that uses it."""
    from vigil_lang.base.files import real_path

    seen: dict[object, Diagnostic] = {}
    places: dict[str, str] = {}
    for found in findings:
        path = found.source.path
        if path not in places:
            places[path] = real_path(path)
        seen.setdefault((found.code, places[path], found.span, found.message), found)
    return tuple(seen.values())
