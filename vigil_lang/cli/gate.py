"""`vigil gate`: decide about pending actions on an embedded state folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, BROKEN_TOOL, CLEAN, FINDINGS
from vigil_lang.cli.gate_backup import backup, restore
from vigil_lang.cli.gate_import import import_rules
from vigil_lang.cli.gate_migrate import migrate
from vigil_lang.cli.gate_rotate_key import rotate_key, rotate_secret
from vigil_lang.cli.gate_serve import serve
from vigil_lang.cli.gate_signal import signal
from vigil_lang.cli.output import console, output_options
from vigil_lang.diagnostics.secrets import learn, masked_value
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.gate.gate import Gate


def state_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--state DIR`, for every verb that works on a gate's state."""
    return click.option(
        "--state",
        metavar="DIR",
        help="The gate's state folder; by default VIGIL_STATE, else the user's own.",
    )(function)


class StateFault(click.ClickException):
    """The state or the request cannot be read, or written; exit status 2."""

    exit_code = BAD_INPUT

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))


def opened(state: str | None) -> Gate:
    """The gate of a state folder.

    Raises:
        StateFault: it cannot be read.
    """
    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.state import StateError, state_path

    try:
        return Gate(state_path(state))
    except StateError as error:
        raise StateFault(str(error)) from error


@click.group("gate", no_args_is_help=True)
def command() -> None:
    """Decide about actions before they take effect: pass, hold or block, each in the log."""


command.add_command(rotate_key)
command.add_command(rotate_secret)
command.add_command(signal)
command.add_command(import_rules)
command.add_command(serve)
command.add_command(migrate)
command.add_command(backup)
command.add_command(restore)


@command.command("decide", short_help="Decide about the action in a request.")
@click.argument("file", default="-", metavar="[REQUEST]", type=click.Path(dir_okay=False))
@state_option
@click.option("--explain", is_flag=True, help="Say for people why, and what would lower the answer.")
@output_options("json")
def decide(file: str, state: str | None, explain: bool, format: str) -> int:  # noqa: A002, ARG001
    """Decide about the action in REQUEST, a JSON object (standard input by default).

    Exit status 0: it passes. 1: it is held or blocked. 2: the request is at fault, and nothing is decided. 3: the gate
    cannot judge, and blocks.
    """
    from vigil_lang.base.files import read_bytes
    from vigil_lang.gate.request import MAX_BYTES, BadRequest, read_request

    try:
        data = read_bytes(file, MAX_BYTES)
    except OSError as error:
        raise StateFault(f"the request cannot be read: {error.strerror}") from error
    gate, fault = _gate_or_fault(state)
    try:
        request = read_request(data)
    except BadRequest as error:
        if gate is not None:
            _note(gate, str(error))
        raise StateFault(str(error)) from error
    answer = fault if gate is None else gate.decide(request)
    assert answer is not None
    if explain:
        from vigil_lang.cli.gate_screen import Led, show_answer

        led = None
        if gate is not None and answer.broken:
            with gate.holds.transaction():
                live = gate.follow(request.run)
                led = Led(live.settled(), live.policies)
        show_answer(answer, f"{request.tool} of {request.agent} in the run {request.run}", console(), led)
    else:
        for event in answer.events:
            learn(event.args)
        click.echo(json.dumps(masked_value(answer.to_json()), ensure_ascii=True))
    return BROKEN_TOOL if answer.is_fault else CLEAN if answer.decision.mode == "pass" else FINDINGS


def _gate_or_fault(state: str | None) -> tuple[Gate | None, Any]:
    """The gate, or the answer that blocks because there is none."""
    from vigil_lang.gate.answer import faulty
    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.state import state_path

    try:
        return Gate(state_path(state)), None
    except Exception as error:  # whatever is wrong with the state, the action does not pass
        return None, faulty(error)


def _note(gate: Gate, message: str) -> None:
    from vigil_lang.gate.state import StateError

    try:
        gate.refuse(message)
    except (StateError, OSError) as error:
        click.echo(f"warning: the refusal could not be noted: {error}", err=True)


