"""`vigil why`: what led to the decision about a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.gate import StateFault, opened, state_option
from vigil_lang.cli.output import console, output_options
from vigil_lang.diagnostics.visible import safe_json

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.history import Entry


@click.command("why")
@click.argument("run")
@click.argument("call", required=False)
@state_option
@output_options("human", "json")
def command(run: str, call: str | None, state: str | None, format: str) -> int:  # noqa: A002
    """Show why a call of RUN passed, was held or was blocked: all reasons, and the earlier calls that matter.

    CALL is the number of its entry (`vigil runs RUN` lists them), the host's id of the call, or one of its events, such
    as e5. Without it, the last call that was held or blocked.

    Exit status 0; 2 where there is no such run or call, or the state cannot be read.
    """
    from vigil_lang.gate.history import entry_named
    from vigil_lang.gate.state import StateError

    try:
        gate = opened(state)
        entry = entry_named(gate, run, call)
        _show(gate, run, entry, format)
    except (StateError, ValueError) as error:
        raise StateFault(str(error)) from error
    return CLEAN


def _show(gate: Gate, run: str, entry: Entry, format: str) -> None:  # noqa: A002
    from vigil_lang.cli.gate_screen import Led, show_answer
    from vigil_lang.cli.runs_screen import show_since, show_unasked
    from vigil_lang.gate.history import explained

    screen = console()
    if entry.members["kind"] == "unasked":
        if format == "json":
            screen.print(safe_json({"schema": "vigil.why/1", "run": run, "entry": entry.seq, "mode": None}))
        else:
            show_unasked(run, entry, screen)
        return
    found = explained(gate, run, entry)
    if format == "json":
        told = {"schema": "vigil.why/1", "run": run, "entry": entry.seq, "at": entry.members["at"]}
        told |= {"tool": found.tool, "call": entry.members.get("call"), "answer": found.answer.to_json()}
        told["near"] = [
            {"statement": each.statement.name, "message": each.offence.message, "remedy": each.remedy}
            for each in found.answer.broken
        ]
        told["since"] = [
            {"statement": each.statement.name, "event": each.offence.event, "message": each.offence.message}
            for each in found.broken_since
        ]
        screen.print(safe_json(told))
        return
    agent = entry.members["agent"]
    what = f"{found.tool} of {agent} in the run {run}"
    show_answer(found.answer, what, screen, Led(found.before, found.policies))
    show_since(found, screen)
