"""`vigil hold`: what waits to be confirmed, and confirming or denying it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.duration import Duration
from vigil_lang.cli.exit_codes import CLEAN, FINDINGS
from vigil_lang.cli.gate import StateFault, state_option
from vigil_lang.cli.key import key_options
from vigil_lang.cli.output import console, output_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.authority.keys import Key
    from vigil_lang.gate.holds import Holds
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.store import Hold


@click.group("hold", no_args_is_help=True)
def command() -> None:
    """Show, confirm or deny the actions that a gate holds.

    Nothing is confirmed by waiting: a hold that nobody answers expires, and its action is not done.
    """


@contextmanager
def _state(state: str | None) -> Iterator[tuple[Holds, Log]]:
    """The holds of a state folder, and its log. What cannot be done is the caller's fault: exit status 2."""
    from vigil_lang.gate.holds import HoldError, Holds
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.gate.storage.opening import open_storage
    from vigil_lang.gate.store import Store

    try:
        folder = StateFolder(state_path(state))
        settings = read_settings(folder.settings)
        storage = open_storage(folder, settings)
        log = Log(storage, settings.log)
        store, service = Store(storage, log), settings.service
        yield (
            Holds(
                storage,
                log,
                store,
                settings.holds,
                settings.notify,
                organisation_role=service.organisation_role,
                origin=service.origin,
            ),
            log,
        )
    except (StateError, HoldError) as error:
        from vigil_lang.diagnostics.visible import visible

        raise StateFault(visible(str(error))) from error


def _names(function: Any) -> Any:
    return click.argument("names", metavar="ID...", nargs=-1, required=True)(function)


@command.command("list", short_help="List what waits to be confirmed.")
@click.option("--all", "every", is_flag=True, help="Also those that wait no more.")
@state_option
@output_options("human", "json")
def list_holds(every: bool, state: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """List what waits to be confirmed: the most severe first, and the oldest of them.

    Exit status: 0, or 2 where the state cannot be read.
    """
    with _state(state) as (holds, log):
        found = holds.listed(every=every)
        if format == "json":
            from vigil_lang.diagnostics.visible import safe_json
            from vigil_lang.gate.hold_json import hold_json

            click.echo(
                safe_json({"schema": "vigil.holds/1", "holds": [hold_json(hold, _action(hold, log)) for hold in found]})
            )
        else:
            from vigil_lang.cli.hold_screen import show_list

            show_list([(hold, _action(hold, log)) for hold in found], holds.now(), console(), every=every)
    return CLEAN


@command.command("show", short_help="Show a hold in full.")
@click.argument("name", metavar="ID")
@state_option
@output_options("human", "json")
def show(name: str, state: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Show a hold: the action in full, why it is held, and what exactly a confirmation allows.

    Exit status: 0, or 2 where there is no such hold.
    """
    with _state(state) as (holds, log):
        _show([holds.look(name)], holds, log, format)
    return CLEAN


@command.command("wait", short_help="Wait for the answer to a hold.")
@click.argument("name", metavar="ID")
@click.option("--for", "longest", type=Duration(0), default="55s", show_default=True, help="How long, at most 55s.")
@state_option
@output_options("human", "json")
def wait(name: str, longest: int, state: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Wait until a hold is approved, denied, expired or cancelled.

    Exit status: 0 it is approved; 1 it is not: denied, expired, cancelled, or it still waits; 2 there is no such hold.
    """
    with _state(state) as (holds, log):
        found = holds.wait(name, longest)
        _tell([found], log, format)
    return CLEAN if found.state == "approved" else FINDINGS


@command.command("approve", short_help="Confirm holds.")
@_names
@key_options
@state_option
@output_options("human", "json")
def approve(
    names: tuple[str, ...],
    key_file: str | None,
    key_command: str | None,
    state: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Confirm holds with your key: all that are named or, where one cannot be, none.

    Exit status: 0 done; 2 a hold waits no more, or the key may not confirm it.
    """
    return _approve(names, None, key_file, key_command, state, format)


@command.command("release", short_help="Confirm holds, and for some time all calls like them.")
@_names
@click.option("--for", "seconds", type=Duration(), required=True, help="For how long: 90s, 30m, 1h.")
@key_options
@state_option
@output_options("human", "json")
def release(
    names: tuple[str, ...],
    seconds: int,
    key_file: str | None,
    key_command: str | None,
    state: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Confirm holds, and for some time all calls like theirs: of the same agent, user, tool and effects, with any
    arguments, in any run. The gate still decides and logs each of them.

    Exit status: 0 done; 2 a hold waits no more, the key may not confirm it, or the time is longer than the settings
    allow.
    """
    return _approve(names, seconds, key_file, key_command, state, format)


def _approve(
    names: Sequence[str],
    seconds: int | None,
    key_file: str | None,
    key_command: str | None,
    state: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    key = _key(key_file, key_command, state)
    with _state(state) as (holds, log):
        _tell(holds.approve(holds.signed(names, key, release=seconds)), log, format)
    return CLEAN


def _key(key_file: str | None, key_command: str | None, state: str | None) -> Key:
    """The approver's key: the one that is named, the user's own, or the one that the state folder keeps."""
    from vigil_lang.gate.authority.keys import load_key
    from vigil_lang.gate.state import state_path

    return load_key(key_file, command=key_command, kept=state_path(state) / "keys" / "approver.pem")


@command.command("deny", short_help="Deny holds.")
@_names
@key_options
@state_option
@output_options("human", "json")
def deny(
    names: tuple[str, ...],
    key_file: str | None,
    key_command: str | None,
    state: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Deny holds with your key: all that are named or, where one cannot be, none. One denial suffices.

    Exit status: 0 done; 2 a hold waits no more, or the key may not deny it.
    """
    key = _key(key_file, key_command, state)
    with _state(state) as (holds, log):
        _tell(holds.deny(holds.signed_denials(names, key)), log, format)
    return CLEAN


@command.command("cancel", short_help="Take back what was asked for.")
@_names
@click.option("--why", default="it is not wanted any more", show_default=True, help="What the log says of it.")
@state_option
@output_options("human", "json")
def cancel(names: tuple[str, ...], why: str, state: str | None, format: str) -> int:  # noqa: A002
    """Take back what was asked for. Whoever asks may do this, without a key.

    Exit status: 0 done; 2 a hold waits no more.
    """
    with _state(state) as (holds, log):
        _tell(holds.cancel(names, why), log, format)
    return CLEAN


def _tell(found: Sequence[Hold], log: Log, format: str) -> None:  # noqa: A002 - the option's name
    """What became of holds, a line each."""
    if format == "json":
        _print_json(found, log)
        return
    from vigil_lang.cli.hold_screen import show_outcome

    show_outcome(found, console())


def _show(found: Sequence[Hold], holds: Holds, log: Log, format: str) -> None:  # noqa: A002 - the option's name
    if format == "json":
        _print_json(found, log)
        return
    from vigil_lang.cli.hold_screen import show_hold

    for hold in found:
        show_hold(hold, _action(hold, log), holds.now(), holds.uses, console())


def _print_json(found: Sequence[Hold], log: Log) -> None:
    from vigil_lang.diagnostics.visible import safe_json
    from vigil_lang.gate.hold_json import hold_json

    for hold in found:
        click.echo(safe_json({"schema": "vigil.hold/1", **hold_json(hold, _action(hold, log))}))


def _action(hold: Hold, log: Log) -> object:
    """What was asked for, None where the plain values were deleted."""
    inputs = log.plain(hold.seq, "/inputs")
    return inputs.get("action") if isinstance(inputs, dict) else None
