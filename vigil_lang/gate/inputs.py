"""What a decision rested on, as it is kept beside the log: from it the decision is derived again."""

from __future__ import annotations

from typing import Any

import msgspec

from vigil_lang.gate.decide import Action, Approval, Authority, Decision, Table, Tier, decide


class Inputs(msgspec.Struct, frozen=True):
    """What the kernel was given, but for the rules. `request` is the action as it was asked for."""

    request: dict[str, Any]
    action: Action
    authority: Authority
    tier: Tier
    approvals: tuple[Approval, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON values, sets sorted: what is hashed and stored."""
        found: dict[str, Any] = msgspec.to_builtins(self, order="deterministic")
        return found

    def decision(self, rules: Table) -> Decision:
        """What the kernel says of it."""
        return decide(self.action, self.authority, self.tier, rules, self.approvals)


def read_inputs(plain: object) -> Inputs:
    """Inputs from their JSON values.

    Raises:
        ValueError: they are none.
    """
    return msgspec.convert(plain, Inputs)


def plain_decision(decision: Decision) -> dict[str, Any]:
    """A decision as the members of its entry in the log: `mode`, `reasons`, `approvals`, `record`."""
    found: dict[str, Any] = msgspec.to_builtins(decision)
    del found["is"]
    for reason in found["reasons"]:
        del reason["is"]
    return found | {"record": {name: list(values) for name, values in decision.record}}
