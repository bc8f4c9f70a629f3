"""`vigil rollback`: undo what calls of a run changed in the workspace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from rich.text import Text

from vigil_lang.cli.exit_codes import CLEAN, FINDINGS
from vigil_lang.cli.gate import StateFault, opened, state_option
from vigil_lang.cli.output import console, output_options
from vigil_lang.diagnostics.human import STYLES
from vigil_lang.diagnostics.visible import as_argument, safe_json, visible

if TYPE_CHECKING:
    from vigil_lang.points.checkpoints.rollback import Plan

_WORDS = {"restored": "bold green", "changed back": "bold", "removed": STYLES["warning"]}


@click.command("rollback")
@click.argument("run")
@click.argument("call", required=False)
@click.option("--undo", is_flag=True, help="Undo the last rollback of RUN instead.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@state_option
@output_options("human", "json")
def command(
    run: str, call: str | None, undo: bool, dry_run: bool, yes: bool, state: str | None, format: str  # noqa: A002
) -> int:  # fmt: skip
    """Undo what RUN changed in its workspace since before CALL, or since before its first call.

    Shows the files, and asks first. What others changed meanwhile stays as it is. CALL is as in `vigil why`. It takes a
    hook that was installed with `--checkpoint`, and a call that may change files.

    Exit status: 0 done, or nothing to do; 1 nothing was changed: --dry-run, or the answer was no; 2 there is no such
    run, call or checkpoint, or something cannot be read or written.
    """
    from vigil_lang.gate.history import entry_named
    from vigil_lang.gate.state import StateError
    from vigil_lang.points.checkpoints.history import History
    from vigil_lang.points.checkpoints.model import CheckpointError
    from vigil_lang.points.checkpoints.rollback import apply, last_way_back, plan

    if undo and call is not None:
        raise click.UsageError("--undo takes no CALL.")
    try:
        gate = opened(state)
        history = History(gate.folder.path, run)
        seq = None if call is None else entry_named(gate, run, call).seq
        found = plan(history, last_way_back(history) if undo else seq)
        if format == "json":
            console().print(safe_json(_json(run, found)))
        else:
            _show(found, str(history.workspace))
        if not found.changes:
            return CLEAN
        if dry_run:
            if format != "json":
                click.echo("nothing was changed (--dry-run)")
            return FINDINGS
        if not yes and not _agreed(len(found.changes)):
            return FINDINGS
        apply(history, found)
    except (CheckpointError, StateError, ValueError) as error:
        raise StateFault(str(error)) from error
    if format != "json":
        click.echo(f"done; vigil rollback {as_argument(run)} --undo takes it back")
    return CLEAN


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here: --yes does it, --dry-run only shows it.")
    return click.confirm(f"Change {count} file{'s' * (count != 1)}?", default=False)


def _show(found: Plan, workspace: str) -> None:
    screen = console()
    if not found.changes:
        screen.print(f"Nothing that the run changed is still as it left it in {visible(workspace)}")
    for change in found.changes:
        word = "removed" if change.before is None else "restored" if change.now is None else "changed back"
        screen.print(Text.assemble((f"{word:<15}", _WORDS[word]), visible(change.path)))
    for path in found.left:
        screen.print(Text.assemble(("left as it is  ", "dim"), visible(path), ("  changed by others since", "dim")))


def _json(run: str, found: Plan) -> dict[str, object]:
    return {
        "schema": "vigil.rollback/1",
        "run": run,
        "changes": [
            {"path": each.path, "now": each.now and each.now.content, "before": each.before and each.before.content}
            for each in found.changes
        ],
        "left": list(found.left),
        "kept_as": found.now,
    }
