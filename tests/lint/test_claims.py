"""What is claimed of a policy rests on what is known of it, and takes no longer than it is worth."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.lint import connectives
from vigil_lang.lint.run import Plan, lint
from vigil_lang.semantics import core
from vigil_lang.trace.signature import Action, Argument, Signature

TWO = 'statement S: abs(deploy(tags = "x" and tags = "y"))'
TOWER = """
pattern a = rm() or unlink() or rmdir() or truncate() or shred() or wipe()
pattern b = a or a or a or a or a or a or a or a or a or a or a or a
pattern c = b or b or b or b or b or b or b or b or b or b or b or b
pattern d = c or c or c or c or c or c or c or c or c or c or c or c

statement R0: abs(d)
"""


@pytest.mark.parametrize(("many", "expected"), [(False, ["VGL302"]), (True, [])])
def test_what_a_signature_calls_a_list_may_have_two_values(many: bool, expected: list[str]) -> None:
    tags = Argument(frozenset({"text"}), many=many)
    signature = Signature({"deploy": Action({"tags": tags})}, "declared")
    found = lint(Source("policy.vgl", TWO), Plan(signature=signature)).findings
    assert [f.code for f in found if f.code == "VGL302"] == expected


def test_no_question_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def recorded(condition: core.Condition) -> bool:
        asked.append(len(core.tests(condition)))
        return True

    monkeypatch.setattr(connectives, "obviously_satisfiable", recorded)
    lint(Source("policy.vgl", TOWER), Plan())
    assert max(asked) <= connectives.MAX_TESTS


PUSH = r"statement S: abs(Bash(command ~ /\bgit push\b.*\bmain\b/ and not command ~ /\bgit push\b/))"


def test_expressions_that_exclude_each_other_are_found_by_counting_not_by_the_clock() -> None:
    found = [f for _ in range(3) for f in lint(Source("policy.vgl", PUSH), Plan()).findings]
    assert [(f.code, f.message) for f in found] == [("VGL302", "these conditions can never hold together")] * 3
