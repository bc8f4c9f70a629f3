"""`vigil kill`: an agent, a run, a key, a link of a chain, or everyone is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vigil_lang.cli.duration import Duration
from vigil_lang.cli.exit_codes import BROKEN_TOOL, CLEAN, FINDINGS
from vigil_lang.cli.output import console, output_options
from vigil_lang.diagnostics.visible import safe_json, visible

if TYPE_CHECKING:
    from vigil_lang.gate.authority.keys import Key
    from vigil_lang.gate.kill_switch import Killed, KillSwitch
    from vigil_lang.gate.revocation import Entry
    from vigil_lang.gate.settings import Settings
    from vigil_lang.gate.state import StateFolder


@click.command("kill")
@click.argument("name", required=False)
@click.option("--agent", metavar="NAME", help="Revoke the agent of that name, whether it is known or not.")
@click.option("--run", metavar="NAME", help="Revoke a run.")
@click.option("--public-key", metavar="KEY", help="Revoke a public key, `ed25519:…`.")
@click.option("--link", metavar="ID", help="Revoke a link of a chain, by its id.")
@click.option("--all", "everyone", is_flag=True, help="Revoke everyone: no action passes any more.")
@click.option("--undo", is_flag=True, help="Revoke it no more. What was made void stays void.")
@click.option("--key", "source", metavar="FILE", help="The private key that signs the list; by default VIGIL_KEY, else "
              "`keys/revoker.pem` of the state folder.")  # fmt: skip
@click.option("--for", "seconds", type=Duration(), default="3650d", show_default=True, metavar="DURATION",
              help="How long the list is good for; then every action is held until there is another.")  # fmt: skip
@click.option("--state", metavar="DIR", help="The gate's state folder; by default VIGIL_STATE, else the user's own.")
@output_options("human", "json")
def command(
    name: str | None,
    agent: str | None,
    run: str | None,
    public_key: str | None,
    link: str | None,
    everyone: bool,
    undo: bool,
    source: str | None,
    seconds: int,
    state: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Revoke NAME, an agent, a run, a public key or a link: no action of it passes any more, whatever was confirmed.

    Waits up to a second for the live runs that it concerns, and says which of them have seen it.

    Exit status: 0 all of them have; 1 some have not been seen since (each of their calls is judged by the new list when
    it comes); 2 the name is unknown or stands for several, or nothing was changed; 3 it is in force, but the log could
    not be written.
    """
    from vigil_lang.gate.kill_switch import KillSwitch, NoSuchName, killed_json
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, StateFolder, state_path

    given = {"agent": agent, "run": run, "key": public_key, "link": link}
    chosen = [kind for kind, value in given.items() if value is not None]
    if len(chosen) + everyone + (name is not None) != 1:
        raise click.UsageError("Name one thing to revoke: NAME, --agent, --run, --public-key, --link or --all.")
    try:
        folder = StateFolder(state_path(state))
        settings = read_settings(folder.settings)
        switch = KillSwitch(folder, settings)
        entry = _entry(switch, name, {kind: value for kind, value in given.items() if value is not None})
        killed = switch.revoke(entry, _key(folder, settings, source), seconds, undo=undo)
    except NoSuchName as error:
        raise click.ClickException(f"{error}; say which kind is meant: --agent, --run, --public-key, --link") from error
    except StateError as error:
        raise click.ClickException(str(error)) from error
    if format == "json":
        told = {"schema": "vigil.kill/1", "kind": entry.kind, "name": entry.name, **killed_json(killed)}
        console().print(safe_json(told))
    else:
        _show(entry, killed, undo=undo)
    if killed.fault is not None:
        click.echo(f"vigil: it is in force, but could not be logged: {visible(killed.fault)}", err=True)
        return BROKEN_TOOL
    return CLEAN if killed.everywhere else FINDINGS


def _entry(switch: KillSwitch, name: str | None, given: dict[str, str]) -> Entry:
    import msgspec

    from vigil_lang.gate.revocation import EVERYONE, Entry

    if name is not None:
        return switch.meant(name)
    ((kind, value),) = given.items() if given else [("all", EVERYONE)]
    try:
        return msgspec.convert({"kind": kind, "name": value}, Entry)
    except msgspec.ValidationError as error:
        raise click.UsageError(f"--{kind}: {error}") from error


def _key(folder: StateFolder, settings: Settings, source: str | None) -> Key:
    """The key that signs the list.

    Raises:
        InputError: there is none.
    """
    from vigil_lang.gate.authority.keys import load_key

    if not settings.revocation.keys:
        raise click.ClickException(f"{folder.settings} names no key that may revoke: `keys` under [revocation]")
    return load_key(source, kept=folder.keys / "revoker.pem")


def _show(entry: Entry, killed: Killed, *, undo: bool) -> None:
    from vigil_lang.gate.log.log import text_of

    screen = console()
    screen.print(f"{entry} is {'revoked no more' if undo else 'revoked'}, by list {killed.revoked.seq}")
    for each in killed.void:
        screen.print(f"    void  hold {visible(each)}")
    for run in killed.runs:
        where = f"the run {visible(run.run)} of {visible(run.agent)}"
        if run.acknowledged is None:
            screen.print(f"not seen      {where}, since {text_of(run.since)}")
        else:
            screen.print(f"acknowledged  {where}, at list {run.acknowledged}")
    if killed.fault is None and not killed.runs:
        screen.print("no live run is concerned")
