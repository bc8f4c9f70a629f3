"""The default layer of the gate: readable, tested, and never at a loss for what a recorded call does."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
from click.testing import CliRunner

from vigil_lang.base.resources import resource
from vigil_lang.cli.test import command
from vigil_lang.gate.decide import Action, Authority, Rule, Table, Tier, decide
from vigil_lang.lint.run import Plan, lint_policy
from vigil_lang.runs import load_traces
from vigil_lang.semantics.policy import Policy, load_policy
from vigil_lang.syntax.format import format_text
from vigil_lang.trace.vocabulary import vocabulary

FOLDER = resource("stdlib", "gate")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.jsonl"))


@cache
def default() -> Policy:
    return load_policy(FOLDER / "default.vgl")


@cache
def table() -> Table:
    rules = [Rule(r.name, "default", r.then, r.condition, relaxes=r.relaxes) for r in default().rules]
    return Table(rules, {kind.name: frozenset(kind.implies) for kind in vocabulary().kinds.values()})


def test_it_is_documented_formatted_and_free_of_findings() -> None:
    policy = default()
    file = policy.module.file
    assert file.doc
    assert [item.span for item in file.items if hasattr(item, "name") and not item.doc] == []
    assert [rule.name for rule in policy.rules if not rule.metadata.message] == []
    linted = lint_policy(policy, Plan())
    assert [d.message for d in (*policy.diagnostics, *linted.findings) if d.severity != "info"] == []
    for path in FOLDER.glob("*.vgl"):
        source = path.read_text(encoding="utf-8")
        assert format_text(type(policy.module.source)(str(path), source)) == source


def test_its_tests_pass_and_cover_it() -> None:
    result = CliRunner().invoke(command, [str(FOLDER), "--coverage"], standalone_mode=False)
    assert result.return_value == 0, result.output
    (line,) = (line for line in result.output.splitlines() if "gate/default.vgl " in line and line.endswith("%"))
    assert line.endswith("100 %")


def test_it_holds_and_blocks_and_lets_nothing_pass_by_itself() -> None:
    assert {rule.then for rule in default().rules} == {"hold", "block"}
    assert all(not rule.relaxes for rule in default().rules)


@pytest.mark.parametrize("path", EXAMPLES[::4], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_rule_can_be_asked_of_every_recorded_call(path: Path) -> None:
    """What cannot be told is blocked, so that a rule which forgets a `has` would block ordinary work."""
    for trace in load_traces(path):
        for _, events in groupby(trace.events, key=lambda event: event.call):
            action = Action(tuple(events), {}, "binding", "likeness", 0)
            reasons = decide(action, Authority(open=True), Tier(), table()).reasons
            assert [reason.message for reason in reasons if reason.kind == "fault"] == []
