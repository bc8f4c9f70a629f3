"""`vigil hook install`, `uninstall` and `status`: the hook's registration with hosts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.exit_codes import CLEAN, FINDINGS
from vigil_lang.cli.gate import StateFault, state_option
from vigil_lang.cli.output import output_options
from vigil_lang.cli.point_options import point_options
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.points.install.places import Place, Status
    from vigil_lang.points.install.registration import Registration
    from vigil_lang.points.install.settings_file import Change

MAX_WAIT = 3600
"""Seconds that a registered hook waits for a confirmation, at most."""

HOSTS = ("claude", "codex", "gemini", "copilot", "cursor")


def host_option(**more: Any) -> Callable[[Any], Any]:
    """`--host HOST`."""
    return click.option("--host", "name", type=click.Choice(HOSTS), metavar="HOST", **more)


def _scopes(function: Any) -> Any:
    for name, text in reversed(
        (
            ("--user", "In your own settings of the host (the default)."),
            ("--project", "In the settings of the project in this folder."),
            ("--managed", "In the settings that an administrator makes for the whole machine."),
        )
    ):
        function = click.option(name, is_flag=True, help=text)(function)
    return function


_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")


def scope_of(user: bool, project: bool, managed: bool) -> str:
    """The scope that the flags name.

    Raises:
        UsageError: they name more than one.
    """
    if user + project + managed > 1:
        raise click.UsageError("Name one of --user, --project and --managed.")
    return "managed" if managed else "project" if project else "user"


@click.command("install", short_help="Register the hook with a host.")
@host_option(required=True, help="claude, codex, gemini, copilot or cursor.")
@_scopes
@point_options
@click.option(
    "--after-block",
    type=click.Choice(("deny", "ask", "halt")),
    help="A call that does not pass is denied (the default), the host's user is asked about it, or its run is halted.",
)
@click.option(
    "--checkpoint",
    type=click.Choice(("git", "copy")),
    help="Keep the workspace before calls that change it, for `vigil rollback`.",
)
@click.option(
    "--policy-changes",
    type=click.Choice(("keep", "apply")),
    help="A run keeps the policies that it began with (the default), or goes by them as they change.",
)
@state_option
@_dry_run
def install(
    name: str,
    user: bool,
    project: bool,
    managed: bool,
    policies: tuple[str, ...],
    wait: int,
    state: str | None,
    dry_run: bool,
    **options: Any,
) -> int:
    """Register the hook with a host, so that calls are blocked where it fails. Doing so twice changes nothing.

    Shows the change of the host's settings, and writes it. Exit status 2: the settings cannot be read or written, or a
    policy has no meaning; nothing is changed.
    """
    from vigil_lang.points.install.hosts import HOSTS as KNOWN
    from vigil_lang.points.install.places import place
    from vigil_lang.points.install.registration import registration

    scope = scope_of(user, project, managed)
    if wait > MAX_WAIT:
        raise click.UsageError("--wait is an hour at most.")
    folder = _state(state)
    named = _policies(policies)
    found = place(KNOWN[name], scope, Path.cwd(), os.environ)  # type: ignore[arg-type]
    wanted = registration(KNOWN[name], folder, policies=named, wait=wait, **options)
    _show(found, install_at(found, wanted, folder, dry_run=dry_run), "registered", dry_run=dry_run)
    return CLEAN


def install_at(place: Place, wanted: Registration, state: Path, *, dry_run: bool) -> Change:
    """Register at one place, and give what that changes.

    Raises:
        StateFault: it cannot be done.
    """
    from vigil_lang.gate.setup import ensure
    from vigil_lang.gate.state import StateError, StateFolder
    from vigil_lang.points.install.registration import Unusable
    from vigil_lang.points.install.settings_file import Kept

    kept = Kept(state)
    try:
        change, original = place.installing(wanted, kept)
        if change.is_needed and not dry_run:
            ensure(state)
            StateFolder(state)
            kept.apply(change, original)
    except Unusable as error:
        raise StateFault(f"{place.path} is as it was: {error}") from error
    except StateError as error:
        raise StateFault(str(error)) from error
    return change


def uninstall_at(place: Place, state: Path, *, dry_run: bool) -> Change:
    """Take our hooks out of one place, and give what that changes. Raises as `install_at`."""
    from vigil_lang.points.install.registration import Unusable
    from vigil_lang.points.install.settings_file import Kept
    from vigil_lang.points.install.uses import Uses

    kept = Kept(state)
    try:
        change, original = place.uninstalling(kept)
        if change.is_needed and not dry_run:
            kept.apply(change, original)
            Uses(state).forget(place.path)
    except Unusable as error:
        raise StateFault(f"{place.path} is as it was: {error}") from error
    return change


@click.command("uninstall", short_help="Take the hook out of a host's settings.")
@host_option(required=True, help="claude, codex, gemini, copilot or cursor.")
@_scopes
@state_option
@_dry_run
def uninstall(name: str, user: bool, project: bool, managed: bool, state: str | None, dry_run: bool) -> int:
    """Take the hook out of a host's settings, which are then as they were before, unless others changed them since.

    Exit status 2: the settings cannot be read or written; nothing is changed.
    """
    from vigil_lang.points.install.hosts import HOSTS as KNOWN
    from vigil_lang.points.install.places import place

    scope = scope_of(user, project, managed)
    found = place(KNOWN[name], scope, Path.cwd(), os.environ)  # type: ignore[arg-type]
    _show(found, uninstall_at(found, _state(state), dry_run=dry_run), "taken out", dry_run=dry_run)
    return CLEAN


@click.command("status", short_help="Say where it is registered, and whether it blocks.")
@host_option(help="Only this host.")
@_scopes
@click.option("--no-trial", is_flag=True, help="Do not run the registered hooks and the hosts' programs.")
@output_options("human", "json")
def show_status(
    name: str | None,
    user: bool,
    project: bool,
    managed: bool,
    no_trial: bool,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Say where the hook is registered, and whether it would block: each is run on calls that it has to block.

    Exit status 1: one is damaged, or would not block. 2: a host's settings cannot be read.
    """
    from vigil_lang.points.install.places import places, status

    every = not (user or project or managed)
    wanted = {scope for scope, on in (("user", user), ("project", project), ("managed", managed)) if on or every}
    here = Path.cwd()
    found = [
        status(each) for each in places(here, os.environ) if each.scope in wanted and name in (None, each.host.name)
    ]
    versions = {} if no_trial else _versions(found, here)
    rows = [(each, None if no_trial else _trial(each)) for each in found]
    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json

        click.echo(
            safe_json({"schema": "vigil.hooks/1", "hooks": [_json(each, tried, versions) for each, tried in rows]})
        )
    else:
        _show_status(rows, versions)
    if any(each.state == "unreadable" for each in found):
        raise StateFault("a host's settings cannot be read")
    failed = any(tried and not (each.registration and each.registration.observe) for each, tried in rows)
    return FINDINGS if failed or any(each.state == "damaged" for each in found) else CLEAN


