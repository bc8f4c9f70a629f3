"""`vigil abstract --format parquet`: recordings as a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.project.settings import Settings

_SHOWN = 20


def make(
    paths: Sequence[str],
    folder: str,
    project: Settings,
    source: str | None,
    outputs: Any,
    jobs: int | None,
    how: dict[str, Any],
    *,
    strict: bool,
) -> int:
    """Make a store and say what is in it; gives back the exit status."""
    try:
        from vigil_lang.cli.scan_screen import progress
        from vigil_lang.corpus.store import NoStore, make_store
    except ModuleNotFoundError as error:
        raise click.UsageError(f'{error.name} is not installed: pip install "vigil-lang[scan]"') from error
    from vigil_lang.cli.scan import reading_of

    try:
        with progress(100) as told:
            made = make_store(
                folder,
                paths,
                reading_of(project, {**how, "source": source}),
                outputs=outputs,
                jobs=jobs,
                told=lambda done, total: told(100 * done // total),
            )
    except NoStore as error:
        raise click.UsageError(str(error)) from error
    for path, why in made.bad[:_SHOWN]:
        click.echo(f"{visible(path)}: {visible(why)}", err=True)
    if made.bad[_SHOWN:]:
        click.echo(f"and {len(made.bad) - _SHOWN:,} more; the manifest lists them all", err=True)
    bad = f", {len(made.bad):,} not readable" if made.bad else ""
    parts = f"{made.made + made.kept:,} part{'s' * (made.made + made.kept != 1)}"
    click.echo(
        f"{made.runs:,} runs · {made.events:,} events · {parts}, {made.kept:,} of them already there{bad}", err=True
    )
    return BAD_INPUT if made.bad and strict else CLEAN
