"""How the verbs that take runs are told to read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.abstraction.catalogue import Program
    from vigil_lang.abstraction.run import Options


allow_empty_option = click.option(
    "--allow-empty", is_flag=True, help="Accept runs without events, and recordings of which most was not understood."
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--from`, `--skills`, `--no-inferred`, `--keep-output`, `--probe` and `--allow-empty`."""
    for option in reversed(
        (
            click.option("--from", "source", metavar="FORMAT", help="The runs' format, where it is not recognised."),
            click.option("--skills", metavar="FOLDER", help="The skills' files, for scripts that runs call by path."),
            click.option("--no-inferred", is_flag=True, help="Without the steps that are read out of scripts."),
            click.option(
                "--keep-output", metavar="N", type=click.IntRange(256), help="Characters kept of an output; 65536."
            ),
            click.option(
                "--probe", is_flag=True, help="Run PROGRAM --help for programs that are not in the catalogue."
            ),
            allow_empty_option,
        )
    ):
        command = option(command)
    return command


def options_of(
    *,
    skills: str | None = None,
    no_inferred: bool = False,
    keep_output: int | None = None,
    probe: bool = False,
    allow_empty: bool = False,
) -> Options:
    """The options of the abstraction as the command line gives them.

    Raises:
        click.UsageError: the folder of skills is none.
    """
    from vigil_lang.abstraction.bounded_output import KEPT
    from vigil_lang.abstraction.files import KnownFiles
    from vigil_lang.abstraction.run import Options

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
        allow_empty=allow_empty,
    )
