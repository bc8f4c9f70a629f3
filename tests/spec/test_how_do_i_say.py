"""Every answer of docs/how-do-i-say.md is without findings and does what it says.

A statement is broken by its first run and kept by its second. A rule holds or blocks its first run and lets the second
pass; one that relaxes covers the first and not the second.
"""

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

_SIDE = r"(?:`(?P<{0}_set>context[^`]+)`, )?`(?P<{0}>.+)`"
_RULE = re.compile(
    r"^### … that (?P<question>.+)\?\n\n```vgl\n(?P<policy>(?:statement .+\n\n)?rule (?P<name>\w+):[^`]+)```\n\n"
    rf"- (?P<does>holds|blocks|passes): {_SIDE.format('first')}\n"
    rf"- (?:passes|relaxes nothing): {_SIDE.format('second')}\n",
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
RULES = [found.groupdict(default="") for found in _RULE.finditer(PAGE.read_text(encoding="utf-8"))]


def test_no_question_is_passed_over() -> None:
    assert len(ANSWERS) >= 60
    questions = PAGE.read_text(encoding="utf-8").count("\n### ")
    assert len(ANSWERS) + len(RULES) == questions
    named = [(answer.name, answer.question) for answer in ANSWERS] + [
        (rule["name"], rule["question"]) for rule in RULES
    ]
    assert len({name for name, _ in named}) == len({question for _, question in named}) == questions
    readme = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"answers {questions} questions" in " ".join(readme.split())


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


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["name"])
def test_a_rule_does_what_it_says(rule: dict[str, str], tmp_path: Path) -> None:
    source = Source("policy.vgl", rule["policy"])
    assert [d.message for d in lint(source, Plan(Selection((ALL,)), basic=True)).findings if d.severity != "info"] == []
    name, does = rule["name"], rule["does"]
    first, second = (f"{_set(rule[f'{side}_set'])} run {{ {rule[side]} }}" for side in ("first", "second"))
    if does == "passes":
        tests = f'test "covers" {{ run {{ {rule["first"]} {rule["second"]} }} expect {name} passes at e1 }}\n'
    else:
        tests = f'test "first" {{ {first} expect {name} {does} }}\ntest "second" {{ {second} expect {name} passes }}\n'
    path = tmp_path / "policy_test.vgl"
    path.write_text(f"{rule['policy']}\n{tests}", encoding="utf-8")
    read = read_tests(str(path))
    assert [f"{d.code} {d.message}" for d in read.findings] == []
    assert read.cases
    told = [failure.message for case in read.cases for failure in judge(case, confirmed=True).failures]
    assert told == []


def _set(field: str) -> str:
    return f"set {field}" if field else ""