@command.command("outcome", short_help="Record how a call ended.")
@click.argument("run")
@click.argument("seq", type=click.IntRange(0), required=False)
@click.option("--call", metavar="ID", help="The call by the `call` of its request, in place of SEQ.")
@click.option("--status", type=click.Choice(["ok", "error", "unknown"]), required=True, help="How the call ended.")
@click.option("--output", metavar="FILE", help="What it printed; `-` is standard input.")
@state_option
def outcome(run: str, seq: int | None, call: str | None, status: Any, output: str | None, state: str | None) -> None:
    """Record how a call of RUN ended: the one that passed by entry SEQ of the log, or that --call names.

    SEQ is `log.seq` of the answer, and the number after "entry" where --explain shows it.
    """
    from vigil_lang.gate.state import StateError

    named = call if seq is None else seq
    if named is None or (seq is not None and call is not None):
        raise click.UsageError("the call is named by SEQ or by --call")
    try:
        text = None if output is None else _text(output)
        opened(state).outcome(run, named, status, text)
    except (StateError, ValueError, OSError) as error:
        raise StateFault(str(error)) from error


def _text(path: str) -> str:
    from vigil_lang.base.files import MAX_BYTES, read_bytes

    data = read_bytes(path)
    if len(data) > MAX_BYTES:
        raise ValueError(f"the output has more than {MAX_BYTES:,} bytes")
    return data.decode("utf-8", "replace")


@command.command("end", short_help="Record that a run is over.")
@click.argument("run")
@state_option
def end(run: str, state: str | None) -> None:
    """Record in the log that RUN is over."""
    from vigil_lang.gate.state import StateError

    try:
        opened(state).end(run)
    except (StateError, ValueError) as error:
        raise StateFault(str(error)) from error


@command.command("checkpoint", short_help="Sign what the log is now.")
@state_option
def checkpoint(state: str | None) -> None:
    """Sign what the log is now, and print the checkpoint: something to keep elsewhere."""
    from vigil_lang.gate.state import StateError

    try:
        click.echo(opened(state).checkpoint(), nl=False)
    except StateError as error:
        raise StateFault(str(error)) from error


@command.command("init", short_help="Make a state folder: settings, keys and a log.")
@state_option
@click.option("--workspace", metavar="DIR", default=".", show_default=True, help="Where the agent works.")
@click.option(
    "--open",
    "is_open",
    is_flag=True,
    help="Grant every agent everything; rules still hold and block.",
)
@click.option("--organisation", multiple=True, metavar="POLICY", help="A policy of the organisation (repeatable).")
@click.option("--personal", multiple=True, metavar="POLICY", help="A policy of the user's own (repeatable).")
def init(
    state: str | None, workspace: str, is_open: bool, organisation: tuple[str, ...], personal: tuple[str, ...]
) -> None:
    """Make a state folder with settings, keys and an empty log, outside the workspace."""
    from vigil_lang.cli.gate_screen import show_made
    from vigil_lang.gate.setup import make_state
    from vigil_lang.gate.state import StateError, state_path

    try:
        made = make_state(state_path(state), Path(workspace), organisation, personal, is_open=is_open)
    except (StateError, OSError) as error:
        raise StateFault(str(error)) from error
    show_made(made, console())


@command.command("status", short_help="Show what is in force, what waits, what runs.")
@state_option
@output_options("human", "json")
def status(state: str | None, format: str) -> None:  # noqa: A002
    """Show the layers and the authority in force, the holds that wait, and the live runs."""
    from vigil_lang.cli.gate_screen import show_status
    from vigil_lang.gate.status import status_of

    found = status_of(opened(state))
    if format == "json":
        click.echo(json.dumps(masked_value(found), ensure_ascii=True))
    else:
        show_status(found, console())


@command.command("check", short_help="Find rules without an effect beside other layers.")
@state_option
@output_options("human", "concise", "json")
def check(state: str | None, format: Any) -> int:  # noqa: A002
    """Find rules without an effect beside those of the other layers.

    Exit status 0: no findings. 1: findings. 2: the state folder cannot be read.
    """
    from vigil_lang.cli.output import show_findings
    from vigil_lang.lint.rule_layers import findings_of_layers

    rules = [(layer, rule) for layer, policy in opened(state).policies.policies for rule in policy.rules]
    found = findings_of_layers(rules)
    show_findings(found, format)
    if not found and format == "human":
        click.echo(f"{len(rules)} rules checked, no findings")
    return FINDINGS if any(each.severity != "info" for each in found) else CLEAN
