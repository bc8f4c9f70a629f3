"""Rules of the Execution Gate as a policy has them: what they lower to, and that they leave the statements alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.strategies import policies, runs
from vigil_lang.diagnostics import Source
from vigil_lang.gate.decide.conditions import Facts, compiled, every, some
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.context_fields import VIOLATES
from vigil_lang.semantics.policy import Policy, read_policy

if TYPE_CHECKING:
    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.trace import Event

several = settings(max_examples=100, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])


def policy(text: str, **params: object) -> Policy:
    return read_policy(Source("policy.vgl", text), params)


def rule(text: str) -> GateRule:
    read = policy(text)
    assert not read.errors
    return read.rules[-1]


def test_a_rule_has_all_that_was_written() -> None:
    # spec R10.1-1 R10.1-2 R10.1-3
    found = rule("""
param limit: number = 500

/// Why it is there.
@message("It is large.")
@source("rules.md", "Large payments are confirmed.")
@delegable
rule large: when pay(amount > limit) then hold record amount, "to whom", context.tier relaxes default.own, writes
""")
    assert (found.name, found.then, found.delegable, found.params) == ("large", "hold", True, frozenset({"limit"}))
    assert found.record == ("amount", "to whom", "context.tier")
    assert found.relaxes == ("own", "writes")
    about = found.metadata
    assert (about.doc, about.message) == ("Why it is there.", "It is large.")
    assert about.cites == (("rules.md", "Large payments are confirmed."),)
    assert found.source.text[found.span.start : found.span.end] == "large"


def test_params_are_given_from_outside() -> None:
    text = "param limit: number = 500\n\nrule large: when pay(amount > limit) then hold"
    (found,) = policy(text, limit=7).rules
    assert found.condition == rule("rule large: when pay(amount > 7) then hold").condition


def test_what_a_call_would_violate_is_a_field_of_the_context() -> None:
    # spec R10.2-3
    found = rule("statement S: abs(write())\n\nrule r: when violates S or violates default.T then block")
    assert found.condition == core.OrC(
        (
            core.In(core.Reads(VIOLATES), frozenset({"S"})),
            core.In(core.Reads(VIOLATES), frozenset({"default.T"})),
        )
    )


def test_a_statement_may_be_delegable() -> None:
    # spec R10.1-3
    read = policy("@on_violation(hold)\n@delegable\nstatement S: abs(write())")
    assert not read.diagnostics
    assert read.statements[0].metadata.delegable


def test_what_cannot_be_relaxed_is_not() -> None:
    # spec R10.1-2
    assert rule("rule r: when write() then pass relaxes organisation.own, personal.own, writes").relaxes == ("writes",)


def test_a_rule_without_a_meaning_is_left_out() -> None:
    read = policy("rule r: when write(x = y) then hold\n\nrule s: when write() then hold")
    assert [rule.name for rule in read.rules] == ["s"]
    assert [d.code for d in read.diagnostics] == ["VGL342"]


def test_what_rules_use_is_used() -> None:
    text = """
use std.files: changing

let PATHS = {"*.env"}

param limit: number = 3

pattern protected = changing and path ~ PATHS

rule r: when protected and size > limit then hold
"""
    assert policy(text).diagnostics == ()
    unused = policy(text.replace("when protected", "when write()")).diagnostics
    assert [(d.code, d.message) for d in unused] == [("VGL205", "pattern `protected` is not used")]


def test_patterns_of_other_modules_are_used_in_rules() -> None:
    found = rule('use std.files\n\nrule r: when changing and path ~ "*.env" then block')
    assert isinstance(found.condition, core.AndC)


@pytest.mark.parametrize("word", ["rule", "when", "then", "pass", "hold", "block", "record", "relaxes", "violates"])
def test_the_words_of_rules_are_names_elsewhere(word: str) -> None:
    # spec R3.3-1 R3.3-2
    conditions = [f'file.write({word} = "x")', f"{word}()", f'{word} ~ "x*"', f"has {word}", f"action = {word}"]
    conditions += [f"{word}({word} in {{{word}}})", f"{word}:lower = 3", f"not {word} in {{a}}"]
    for condition in conditions:
        read = policy(f"statement S: abs({condition})\n\nrule r: when {condition} then hold record {word}")
        assert read.diagnostics == (), condition
        assert read.rules[0].condition == _of_abs(read)
    declared = f"let {word} = 3\n\nstatement {word}: abs(a(n = {word}))"
    assert policy(f"{declared}\n\nrule r: when violates {word} then pass relaxes {word}").diagnostics == ()


def _of_abs(read: Policy) -> core.Condition:
    """The condition of a policy's one statement, which is `abs`."""
    (held,) = core.conditions(read.statements[0].requirement.theta)
    return held.condition


