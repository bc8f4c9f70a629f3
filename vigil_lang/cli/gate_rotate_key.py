"""`vigil gate rotate-key` and `rotate-secret`: another key for the log, another secret for the service."""

from __future__ import annotations

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN
from vigil_lang.diagnostics.visible import visible


@click.command("rotate-key", short_help="Have the log go on under a new key.")
@click.option("--prepare", is_flag=True, help="Only make the next key, to put it on every node before.")
@click.option("--state", metavar="DIR", help="The gate's state folder; by default VIGIL_STATE, else the user's own.")
def rotate_key(prepare: bool, state: str | None) -> int:
    """Have the log go on under a new key, and forget the old one.

    The next checkpoint is signed by both. Who knows either key can follow: `vigil audit verify --key`. What was
    interrupted is ended when it is run again.

    Exit status: 0, or 2 where the state cannot be read or written.
    """
    from vigil_lang.gate.log import rotation
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.gate.storage.opening import open_storage

    try:
        folder = StateFolder(state_path(state))
        if prepare:
            click.echo(f"prepared  {rotation.prepare(folder)}")
            click.echo("          keys/log.next.pem signs nothing before `vigil gate rotate-key`")
            return CLEAN
        settings = read_settings(folder.settings)
        storage = open_storage(folder, settings)
        log = Log(storage, settings.log)
        try:
            found = rotation.rotate(log, storage)
        finally:
            log.close()
    except StateError as error:
        click.echo(f"Error: {visible(str(error))}", err=True)
        return BAD_INPUT
    click.echo(f"rotated   {found.key}")
    click.echo(f"before    {found.before}")
    click.echo(f"both sign {found.size:,} entries; give auditors the new key, who has the old one can follow")
    return CLEAN


@click.command("rotate-secret", short_help="Make the secret anew that the service's tokens rest on.")
@click.option("--state", metavar="DIR", help="The gate's state folder; by default VIGIL_STATE, else the user's own.")
def rotate_secret(state: str | None) -> int:
    """Make the secret anew that the tokens of agents and the sessions of people rest on.

    Each node of the service has it when it starts the next time: what was given out before is refused from then on.
    Agents prove their key again, people sign in again.

    Exit status: 0, or 2 where the state cannot be read or written.
    """
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.gate.storage.opening import open_storage

    try:
        folder = StateFolder(state_path(state))
        storage = open_storage(folder, read_settings(folder.settings))
        try:
            storage.renew_secret("service")
        finally:
            storage.close()
    except (StateError, OSError) as error:
        click.echo(f"Error: {visible(str(error))}", err=True)
        return BAD_INPUT
    click.echo("rotated   the secret of the service; start each node again")
    return CLEAN
