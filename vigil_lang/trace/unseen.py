"""Whether the effects of a call are wholly known, or the call is marked as having others (spec 5.4)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vigil_lang.base.structs import Frozen
from vigil_lang.trace.event import MESSAGES
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.trace.event import Event, Trace

EFFECTS = "effects"
"""The mark of an event some of whose effects are not known: code without its text, a program nobody described."""

COMMAND = "command"
"""The mark of a call with an argument that looks like a command, code or SQL, and that nothing reads."""

STEPS = "steps"
"""The mark of a call with a step that is not wholly seen, or with more steps than are told."""

MASKED = "masked"
"""The mark of an event in a trace that was written to be looked at: secrets in it are masked."""

_TOOLS_TOLD = 3
_LONGEST_NAME = 100


def is_wholly_seen(event: Event) -> bool:
    """Whether nothing that this event does, and nothing that it does it to, is left open.

    An open `argument`, `text` or `stdin` leaves no effect open (code from there is `code`); a path, an address or a
    program does.
    """
    return not leaves_open(event.args.get("unresolved", ()))


def calls_seen(trace: Trace) -> CallsSeen:
    """How many calls a run has, and which of them are not wholly seen.

    A call is marked where one of its steps is; steps count as well, for a recording may have been abstracted earlier.
    """
    calls: dict[str, str] = {}
    unseen: dict[str, str] = {}
    unread: dict[str, str] = {}
    for event in trace.events:
        if event.action in MESSAGES:
            continue
        first = calls.setdefault(event.call, event.id)
        if not is_wholly_seen(event):
            unseen.setdefault(event.call, first)
        if is_unread(event):
            unread.setdefault(event.call, event.action)
    return CallsSeen(len(calls), tuple(unseen.values()), tuple(unread.values()))


def is_unread(event: Event) -> bool:
    """Whether this is a call with an argument that looks like a command, code or SQL, and that nothing reads."""
    return "process.run" not in event.kinds and COMMAND in event.args.get("unresolved", ())


class CallsSeen(Frozen, frozen=True):
    """The calls of a run; `unseen` has the ids of the events of those that are not wholly seen, in run order.

    `unread` has the tool of each call that carries what looks like a command, code or SQL, and is not read.
    """

    calls: int
    unseen: tuple[str, ...]
    unread: tuple[str, ...] = ()

    def told(self) -> str:
        """`41 of 120 calls are not wholly seen`, empty where all are."""
        if not self.unseen:
            return ""
        verb = "is" if len(self.unseen) == 1 else "are"
        return f"{len(self.unseen)} of {self.calls} call{'s' * (self.calls != 1)} {verb} not wholly seen"

    def unread_told(self) -> str:
        """``1 call of `run_shell` carries what looks like a command and is not read``, empty where none does."""
        if not self.unread:
            return ""
        tools = list(dict.fromkeys(self.unread))
        shown = ", ".join(f"`{tool[:_LONGEST_NAME]}`" for tool in tools[:_TOOLS_TOLD])
        more = f" and {len(tools) - _TOOLS_TOLD} more" if tools[_TOOLS_TOLD:] else ""
        several = len(self.unread) != 1
        does = "carry what looks like commands and are" if several else "carries what looks like a command and is"
        return f"{len(self.unread)} call{'s' * several} of {shown}{more} {does} not read"


def leaves_open(unresolved: tuple[str, ...]) -> bool:
    """Whether, of a step with these roles unresolved, some effect is unknown."""
    return any(role in _deciding() for role in unresolved)


@cache
def _deciding() -> frozenset[str]:
    """The marks, and the roles that say what is done or what it is done to."""
    roles = vocabulary().roles
    located = {name for name, role in roles.items() if role.type in ("path", "url") and name != "from_script"}
    marks = {EFFECTS, STEPS, COMMAND, MASKED}
    return frozenset(marks | {"program", "subcommand", "flag", "code", "module", "host"} | located)