@several
@given(policies.conditions(()))
def test_a_condition_means_what_it_means_in_abs(condition: str) -> None:
    """R10.3-1"""
    text = policies.with_declarations(f"statement S: abs({condition})\n\nrule r: when {condition} then hold")
    read = policy(text)
    assume(read.statements)
    if any(map(_of_outcome, core.tests(_of_abs(read)))):
        assert not read.rules
        assert "VGL341" in {d.code for d in read.errors}
    else:
        assert read.rules[0].condition == _of_abs(read)


def _of_outcome(test: core.Test) -> bool:
    if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs):
        return isinstance(test, core.StatusIs)
    return test.field.output


_EVENTS = runs.events().map(lambda line: runs.trace_of([{**line, "status": "unknown"}]).events[0])


@several
@given(policies.conditions(()), _EVENTS)
def test_what_is_known_is_what_the_language_says(condition: str, event: Event) -> None:
    """R10.3-1, R10.3-2, R10.3-3"""
    text = policies.with_declarations(f"rule r: when {condition} then hold")
    read = policy(text)
    assume(read.rules)
    facts = Facts(event.names(), event.names(), event.args, {})
    answer = compiled(read.rules[0].condition, some)(facts)
    if answer is not None:
        assert answer == denotation.meets(read.rules[0].condition, event, {})
    if answer is not True:
        assert not compiled(read.rules[0].condition, every)(facts)


@several
@given(policies.policies(), st.lists(policies.conditions(()), min_size=1, max_size=3))
def test_rules_change_no_statement(text: str, conditions: list[str]) -> None:
    """R10.1-1"""
    before = policy(text)
    rules = "\n\n".join(f"rule r{n}: when {condition} then hold" for n, condition in enumerate(conditions))
    after = policy(policies.with_declarations(f"{text}\n\n{rules}"))
    assert [s.requirement for s in after.statements] == [s.requirement for s in before.statements]


@pytest.mark.parametrize(
    ("condition", "args", "matches", "allowed"),
    [
        ('path ~ "~/drafts/*"', {"path": ("~/drafts/a",)}, True, True),
        ('path ~ "~/drafts/*"', {"path": ("~/drafts/a", "/etc/hosts")}, True, False),
        ('path ~ "~/drafts/*"', {}, None, False),
        ('not path ~ "/etc/*"', {"path": ("~/drafts/a",)}, True, True),
        ('not path ~ "/etc/*"', {"path": ("~/drafts/a", "/etc/hosts")}, False, False),
        ('not path ~ "/etc/*"', {}, None, False),
        ("size < 3", {"size": ("2", "many")}, True, False),
        ("size < 3", {"size": ("many",)}, None, False),
        ("size < 3", {"size": ()}, None, False),
        ("size in {2}", {"size": ()}, False, False),
        ("has path", {}, False, False),
        ("context.tier >= 2", {}, None, False),
        ("write() or size < 3", {}, True, True),
        ("read() and size < 3", {}, False, False),
        ('to with (role = "guest")', {"to": ('{"role": "guest"}',)}, True, True),
        ('to with (role = "guest")', {"to": ('{"name": "ann"}',)}, None, False),
    ],
)
def test_what_matches_and_what_allows(
    condition: str, args: dict[str, tuple[str, ...]], matches: bool | None, allowed: bool
) -> None:
    """R10.3-2, R10.3-3"""
    found, facts = rule(f"rule r: when {condition} then hold").condition, Facts(("write",), ("write",), args, {})
    assert compiled(found, some)(facts) is matches
    assert (compiled(found, every)(facts) is True) is allowed
