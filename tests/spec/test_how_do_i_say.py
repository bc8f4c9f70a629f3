"""Every statement of docs/how-do-i-say.md is without findings, is broken by its first run and kept by its second."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.lint.run import Plan, lint
from vigil_lang.project.selection import ALL, Selection
from vigil_lang.semantics.policy import read_policy
from vigil_lang.testing.expectations import judge
from vigil_lang.testing.read import read_tests

PAGE = Path(__file__).parents[2] / "docs" / "how-do-i-say.md"
_ANSWER = re.compile(
    r"^### … that (?P<question>.+)\?\n\n```vgl\n(?P<statement>statement (?P<name>\w+): .+)\n```\n\n"
    r"- breaks: `(?P<breaks>.+)`\n- keeps: `(?P<keeps>.+)`\n",
    re.MULTILINE,
)


class Answer(NamedTuple):
    """One question with its statement, named, and its two runs."""

    question: str
    statement: str
    name: str
    breaks: str
    keeps: str


ANSWERS = [Answer(*found) for found in _ANSWER.findall(PAGE.read_text(encoding="utf-8"))]


def test_no_question_is_passed_over() -> None:
    assert len(ANSWERS) == PAGE.read_text(encoding="utf-8").count("\n### ") >= 60
    assert len({answer.name for answer in ANSWERS}) == len({answer.question for answer in ANSWERS}) == len(ANSWERS)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
def test_a_statement_has_no_findings(answer: Answer) -> None:
    source = Source("policy.vgl", answer.statement + "\n")
    assert [f"{d.code} {d.message}" for d in read_policy(source, stored=False).diagnostics] == []
    found = lint(source, Plan(Selection((ALL,)), basic=True)).findings
    assert [f"{d.code} {d.message}" for d in found if d.severity != "info"] == []


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
def test_the_first_run_breaks_a_statement_and_the_second_keeps_it(answer: Answer, tmp_path: Path) -> None:
    path = tmp_path / "policy_test.vgl"
    path.write_text(
        f"{answer.statement}\n"
        f'test "breaks" {{ run {{ {answer.breaks} }} expect {answer.name} violated }}\n'
        f'test "keeps" {{ run {{ {answer.keeps} }} expect {answer.name} satisfied }}\n',
        encoding="utf-8",
    )
    read = read_tests(str(path))
    assert [f"{d.code} {d.message}" for d in read.findings] == []
    outcomes = {case.name: [failure.message for failure in judge(case, confirmed=True).failures] for case in read.cases}
    assert outcomes == {"breaks": [], "keeps": []}
