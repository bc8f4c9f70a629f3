"""What an editor shows beside what was expected: what came instead, in the words of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.testing.policies_under_test import under_test
from vigil_lang.testing.expectations import judge

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """statement S: abs(bad())
statement T: prec(bad(k = x), ok(k = x))
rule h: when pay() then hold
rule b: when pay(amount > 5) then block
rule c: when pay() and context.hour > 20 then hold
"""


@pytest.mark.parametrize(
    ("run", "expected", "wanted", "found"),
    [
        ("bad() bad()", "S satisfied", "satisfied", "violated at e1, e2"),
        ("bad() a: bad()", "S violated at a", "violated at a", "violated at e1, a"),
        ("bad(k = 4)", "T violated with x = 3", "violated with x = 3", "violated at e1 with x = 4"),
        ("ok(k = 4) bad(k = 4)", "T violated", "violated", "satisfied"),
        ("ok(k = 4)", "T violated", "violated", "vacuous"),
        ("pay()", "h passes", "passes", "holds e1"),
        ("pay(amount = 1)", "b blocks", "blocks", "blocks no call"),
        ("pay()", "c passes", "passes", "holds no call, cannot tell of e1"),
    ],
)
def test_what_was_found(tmp_path: Path, run: str, expected: str, wanted: str, found: str) -> None:
    suite = under_test(tmp_path, POLICY, f'test "t" {{ run {{ {run} }} expect {expected} }}')
    (failure,) = judge(suite.cases[0]).failures
    assert (failure.expected.words, failure.found) == (wanted, found)


def test_a_statement_that_a_mutant_does_not_have(tmp_path: Path) -> None:
    (case,) = under_test(tmp_path, POLICY, 'test "t" { run { bad() } expect S violated }').cases
    (failure,) = judge(case, [replace(policy, statements=()) for policy in case.policies]).failures
    assert failure.found == "no such statement"
