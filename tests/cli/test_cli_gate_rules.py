"""Rules of the Execution Gate in the files that the other verbs read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import vigil_lang

if TYPE_CHECKING:
    from cli_support import Vigil, Write

RULES = """param limit: number = 500

let PATHS = {"*/budget/*"}

pattern big(x) = pay(amount > x)

rule large: when big(limit) or write(path ~ PATHS) and context.tier >= 2 then hold record amount
"""
STATEMENT = "\nstatement once: atmost[1](pay())\n"
RUN = '{"action":"pay","args":{"amount":700}}\n{"action":"pay","args":{"amount":5}}\n'


@pytest.mark.parametrize("verb", ["check", "lint"])
def test_rules_alone_are_a_policy(verb: str, vigil: Vigil, write: Write) -> None:
    # spec R10.1-1
    result = vigil(verb, write("p.vgl", RULES))
    assert (result.status, result.err) == (0, "")
    assert "no findings" in result.out


@pytest.mark.parametrize("verb", ["verify", "replay"])
def test_rules_alone_judge_no_run(verb: str, vigil: Vigil, write: Write) -> None:
    result = vigil(verb, write("p.vgl", RULES), write("run.jsonl", RUN))
    assert result.status == 2
    assert "There is no statement to judge by: the policies hold rules for a gate alone." in result.err


def test_rules_alone_are_nothing_to_monitor() -> None:
    policy = vigil_lang.parse_policy(RULES)
    with pytest.raises(ValueError, match="has rules for a gate alone: there is nothing to judge by"):
        vigil_lang.Monitor(policy)


@pytest.mark.parametrize(
    "args",
    [
        ("verify", "POLICY", "RUN", "--format", "json"),
        ("replay", "POLICY", "RUN", "--format", "concise"),
        ("compile", "POLICY", "--trace", "RUN"),
        ("compile", "POLICY", "--length", "2"),
        ("check", "POLICY", "--enforce"),
    ],
    ids=" ".join,
)
def test_rules_change_no_answer_about_statements(args: tuple[str, ...], vigil: Vigil, write: Write) -> None:
    # spec R10.1-1
    run = write("run.jsonl", RUN)
    answers = []
    for text in (STATEMENT.lstrip(), STATEMENT.lstrip() + "\n" + RULES):
        places = {"POLICY": write("p.vgl", text), "RUN": run}
        result = vigil(*[places.get(arg, arg) for arg in args])
        shown = [line for line in result.out.splitlines() if "seconds" not in line and "took" not in line]
        answers.append((result.status, shown, result.err))
    assert answers[0] == answers[1]


def test_the_core_has_no_rules(vigil: Vigil, write: Write) -> None:
    result = vigil("check", write("p.vgl", "rule r: when pay() then hold\n"), "--core")
    assert result.status == 0
    assert "VGL501" in result.out
    assert "a rule of the gate is an extension of the paper's language" in result.out


def test_rules_are_laid_out(vigil: Vigil, write: Write) -> None:
    path = write("p.vgl", "rule  r :\nwhen pay( )\nthen hold // why\nrecord  a,b\n")
    assert vigil("fmt", path).status == 0
    assert path.read_text() == "rule r:\n    when pay()\n    then hold  // why\n    record a, b\n"
    assert vigil("fmt", "--check", path).status == 0


def test_a_code_of_rules_is_explained(vigil: Vigil) -> None:
    assert "# VGL343" in vigil("explain", "VGL343").out
