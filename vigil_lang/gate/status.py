"""The state of a gate in a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate


def status_of(gate: Gate) -> dict[str, Any]:
    """What a gate goes by, which holds wait, and which runs are live, as JSON values (`vigil.status/1`)."""
    with gate.holds.transaction():
        at = gate.now() // 1_000_000
        revoked = gate.revoked()
        return {
            "schema": "vigil.status/1",
            "state": str(gate.folder.path),
            "authority": gate.settings.authority.mode,
            "policy_digest": gate.policies.digest,
            "layers": {
                layer: [
                    {"path": policy.path, "rules": len(policy.rules), "statements": len(policy.statements)}
                    for of, policy in gate.policies.policies
                    if of == layer
                ]
                for layer in ("organisation", "default", "personal")
            },
            "log": {"entries": gate.log.size, "signed_to": gate.log.signed_to},
            "revocations": {"seq": revoked.seq, "revoked": revoked.count, "stale": revoked.stale(at) is not None},
            "holds": [
                {"id": hold.id, "run": hold.opened["run"], "agent": hold.opened["agent"], "expires": hold.expires}
                for hold in gate.store.holds("pending")
            ],
            "runs": [
                {
                    "run": run.name,
                    "agent": run.agent,
                    "host": run.host,
                    "seen": run.seen // 1_000_000,
                    "policy_digest": run.policy,
                    "halted": run.halted,
                }
                for run in gate.store.runs()
            ],
        }
