"""An event of a run on one line: what was said, what was called, what a call was taken to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.secrets import learn, masked, masked_words
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.diagnostics.visible import visible
from vigil_lang.trace.event import MESSAGES
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lang.verdict.calls import call_text

if TYPE_CHECKING:
    from vigil_lang.trace import Event

_STATUS = {"ok": "green", "error": "red", "unknown": "dim"}
# What the excerpt shows as well, or the program above it.
_WORDS = frozenset(
    {"argv", "argument", "flag", "program", "file", "inferred", "unresolved", "subcommand", "text", "code"}
    | {"from_script"}
)
_CALL = frozenset({"function", "nargs", "mode", "name", "value", "key"})
_ACTION = 16
_VALUES = 3


def event_text(event: Event, room: int) -> Text:
    """An event in about `room` cells, whatever it is."""
    if event.action in MESSAGES:
        return message_text(event, room)
    return step_text(event) if is_step(event) else call_text(event, room)


def is_step(event: Event) -> bool:
    """Whether an event is a part of what a call did, not the call itself."""
    return "." in event.id and event.id != event.call


def message_text(event: Event, room: int) -> Text:
    """`user: what was said`, its middle left out where it is too long."""
    # Masked as it was written: that a word is a secret may be told by the line it ends.
    text = " ".join(masked(" ".join(event.args.get("text", ()))).split())
    return Text(f"{event.action.partition('.')[0]}: {middle(text, room)}", "italic dim")


def step_text(event: Event, times: int = 1) -> Text:
    """`ok  git  git.push, net.upload  remote=origin  ‹git push origin›`; `times` that there were, alike."""
    learn(event.args)
    kinds = [kind for kind in event.kinds if kind not in ("process.run", "code.call", event.action)]
    shown = Text.assemble(
        (f"{event.status:<7} ", _STATUS[event.status]),
        (f"{middle(event.action, _ACTION):<{_ACTION}} ", "bold"),
        (", ".join(kinds), "cyan"),
    )
    if times > 1:
        shown.append(f"  {times} times", "bold")
    roles = vocabulary().roles
    for role, values in event.args.items():
        if role not in roles or role in _WORDS or role in _CALL or not values:
            continue
        some = ", ".join(middle(value, 40) for value in masked_words(role, values[:_VALUES]))
        more = f", … {len(values) - _VALUES} more" if len(values) > _VALUES else ""
        shown.append(f"  {role}=")
        shown.append(some + more, "green")
    if missing := event.args.get("unresolved"):
        shown.append(f"  unresolved: {', '.join(map(visible, missing))}", "yellow")
    if event.args.get("inferred"):
        line = f"line {visible(str(event.extra['line']))}" if "line" in event.extra else "inferred"
        shown.append(f"  {line}", "magenta")
    if event.extra.get("excerpt") and event.action not in event.kinds:
        shown.append(f"  ‹{middle(str(event.extra['excerpt']), 60)}›", "dim")
    return shown