@click.command("package", short_help="Write the hook as a plugin of a host.")
@click.option("--host", "name", type=click.Choice(("claude", "gemini", "copilot")), required=True, help="Whose plugin.")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
def package(name: str, folder: str) -> int:
    """Write the hook as a plugin into DIR: of Claude Code with a marketplace, of Gemini CLI, or of Copilot CLI."""
    from vigil_lang.points.install.package import write_package

    for path in write_package(name, Path(folder)):
        click.echo(visible(str(path)))
    return CLEAN


def _trial(status: Status) -> tuple[str, ...] | None:
    from vigil_lang.points.install.trial import trial

    return None if status.registration is None else trial(status.registration)


def _versions(found: Sequence[Status], here: Path) -> dict[str, str]:
    """What is to be said of the version of each host that the hook is registered with."""
    from vigil_lang.points.install.places import program_of
    from vigil_lang.points.install.trial import version

    told: dict[str, str] = {}
    for host in {each.place.host.name: each.place.host for each in found if each.registration is not None}.values():
        program = program_of(host, here)
        seen = None if program is None else version(program)
        if program is None:
            told[host.name] = f"`{host.program}` is not on the PATH: its version is not known"
        elif seen is None:
            told[host.name] = f"{program} does not say its version"
        elif host.version is None:
            told[host.name] = f"version {seen}; Vigil was not tried with this host"
        elif seen != host.version:
            told[host.name] = f"version {seen}; Vigil was tried with {host.version}"
        else:
            told[host.name] = f"version {seen}, with which Vigil was tried"
    return told


