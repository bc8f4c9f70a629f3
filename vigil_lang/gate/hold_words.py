"""What is said of a hold to people, on the terminal and on the page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.diagnostics.secrets import masked_value
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.gate.log.log import text_of
from vigil_lang.trace import Event
from vigil_lang.verdict.calls import call_text

if TYPE_CHECKING:
    from vigil_lang.gate.store import Hold

LIKE_THIS = "Like this: same agent, user, tool, effects, policies and authority; any arguments, any run."
"""What a release is good for."""

_WORDS = {"user": "an approver", "organisation": "an approver of the organisation"}


def one_line(action: object, room: int) -> Text:
    """The action of a request in about so many cells: `pay(amount=900, to="Paper Ltd")`."""
    if not isinstance(action, dict):
        return Text("(its arguments are not known any more)")
    tool, given = str(action.get("tool") or "steps"), action.get("input")
    if isinstance(given, dict):
        try:
            event = Event.of(tool, given)
            ending = len(f" → {event.status}")  # the call was not made
            text = call_text(event, room + ending)
            text.right_crop(ending)
            return text
        except (TypeError, ValueError):  # arguments that no event can have
            pass
    return Text(middle(f"{tool} {json.dumps(masked_value(given), ensure_ascii=False)}", room))


def open_reasons(hold: Hold) -> list[dict[str, Any]]:
    """The reasons that hold the action, as its entry has them."""
    return [each for each in hold.opened["reasons"] if each["asks"] == "hold" and not each.get("lifted")]


def needs(hold: Hold) -> str:
    """Who has to confirm it still."""
    who = _WORDS[hold.confirm_by]
    return f"{who} has to confirm" if hold.quorum == 1 else f"{hold.missing} of {hold.quorum} confirmations missing"


def outcome(hold: Hold) -> str:
    """What became of it."""
    return f"{hold.state}: {hold.why}" if hold.why else hold.state


def latest(hold: Hold) -> int:
    """When an approval ends that is given in the last second, in POSIX seconds."""
    return 2 * hold.expires - hold.opened_at // 1_000_000


def seconds_text(seconds: int) -> str:
    """A number of seconds in words, in its two largest units: `4 min 57 s`."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (seconds, "s")]
    return " ".join([f"{n} {unit}" for n, unit in parts if n][:2]) or "0 s"


def times(uses: int) -> str:
    """How often something is allowed."""
    return "once" if uses == 1 else f"up to {uses:,} times"


def second(at: int) -> str:
    """A time in POSIX seconds, to the second."""
    return f"{text_of(at * 1_000_000)[:19]}Z"
