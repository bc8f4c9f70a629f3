"""`vigil init`: from nothing to an agent that is held to policies, in one step that can be undone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.gate import StateFault, state_option
from vigil_lang.cli.hook_install import HOSTS, install_at, uninstall_at
from vigil_lang.diagnostics.visible import as_argument, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.points.install.hosts import Host
    from vigil_lang.points.install.places import Place
    from vigil_lang.points.install.settings_file import Change


@click.command("init")
@click.option("--host", "names", type=click.Choice(HOSTS), multiple=True, help="Only this host (repeatable).")
@click.option("--project", is_flag=True, help="Register in the project's settings, not in your own.")
@state_option
@click.option("--undo", is_flag=True, help="Take out what it put in here; what others use or you changed stays.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
def command(names: tuple[str, ...], project: bool, state: str | None, undo: bool, dry_run: bool) -> int:
    """Hold the agents of this project to policies.

    Writes vigil.toml and a first policy where there are none, makes the state folder, and registers the hook with the
    hosts that are here. Says what it did, how to try it, and how to undo it. Doing so twice changes nothing.
    """
    from vigil_lang.gate.state import state_path
    from vigil_lang.points.install.hosts import HOSTS as KNOWN
    from vigil_lang.points.install.places import place
    from vigil_lang.points.install.starter import hosts_here

    here, folder = Path.cwd(), state_path(state).absolute()
    hosts = [KNOWN[name] for name in names] or hosts_here(here, os.environ)
    places = [place(host, "project" if project else "user", here, os.environ) for host in hosts]
    for each in places:
        _change(each, folder, undo=undo, dry_run=True)  # what cannot be done is said before anything is
    if undo:
        _undo(here, folder, places, dry_run=dry_run)
        return CLEAN
    _write_starter(here, dry_run=dry_run)
    _make_state(folder, here, dry_run=dry_run)
    _register(here, folder, places, dry_run=dry_run)
    if dry_run:
        click.echo("\nNothing was done (--dry-run).")
    else:
        _tutorial(hosts, state, project=project)
    return CLEAN


def _change(place: Place, folder: Path, *, undo: bool, dry_run: bool) -> Change:
    """What becomes of a host's settings.

    Raises:
        StateFault: they cannot be read or written.
    """
    from vigil_lang.points.install.registration import registration

    if undo:
        return uninstall_at(place, folder, dry_run=dry_run)
    return install_at(place, registration(place.host, folder), folder, dry_run=dry_run)


def _say(done: str, what: str, why: str = "") -> None:
    click.echo(f"{done:<9} {visible(what):<30} {visible(why)}".rstrip())


def _write_starter(here: Path, *, dry_run: bool) -> None:
    from vigil_lang.base.outputs import write_text
    from vigil_lang.points.install.starter import CONFIGURATION, POLICY, STARTER
    from vigil_lang.project.configuration import load

    found = load(here).path
    if found is not None and found.absolute().parent == here:
        named = (here / CONFIGURATION).is_file() and (here / CONFIGURATION).read_text("utf-8") == STARTER[CONFIGURATION]
        _say("kept", found.name, "" if named else "`[hook] policies` in it names what agents are held to")
        if not named:
            return
    for name, text in STARTER.items():
        path = here / name
        if os.path.lexists(path):
            if name != CONFIGURATION:
                _say("kept", name)
            continue
        if not dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(str(path), text)
        _say("made", name, "names the policies of this project" if name != POLICY else "a first policy: it is short")


def _make_state(folder: Path, here: Path, *, dry_run: bool) -> None:
    from vigil_lang.gate.setup import ensure
    from vigil_lang.gate.state import StateError, refuse_inside
    from vigil_lang.points.gates import service_of

    there = folder.is_dir()
    try:
        refuse_inside(folder, here)
        if not dry_run:
            ensure(folder)
    except StateError as error:
        raise StateFault(str(error)) from error
    service = service_of(folder) if there else None
    what = "the log of what was decided, and keys" if service is None else f"decisions come from {service}"
    _say("kept" if there else "made", _short(folder), what)


def _register(here: Path, folder: Path, places: Sequence[Place], *, dry_run: bool) -> None:
    from vigil_lang.points.install.uses import Uses

    for each in places:
        change = _change(each, folder, undo=False, dry_run=dry_run)
        if not dry_run:
            Uses(folder).add(each.path, here, registered=change.is_needed)
        _say("hooked" if change.is_needed else "kept", each.host.title, _short(each.path))
    if not places:
        _say("hooked", "nothing", "no host was found here")


def _undo(here: Path, folder: Path, places: Sequence[Place], *, dry_run: bool) -> None:
    from vigil_lang.points.install.starter import STARTER

    for each in places:
        _unhook(here, folder, each, dry_run=dry_run)
    for name, text in STARTER.items():
        path = here / name
        if path.is_symlink() or not path.is_file():
            continue
        if path.read_bytes() != text.encode():
            _say("kept", name, "it was changed")
            continue
        if not dry_run:
            path.unlink()
            if path.parent != here and not any(path.parent.iterdir()):
                path.parent.rmdir()
        _say("removed", name)
    if folder.is_dir():
        _say("kept", _short(folder), "the log of what was decided is yours to keep or remove")
    if dry_run:
        click.echo("\nNothing was done (--dry-run).")


def _unhook(here: Path, folder: Path, place: Place, *, dry_run: bool) -> None:
    """Take the hook out of a host's settings where `vigil init` put it in, and no other folder relies on it."""
    from vigil_lang.points.install.uses import Uses

    if not _change(place, folder, undo=True, dry_run=True).is_needed:
        return
    uses = Uses(folder)
    use = uses.of(place.path)
    if use is None or not use.by_init:
        out = f"vigil hook uninstall --host {place.host.name} --{place.scope}"
        _say("kept", place.host.title, f"`vigil init` did not put it there: {out}")
        return
    if others := [each for each in use.folders if each != str(here)]:
        more = f", and {len(others) - 1} more" if others[1:] else ""
        _say("kept", place.host.title, f"{_short(Path(others[0]))}{more}: `vigil init` ran there, too")
        if not dry_run:
            uses.drop(place.path, here)
        return
    _change(place, folder, undo=True, dry_run=dry_run)
    _say("unhooked", place.host.title, _short(place.path))


