"""Options that several verbs take, and what they come to."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.output import show_errors
from vigil_lang.diagnostics import SEVERITIES, InputError
from vigil_lang.diagnostics.codes import FAIL_LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from click import Context, Parameter
    from click.shell_completion import CompletionItem

    from vigil_lang.abstraction.catalogue import Program
    from vigil_lang.abstraction.run import Options
    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.cli.output import Format
    from vigil_lang.project.settings import Settings


def complete(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Shell completion of a path argument: files, or standard modules once `std` is typed."""
    from click.shell_completion import CompletionItem

    if not incomplete.startswith("std"):
        return [CompletionItem(incomplete, type="file")]
    from vigil_lang.semantics.modules import standard_modules

    modules = [CompletionItem(name) for name in standard_modules() if name.startswith(incomplete)]
    return modules or [CompletionItem(incomplete, type="file")]


def no_such_run(name: str, runs: Collection[str]) -> str:
    """What is said of a `--run` that no recording has, with the first runs that there are."""
    from vigil_lang.diagnostics.shorten import cut
    from vigil_lang.diagnostics.visible import visible

    shown = [f"'{cut(visible(run), _LONGEST_NAME)}'" for run in islice(runs, _MOST_NAMES)]
    more = f" and {len(runs) - len(shown)} more" if len(runs) > len(shown) else ""
    known = f" There is {', '.join(shown)}{more}." if shown else ""
    return f"--run: no recording has a run '{name}'.{known}"


_MOST_NAMES = 5
_LONGEST_NAME = 60


def config_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--config` and `--isolated`."""
    command = click.option("--isolated", is_flag=True, help="Ignore every configuration file.")(command)
    return click.option(
        "--config",
        metavar="FILE",
        shell_complete=complete,
        help="The configuration; by default the nearest vigil.toml, or pyproject.toml with [tool.vigil].",
    )(command)


def settings_of(config: str | None, *, isolated: bool) -> Settings:
    """The settings that count here. Warnings about them go to standard error.

    Raises:
        click.UsageError: a configuration is named and excluded at once.
        InputError: the configuration cannot be used.
    """
    if isolated:
        if config is not None:
            raise click.UsageError("--isolated ignores every configuration: it cannot be used with --config.")
        from vigil_lang.project.settings import Settings

        return Settings()
    from vigil_lang.project.configuration import load

    loaded = load(Path(), Path(config) if config is not None else None)
    if loaded.broken:
        raise InputError(loaded.findings)
    if loaded.findings:
        show_errors(loaded.findings)
    return loaded.settings


def against_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--signature` (as `signatures`), `--trace` (as `runs`) and `--allow-empty`."""
    command = allow_empty_option(command)
    command = click.option(
        "--trace",
        "runs",
        multiple=True,
        metavar="RUN",
        shell_complete=complete,
        help="A run that the policies should have something to say about (repeatable; a folder gives all its runs).",
    )(command)
    return click.option(
        "--signature",
        "signatures",
        multiple=True,
        metavar="FILE",
        shell_complete=complete,
        help="Tool definitions or a saved signature to check names against (repeatable).",
    )(command)


allow_empty_option = click.option(
    "--allow-empty", is_flag=True, help="Accept runs without events, and recordings of which most was not understood."
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--from`, `--skills`, `--prompt`, `--no-inferred`, `--keep-output`, `--probe` and `--allow-empty`."""
    for option in reversed(
        (
            click.option("--from", "source", metavar="FORMAT", help="The format of the runs, if it is not recognised."),
            click.option(
                "--skills", metavar="FOLDER", help="The folder of the skills whose scripts the runs call by path."
            ),
            click.option(
                "--prompt",
                metavar="FILE",
                help="What the user asked for: the first `user.message` where a run lacks it.",
            ),
            click.option("--no-inferred", is_flag=True, help="Leave out the steps that are inferred from scripts."),
            click.option(
                "--keep-output",
                metavar="N",
                type=click.IntRange(256),
                help="How many characters of an output are kept; 65536.",
            ),
            click.option(
                "--probe", is_flag=True, help="Run PROGRAM --help for programs that are not in the catalogue."
            ),
            allow_empty_option,
        )
    ):
        command = option(command)
    return command


def abstraction_options(
    *,
    skills: str | None = None,
    no_inferred: bool = False,
    keep_output: int | None = None,
    probe: bool = False,
    prompt: str | None = None,
    allow_empty: bool = False,
    tools: dict[str, Tool] | None = None,
) -> Options:
    """How runs are abstracted, as the command line says; `tools` are those that the project describes.

    Raises:
        click.UsageError: --skills names no folder.
        InputError: the file of the prompt cannot be read, or is no text.
    """
    from vigil_lang.abstraction.bounded_output import KEPT
    from vigil_lang.abstraction.files import KnownFiles
    from vigil_lang.abstraction.run import Options
    from vigil_lang.base.files import read_source

    shipped: Path | None = None
    if skills is not None:
        shipped = Path(skills)
        if not shipped.is_dir():
            raise click.UsageError(f"--skills: there is no folder '{skills}'.")
    learn: Callable[[str], Program | None] | None = None
    if probe:
        from vigil_lang.abstraction import probe as probing

        learn = probing.probe
    return Options(
        kept=KEPT if keep_output is None else keep_output,
        inferred=not no_inferred,
        files=lambda: KnownFiles(shipped),
        probe=learn,
        prompt=read_source(prompt).text.strip() or None if prompt is not None else None,
        allow_empty=allow_empty,
        tools=tools or {},
    )


def strictness_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--strict` and `--fail-on-vacuous`."""
    command = click.option(
        "--fail-on-vacuous", is_flag=True, help="Exit with 1 where a run puts no statement to the test."
    )(command)
    return click.option("--strict", is_flag=True, help="Exit with 1 where a run was not wholly seen or understood.")(
        command
    )


def fail_level_option(default: str, what: str) -> Callable[[Any], Any]:
    """Adds `--fail-level`, None where it is not given; `what` says what reaches it."""
    return click.option(
        "--fail-level",
        type=click.Choice(FAIL_LEVELS),
        help=f"The least severe {what} that makes the status 1.  [default: {default}; never with --format sarif]",
    )


def levels_from(given: str | None, default: str, format: Format) -> tuple[str, ...]:  # noqa: A002 - the option's name
    """The severities that make the status 1.

    Results as SARIF are for a platform that decides itself what fails: they do so only where a level is asked for.
    """
    level = given or ("never" if format == "sarif" else default)
    return () if level == "never" else SEVERITIES[: SEVERITIES.index(level) + 1]
