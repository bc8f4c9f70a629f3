"""What a project's configuration says, for the verbs that heed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.output import show_errors
from vigil_lang.cli.paths import complete
from vigil_lang.diagnostics import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.project import Settings


def config_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--config` and `--isolated`."""
    command = click.option("--isolated", is_flag=True, help="Pay no heed to any configuration.")(command)
    return click.option(
        "--config",
        metavar="FILE",
        shell_complete=complete,
        help="The configuration; by default the nearest vigil.toml, or pyproject.toml with [tool.vigil].",
    )(command)


def settings_of(config: str | None, *, isolated: bool) -> Settings:
    """The settings that count here. What is merely doubtful about them is written to standard error.

    Raises:
        click.UsageError: a configuration is named, and none is to be heeded.
        InputError: the configuration cannot be used.
    """
    if isolated:
        if config is not None:
            raise click.UsageError("--isolated goes without --config.")
        from vigil_lang.project import Settings

        return Settings()
    from vigil_lang.project import load

    loaded = load(Path(), Path(config) if config is not None else None)
    if loaded.broken:
        raise InputError(loaded.findings)
    if loaded.findings:
        show_errors(loaded.findings)
    return loaded.settings