def _tutorial(hosts: Sequence[Host], state: str | None, *, project: bool) -> None:
    where = f" --state {as_argument(state)}" if state else ""
    if not hosts:
        click.echo(f"""
Nothing asks Vigil yet. Register the hook with the host of your agent:
  vigil init --host NAME{where}
NAME is one of {", ".join(HOSTS)}.

Undo it all:                        vigil init --undo{where}""")
        return
    if not project:
        click.echo("""
Your own settings count in every folder: calls are decided there, too, by the
policies of that folder. `vigil init --project` registers in this folder alone.""")
    click.echo(f"""
Try it
  1. Start {hosts[0].title} in this folder, and ask it: "Run git push."
     It is held. The agent is told so, and that a person has to confirm it.
  2. What waits for you:            vigil hold list{where}
     Confirm or deny it:            vigil hold approve ID{where}   vigil hold deny ID{where}
     Ask the agent to try again.
  3. Ask it: "Run git push --force."
     That is blocked: std.guard has a rule that no confirmation lifts.
  4. What was decided, and why:     vigil runs{where}   vigil why RUN{where}

Go on
  Change policies/agent.vgl, then:  vigil lint
  Where the hook stands:            vigil hook status

Undo it all:                        vigil init --undo{" --project" if project else ""}{where}""")
    if any(host.name == "codex" for host in hosts):
        click.echo("\nCodex runs a new hook once you trusted it: `/hooks` in Codex.")


def _short(path: Path) -> str:
    here, home = Path.cwd(), Path.home()
    if path.is_relative_to(here):
        return str(path.relative_to(here))
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
