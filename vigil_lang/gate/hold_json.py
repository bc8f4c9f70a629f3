"""A hold as programs read it: `vigil.hold/1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.gate.log.log import text_of

if TYPE_CHECKING:
    from vigil_lang.gate.store import Hold


def hold_json(hold: Hold, action: object) -> dict[str, Any]:
    """The published form of a hold; `action` is what was asked for, None where the plain values were deleted."""
    opened = hold.opened
    return {
        "id": hold.id,
        "state": hold.state,
        "binding": opened["binding"],
        "likeness": opened["likeness"],
        "nonce": opened["hold"]["nonce"],
        "expires": hold.expires,
        "expires_at": text_of(hold.expires * 1_000_000),
        "opened_at": opened["at"],
        "seq": hold.seq,
        "run": opened["run"],
        "agent": opened["agent"],
        "user": opened.get("user"),
        "action": action,
        "reasons": opened["reasons"],
        "tier": opened.get("tier", 0),
        "policy_digest": opened.get("policy_digest"),
        "authority_digest": opened.get("authority_digest"),
        "confirm_by": hold.confirm_by,
        "quorum": hold.quorum,
        "missing": hold.missing,
        "confirmations": [
            {name: entry[name] for name in ("by", "who", "signature", "at", "uses", "release", "expires")}
            for entry in hold.confirmations
        ],
        "joined": hold.joined,
        "escalated": hold.escalated,
        "closed": hold.closed,
        "why": hold.why,
        "uses": hold.uses,
        "used": hold.used,
        "until": hold.until,
        "void": hold.void,
    }
