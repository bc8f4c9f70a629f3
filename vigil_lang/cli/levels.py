"""From which severity on something makes the exit status 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.cli.output import Format

LEVELS = ("error", "warning", "info")
_SARIF = "sarif"


def fail_level_option(default: str, what: str) -> Callable[[Any], Any]:
    """Adds `--fail-level`, None where it is not given; `what` says what reaches it."""
    return click.option(
        "--fail-level",
        type=click.Choice([*LEVELS, "never"]),
        help=f"The least severe {what} that makes the status 1.  [default: {default}; never with --format sarif]",
    )


def levels_from(given: str | None, default: str, format: Format) -> tuple[str, ...]:  # noqa: A002 - the option's name
    """The severities that make the status 1.

    Results as SARIF are for a platform that decides itself what fails: they do so only where a level is asked for.
    """
    level = given or ("never" if format == _SARIF else default)
    return () if level == "never" else LEVELS[: LEVELS.index(level) + 1]
