"""Rules of a gate held against each other, in one layer and across layers: those that change no decision."""

from __future__ import annotations

from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING, Final

from vigil_lang.analysis.condition_implication import Implications
from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.gate.decide.conditions import concerns
from vigil_lang.gate.decide.decision import WEIGHT
from vigil_lang.semantics import core
from vigil_lang.semantics.policy import load_policy
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.decide import Layer
    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.policy import Policy

_MOST: Final = 2_000
"""Pairs of rules that are compared."""


@cache
def default_layer() -> Policy:
    """The policy that ships with Vigil, with the values that its params have by themselves.

    Raises:
        InputError: it cannot be read.
    """
    return load_policy(resource("stdlib", "gate", "default.vgl"))


def findings_of_layers(rules: Sequence[tuple[Layer, GateRule]]) -> list[Diagnostic]:
    """What is wrong with the personal rules of a gate beside those of its other layers, as findings at the rules.

    VGL351: a rule asks for nothing that one of another layer, which nothing lowers, does not ask for already. VGL354: a
    rule lowers one of the default layer, for calls that a rule of the organisation stops all the same.
    """
    known = Implications()
    found: list[Diagnostic] = []
    personal = [rule for layer, rule in rules if layer == "personal"]
    relaxed = {name for rule in personal for name in rule.relaxes}
    others = [(layer, rule) for layer, rule in rules if layer != "personal" and not _may_go(layer, rule, relaxed)]
    for rule, (layer, other) in islice(product(personal, others), _MOST):
        if found and found[-1].source == rule.source and found[-1].span == rule.span:
            continue  # one reason is enough
        if adds_nothing(rule, other, known, across=True):
            found.append(idle(rule, other, f"the {layer} layer's `{other.name}`"))
        elif layer == "organisation" and _is_stopped(rule, other, known):
            found.append(_void(rule, other))
    return found


def _may_go(layer: Layer, rule: GateRule, relaxed: set[str]) -> bool:
    """Whether a rule of another layer may itself be lowered."""
    return layer == "default" and rule.name in relaxed


def adds_nothing(rule: GateRule, other: GateRule, known: Implications, *, across: bool = False) -> bool:
    """Whether it is certain that every call which a rule holds or blocks is stopped as much by another one.

    Rules that rest on params are compared only as they are written: with other values they may say something. `across`
    layers what the other rule's `record` and `@delegable` say is another's business.
    """
    if rule.then == "pass" or WEIGHT[other.then] < WEIGHT[rule.then] or not set(rule.relaxes) <= set(other.relaxes):
        return False
    if not across and not set(rule.record) <= set(other.record):
        return False
    if other.delegable and other.then == rule.then and not rule.delegable:
        return False
    if (rule.params or other.params) and rule.condition != other.condition:
        return False
    # A test of what a call does not tell blocks it, whatever the other rule asks for.
    if other.then != "block" and not _untold(rule.condition) <= _untold(other.condition):
        return False
    return rule.condition == other.condition or known.implies(rule.condition, other.condition) is True


def idle(rule: GateRule, other: GateRule, by: str) -> Diagnostic:
    """VGL351, at a rule that another one makes idle."""
    message = f"`{rule.name}` changes no decision: {by} {other.then}s every call that it {rule.then}s"
    note = Note("asked for here", other.source, other.span)
    help_text = "leave it out, or say what it adds"
    return Diagnostic.of("VGL351", message, rule.source, rule.span, help=help_text, notes=(note,))


def never_meets(rule: GateRule, relaxed: GateRule, known: Implications) -> bool:
    """Whether it is certain that a rule relaxes nothing of another one.

    It has to cover each thing that a call is, so that one of another kind than what it relaxes never does.
    """
    mine, theirs = concerns(rule.condition), concerns(relaxed.condition)
    words = vocabulary().kinds
    if mine is not None and theirs is not None and theirs <= words.keys():
        closed = [{name, *kind.implies} for name, kind in words.items()]
        if mine <= words.keys() and not any(mine & names and theirs & names for names in closed):
            return True
    return not relaxed.params and not rule.params and known.impossible((rule.condition, relaxed.condition)) is True


def _is_stopped(rule: GateRule, other: GateRule, known: Implications) -> bool:
    """Whether every call that a personal rule lets pass is stopped by one of the organisation."""
    if (
        not rule.relaxes
        or other.then == "pass"
        or ((rule.params or other.params) and rule.condition != other.condition)
    ):
        return False
    return rule.condition == other.condition or known.implies(rule.condition, other.condition) is True


def _void(rule: GateRule, other: GateRule) -> Diagnostic:
    message = (
        f"`{rule.name}` lowers nothing: the organisation's `{other.name}` {other.then}s every call that it is about"
    )
    note = Note("asked for here", other.source, other.span)
    help_text = "nothing lowers what the organisation asks for"
    return Diagnostic.of("VGL354", message, rule.source, rule.span, help=help_text, notes=(note,))


def _untold(condition: core.Condition) -> set[str]:
    """The fields whose absence may leave a condition unknown."""
    fields = {t.field.name for t in core.tests(condition) if not isinstance(t, _ALWAYS_TOLD)}
    return fields - _asked_for(condition)


_ALWAYS_TOLD = (core.ActionIn, core.ActionMatches, core.StatusIs, core.Has)


def _asked_for(condition: core.Condition) -> set[str]:
    """The fields that a condition asks for by `has` beside their tests."""
    match condition:
        case core.Has(field):
            return {field.name}
        case core.AndC(items):
            return set[str]().union(*map(_asked_for, items))
        case _:
            return set()
