"""The kernel of the gate: a total, deterministic function from what is known of an action to pass, hold or block.

It reads no clock, file or network, draws nothing at random and raises nothing (spec.md, section 10.4).
"""

from vigil_lang.gate.decide.decision import decide
from vigil_lang.gate.decide.model import Action, Approval, Authority, Broken, Decision, Layer, Mode, Reason, Rule, Tier
from vigil_lang.gate.decide.table import Table

__all__ = [
    "Action", "Approval", "Authority", "Broken", "Decision", "Layer",
    "Mode", "Reason", "Rule", "Table", "Tier", "decide",
]  # fmt: skip