def _service(status: Status) -> str | None:
    """The address of the service that decides for a registered hook; None where its state folder does."""
    from vigil_lang.points.gates import service_of

    if status.registration is None:
        return None
    options = status.registration.options
    named = options[options.index("--state") + 1] if "--state" in options[:-1] else None
    return service_of(_state(named))


def _json(status: Status, tried: tuple[str, ...] | None, versions: dict[str, str]) -> dict[str, Any]:
    registration = status.registration
    return {
        "host": status.place.host.name,
        "scope": status.place.scope,
        "path": str(status.place.path),
        "state": status.state,
        "blocks": None if registration is None or tried is None else not tried,
        "problems": list(tried or ()),
        "remarks": list(status.remarks),
        "options": list(registration.options) if registration else [],
        "version": versions.get(status.place.host.name),
        "service": _service(status),
    }


def _show_status(rows: Sequence[tuple[Status, tuple[str, ...] | None]], versions: dict[str, str]) -> None:
    standing = [(each, tried) for each, tried in rows if each.state != "not installed"]
    for each, tried in standing:
        place = each.place
        verdict = "" if tried is None else ", and blocks" if not tried else ""
        click.echo(f"{place.host.name:<8} {place.scope:<8} {each.state}{verdict}")
        click.echo(f"         {visible(str(place.path))}")
        if (service := _service(each)) is not None:
            click.echo(f"         decisions come from {visible(service)}")
        for remark in (*each.remarks, *(tried or ())):
            click.echo(f"         - {visible(remark)}")
        if place.host.name in versions:
            click.echo(f"         {visible(versions[place.host.name])}")
        if each.state == "damaged":
            scope = "" if place.scope == "user" else f" --{place.scope}"
            click.echo(f"         `vigil hook install --host {place.host.name}{scope}` puts it right")
    rest = sorted({each.place.host.name for each, _ in rows} - {each.place.host.name for each, _ in standing})
    if rest:
        click.echo(f"not installed: {', '.join(rest)}")


def _show(place: Place, change: Change, done: str, *, dry_run: bool) -> None:
    from vigil_lang.points.install.places import unified_diff

    where = f"{place.host.title}, {visible(str(place.path))}"
    if not change.is_needed:
        click.echo(f"{where}: nothing to change")
        return
    for line in unified_diff(change, str(place.path)).splitlines():
        click.echo(visible(line))
    click.echo(f"{where}: {'nothing is written (--dry-run)' if dry_run else done}")


def _state(given: str | None) -> Path:
    from vigil_lang.gate.state import state_path

    return state_path(given).absolute()


def _policies(given: tuple[str, ...]) -> list[str]:
    """Policies by absolute paths, standard modules by name; each has to have a meaning."""
    from vigil_lang.diagnostics import InputError
    from vigil_lang.semantics.modules import is_standard
    from vigil_lang.semantics.policy import load_policy

    found = [each if is_standard(each) else str(Path(each).absolute()) for each in given]
    for each in found:
        if errors := load_policy(each).errors:
            raise InputError(list(errors))
    return found
