"""Holds as a person reads them: what waits, one of them in full, and what became of some."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from rich.text import Text

from vigil_lang.diagnostics.human import STYLES, hanging
from vigil_lang.diagnostics.secrets import masked_value
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.gate.confirmation import reason_key
from vigil_lang.gate.hold_words import (
    LIKE_THIS,
    latest,
    needs,
    one_line,
    open_reasons,
    outcome,
    second,
    seconds_text,
    times,
)
from vigil_lang.gate.log.log import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from vigil_lang.gate.store import Hold

_STATES = {
    "pending": STYLES["warning"], "approved": "bold green", "denied": STYLES["error"], "expired": "dim",
    "cancelled": "dim",
}  # fmt: skip
_HEAD = 12
_LABEL = 10


def show_list(holds: Sequence[tuple[Hold, object]], at: int, console: Console, *, every: bool) -> None:
    """Each hold with its action, who asks, how long it waits still, and what holds it."""
    waiting = sum(hold.state == "pending" for hold, _ in holds)
    head = f"{waiting} action{'' if waiting == 1 else 's'} wait{'s' if waiting == 1 else ''} to be confirmed"
    console.print(Text(head if waiting else "Nothing waits to be confirmed", "bold"))
    for hold, action in holds:
        console.print()
        room = console.width - _HEAD
        console.print(Text.assemble((f"{hold.id:<{_HEAD}}", _STATES[hold.state]), one_line(action, room)))
        told = [f"{seconds_text(max(0, hold.expires - at))} left" if hold.state == "pending" else outcome(hold)]
        told.append(f"{hold.opened['agent']}, run {hold.opened['run']}")
        if hold.state == "pending":
            told.append(needs(hold))
        if hold.opened.get("tier"):
            told.append(f"tier {hold.opened['tier']}")
        _line(console, " · ".join(told), "dim")
        for reason in open_reasons(hold):
            _line(console, f"{reason_key(reason)}: {reason['message']}")
    if waiting and not every:
        console.print()
        console.print(Text("vigil hold show ID has all of it; vigil hold approve ID… confirms.", "dim"))


def show_hold(hold: Hold, action: object, at: int, uses: int, console: Console) -> None:
    """One hold: who asks for what, the action in full, why it is held, and what a confirmation allows: so many uses."""
    opened = hold.opened
    console.print(Text.assemble((f"{hold.id}  ", "bold"), (hold.state, _STATES[hold.state])))
    user = f" for {opened['user']}" if opened.get("user") else ""
    _pair(console, "asks", f"{opened['agent']}{user}, in the run {opened['run']}, at tier {opened.get('tier', 0)}")
    again = f", and {hold.joined} times again" if hold.joined > 1 else ", and once again" if hold.joined else ""
    _pair(console, "asked", f"{text_of(hold.opened_at)}{again}")
    if hold.state == "pending":
        _pair(
            console, "left", f"{seconds_text(max(0, hold.expires - at))}, until {second(hold.expires)}; then it expires"
        )
        _pair(console, "needs", needs(hold))
    else:
        _pair(console, "became", outcome(hold))
    for entry in hold.confirmations:
        _pair(console, "confirmed", f"{entry['at']} by {entry['by']}")

    _title(console, "The action")
    if action is None:
        _text(console, "Its arguments are not known any more: the plain values were deleted.")
    else:
        given = action if isinstance(action, dict) else {}
        _text(console, str(given.get("tool") or "steps"), "bold")
        shown = given.get("input") if "input" in given else given.get("events", action)
        for line in json.dumps(masked_value(shown), indent=2, ensure_ascii=False).split("\n"):
            _exactly(console, line)

    _title(console, "Why it is held")
    for reason in open_reasons(hold):
        place = f" ({shown_path(reason['at'])})" if reason.get("at") else ""
        _text(console, f"{reason_key(reason)}{place}", "bold")
        if reason["message"]:
            _text(console, f"  {reason['message']}")

    if hold.state == "pending":
        _title(console, "What a confirmation allows")
        _text(
            console,
            f"This very action, {times(uses)}, with these arguments, in this run, under the policies and the "
            f"authority that are in force now, before {second(latest(hold))} at the latest. Anything else is asked for "
            "anew.",
        )
        console.print()
        _text(console, f"vigil hold approve {hold.id}", "bold")
        _text(console, f"vigil hold deny {hold.id}", "bold")
    elif hold.state == "approved" and hold.until is not None:
        _title(console, "What was allowed")
        what = "Calls like this" if hold.covers == opened["likeness"] else "This very action"
        _text(console, f"{what}, {times(hold.uses)}, before {second(hold.until)}; used: {hold.used:,}")
        if hold.covers == opened["likeness"]:
            _text(console, LIKE_THIS)
        if hold.void is not None:
            _text(console, f"It does not count any more: {hold.void}")


def show_outcome(holds: Sequence[Hold], console: Console) -> None:
    """What became of holds, a line each."""
    for hold in holds:
        told = needs(hold) if hold.state == "pending" else ""
        if hold.state == "approved" and hold.until is not None:
            like = "calls like this" if hold.covers == hold.opened["likeness"] else "this very action"
            told = f"{like}, before {second(hold.until)}"
        elif hold.why and hold.state == "cancelled":
            told = hold.why
        head = Text.assemble((f"{hold.id:<{_HEAD}}", "bold"), (f"{hold.state:<10}", _STATES[hold.state]))
        for line in hanging(console, head, told):
            console.print(line)


def _title(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, "bold underline"))


def _text(console: Console, text: str, style: str = "") -> None:
    indent = 2 + len(text) - len(text.lstrip(" "))
    for line in hanging(console, Text(" " * indent), text.lstrip(" "), style):
        console.print(line)


def _exactly(console: Console, text: str) -> None:
    """A line with each of its characters: wrapped at words, `rm a /` and `rm a/` could look the same."""
    told = text.lstrip(" ")
    indent = " " * (2 + len(text) - len(told))
    for part in chop_cells(visible(told), max(console.width - len(indent), 20)):
        console.print(Text(indent + part), soft_wrap=True)


def _line(console: Console, text: str, style: str = "") -> None:
    for line in hanging(console, Text(" " * _HEAD), text, style):
        console.print(line)


def _pair(console: Console, label: str, text: str) -> None:
    for line in hanging(console, Text(f"  {label:<{_LABEL}}", "dim"), text):
        console.print(line)
