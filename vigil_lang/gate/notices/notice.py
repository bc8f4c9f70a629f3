"""What people are told of a hold: bounded, and without control characters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from vigil_lang.diagnostics.secrets import masked_value
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.store import Hold

Notice: TypeAlias = dict[str, Any]
"""What is told, as JSON: schema `vigil.notice/1`."""

LONGEST_TEXT = 200
"""Characters of any text in a notice."""

MOST = 20
"""Arguments and reasons in a notice."""


def clipped(text: object, longest: int = LONGEST_TEXT) -> str:
    """A text on one line that a terminal can show, cut at some length."""
    return cut(visible(text if isinstance(text, str) else json.dumps(masked_value(text), ensure_ascii=False)), longest)


def notice_of(event: str, hold: Hold, action: object, to: Sequence[str] = (), link: str | None = None) -> Notice:
    """What is told of a hold: `event` is `opened` or `escalated`, `action` what was asked for, None where it is not
    known any more, `to` the keys that are to confirm besides, and `link` its page."""
    opened = hold.opened
    given = action if isinstance(action, dict) else {}
    arguments = given.get("input")
    shown = list(masked_value(arguments).items())[:MOST] if isinstance(arguments, dict) else []
    where = link or f"vigil hold show {hold.id}"
    return {
        "schema": "vigil.notice/1",
        "event": event,
        "hold": hold.id,
        "run": clipped(opened["run"]),
        "agent": clipped(opened["agent"]),
        "tool": clipped(given.get("tool") or "not known"),
        "input": {clipped(name, 60): clipped(value) for name, value in shown},
        "reasons": [{"name": clipped(name), "message": clipped(message)} for name, message in _reasons(hold)[:MOST]],
        "confirm_by": hold.confirm_by,
        "missing": hold.missing,
        "expires": hold.expires,
        "to": list(to),
        "link": link,
        "text": f"{clipped(opened['agent'], 80)} asks for {clipped(given.get('tool') or 'something', 80)}: {where}",
    }


def _reasons(hold: Hold) -> list[tuple[str, str]]:
    return [
        (f"{each.get('layer') or each['kind']}.{each['name']}", each["message"])
        for each in hold.opened["reasons"]
        if each["asks"] == "hold" and not each.get("lifted")
    ]


def name_of(told: Notice) -> str:
    """The id of a notice, the same each time that it is told."""
    return f"{told['hold']}.{told['event']}"
