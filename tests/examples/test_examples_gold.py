"""The gold policies of examples/gold: a run that breaks a statement breaks that one alone, and the benign runs none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.documents.library import Library
from vigil_lang.draft.evaluation.gold import find
from vigil_lang.engines.smt.verify import verify
from vigil_lang.lint.run import Plan, lint_policy
from vigil_lang.project.selection import Selection
from vigil_lang.runs import load_trace
from vigil_lang.semantics.policy import Policy, load_policy
from vigil_lang.syntax.format import format_text

GOLD = Path(__file__).parents[2] / "examples" / "gold"
FOLDERS = sorted(path.name for path in GOLD.iterdir() if path.is_dir())
RUNS = [(folder, path.stem) for folder in FOLDERS for path in sorted((GOLD / folder).glob("*.jsonl"))]


def policy_of(folder: str) -> Policy:
    return load_policy(GOLD / folder / f"{folder}.vgl")


@pytest.mark.parametrize(("folder", "run"), RUNS)
def test_a_run_breaks_the_statement_it_is_named_after_and_no_other(folder: str, run: str) -> None:
    verdict = verify([policy_of(folder)], load_trace(GOLD / folder / f"{run}.jsonl"))
    assert [s.statement.name for s in verdict.statements if s.offending] == ([] if run == "benign" else [run])


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_statement_has_a_run_that_breaks_it_and_is_put_to_the_test_by_the_benign_one(folder: str) -> None:
    names = {statement.name for statement in policy_of(folder).statements}
    assert names == {run for of, run in RUNS if of == folder} - {"benign"}
    verdict = verify([policy_of(folder)], load_trace(GOLD / folder / "benign.jsonl"))
    untried = {s.statement.name for s in verdict.statements if s.vacuous}
    forbidding = {s.name for s in policy_of(folder).statements if s.form == "abs"}
    assert untried <= forbidding


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_policy_has_no_finding_and_is_formatted(folder: str) -> None:
    policy = policy_of(folder)
    found = lint_policy(policy, Plan(selection=Selection(select=("ALL",), ignore=("VGL8",)), documents=Library()))
    assert [(f.code, f.message) for f in found.findings] == []
    text = policy.module.source.text
    assert format_text(Source(policy.path, text)) == text


def test_the_gold_set_is_large_enough_and_quotes_what_its_documents_say() -> None:
    found = find(str(GOLD))
    assert found.left_out == ()
    sentences = {
        (gold.path, sentence) for gold in found.gold for s in gold.policy.statements for _, sentence in gold.cites(s)
    }
    assert len(sentences) >= 40


@pytest.mark.parametrize("folder", FOLDERS)
def test_stored_answers_repeat_sentences_of_the_document(folder: str) -> None:
    text = (GOLD / folder / "SKILL.md").read_text(encoding="utf-8").replace("*", "")
    answers = json.loads((GOLD / folder / "draft.json").read_text(encoding="utf-8"))["answers"]
    assert [answer["sentence"] for answer in answers if answer["sentence"] not in text] == []
