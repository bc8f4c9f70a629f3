"""`vigil gate migrate`: the tables of the database that the settings name."""

from __future__ import annotations

import click

from vigil_lang.cli.exit_codes import CLEAN, FINDINGS


@click.command("migrate", short_help="Make the tables of the database.")
@click.option("--check", is_flag=True, help="Change nothing; say what is missing.")
@click.option("--state", metavar="DIR", help="The gate's state folder; by default VIGIL_STATE, else the user's own.")
def migrate(state: str | None, check: bool) -> int:
    """Bring the tables of the database that `[storage]` in the settings names to this version.

    Exit status: 0 they are; 1 with --check, a migration is missing; 2 the database cannot be reached, refuses one, or
    is of a later version, or the settings name none.
    """
    from vigil_lang.diagnostics.visible import visible
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.gate.storage.migrating import migrate as make
    from vigil_lang.gate.storage.migrating import missing
    from vigil_lang.gate.storage.postgres import connect

    try:
        folder = StateFolder(state_path(state))
        conninfo = read_settings(folder.settings).storage.postgres
        if conninfo is None:
            raise StateError(f"{folder.settings} names no database: `postgres` under [storage]")
        with connect(conninfo) as connection:
            steps = missing(connection) if check else make(connection)
    except StateError as error:
        raise click.ClickException(visible(str(error))) from error
    for step in steps:
        click.echo(f"{'missing' if check else 'made'}  {step.number:04} {step.name}")
    if not steps:
        click.echo("the tables are of this version")
    return FINDINGS if check and steps else CLEAN
