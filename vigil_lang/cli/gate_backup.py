"""`vigil gate backup` and `vigil gate restore`: the state of a gate as a folder, and back."""

from __future__ import annotations

from pathlib import Path

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.diagnostics.visible import shown_path, visible

_STATE = "The gate's state folder; by default VIGIL_STATE, else the user's own."


@click.command("backup", short_help="Write a copy of the state.")
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--without-keys", is_flag=True, help="Leave the private keys out: for somebody who only checks it.")
@click.option("--state", metavar="DIR", help=_STATE)
def backup(target: Path, state: str | None, without_keys: bool) -> int:
    """Write a copy of the gate's state to the new folder DIR, wherever its log lies. Decisions go on meanwhile.

    It is a state folder: `vigil audit verify --state DIR` checks it, `vigil gate restore DIR` puts it in place again.

    Exit status: 0, or 2 where the state cannot be read, or DIR is there or cannot be written.
    """
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.gate.storage.backup import backup as write

    try:
        entries = write(StateFolder(state_path(state)), target, keys=not without_keys)
    except StateError as error:
        raise click.ClickException(visible(str(error))) from error
    except OSError as error:
        raise click.ClickException(visible(f"{target} cannot be written: {error.strerror}")) from error
    click.echo(f"{shown_path(str(target))} has {entries:,} entries")
    return CLEAN


@click.command("restore", short_help="Put a copy of the state in place.")
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--state", metavar="DIR", help=_STATE)
def restore(source: Path, state: str | None) -> int:
    """Put the backup DIR in place: in a new state folder, or where the settings of one say, if its log is empty.

    What waits to be confirmed is cancelled, and approvals that were not used count no more: what came after the backup
    may have used them.

    Exit status: 0; 2 the backup is damaged or has no keys, there is a log already, or it cannot be written.
    """
    from vigil_lang.gate.state import StateError, state_path
    from vigil_lang.gate.storage.backup import restore as put

    target = state_path(state)
    try:
        entries = put(source, target)
    except StateError as error:
        raise click.ClickException(visible(str(error))) from error
    except OSError as error:
        raise click.ClickException(visible(f"{target} cannot be written: {error.strerror}")) from error
    click.echo(f"{shown_path(str(target))} has {entries:,} entries again")
    return CLEAN
