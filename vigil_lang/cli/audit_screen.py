"""The log of the gate as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.diagnostics.human import STYLES, hanging
from vigil_lang.diagnostics.shorten import fit
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.gate.log.export import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from vigil_lang.gate.log.key_chain import Term
    from vigil_lang.gate.log.replaying import ReplayedRun
    from vigil_lang.gate.log.verifying import Audit

_STYLES = {"block": STYLES["error"], "hold": STYLES["warning"], "pass": "bold green"}
_ALIKE = 20
"""Problems that are shown; --format json has all."""


def print_entries(entries: Iterable[tuple[int, Mapping[str, Any]]], console: Console) -> None:
    """A line an entry, under a line for each day: number, time, run, kind, and what it says."""
    day = ""
    for seq, entry in entries:
        date, _, clock = entry["at"].partition("T")
        if date != day:
            console.print(Text(date, style="bold"))
            day = date
        console.print(_line(seq, clock[:8], entry, console.width))
    if not day:
        console.print("No entry matches", style="dim")


def _line(seq: int, clock: str, entry: Mapping[str, Any], width: int) -> Text:
    run, agent = str(entry.get("run") or ""), str(entry.get("agent") or "")
    mode = entry.get("mode")
    said = visible(sentence(entry))
    line = Text.assemble(
        (f"{seq:>6}", "dim"), "  ", (clock, "dim"), "  ", f"{visible(run)[:10]:<10}", "  ", f"{entry['kind']:<12}"
    )  # fmt: skip
    if isinstance(mode, str) and mode in _STYLES:
        line.append(f"{mode:<6}", _STYLES[mode])
        said = visible(agent) + said.removeprefix(mode)
    line.append(f" {said}" if mode is None else said)
    fit(line, width)
    return line


def print_audit(audit: Audit, folder: Path, console: Console) -> None:
    """What was checked, how far it is vouched for, and what is wrong."""
    verdict = ("cannot judge", STYLES["error"]) if audit.cannot_judge else ("in order", "bold green")
    if audit.problems and not audit.cannot_judge:
        verdict = ("not in order", STYLES["error"])
    console.print(Text.assemble(verdict, "  ", (shown_path(str(folder)), "bold"), f" · {audit.entries:,} entries"))
    key = (
        "the key that was given"
        if audit.key_given
        else "the key in the folder itself (--key names the one that you know)"
    )
    rows = [
        ("root", audit.to_json()["root"]),
        ("signed", f"to {audit.signed_to:,} entries, by {key}"),
        (
            "witnessed",
            f"to {audit.witnessed_to:,} entries" if audit.witnessed_to else "by no witness that --witness names",
        ),
        ("decisions", _of_decisions(audit.derived)),
    ]
    if len(audit.keys) > 1:
        rows.insert(2, ("keys", "; ".join(_of_term(each) for each in audit.keys)))
    if audit.torn:
        rows.append(("torn", f"{audit.torn:,} bytes of a last line, which was never answered"))
    if audit.index_state != "read":
        rows.append(("index", f"{audit.index_state}: a tail that was cut after the last checkpoint is not seen"))
    for name, text in rows:
        _print(hanging(console, Text(f"    {name:<10}", "dim"), text), console)
    for each in audit.problems[:_ALIKE]:
        console.print()
        console.print(Text.assemble("    ", (each.kind, STYLES["error"]), f"  entry {each.seq}"))
        _print(hanging(console, Text("        "), each.message), console)
    if len(audit.problems) > _ALIKE:
        console.print(f"\n    and {len(audit.problems) - _ALIKE:,} more: --format json has all")


def _of_term(term: Term) -> str:
    start = "from the first entry" if term.start == 0 else f"from entry {term.start:,}"
    return f"{term.key.id.hex()} {start} {'on' if term.end is None else f'to entry {term.end:,}, which names the next'}"


def _of_decisions(derived: Mapping[str, int]) -> str:
    told = [f"{derived['derived']:,} derived again"]
    if derived["deleted"]:
        told.append(f"{derived['deleted']:,} whose plain values were deleted")
    if derived["not_derived"]:
        told.append(f"{derived['not_derived']:,} not derived")
    return ", ".join(told)


def print_replay(runs: Sequence[ReplayedRun], console: Console) -> None:
    """A headline for each run, and the decisions that are not what they follow from."""
    for run in runs:
        word = ("differs", STYLES["error"]) if run.differing else ("agrees", "bold green")
        if not run.differing and run.not_derived:
            word = ("not judged", STYLES["warning"])
        counts = {"derived": run.derived, "deleted": run.deleted, "not_derived": run.not_derived}
        told = f" · {run.decisions:,} decisions · {_of_decisions(counts)}"
        console.print(Text.assemble(word, "  ", (visible(run.name), "bold"), told))
        for each in run.differing[:_ALIKE]:
            _print(hanging(console, Text(f"    {each.seq}: "), each.message), console)
        if run.why_not is not None:
            _print(hanging(console, Text("    not derived: "), visible(run.why_not)), console)
    if not runs:
        console.print("no decision was found")


def _print(lines: Iterable[Text], console: Console) -> None:
    for line in lines:
        console.print(line)
