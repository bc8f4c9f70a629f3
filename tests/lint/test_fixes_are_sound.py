"""What fixes do to every policy that the rules' cases and pages hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_cases import lay_out, plan_of, source, unmarked
from spec_blocks import Block, blocks

from vigil_lang.analysis import canonical
from vigil_lang.analysis.statement_entailment import entails
from vigil_lang.diagnostics import Source
from vigil_lang.lint.fixing import mend
from vigil_lang.semantics.policy import Policy, read_policy

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "tests/lint/rules").glob("*.md")), *sorted((ROOT / "docs/codes").glob("VGL[1-8]*.md"))]
CASES = [
    (page, block)
    for page in PAGES
    for block in blocks(page)
    if block.kind == "vgl" and block.args[:1] != ("as",) and page.stem != "VGL213"
]


def keeps(before: Policy, after: Policy) -> bool:
    """Whether each statement certainly asks for what it asked for, and is reported as before."""
    names = {s.name for s in before.statements}
    now = [s for s in after.statements if s.name in names]
    return [s.name for s in now] == [s.name for s in before.statements] and all(
        s.metadata == other.metadata
        and (
            canonical.key(s.requirement.theta) == canonical.key(other.requirement.theta)
            or (entails(s.requirement, other.requirement) and entails(other.requirement, s.requirement))
        )
        for s, other in zip(before.statements, now, strict=True)
    )


@pytest.mark.parametrize(
    ("page", "block"), CASES, ids=lambda p: f"{p.parent.name}-{p.stem}" if isinstance(p, Path) else str(p)
)
def test_fixes(page: Path, block: Block, tmp_path: Path) -> None:
    found = blocks(page)
    lay_out(found, tmp_path)
    lay_out(block.before, tmp_path)
    before = source(unmarked(block.text), tmp_path / "policy.vgl")
    plan = plan_of(found, page.stem)
    policy = read_policy(before)

    safe = mend(before, plan)
    after = read_policy(Source(before.path, safe.source.text))
    assert keeps(policy, after)
    assert len(after.errors) <= len(policy.errors)
    assert all(f.fix and f.fix.safe for f in safe.applied)

    every = mend(before, plan, unsafe=True)
    after = read_policy(Source(before.path, every.source.text))
    assert len(after.errors) <= len(policy.errors)
    assert {s.name for s in policy.statements} <= {s.name for s in after.statements}
    assert mend(every.source, plan, unsafe=True).source.text == every.source.text
