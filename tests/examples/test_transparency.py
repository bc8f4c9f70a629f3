"""No policy of the project disturbs a run that keeps it: each call is proposed before it is made, as a gate would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.transparency import moments, rules_of, stopped

if TYPE_CHECKING:
    from vigil_lang.engines.interface import Rule

ROOT = Path(__file__).parents[2]
POLICIES = sorted(
    path
    for folder in ("examples", "stdlib")
    for path in (ROOT / folder).rglob("*.vgl")
    if not path.stem.endswith("_test")
)
RUNS = sorted(
    path
    for path in (ROOT / "examples").rglob("*.json*")
    if path.name.startswith(("benign", "repaired")) or ".keeps." in path.name or ".near" in path.name
) + sorted((ROOT / "tests" / "fixtures" / "runs").glob("*.jsonl"))


@pytest.fixture(scope="module")
def rules() -> list[Rule]:
    return rules_of(POLICIES)


@pytest.mark.parametrize("run", RUNS, ids=[str(path.relative_to(ROOT)) for path in RUNS])
def test_no_call_is_stopped_without_a_violation(rules: list[Rule], run: Path) -> None:
    """A call that failed was judged as if it would succeed: that is no mistake."""
    assert [one for one in stopped(rules, moments(run)) if not one.rightly and not one.failed] == []


@pytest.mark.parametrize(
    "folder", [p for p in sorted((ROOT / "examples").glob("*/*")) if any(p.glob("benign*"))], ids=lambda p: p.name
)
def test_the_benign_runs_of_an_example_pass(folder: Path) -> None:
    own = rules_of(path for path in folder.glob("*.vgl") if not path.stem.endswith("_test"))
    for run in sorted(folder.glob("benign*")):
        assert [one for one in stopped(own, moments(run)) if not one.failed] == [], run
