"""`vigil runs`: the runs that a gate knows, live and past."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.gate import StateFault, opened, state_option
from vigil_lang.cli.output import console, output_options
from vigil_lang.diagnostics.visible import safe_json

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.history import Seen
    from vigil_lang.gate.store import Hold


@click.command("runs")
@click.argument("run", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="So many runs at most.")
@click.option("--live", is_flag=True, help="Only runs that have not ended.")
@click.option("--watch", is_flag=True, help="Show it anew every second, until Ctrl-C.")
@state_option
@output_options("human", "json")
def command(
    run: str | None, limit: int, live: bool, watch: bool, state: str | None, format: str  # noqa: A002
) -> int:  # fmt: skip
    """Show the runs, those seen last first: what was decided in each, its verdict so far, and what is owed.

    With RUN, that run and each of its calls.

    Exit status 0; 2 where there is no such run, or the state cannot be read.
    """
    from vigil_lang.gate.state import StateError
    from vigil_lang.points.checkpoints.model import CheckpointError

    if watch and format != "human":
        raise click.UsageError("--watch is for people: it takes no --format.")
    try:
        gate = opened(state)
        if watch:
            _watch(gate, run, limit, live)
        elif format == "json":
            told = [seen_json(each) for each in _found(gate, run, limit, live)]
            console().print(safe_json({"schema": "vigil.runs/1", "runs": told}))
        elif run is None:
            from vigil_lang.cli.runs_screen import show_runs

            found = _found(gate, run, limit, live)
            show_runs(found, _holds(gate), gate.now(), console())
        else:
            _show_run(gate, run)
    except (CheckpointError, StateError, ValueError) as error:
        raise StateFault(str(error)) from error
    return CLEAN


def _found(gate: Gate, run: str | None, limit: int, live: bool) -> list[Seen]:
    from vigil_lang.gate.history import seen

    with gate.holds.transaction():
        if run is None:
            known = gate.store.latest_runs(limit) if not live else gate.store.runs()[:limit]
        else:
            one = gate.store.run(run)
            if one is None:
                raise ValueError(f"there is no run {run}: `vigil runs` lists them")
            known = [one]
    return [seen(gate, each) for each in known]


def _holds(gate: Gate) -> list[Hold]:
    with gate.holds.transaction():
        return gate.store.holds()


def _show_run(gate: Gate, run: str) -> None:
    from vigil_lang.cli.runs_screen import show_run
    from vigil_lang.gate.history import entries_of
    from vigil_lang.points.checkpoints.history import History

    (found,) = _found(gate, run, 1, live=False)
    holds = {each.seq: each for each in _holds(gate) if each.opened["run"] == run}
    has_checkpoints = bool(History(gate.folder.path, run).taken)
    show_run(found, entries_of(gate, run), holds, gate.now(), has_checkpoints, console())


def _watch(gate: Gate, run: str | None, limit: int, live: bool) -> None:
    from rich.console import Group
    from rich.live import Live

    from vigil_lang.cli.runs_screen import runs_lines

    screen = console()
    with suppress(KeyboardInterrupt), Live(console=screen, auto_refresh=False, screen=screen.is_terminal) as shown:
        while True:
            lines = list(runs_lines(_found(gate, run, limit, live), gate.now(), screen.width))
            shown.update(Group(*lines[: max(screen.height - 1, 1)]), refresh=True)
            time.sleep(1)


def seen_json(found: Seen) -> dict[str, Any]:
    """A run as JSON."""
    from vigil_lang.gate.log.log import text_of

    run = found.run
    return {
        "run": run.name,
        "agent": run.agent,
        "host": run.host,
        "state": found.state,
        "started": text_of(run.started),
        "seen": text_of(run.seen),
        "passed": found.passed,
        "held": found.held,
        "blocked": found.blocked,
        "unasked": found.unasked,
        "observed": found.observed,
        "verdict": found.standing,
        "violated": [
            {"name": each.statement.name, "event": each.offence.event, "message": each.offence.message}
            for each in found.broken
        ],
        "fault": found.fault,
        "not_judged": [{"name": each.statement.name, "why": each.why} for each in found.unjudged],
        "owed": [{"name": each.statement.name, "since": each.event, "message": each.message} for each in found.owed],
        "policy_digest": run.policy,
        "halted": run.halted,
    }
