"""`vigil gate import`: what of the other notation a policy says, and what is refused where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.cli.gate_import import import_rules
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.gate.importing import KINDS, ROLES, import_rules_text
from vigil_lang.lint.check import check_policy
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax.format import format_text
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = """\
- when: action.type == "payment.transfer"
  and: action.params.amount > user.config.payment_confirmation_threshold
  then: hold
  record: [amount, currency, destination, agent_id]
---
when: action.type == "file.modify"
and: action.target.path matches user.config.protected_paths
or: detection.tier >= 2
then: hold
record: [path, region, agent_id, tier]
"""

POLICY = """\
/// Rules of a gate.
policy rules

/// `user.config.payment_confirmation_threshold`. Until a value is given, it is the most careful one.
param payment_confirmation_threshold: number = 0

/// `user.config.protected_paths`.
param protected_paths: set = {"*/budget/*"}

rule payment_transfer:
    when payment.transfer(amount > payment_confirmation_threshold)
    then hold
    record amount, currency, recipient, context.agent

rule file_modify:
    when file.write(path ~ protected_paths or context.tier >= 2)
    then hold
    record path, region, context.agent, context.tier
"""


def imported(text: str, **config: object) -> str:
    return import_rules_text(Source("rules.yaml", text), config)


def rule(when: str, then: str = "hold", **more: str) -> str:
    return "\n".join([f"when: {when}", f"then: {then}", *(f"{name}: {value}" for name, value in more.items())])


def condition(text: str) -> str:
    """What a rule asks, on one line."""
    made = imported(text)
    return " ".join(made[made.index("when ") + 5 : made.index("then ")].split())


def test_the_examples_are_said_formatted_and_free_of_findings() -> None:
    text = imported(EXAMPLES, protected_paths=["*/budget/*"])
    assert text == POLICY
    source = Source("<stdin>", text)
    assert format_text(source) == text
    policy = read_policy(source)
    assert [d.message for d in (*policy.diagnostics, *check_policy(policy))] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (rule('action.type == "shell.run"'), "action in {shell.run}"),
        (rule('action.type in ["file.modify", "file.remove"]'), "action in {file.write, file.delete}"),
        (rule('action.type != "file.read"'), "not action in {file.read}"),
        (rule('action.tool == "x" and user.role == "intern"'), 'action in {"x"} and context.user.role = "intern"'),
        (rule('action.tool matches "crm_*"', "pass"), 'action ~ "crm_*"'),
        (rule("not (time.hour < 8 or tier in [1])"), "not (context.hour < 8 or context.tier in {1})"),
        (
            rule('action.type == "db.query"', **{"and": "[time.hour < 8, run.id != 'r']", "or": "[tier > 1]"}),
            'db.query(context.hour < 8 and context.run != "r" or context.tier > 1)',
        ),
        (rule('action.type == "net.request" and action.params.output contains "x"'),
         'action in {net.request} and "output" contains "x"'),
        (rule("action.type == 'file.read'", **{"and": "action.params.n >= 5.50 && !(action.params.to == 'a')"}),
         'file.read(n >= 5.50 and not recipient = "a")'),
    ],
)  # fmt: skip
def test_a_condition_is_said(given: str, said: str) -> None:
    assert condition(given) == said


def test_or_is_another_way_for_and_to_be_met() -> None:
    """Whatever the tier, a rule about files says nothing of a payment."""
    text = rule('action.type == "file.modify"', **{"and": 'action.target.path matches "*.x"', "or": "tier >= 2"})
    assert condition(text) == 'file.write(path ~ "*.x" or context.tier >= 2)'


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "1:1", "no rules"),
        ("x", "1:1", "`when` and `then`"),
        ("[", "1:2", "not YAML"),
        ("\0", "1:1", "not YAML"),
        ("when: &a x", "1:7", "anchors"),
        ("when: !!python/name:os.system x", "1:7", "tags"),
        ("[" * 100_000, "1:9", "deeper"),
        ("x" * 200_001, "1:1", "longer"),
        ("when: x", "1:1", "no `then`"),
        (rule("x", "hold", unless="y"), "3:1", "no `unless`"),
        ("when: x\nthen: hold\nwhen: y", "3:1", "twice"),
        (rule('action.type == "file.read"', "maybe"), "2:7", "`pass`, `hold` or `block`"),
        (rule('action.type == "file.raed"'), "1:22", "no type"),
        (rule('action.type > "file.read"'), "1:19", "compared"),
        (rule('action.type == "email.send"', "pass"), "1:22", "further calls"),
        (rule('not action.type == "email.send"'), "1:26", "further calls"),
        (rule('action.typ == "file.read"'), "1:7", "nothing that a rule can ask"),
        (rule("action.params.amount > 5"), "1:7", "every call"),
        (rule("detection.tier >= two"), "1:25", "no value"),
        (rule("detection.tier >= 'two'"), "1:25", "number"),
        (rule("detection.tier => 2"), "1:22", "belongs to no condition"),
        (rule("detection.tier >= 2 2"), "1:27", "not expected"),
        (rule("(detection.tier >= 2"), "1:27", "`)` is missing"),
        (rule("("*40), "1:37", "nested"),
        (rule("user.name == user.config.name"), "1:20", "needs a value"),
        (rule("time.hour > user.config.x or time.hour < user.config.x"), "1:48", "two ways"),
        (rule('action.tool matches user.config.x or user.role == user.config.x'), "1:57", "a set elsewhere"),
        (rule("detection.tier >= 2", **{"or": "time.hour < 8"}), "3:5", "no `and`"),
        (rule("detection.tier >= 2", record="[a b]"), "3:10", "recorded"),
        (rule("detection.tier >= 2", record="[]"), "3:9", "empty"),
        (rule("detection.tier >= 2", name="a.b"), "3:7", "name"),
        (rule("detection.tier >= 2", name="a") + "\n---\n" + rule("tier > 2", name="a"), "7:7", "another rule"),
        (rule("detection.tier >= 2", description='"\\e[31m"'), "3:14", "not printed"),
        (rule("time.hour > 99"), "1:1", "gives no policy"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused_where_it_stands(text: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        imported(text)
    (finding,) = caught.value.diagnostics
    assert finding.code == "VGL617"
    assert words in finding.message
    assert ":".join(map(str, finding.source.position(finding.span.start))) == place


def test_without_a_value_a_rule_is_as_careful_as_it_can_be() -> None:
    text = 'when: action.type == "file.read"\nand: action.target.path matches user.config.own\nthen: '
    assert 'own: set = {"*"}' in imported(text + "block")
    assert "own: set = {}" in imported(text + "pass")
    assert 'own: set = {"a", "b"}' in imported(text + "pass", own="a, b")


def test_what_it_is_called_by_is_in_the_vocabulary() -> None:
    words = vocabulary()
    assert {kind for kind, _ in KINDS.values()} <= set(words.kinds)
    assert set(ROLES.values()) <= set(words.roles)


WORDS = st.sampled_from(
    ["action.type", "==", '"file.read"', "action.params.a", ">", "2", "and", "or", "not", "(", ")", "detection.tier",
     "user.config.x", "matches", "in", "[", "]", "'y'", ",", "contains", "user.role", "true", "<=", "`", "é"]
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.lists(WORDS, max_size=14), st.sampled_from(["pass", "hold", "block"]))
def test_whatever_is_written_gives_a_policy_or_a_finding(words: list[str], then: str) -> None:
    source = Source(
        "r.yaml", f"- {{when: {chr(39)}{' '.join(words).replace(chr(39), chr(39) * 2)}{chr(39)}, then: {then}}}"
    )
    try:
        text = import_rules_text(source, {"x": "5"})
    except InputError as error:
        assert_refused(error)
    else:
        policy = read_policy(Source("<stdin>", text))
        assert not policy.errors
        assert format_text(Source("r.vgl", text)) == text


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=200))
def test_any_text_is_a_policy_or_a_finding(text: str) -> None:
    try:
        import_rules_text(Source("r.yaml", text))
    except InputError as error:
        assert_refused(error)


def assert_refused(error: InputError) -> None:
    assert [d.code for d in error.diagnostics] == ["VGL617"]


def test_the_verb_writes_what_it_reads(tmp_path: Path) -> None:
    given, out = tmp_path / "rules.yaml", tmp_path / "rules.vgl"
    given.write_text(EXAMPLES, encoding="utf-8")
    call = [str(given), "--set", "protected_paths=*/budget/*", "-o", str(out)]
    assert CliRunner().invoke(import_rules, call, standalone_mode=False).return_value == 0
    assert out.read_text(encoding="utf-8") == POLICY
    misspelt = CliRunner().invoke(import_rules, [str(given), "--set", "protected_path=x"])
    assert misspelt.exit_code == 2
    assert "protected_paths" in misspelt.output
