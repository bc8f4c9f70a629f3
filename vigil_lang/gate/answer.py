"""What the gate answers: a decision with its place in the log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import field

from vigil_lang.base.structs import Frozen
from vigil_lang.gate.decide import Decision, Reason
from vigil_lang.gate.log.derivation import reason_json
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.enforce.run import Broken
    from vigil_lang.gate.store import Hold
    from vigil_lang.trace import Event


class Answer(Frozen, frozen=True):
    """A decision with its place in the log: `seq` is None where nothing could be written, and then it blocks.

    `hold` is the hold that was opened or joined. `broken` has the statements that the action would violate, `remedies`
    by their names what would satisfy them; `events` is what the action was taken to be. An action that is only
    `observed` is made whatever the answer. `link` is where people decide about the hold, where a service has a page.
    """

    decision: Decision
    seq: int | None
    action_digest: str = ""
    policy_digest: str = ""
    authority_digest: str = ""
    tier: int = 0
    hold: Hold | None = None
    broken: tuple[Broken, ...] = ()
    events: tuple[Event, ...] = ()
    microseconds: int = 0
    observed: bool = False
    remedies: Mapping[str, str] = field(default_factory=dict)
    link: str | None = None

    @property
    def is_fault(self) -> bool:
        """Whether the gate could not judge, and blocks for that."""
        return self.seq is None

    def to_json(self) -> dict[str, Any]:
        """The published form, `vigil.decision/1`."""
        found: dict[str, Any] = {"schema": "vigil.decision/1"} | decision_json(self.decision)
        found |= {
            "action_digest": self.action_digest,
            "policy_digest": self.policy_digest,
            "authority_digest": self.authority_digest,
            "tier": self.tier,
            "microseconds": self.microseconds,
        }
        if self.hold is not None:
            expires = datetime.fromtimestamp(self.hold.expires, UTC).isoformat().replace("+00:00", "Z")
            found["hold"] = {"id": self.hold.id, "binding": self.hold.opened["binding"], "expires": expires}
        if self.observed:
            found["observed"] = True
        if self.seq is not None:
            found["log"] = {"seq": self.seq}
        return found


def faulty(error: Exception) -> Answer:
    """The answer where nothing could be judged: it blocks, and says why."""
    known = isinstance(error, StateError | OSError | ValueError)
    why = str(error) if known else f"the gate failed: {type(error).__name__}: {error}"
    return Answer(Decision("block", (Reason("fault", "block", "state", why),)), None)


def answer_of(seq: int, entry: Mapping[str, Any], events: tuple[Event, ...]) -> Answer:
    """The answer that was given by an entry of the log, for a call that was made."""
    record = tuple((name, tuple(values)) for name, values in entry["record"].items())
    reasons = tuple(msgspec.convert(each, Reason) for each in entry["reasons"])
    return Answer(
        Decision(entry["mode"], reasons, tuple(entry["approvals"]), record),
        seq,
        entry["action_digest"],
        entry["policy_digest"],
        entry["authority_digest"],
        entry["tier"],
        events=events,
        observed=entry.get("observed", False),
    )


def decision_json(decision: Decision) -> dict[str, Any]:
    """A decision as its entry and its answer have it: `mode`, `reasons`, `approvals`, `record`."""
    return {
        "mode": decision.mode,
        "reasons": [reason_json(each) for each in decision.reasons],
        "approvals": list(decision.approvals),
        "record": {name: list(values) for name, values in decision.record},
    }
