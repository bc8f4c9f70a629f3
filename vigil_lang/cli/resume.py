"""`vigil resume`: lift the halt of a run."""

from __future__ import annotations

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.gate import StateFault, opened, state_option
from vigil_lang.diagnostics.visible import visible


@click.command("resume")
@click.argument("run")
@state_option
def command(run: str, state: str | None) -> int:
    """Lift the halt of RUN: its calls are decided about again.

    A call that is blocked halts its run where the hook was installed with `--after-block halt`. What was revoked by
    `vigil kill` stays revoked.

    Exit status 0; 2 where there is no such run, or the state cannot be read or written.
    """
    from vigil_lang.gate.state import StateError

    try:
        was_halted = opened(state).resume(run)
    except (StateError, ValueError) as error:
        raise StateFault(str(error)) from error
    click.echo(f"{visible(run)}  {'resumed' if was_halted else 'was not halted'}")
    return CLEAN
