"""Whether the effects of a call are wholly known, or the call is marked as having others (spec 5.4)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.trace.model import Event

EFFECTS = "effects"
"""The mark of an event some of whose effects are not known: code without its text, a program nobody described."""

STEPS = "steps"
"""The mark of a call with a step that is not wholly seen, or with more steps than are told."""


def is_wholly_seen(event: Event) -> bool:
    """Whether nothing that this event does, and nothing that it does it to, is left open.

    An open `argument`, `text` or `stdin` leaves no effect open (code from there is `code`); a path, an address or a
    program does.
    """
    return not leaves_open(event.args.get("unresolved", ()))


def leaves_open(unresolved: tuple[str, ...]) -> bool:
    """Whether, of a step with these roles unresolved, some effect is unknown."""
    return any(role in _deciding() for role in unresolved)


@cache
def _deciding() -> frozenset[str]:
    """The marks, and the roles that say what is done or what it is done to."""
    roles = vocabulary().roles
    located = {name for name, role in roles.items() if role.type in ("path", "url")}
    return frozenset({EFFECTS, STEPS, "program", "subcommand", "flag", "code", "module", "host", "command"} | located)
