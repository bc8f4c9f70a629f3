"""`vigil serve`: the daemon that answers hooks faster than each could by itself."""

from __future__ import annotations

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.gate import StateFault, state_option


@click.command("serve")
@state_option
@click.option(
    "--idle",
    type=click.FloatRange(min=1),
    default=900,
    show_default=True,
    help="End after so many seconds without a hook.",
)
@click.option("--stop", is_flag=True, help="End the daemon instead; it finishes what it began.")
def command(state: str | None, idle: float, stop: bool) -> int:
    """Answer the hooks of a state folder from this process: a daemon, which is faster than a process for each call.

    Hooks start it by themselves, and need none: this verb is for supervisors, and for stopping it.

    Exit status: 0 it ended; 2 another one serves the folder, or the state cannot be read or written.
    """
    from vigil_lang.gate.setup import ensure
    from vigil_lang.gate.state import StateError, state_path
    from vigil_lang.points.daemon.server import AlreadyServed, NotServing, serve
    from vigil_lang.points.daemon.server import stop as stop_daemon

    folder = state_path(state)
    try:
        if stop:
            click.echo("The daemon ended." if stop_daemon(folder) else "There is no daemon.")
            return CLEAN
        ensure(folder)
        serve(folder, idle, lambda path: click.echo(f"Hooks are answered at {path}"))
    except (AlreadyServed, NotServing, StateError) as error:
        raise StateFault(str(error)) from error
    return CLEAN
