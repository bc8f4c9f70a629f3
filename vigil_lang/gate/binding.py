"""What stands for an action: the binding of this very one, and the likeness of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.gate.canonical import short_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.request import Request
    from vigil_lang.trace import Event


def binding(request: Request, policy_digest: str, authority_digest: str, tier: int) -> str:
    """The digest of an action under what is in force: an approval of it is good for nothing else."""
    called = request.input is not None
    given = request.input if called else {"events": request.action["events"]}
    context = {
        "run": request.run,
        "agent": request.agent,
        "policy_digest": policy_digest,
        "authority_digest": authority_digest,
        "tier": tier,
    }
    return short_digest(
        {
            "subject": _subject(request),
            "resource": {"type": "tool" if called else "events", "id": request.tool},
            "action": {"name": request.tool, "properties": given},
            "context": context,
        }
    )


def likeness(request: Request, events: Sequence[Event], policy_digest: str, authority_digest: str) -> str:
    """The digest of the kind of call that an action is: who asks, for which tool, and what that does."""
    return short_digest(
        {
            "subject": _subject(request),
            "tool": request.tool,
            "does": sorted({name for event in events for name in event.names()}),
            "policy_digest": policy_digest,
            "authority_digest": authority_digest,
        }
    )


def _subject(request: Request) -> dict[str, object]:
    subject: dict[str, object] = {"type": "agent", "id": request.agent}
    return subject if request.user is None else subject | {"properties": {"user": request.user}}
