"""Options of every verb that puts the gate in front of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.duration import Duration

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS = (
    click.option(
        "--policy",
        "policies",
        multiple=True,
        metavar="FILE",
        help="A policy, or a standard module, that runs go by (repeatable).",
    ),
    click.option(
        "--agent", metavar="NAME", help="What grants and the log call the agent; by default its host's name, or `mcp`."
    ),
    click.option(
        "--wait",
        type=Duration(0, bare=True),
        default="0s",
        metavar="DURATION",
        help="How long a held call waits for its confirmation, such as 60s; by default not at all.",
    ),
    click.option("--observe", is_flag=True, help="Monitor mode: decide and log, but let every call pass."),
)


def point_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--policy`, `--agent`, `--wait` (in seconds) and `--observe`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
