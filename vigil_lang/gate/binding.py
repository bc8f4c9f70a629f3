"""What stands for an action: the binding of this very one, and the likeness of its kind."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from vigil_lang.gate.canonical import canonical, short_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.request import Request
    from vigil_lang.trace import Event


class Asked(NamedTuple):
    """The action of a request, and what is hashed of it in canonical form: all of it, with its digest, and what its
    tool is given."""

    action: dict[str, object]
    written: msgspec.Raw
    digest: str
    given: msgspec.Raw


def asked(request: Request) -> Asked:
    """The action of a request, made canonical once.

    Raises:
        NotCanonical: it has no canonical form within what is recorded of a decision.
    """
    action = request.action
    written = canonical({"action": action})[len(b'{"action":') : -len(b"}")]
    end = -len(b',"tool":' + canonical(request.tool) + b"}")
    if request.kinds:
        end -= len(b',"kinds":' + canonical(request.kinds))
    given = written[:end] + b"}" if request.input is None else written[len(b'{"input":') : end]
    return Asked(action, msgspec.Raw(written), sha256(written).hexdigest(), msgspec.Raw(given))


def binding(request: Request, given: msgspec.Raw, policy_digest: str, authority_digest: str, tier: int) -> str:
    """The digest of an action under what is in force: an approval of it is good for nothing else."""
    called = request.input is not None
    resource: dict[str, object] = {"type": "tool" if called else "events", "id": request.tool}
    if request.directory is not None:  # the same arguments do something else there
        resource["properties"] = {"directory": request.directory}
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
            "resource": resource,
            "action": {"name": request.kinds[0] if request.kinds else request.tool, "properties": given},
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
