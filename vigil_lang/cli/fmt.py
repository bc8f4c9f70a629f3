"""`vigil fmt`: one layout for every policy."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from vigil_lang.cli.diff import difference
from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.options import complete, config_option, settings_of
from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.project.paths import policy_paths

if TYPE_CHECKING:
    from vigil_lang.syntax.leaves import Spelling


@click.command("fmt")
@click.argument("paths", metavar="[PATH]...", nargs=-1, shell_complete=complete)
@click.option("--check", is_flag=True, help="Write nothing; list the files that would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("--unicode/--ascii", "symbols", default=None, help="Respell the operators: ◇⁻ ∧ ∈, or earlier and in.")
@config_option
def command(
    paths: tuple[str, ...], check: bool, diff: bool, symbols: bool | None, config: str | None, isolated: bool
) -> int:
    """Format policies in place: files, folders (all their *.vgl), globs, or - for standard input to output.

    Without a PATH it formats the working directory. Only white space changes, and the spelling of operators when asked
    for; a policy that does not parse is left as it is.

    Exit status: 0 done or nothing to do, 1 --check or --diff found differences, 2 a file could not be formatted.
    """
    from vigil_lang.syntax.format import FormatError

    project = settings_of(config, isolated=isolated)
    spelling: Spelling = project.fmt.spelling if symbols is None else "unicode" if symbols else "ascii"
    tally = _Tally()
    found = policy_paths(paths or (".",), project.excludes, tally.findings)
    tally.failed = len(tally.findings)
    for path in found:
        try:
            _format(path, spelling, tally, check=check, diff=diff)
        except InputError as error:
            tally.failed += 1
            tally.findings += error.diagnostics
        except FormatError as error:
            tally.failed += 1
            tally.faults.append(f"{path}: {error}")
    if tally.findings:
        from vigil_lang.cli.output import show_errors

        show_errors(tally.findings)
    if paths != ("-",):
        click.echo(tally.summary(written=not (check or diff)), err=True)
    if tally.faults:
        raise FormatError("; ".join(tally.faults))
    if tally.failed:
        return BAD_INPUT
    return FINDINGS if tally.changed and (check or diff) else CLEAN


@dataclass(slots=True)
class _Tally:
    """What came of the files so far."""

    changed: int = 0
    same: int = 0
    failed: int = 0
    findings: list[Diagnostic] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def summary(self, *, written: bool) -> str:
        parts = (
            (self.changed, "reformatted" if written else "would be reformatted"),
            (self.same, "left unchanged" if written else "already formatted"),
            (self.failed, "not formatted"),
        )
        return ", ".join(f"{n} file{'' if n == 1 else 's'} {what}" for n, what in parts if n)


def _format(path: str, spelling: Spelling, tally: _Tally, *, check: bool, diff: bool) -> None:
    from vigil_lang.base.files import read_source
    from vigil_lang.base.outputs import rewrite
    from vigil_lang.diagnostics.visible import shown_path
    from vigil_lang.syntax.format import format_text

    source = read_source(path)
    text = format_text(source, spelling=spelling)
    if diff:
        _print_for_people(difference(source, text))
    elif check:
        if text != source.text:
            _print_for_people(f"would reformat {shown_path(source.path)}\n")
    elif path == "-":
        _print(text)
    elif text != source.text:
        rewrite(path, text)
    if text == source.text:
        tally.same += 1
    else:
        tally.changed += 1


def _print_for_people(text: str) -> None:
    """The same for what may end in the log of a job."""
    from vigil_lang.diagnostics.log import harmless

    _print(harmless(text) if os.environ.get("GITHUB_ACTIONS") else text)


def _print(text: str) -> None:
    """Policies are UTF-8 and end their lines with `\\n`, whatever the terminal's or the platform's habits."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
