"""Rules across the layers of a gate: what changes nothing there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.lint.rule_layers import default_layer, findings_of_layers
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from vigil_lang.gate.decide import Layer
    from vigil_lang.semantics.gate_rules import GateRule

ORGANISATION = """
rule no_payments: when payment.transfer() then block
rule mail: when message.send() then hold
@delegable
rule calls: when net.upload() then hold
"""


def rules(layer: Layer, text: str) -> list[tuple[Layer, GateRule]]:
    return [(layer, rule) for rule in read_policy(Source(f"{layer}.vgl", text), stored=False).rules]


def found(personal: str) -> list[tuple[str, str]]:
    layers = [*rules("organisation", ORGANISATION), *rules("personal", personal)]
    return [(d.code, d.source.text[d.span.start : d.span.end]) for d in findings_of_layers(layers)]


@pytest.mark.parametrize(
    ("personal", "codes"),
    [
        ("rule r: when payment.transfer(has amount, amount < 9) then pass relaxes payments", ["VGL354"]),
        ("rule r: when payment.transfer() then pass relaxes payments", ["VGL354"]),
        ("rule r: when payment.transfer() or file.write() then pass relaxes payments", []),
        ("rule r: when file.write() then pass relaxes writes_outside", []),
        ("rule r: when payment.refund() then pass relaxes payments", []),
        ("rule r: when payment.transfer() then hold", ["VGL351"]),
        ("rule r: when payment.transfer() then hold record amount", ["VGL351"]),
        ("rule r: when message.send() then hold", ["VGL351"]),
        ("rule r: when message.send() then block", []),
        ('rule r: when message.send(recipient = "x") then hold', []),
        ('rule r: when message.send(has recipient, recipient = "x") then hold', ["VGL351"]),
        ("rule r: when net.upload() then hold", []),
        ("param p: number = 5\nrule r: when payment.transfer(amount > p) then hold", []),
    ],
)
def test_what_a_personal_rule_changes(personal: str, codes: list[str]) -> None:
    assert found(personal) == [(code, "r") for code in codes]


def test_the_organisation_may_say_what_the_default_layer_says() -> None:
    """Who relaxes the default rule does not relax hers."""
    default = [("default", rule) for rule in default_layer().rules]
    again = rules("organisation", "rule pushes: when action in {net.connect} then hold")
    assert findings_of_layers([*default, *again]) == []  # type: ignore[list-item]


def test_without_rules_there_is_nothing_to_say() -> None:
    assert findings_of_layers([]) == []
    assert findings_of_layers([("default", rule) for rule in default_layer().rules]) == []
