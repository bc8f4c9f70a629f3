"""What is said of names that recorded runs lack: of these runs, and once for one cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.lint.run import Plan, lint
from vigil_lang.trace import Event, Signature, Trace, observe
from vigil_lang.trace.signature import merge

if TYPE_CHECKING:
    from pathlib import Path

RUN = Trace.of([Event.of("edit"), Event.of("check")])
DECLARED = Signature(observe([RUN]).actions, "declared")


def findings(text: str, signature: Signature) -> list[tuple[str, str]]:
    return [(f.code, f.message) for f in lint(Source("policy.vgl", text), Plan(signature=signature)).findings]


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        (observe([RUN]), "does not occur in the run; there every trigger is a violation"),
        (observe([RUN, RUN]), "occurs in none of the 2 runs; there every trigger is a violation"),
        (
            merge(observe([RUN]), observe([RUN, RUN])),
            "occurs in none of the 3 runs; there every trigger is a violation",
        ),
        (
            merge(observe([RUN]), Signature(observe([RUN]).actions, "observed")),
            "does not occur in what the signature was observed in; there every trigger is a violation",
        ),
        (DECLARED, "can never occur, so every trigger is a violation"),
    ],
)
def test_only_a_declared_signature_says_never(signature: Signature, said: str) -> None:
    found = findings("statement R0: prec(edit(), check() and edit())", signature)
    assert ("VGL409", f"the guard of `R0` {said}") in found


def test_one_cause_is_told_once_of_runs() -> None:
    text = "statement R0: prec(deploy(), announce())"
    two = observe([RUN, RUN])
    assert findings(text, two) == [
        ("VGL401", "no action `deploy` in any of the 2 runs"),
        ("VGL401", "no action `announce` in any of the 2 runs"),
    ]
    assert findings(text, DECLARED) == [
        ("VGL401", "no action `deploy` in the signature"),
        ("VGL401", "no action `announce` in the signature"),
    ]


@pytest.mark.parametrize("form", ["prec(deploy(), edit())", "prec(edit(), deploy())", "resp(deploy(), edit())"])
def test_what_one_or_two_runs_lack_is_a_hint(form: str) -> None:
    for runs in (1, 2, 3):
        plan = Plan(signature=observe([RUN] * runs))
        found = lint(Source("policy.vgl", f"statement R0: {form}"), plan).findings
        (unknown,) = [f for f in found if f.code == "VGL401"]
        assert unknown.severity == ("info" if runs < 3 else "warning")
        # What follows from it is no finding of its own.
        assert not {"VGL408", "VGL409"} & {f.code for f in found}


def test_kinds_that_runs_lack_are_told_as_what_the_statement_lacks() -> None:
    found = findings("statement R0: prec(edit(), test.run())", observe([RUN, RUN]))
    assert found == [
        ("VGL409", "the guard of `R0` occurs in none of the 2 runs; there every trigger is a violation"),
    ]


# --- what the runs may teach -------------------------------------------------------------------------------------

WROTE = Trace.of([Event.of("write", {"path": "/w/reprot.csv"}), Event.of("deploi")], name="bad.jsonl")
CITED = '@source("SKILL.md", "Write the result to `report.csv` and deploy it.")\n'


def proposed(text: str, runs: list[Trace], path: str = "policy.vgl") -> list[tuple[str, str, str | None]]:
    plan = Plan(signature=observe(runs), runs=runs)
    found = lint(Source(path, text), plan).findings
    return [(f.code, f.severity, f.fix.title if f.fix else None) for f in found if f.code in ("VGL401", "VGL405")]


@pytest.mark.parametrize(
    ("form", "code"),
    [('atleast[1](write(path = "/w/report.csv"))', "VGL405"), ("atleast[1](deploy())", "VGL401")],
)
def test_a_cited_sentence_wins_over_what_a_run_did(form: str, code: str) -> None:
    ((said, severity, fix),) = proposed(f"statement S: {form}", [WROTE])
    assert (said, severity, fix is None) == (code, "warning", False)
    assert proposed(f"{CITED}statement S: {form}", [WROTE]) == [(code, "info", None)]


@pytest.mark.parametrize(
    "form", ['atleast[1](write(path ~ "/w/report.csv*"))', 'atleast[1](write(path contains "report.csv"))']
)
def test_so_it_does_over_a_pattern(form: str) -> None:
    def found(text: str) -> list[tuple[str, str]]:
        linted = lint(Source("policy.vgl", text), Plan(signature=observe([WROTE] * 3)))
        return [(f.code, f.severity) for f in linted.findings if f.code.startswith("VGL4")]

    assert found(f"statement S: {form}") == [("VGL406", "warning")]
    assert found(f"{CITED}statement S: {form}") == [("VGL406", "info")]


def test_a_cited_sentence_does_not_support_a_slip() -> None:
    right = Trace.of([Event.of("write", {"path": "/w/report.csv"})])
    text = f'{CITED}statement S: atleast[1](write(path = "/w/reprot.csv"))'
    assert proposed(text, [right]) == [("VGL405", "warning", 'write `"/w/report.csv"`')]


def test_runs_that_tests_expect_to_be_bad_teach_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").touch()
    bad = Trace.of(WROTE.events, name=str(tmp_path / "bad.jsonl"))
    other = Trace.of([Event.of("write", {"path": "/home/zoe/all.txt"})], name=str(tmp_path / "good.jsonl"))
    text, policy = 'statement S: atleast[1](write(path = "/w/report.csv"))', str(tmp_path / "policy.vgl")
    assert proposed(text, [bad, other], policy) == [("VGL405", "warning", 'write `"/w/reprot.csv"`')]
    tests = tmp_path / "policy_test.vgl"
    tests.write_text('test "bad" {\n    run "bad.jsonl"\n    expect S violated\n}\n', encoding="utf-8")
    assert proposed(text, [bad, other], policy) == [("VGL405", "warning", None)]
    tests.write_text('test "good" {\n    run "bad.jsonl"\n    expect S satisfied\n}\n', encoding="utf-8")
    assert proposed(text, [bad, other], policy) == [("VGL405", "warning", 'write `"/w/reprot.csv"`')]
    tests.write_text('test "broken {', encoding="utf-8")
    assert proposed(text, [bad, other], policy) == [("VGL405", "warning", 'write `"/w/reprot.csv"`')]


def test_few_runs_give_a_hint_that_says_what_to_do() -> None:
    def found(runs: list[Trace]) -> list[tuple[str, str, bool]]:
        policy = Source("policy.vgl", "statement R0: prec(edit(), test.run())")
        linted = lint(policy, Plan(signature=observe(runs)))
        return [(f.code, f.severity, "add a recording that has it" in (f.help or "")) for f in linted.findings]

    assert found([RUN]) == found([RUN, RUN]) == [("VGL409", "info", True)]
    assert found([RUN] * 3) == [("VGL409", "warning", True)]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('statement R0: abs(chekc(level = "high"))', ["VGL401"]),
        ('statement R0: abs(net.request(method = "post"))', []),
        ('statement R0: resp(net.request(method = "post"), edit())', ["VGL408"]),
        # What has another cause, or stands in another statement, is told.
        ("statement R0: abs(chekc())\nstatement R1: resp(edit(status = error), check())", ["VGL401", "VGL332"]),
        # And where nobody is told of the name.
        ("statement R0: abs(chekc()) // vigil: ignore[VGL401] a tool that comes next month", ["VGL332"]),
    ],
)
def test_a_statement_that_no_run_tries_for_a_wrong_name_has_one_finding(text: str, codes: list[str]) -> None:
    runs = [RUN, RUN]
    found = lint(Source("policy.vgl", text), Plan(signature=observe(runs), runs=runs)).findings
    assert [f.code for f in found if f.code.startswith(("VGL4", "VGL332"))] == codes


def test_a_glob_without_a_wildcard_that_is_a_part_of_the_values_of_runs_has_one_finding() -> None:
    runs = [Trace.of([Event.of("shell", {"mode": "git-push-force"})])]
    source = Source("policy.vgl", 'statement R0: abs(shell(mode ~ "git-push"))')
    found = lint(source, Plan(signature=observe(runs), runs=runs)).findings
    assert [f.code for f in found if f.code in ("VGL318", "VGL406")] == ["VGL406"]
