"""Every rule on its cases, and on near misses of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_cases import expected, lay_out, places, plan_of, source, unmarked
from spec_blocks import Block, blocks

from vigil_lang.diagnostics import Source, apply_edits
from vigil_lang.lint.memory import Memory
from vigil_lang.lint.registry import all_rules
from vigil_lang.lint.run import lint, lint_policy
from vigil_lang.semantics.policy import read_policy

FOLDER = Path(__file__).parent / "rules"
PAGES = sorted(FOLDER.glob("*.md"))
CASES = [(page, block) for page in PAGES for block in blocks(page) if block.kind == "vgl" and not block.args]
FIXED = [(page, block) for page in PAGES for block in blocks(page) if (block.kind, block.args) == ("vgl", ("fixed",))]


def test_each_code_of_a_rule_has_cases() -> None:
    assert sorted(code for rule in all_rules() for code in rule.codes) == [page.stem for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_rule_has_a_case_and_a_near_miss(page: Path) -> None:
    marks = [{code for _, code in expected(b.text)} for b in blocks(page) if b.kind == "vgl" and not b.args]
    assert any(page.stem in codes for codes in marks)
    assert any(page.stem not in codes for codes in marks)


@pytest.mark.parametrize(("page", "block"), CASES, ids=lambda p: p.stem if isinstance(p, Path) else str(p))
def test_findings(page: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_DEBUG", "1")
    found = blocks(page)
    lay_out(found, tmp_path)
    policy, plan = source(unmarked(block.text), tmp_path / "policy.vgl"), plan_of(found, page.stem)
    linted = lint(policy, plan)
    assert places(linted.findings) == expected(block.text), [f.message for f in linted.findings]
    # A rule that is said to look at each item alone does, and what it found moves with the text.
    memory = Memory()
    for text in (policy, Source(policy.path, f"\n\n{policy.text}")):
        found_again = lint_policy(read_policy(text, plan.params), plan, memory=memory).findings
        assert found_again == lint(text, plan).findings


@pytest.mark.parametrize(("page", "block"), FIXED, ids=lambda p: p.stem if isinstance(p, Path) else str(p))
def test_fixes(page: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_DEBUG", "1")
    found = blocks(page)
    lay_out(found, tmp_path)
    before = unmarked(block.last("vgl").text)
    linted = lint(source(before, tmp_path / "policy.vgl"), plan_of(found, page.stem))
    edits = [edit for f in linted.findings if f.code == page.stem and f.fix for edit in f.fix.edits]
    assert apply_edits(before, edits) == block.text
