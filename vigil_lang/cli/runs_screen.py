"""Runs as a person reads them: all in a look, one of them with its calls, and what became of a call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.cli.gate_screen import MODES, witnesses
from vigil_lang.diagnostics.human import STYLES, hanging
from vigil_lang.diagnostics.shorten import fit, middle
from vigil_lang.diagnostics.visible import as_argument, visible
from vigil_lang.gate.following import is_made
from vigil_lang.gate.hold_words import seconds_text
from vigil_lang.trace import Event
from vigil_lang.verdict.calls import call_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from vigil_lang.gate.history import Entry, Explained, Seen
    from vigil_lang.gate.store import Hold

_STANDINGS = {
    "violated": STYLES["error"],
    "not judged": STYLES["warning"],
    "owes": STYLES["warning"],
    "satisfied": "bold green",
}
_STATES = {"live": "bold", "halted": STYLES["error"], "ended": "dim"}


def runs_lines(found: Sequence[Seen], at: int, width: int) -> Iterator[Text]:
    """Each run: when it was seen last (`at` is now, in microseconds), what was decided, and its verdict so far."""
    live = sum(each.state != "ended" for each in found)
    yield Text(f"{live} live, {len(found) - live} ended" if found else "No run was seen yet", "bold")
    for each in found:
        yield Text()
        head = Text.assemble(
            (f"{each.state:<8}", _STATES[each.state]), (visible(middle(each.run.name, width - 40)), "bold")
        )
        whose = each.run.agent if each.run.host in (None, each.run.agent) else f"{each.run.agent} on {each.run.host}"
        head.append(f"  {visible(whose)}, {_ago(at - each.run.seen)}", "dim")
        yield head
        verdict = "satisfied so far" if each.standing == "satisfied" and each.state != "ended" else each.standing
        line = Text.assemble(("        ", ""), (verdict, _STANDINGS[each.standing]), f"  {_counts(each)}")
        fit(line, width)
        yield line
        for text in _told(each):
            detail = Text(f"        {text}")
            fit(detail, width)
            yield detail


def show_runs(found: Sequence[Seen], holds: Iterable[Hold], at: int, console: Console) -> None:
    """Each run, and what to do next; `holds` are those of all runs."""
    for line in runs_lines(found, at, console.width):
        console.print(line)
    if found:
        hint = "vigil runs RUN shows its calls; vigil why RUN says why the last one was stopped."
        console.print()
        console.print(Text(hint, "dim"))
    if waiting := sum(_waits(each, at) for each in holds):
        what = "1 action waits" if waiting == 1 else f"{waiting} actions wait"
        console.print(Text(f"{what} to be confirmed: vigil hold list.", "dim"))


def show_run(
    found: Seen, entries: Iterable[Entry], holds: Mapping[int, Hold], at: int, has_checkpoints: bool, console: Console
) -> None:
    """A run with its calls: each with its number, what became of it, and why. `holds` are by the entry that opened
    them."""
    for line in list(runs_lines([found], at, console.width))[2:]:
        console.print(line)
    console.print()
    outcomes = {}
    calls = []
    for each in entries:
        if each.members["kind"] == "outcome":
            outcomes[each.members["decision"]] = each
        elif each.members["kind"] in ("decision", "unasked", "message", "run_policy", "halt", "resume"):
            calls.append(each)
    console.print(Text(f"{'entry':>6}  {'UTC':<8}  {'answer':<7}call", "dim"))
    for each in calls:
        console.print(_entry(each, _ending(each, outcomes.get(each.seq), holds.get(each.seq), at), console.width))
    name = as_argument(found.run.name)
    console.print()
    hints = [f"vigil why {name} ENTRY shows why."]
    hints += [f"vigil rollback {name} ENTRY undoes what was changed from there on."] if has_checkpoints else []
    hints += [f"vigil resume {name} lifts the halt."] if found.state == "halted" else []
    hints += (
        ["vigil hold approve ID confirms what is held."] if any(_waits(each, at) for each in holds.values()) else []
    )
    for hint in hints:
        console.print(Text(hint, "dim"))


def show_since(found: Explained, console: Console) -> None:
    """What the call came to violate after it was made."""
    if not found.broken_since:
        return
    console.print()
    console.print(Text("Since then it violates", "bold"))
    own = {each.offence.event for each in found.broken_since}
    for line in witnesses(found.broken_since, found.after, own, found.policies, console):
        console.print(line)


def show_unasked(run: str, entry: Entry, console: Console) -> None:
    """A call that was made although nobody asked about it, or against the answer."""
    head = Text.assemble(("made ", STYLES["warning"]), "  ")
    what = f"{_tool(entry)} in the run {run} was made without a pass"
    for line in hanging(console, head, what, "bold"):
        console.print(line)
    console.print(Text.assemble("       ", _call(entry, console.width - 7)))
    console.print()
    text = "The host did not ask about it, or made it against the answer. It counts as a part of the run."
    for line in hanging(console, Text(""), text):
        console.print(line)


def _counts(found: Seen) -> str:
    told = [f"{found.passed} passed"]
    for count, word in ((found.held, "held"), (found.blocked, "blocked"), (found.unasked, "made without a pass")):
        told += [f"{count} {word}"] if count else []
    told += [f"{found.observed} observed only"] if found.observed else []
    return " · ".join(told)


def _told(found: Seen) -> Iterator[str]:
    if found.run.halted is not None:
        yield f"halted: {visible(found.run.halted)}"
    if found.fault is not None:
        yield f"cannot be judged: {visible(found.fault)}"
    for broken in found.broken:
        yield f"{visible(broken.statement.name)}: {visible(broken.offence.message)}"
    for doubt in found.unjudged:
        yield f"{visible(doubt.statement.name)} is not judged: {visible(doubt.why)}"
    for owed in found.owed:
        yield f"{visible(owed.statement.name)}: {visible(owed.message)}"


def _entry(entry: Entry, ending: str, width: int) -> Text:
    members = entry.members
    clock = datetime.fromtimestamp(entry.at / 1_000_000, UTC).strftime("%H:%M:%S")
    head = Text.assemble((f"{entry.seq:>6}  {clock}  ", "dim"))
    match members["kind"]:
        case "message":
            line = head.append(f"{members['role']} says  ", "dim").append(visible(str(entry.value or "")), "dim")
        case "run_policy":
            line = head.append(f"policies {members['why']}: {members['policy_digest'][:12]}", "dim")
        case "halt":
            line = head.append("halt   ", MODES["block"]).append(visible(members["why"]))
        case "resume":
            line = head.append("resume")
        case kind:
            mode = "made" if kind == "unasked" else members["mode"]
            line = head.append(f"{mode:<7}", MODES.get(mode, STYLES["warning"]))
            asked = "warn" if mode == "pass" else mode
            names = [
                each["name"] for each in members.get("reasons", ()) if each["asks"] == asked and not each.get("lifted")
            ]
            why = f"  {', '.join(map(visible, names[:3]))}" if names else ""
            room = width - line.cell_len - len(ending) - len(why)
            line.append_text(_call(entry, max(room, 16))).append(why, "bold").append(ending, "dim")
    fit(line, width)
    return line


def _waits(hold: Hold, at: int) -> bool:
    return hold.state == "pending" and at < hold.expires * 1_000_000


def _ending(entry: Entry, outcome: Entry | None, hold: Hold | None, at: int) -> str:
    if hold is not None:
        state = "expired" if hold.state == "pending" else hold.state
        return f" → {hold.id}" if _waits(hold, at) else f" → {state}"
    if entry.members["kind"] not in ("decision", "unasked"):
        return ""
    if entry.members["kind"] == "unasked":
        return f" → {entry.members['status']}"
    if not is_made(entry.members):
        return ""
    if outcome is None:
        return " → no result yet"
    if outcome.members.get("executed", True) is False:
        return " → not made"
    return f" → {outcome.members['status']}"


def _call(entry: Entry, room: int) -> Text:
    value: Any = entry.value
    action = value.get("action") if isinstance(value, dict) else None
    if not isinstance(action, dict) or "input" not in action:
        return Text(f"{_tool(entry)}(…)")
    event = Event.of(str(action["tool"]), action["input"])
    ending = f" → {event.status}"
    text = call_text(event, room + len(ending))
    text.right_crop(len(ending))
    return text


def _tool(entry: Entry) -> str:
    value: Any = entry.value
    action = value.get("action") if isinstance(value, dict) else None
    return visible(str(action.get("tool", "a call"))) if isinstance(action, dict) else "a call"


def _ago(microseconds: int) -> str:
    seconds = max(0, microseconds // 1_000_000)
    return "now" if seconds < 2 else f"{seconds_text(seconds)} ago"
