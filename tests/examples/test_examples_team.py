"""The thirteen rules of examples/team: each has a run that breaks it, one that keeps it, and a near miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.runs import load_trace
from vigil_lang.semantics.policy import load_policy
from vigil_lang.syntax.format import format_text

TEAM = Path(__file__).parents[2] / "examples" / "team"
POLICY = load_policy(TEAM / "team.vgl")

# rule, run, the offending events of each statement; all other statements hold
RUNS: list[tuple[str, str, dict[str, list[str]]]] = [
    (
        "push-main",
        "breaks",
        {"main_by_name": ["e2.1", "e3.1", "e5.1"], "main_by_checkout": ["e4.3"], "no_force": ["e3.1"]},
    ),
    ("push-main", "keeps", {}),
    ("push-main", "near", {}),
    ("force-push", "breaks", {"no_force": ["e1.1", "e2.1", "e3.1", "e4.1"]}),
    ("force-push", "keeps", {}),
    ("force-push", "near", {}),
    ("tests", "breaks", {"tested": ["e1.1", "e5.1", "e7.1"]}),
    ("tests", "keeps", {}),
    ("tests", "near", {}),
    ("lint", "breaks", {"linted": ["e1.1", "e4.1", "e6"]}),
    ("lint", "keeps", {}),
    ("lint", "near", {}),
    ("generated", "breaks", {"generated": ["e1", "e2", "e3.1", "e4", "e5"]}),
    ("generated", "keeps", {}),
    ("generated", "near", {}),
    ("secrets", "breaks", {"silent": ["e2.1", "e3.1", "e4.1"], "not_sent": ["e4.1"]}),
    ("secrets", "keeps", {}),
    ("secrets", "near", {}),
    ("deploys", "breaks", {"retries": ["e10"]}),
    ("deploys", "keeps", {}),
    ("deploys", "near", {}),
    ("deletes", "breaks", {"inside": ["e1.1", "e2.1", "e3.1", "e4.2", "e5.1"]}),
    ("deletes", "keeps", {}),
    ("deletes", "near", {}),
    ("migrations", "breaks", {"backed_up": ["e1", "e3", "e6"], "some_backup": ["e4.1"]}),
    ("migrations", "keeps", {}),
    ("migrations", "near", {}),
    ("downloads", "breaks", {"scanned": ["e3.2", "e6.1", "e8.1"]}),
    ("downloads", "keeps", {}),
    ("downloads", "near", {}),
    ("failures", "breaks", {"asked": ["e4"]}),
    ("failures", "keeps", {}),
    ("failures", "near", {}),
    (
        "invoices",
        "breaks",
        {
            "approved": ["e1", "e4", "e5"],
            "once": ["e6"],
            "named": ["e7", "e8"],
            "recipient_limit": ["e8"],
            "daily_limit": ["e8"],
        },
    ),
    ("invoices", "keeps", {}),
    ("invoices", "near", {}),
    ("limits", "breaks", {"recipient_limit": ["e10"], "daily_limit": ["e16"]}),
    ("limits", "keeps", {}),
    ("limits", "near", {}),
]
RULES = list(dict.fromkeys(rule for rule, *_ in RUNS))


@pytest.mark.parametrize(("rule", "run", "offending"), RUNS)
def test_a_run_breaks_the_statements_of_its_rule_and_no_others(
    rule: str, run: str, offending: dict[str, list[str]]
) -> None:
    statements = verify([POLICY], load_trace(TEAM / "runs" / f"{rule}.{run}.jsonl")).statements
    assert {s.statement.name: [o.event for o in s.offending] for s in statements if s.offending} == offending


@pytest.mark.parametrize("rule", RULES)
def test_runs_that_keep_a_rule_put_it_to_the_test(rule: str) -> None:
    """Of what is forbidden altogether there is nothing to exercise."""
    named = {name for of, _, offending in RUNS if of == rule for name in offending}
    tried = {s.name for s in POLICY.statements if s.form not in {"abs"}} & named
    for run in ("keeps", "near"):
        statements = verify([POLICY], load_trace(TEAM / "runs" / f"{rule}.{run}.jsonl")).statements
        tried -= {s.statement.name for s in statements if not s.vacuous}
    assert tried == set()


def test_every_run_is_in_the_table_and_every_statement_is_broken() -> None:
    assert {path.name for path in (TEAM / "runs").iterdir()} == {f"{rule}.{run}.jsonl" for rule, run, _ in RUNS}
    assert {s.name for s in POLICY.statements} == {name for *_, offending in RUNS for name in offending}
    assert len(RULES) == 13
    assert len(RUNS) == 3 * len(RULES)


def test_every_statement_cites_words_of_the_rules() -> None:
    text = " ".join((TEAM / "rules.md").read_text(encoding="utf-8").split())
    for statement in POLICY.statements:
        ((path, sentence),) = statement.metadata.cites
        assert path == "rules.md"
        assert sentence
        assert sentence in text


def test_the_policy_is_formatted_and_has_no_error() -> None:
    assert POLICY.diagnostics == ()
    text = (TEAM / "team.vgl").read_text(encoding="utf-8")
    assert format_text(Source("team", text)) == text
