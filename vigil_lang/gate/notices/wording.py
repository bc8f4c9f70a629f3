"""A notice in words, which the templates share. What an agent wrote in it makes no link that can be followed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from vigil_lang.gate.notices.notice import clipped

if TYPE_CHECKING:
    from vigil_lang.gate.notices.notice import Notice


def inert(text: str) -> str:
    """A text whose addresses are none that a program makes a link of: `https[:]//evil.example`."""
    return text.replace("://", "[:]//")


def headline(told: Notice) -> str:
    """One line: who asks for what."""
    what = "Still waits" if told["event"] == "escalated" else "Waits"
    return inert(f"{what} to be confirmed: {clipped(told['tool'], 60)} of {clipped(told['agent'], 40)}")


def details(told: Notice) -> list[str]:
    """The lines below: the action, the reasons, who may confirm, until when."""
    arguments = ", ".join(f"{name}={value}" for name, value in told["input"].items())
    who = "an approver of the organisation" if told["confirm_by"] == "organisation" else "an approver"
    count = "" if told["missing"] == 1 else f" ({told['missing']} are missing)"
    lines = [
        f"Action: {clipped(told['tool'])}({clipped(arguments, 600)})",
        *(f"Reason: {each['name']}: {each['message']}" for each in told["reasons"]),
        f"Run: {told['run']}",
        f"Confirms: {who}{count}, before {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(told['expires']))} UTC",
    ]
    return [inert(each) for each in lines]


def place(told: Notice) -> str:
    """Where it is confirmed or denied: never by what this is sent with."""
    return str(told["link"] or f"vigil hold show {told['hold']}")
