"""`vigil compile`: scripts that a person can read and two solvers accept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from vigil_lang.cli.main import run
from vigil_lang.engines.smt.smtlib import export
from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.runs import load_trace
from vigil_lang.semantics.policy import load_policy

ROOT = Path(__file__).parents[2]
POLICY = str(ROOT / "examples/dashcam/dashcam.vgl")
VIOLATING = str(ROOT / "examples/dashcam/violating.jsonl")


def test_a_script_says_what_its_symbols_stand_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", POLICY, "--trace", VIOLATING, "--statement", "R3"]) == 0
    script = capsys.readouterr().out
    assert ";   trigger: consumes(x)  (line 29, column 20)" in script
    assert "; e5 warpAffine(file = frames/0001.png, transform = M) ok → warped.png" in script
    assert "(declare-const |trigger(M)@e5| Bool) (assert |trigger(M)@e5|)" in script
    assert "(assert (! (not |trigger(M)@e5|) :named |R3@e5|))" in script
    assert script.count(":named") == 9
    assert evaluate([script]).split() == ["unsat", "(R3@e5)"]


def test_every_statement_is_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", POLICY, "--trace", VIOLATING]) == 0
    script = capsys.readouterr().out
    assert script.count("(reset)") == 3
    assert re.findall(r"\b(?:un)?sat\b", evaluate([script])) == ["sat", "sat", "sat", "unsat"]


def test_a_run_cannot_break_out_of_symbols_and_comments(tmp_path: Path) -> None:
    """A line break would end a comment and a bar a symbol: neither comes through."""
    evil = "x|)\n(assert false)\\ é\u202e"
    event = {"action": "use", "event": evil, "args": {"f": evil}, "output": evil}
    (tmp_path / "evil.jsonl").write_text(json.dumps(event) + "\n", encoding="utf-8")
    (tmp_path / "p.vgl").write_text("statement S: prec(use(f = x), check(f = x))\n", encoding="utf-8")
    policy = load_policy(tmp_path / "p.vgl")
    script = export(policy.statements, load_trace(tmp_path / "evil.jsonl"))
    assert "\n(assert false)" not in script
    assert evaluate([script]).split()[0] == "unsat"


SIGNATURE = {
    "schema": "vigil.signature/1",
    "origin": "declared",
    "actions": {
        "use": {"kinds": ["k"], "open": False, "args": {"f": {"types": ["text"], "many": False, "values": ["M", "N"]}}},
        "check": {"kinds": [], "open": True, "args": {"f": {"types": ["text"], "many": False, "values": None}}},
        "flag": {"kinds": [], "open": False, "args": {"on": {"types": ["bool"], "many": False, "values": None}}},
    },
}


@pytest.mark.parametrize(
    ("form", "question", "answer"),
    [
        ("abs(use(f = x))", "|has e1[f]|", "sat"),
        ("abs(action = k)", '(= |e1.action| "use")', "unsat"),  # a use is of kind k
        ('abs(action ~ "us*")', '(= |e1.action| "use")', "unsat"),
        ("abs(use(f = M2))", '(= |e1.action| "use") (= |e1[f]| "other") |has e1[f]|', "unsat"),  # f is M or N
        ("abs(flag(on = x))", '(= |e1.action| "flag") |has e1[on]| (= |e1[on]| "maybe")', "unsat"),
        ("abs(flag(f = x))", '(= |e1.action| "flag") |has e1[f]|', "unsat"),  # flag has no f
        ("abs(check(g = x))", '(= |e1.action| "check") |has e1[g]|', "unsat"),  # the rule forbids it
        ("abs(rm(g = x))", '(= |e1.action| "check") |has e1[g]|', "sat"),  # check is open
        ("abs(rm())", '(= |e1.action| "rm")', "unsat"),  # no such action
        ("abs(check(n > 2.5))", '(= |e1.action| "check") |has e1[n]| (= |e1[n]| "3")', "unsat"),
        ("abs(check(n > 2.5))", '(= |e1.action| "check") |has e1[n]| (= |e1[n]| "2")', "sat"),
        ("abs(check(n >= -2))", '(= |e1.action| "check") |has e1[n]| (= |e1[n]| "-3")', "sat"),
        ("abs(check(n < 9))", '(= |e1.action| "check") |has e1[n]| (= |e1[n]| "word")', "sat"),
        ("bresp[5s](use(), check())", '(= |e1.action| "use") (> (- |e2.time| |e1.time|) 5000000)', "unsat"),
        (
            "always use() implies not flag() since[10s] check()",
            '(= |e1.action| "check") (= |e2.action| "use") (> (- |e2.time| |e1.time|) 10000000)',
            "unsat",
        ),
        (
            "always check() implies not flag() until[10s] use()",
            '(= |e1.action| "check") (= |e2.action| "use") (> (- |e2.time| |e1.time|) 10000000)',
            "unsat",
        ),
        ("atmost[1](use())", '(= |e1.action| "use") (= |e2.action| "use")', "unsat"),
        ("until(use(), check(), flag())", '(= |e1.action| "use") (= |e2.action| "flag")', "unsat"),
        ("always (use() implies later[1] not use())", '(= |e1.action| "use") (= |e2.action| "use")', "unsat"),
        ("always (not earlier use())", '(= |e1.action| "use")', "unsat"),
        ('abs(check(f contains "zz"))', '(= |e1.action| "check") |has e1[f]| (= |e1[f]| "azza")', "unsat"),
        ('abs(check(f contains ""))', '(= |e1.action| "check") |has e1[f]|', "sat"),
    ],
)
def test_questions_about_every_run_of_two_events(
    form: str, question: str, answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # spec RB.5-1
    (tmp_path / "sig.json").write_text(json.dumps(SIGNATURE), encoding="utf-8")
    (tmp_path / "p.vgl").write_text(f"statement S: {form}\n", encoding="utf-8")
    command = ["compile", str(tmp_path / "p.vgl"), "--length", "2", "--signature", str(tmp_path / "sig.json")]
    assert run(command) == 0
    script = capsys.readouterr().out
    asked = script.replace("(check-sat)", f"(assert (and {question} true))\n(check-sat)")
    assert evaluate([asked]) == answer


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["compile", POLICY], "either --trace RUN or --length N"),
        (["compile", POLICY, "--trace", VIOLATING, "--length", "2"], "either --trace RUN or --length N"),
        (["compile", POLICY, "--trace", VIOLATING, "--signature", "x"], "--signature goes with --length"),
        (["compile", POLICY, "--trace", VIOLATING, "--statement", "R9"], "has no statement 'R9'"),
    ],
)
def test_calls_that_make_no_sense(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(args) == 2
    assert message in capsys.readouterr().err


def test_a_regular_expression_without_a_counterpart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.vgl").write_text(r"statement S: abs(a(f ~ /\p{Greek}/))" + "\n", encoding="utf-8")
    assert run(["compile", str(tmp_path / "p.vgl"), "--length", "2"]) == 2
    assert "no counterpart in SMT-LIB" in capsys.readouterr().err
