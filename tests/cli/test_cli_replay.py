"""`vigil replay`: its screens, the published form, what is compared, and the exit status."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from cli_support import DASHCAM, FIXTURES, REPAIRED

from vigil_lang.cli.replay import WORTH_A_PROCESS
from vigil_lang.engines.smt.solve import SolverDisagrees

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Golden, Result, Vigil, Write

RULES = f"{FIXTURES}/replay/rules.vgl"
SHOP = f"{FIXTURES}/replay/shop.json"
DAYS = f"{FIXTURES}/replay/days.jsonl"
LAX = "statement checked: abs(nothing())\nstatement refunds: abs(refund())\n"


def timeless(screen: str) -> str:
    """A screen, however long the decisions took."""
    return re.sub(r"[0-9.]+ (µs|ms|s) \(", "0 µs (", screen)


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.out.splitlines()]


def decided(found: dict[str, Any]) -> dict[str, str]:
    return {decision["events"][0]: decision["decision"] for decision in found["decisions"]}


# --- the screen ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_the_screen_shows_what_would_have_been_disturbed(
    vigil: Vigil, golden: Golden, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    result = vigil("replay", RULES, SHOP, DAYS)
    assert (result.status, result.err) == (1, "")
    assert "\x1b" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    golden(f"replay-{columns}.txt", timeless(result.out))


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("format", ["concise", "junit", "markdown"])
def test_other_formats_are_the_same_at_any_width(
    vigil: Vigil, golden: Golden, monkeypatch: pytest.MonkeyPatch, columns: int, format: str  # noqa: A002
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", str(columns))
    result = vigil("replay", RULES, SHOP, DAYS, "--format", format)
    assert (result.status, result.err) == (1, "")
    golden(f"replay.{format}.txt", result.out)


def test_a_run_in_which_nothing_happens_takes_one_line(vigil: Vigil) -> None:
    result = vigil("replay", DASHCAM, REPAIRED)
    assert result.status == 0
    assert result.out.startswith(f"passed    {REPAIRED} · 9 calls · none disturbed\n\nno statement would have")


def test_long_lists_are_cut(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", '{"action":"x"}\n' * 40)
    result = vigil("replay", write("a.vgl"), run)
    assert "and 30 more: e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, …\n" in result.out
    run = write("r.jsonl", '{"action":"x"}\n' * 8)
    result = vigil("replay", write("a.vgl", "statement A: resp(x(), y())"), run)
    assert "and 3 more owed\n" in result.out


# --- the published form -------------------------------------------------------------------------------------


def test_json_is_the_published_form(vigil: Vigil) -> None:
    shop, quiet, refund = objects(vigil("replay", RULES, SHOP, DAYS, "--format", "json"))
    assert [found["run"]["path"] for found in (shop, quiet, refund)] == [SHOP, f"{DAYS}#quiet", f"{DAYS}#refund"]
    for found in (shop, quiet, refund):
        assert list(found) == ["schema", "run", "decisions", "end", "summary"]
        assert found["schema"] == "vigil.replay/1"
        assert found["run"]["calls"] == len(found["decisions"]) == sum(found["summary"].values())
        for decision in found["decisions"]:
            assert {"call", "events", "decision", "statements", "owed", "microseconds"} <= set(decision)
            assert (decision["decision"] == "pass") == (not decision["statements"])
            assert isinstance(decision["microseconds"], int)
    assert shop["summary"] == {"pass": 4, "warn": 1, "hold": 1, "block": 1}
    pay = shop["decisions"][3]
    assert (pay["call"], pay["events"], pay["decision"]) == ("t4", ["e4"], "block")
    assert pay["statements"] == [
        {
            "policy": RULES,
            "name": "checked",
            "event": "e4",
            "bindings": {"x": "12"},
            "message": "`12` was paid before it was checked",
        }
    ]
    assert pay["told"].startswith("This call was blocked and not made. checked: `12` was paid before it was checked (")
    assert [(owed["name"], owed["since"]) for owed in shop["end"]["owed"]] == [("closed", "e1")]
    assert shop["end"]["violated"] == ["refunds", "by_hand", "closed", "keys"]


def test_what_has_come_to_be_owed_is_told_once(vigil: Vigil) -> None:
    (shop,) = objects(vigil("replay", RULES, SHOP, "--format", "json"))
    assert [[owed["name"] for owed in decision["owed"]] for decision in shop["decisions"]] == [
        [], ["closed"], [], [], [], [], [],
    ]  # fmt: skip


def test_junit_is_one_case_a_statement_and_a_run_that_is_broken(vigil: Vigil, write: Write) -> None:
    result = vigil("replay", RULES, SHOP, write("b.jsonl", "oops\n"), "--format", "junit")
    assert result.status == 2
    suites = ElementTree.fromstring(result.out)
    assert [suite.get("tests") for suite in suites] == ["5", "1"]
    failing = [case.get("name") for case in suites[0] if case.find("failure") is not None]
    assert failing == ["checked", "refunds", "by_hand", "closed", "keys"]
    assert suites[1].find("testcase/error") is not None


# --- what is replayed ---------------------------------------------------------------------------------------


def test_parallel_calls_are_proposed_without_each_others_effects(vigil: Vigil) -> None:
    (shop,) = objects(vigil("replay", RULES, SHOP, "--format", "json", "--statement", "checked"))
    # The check and the first payment are calls of one message; the second payment comes after the check.
    assert decided(shop) == {**{f"e{n}": "pass" for n in range(1, 8)}, "e4": "block"}
    assert shop["end"]["violated"] == []


def test_a_blocked_call_can_be_left_out(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", "statement A: prec(b(), a(status = ok))\nstatement C: prec(c(), b(status = ok))\n")
    run = write("r.jsonl", '{"action":"b","status":"ok"}\n{"action":"c","status":"ok"}\n')
    (as_recorded,) = objects(vigil("replay", policy, run, "--format", "json"))
    assert decided(as_recorded) == {"e1": "block", "e2": "pass"}
    assert as_recorded["end"]["violated"] == ["A"]
    (left_out,) = objects(vigil("replay", policy, run, "--format", "json", "--as-if-blocked"))
    assert decided(left_out) == {"e1": "block", "e2": "block"}
    assert left_out["end"]["violated"] == []


def test_a_refused_call_is_proposed_and_leaves_nothing(vigil: Vigil, write: Write) -> None:
    tools = [
        {"tool": "a", "args": {}, "status": "denied"},
        {"tool": "b", "args": {}, "status": "ok"},
        {"tool": "a", "args": {}, "status": "ok"},
    ]
    run = write("r.jsonl", json.dumps({"id": "r", "events": tools}))
    policy = write("a.vgl", "statement A: abs(a())\nstatement B: prec(b(), a())\n")
    (found,) = objects(vigil("replay", policy, run, "--format", "json"))
    assert decided(found) == {"e1": "block", "e2": "block", "e3": "block"}
    assert [decision.get("executed", True) for decision in found["decisions"]] == [False, True, True]
    assert [statement["name"] for statement in found["decisions"][1]["statements"]] == ["B"]
    assert "the recording shows that it was refused" in vigil("replay", policy, run).out


def test_what_only_the_outcome_shows_is_told_at_the_end(vigil: Vigil) -> None:
    result = vigil("replay", RULES, SHOP, "--statement", "keys")
    assert result.out.startswith(f"violated  {SHOP} · 7 calls · none disturbed · 1 of 1 statement violated\n")
    assert 'violated: keys at e7: `read_log(output ~ "*KEY*")` must not happen\n' in result.out


# --- comparing ----------------------------------------------------------------------------------------------


def test_against_other_policies_only_what_changes_is_shown(vigil: Vigil, golden: Golden, write: Write) -> None:
    old = write("old.vgl", LAX)
    result = vigil("replay", RULES, SHOP, DAYS, "--against", old)
    assert (result.status, result.err) == (1, "")
    golden("replay-against.txt", result.out)
    concise = vigil("replay", RULES, SHOP, "--against", old, "--format", "concise").out
    assert f"{SHOP}:e4: block checked (was pass)\n" in concise
    assert f"{SHOP}:e5: hold refunds (was block refunds)\n" in concise
    (found,) = objects(vigil("replay", RULES, SHOP, "--against", old, "--format", "json"))
    assert [(d["events"], d["decision"], d["was"]["decision"]) for d in found["decisions"]] == [
        (["e2"], "warn", "pass"), (["e4"], "block", "pass"), (["e5"], "hold", "block"),
    ]  # fmt: skip
    assert found["end"]["newly_violated"] == ["by_hand", "closed", "keys"]


def test_no_change_is_status_0(vigil: Vigil) -> None:
    for format_ in ("human", "concise", "json", "junit", "markdown"):
        assert vigil("replay", RULES, SHOP, DAYS, "--against", RULES, "--format", format_).status == 0
    assert vigil("replay", RULES, SHOP, DAYS, "--against", RULES).out.endswith("\n3 runs: 3 unchanged\n")


def test_calls_left_out_under_one_set_of_policies_are_changes(vigil: Vigil, write: Write) -> None:
    strict = write("strict.vgl", "statement A: abs(task())\n")
    run = write(
        "r.jsonl",
        '{"event":"e1","call":"t","action":"task"}\n{"event":"e2","call":"u","action":"work","parent":"t"}\n',
    )
    args = ("replay", strict, run, "--against", write("lax.vgl", "statement A: abs(x())\n"), "--as-if-blocked")
    assert "e2: left out (was pass)" in vigil(*args, "--format", "concise").out
    assert "e2  is left out with the call that started it" in vigil(*args).out
    (found,) = objects(vigil(*args, "--format", "json"))
    assert [(d["call"], d["decision"]) for d in found["decisions"]] == [("t", "block"), ("u", None)]


# --- labels -------------------------------------------------------------------------------------------------


def test_labels_say_how_many_benign_runs_are_disturbed(vigil: Vigil, write: Write) -> None:
    labels = write(
        "labels.jsonl",
        '{"run":"replay/shop","label":"benign"}\n{"run":"days.jsonl/quiet","label":"benign"}\n'
        '{"run":"refund","label":"benign"}\n{"run":"refund","label":"violating"}\n'
        '{"run":"elsewhere","label":"harmful"}\n{"run":"x","label":"excluded"}\n',
    )
    out = vigil("replay", RULES, SHOP, DAYS, "--labels", labels).out
    assert "benign: 1 of 2 runs (50%) would have been disturbed\n" in out
    assert "harmful: 1 of 1 run (100%) would have been caught (blocked or held)\n" in out
    assert "1 label names no run that was replayed\n" in out
    found = objects(vigil("replay", RULES, SHOP, DAYS, "--labels", labels, "--format", "json"))
    assert [each["run"]["label"] for each in found] == ["benign", "benign", "harmful"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"run":"a"}', "`label` must be `benign` or `harmful`, not None"),
        ('{"run":"a","label":"bening"}', "`label` must be `benign` or `harmful`, not 'bening'"),
        ('{"label":"benign"}', "`run` must be a text that names a run"),
        ('{"run":"/","label":"benign"}', "`run` must be a text that names a run"),
        ("oops", "VGL601"),
    ],
)
def test_a_label_that_is_none_is_refused(vigil: Vigil, write: Write, line: str, message: str) -> None:
    result = vigil("replay", RULES, SHOP, "--labels", write("labels.jsonl", line + "\n"))
    assert (result.status, result.out) == (2, "")
    assert message in result.err


# --- figures ------------------------------------------------------------------------------------------------


def test_confirmations_are_counted_by_day_or_by_run(vigil: Vigil) -> None:
    out = vigil("replay", RULES, SHOP, DAYS).out
    assert "confirmations: 2 on 2 days with calls, 1.0 a day, 2 at most (2026-01-06)\n" in out
    assert "confirmations: 1 in 1 run without times, 1.0 a run\n" in out
    assert re.search(r"^time per decision: .* \(p50\), .* \(p99\), .* \(max\)$", out, re.MULTILINE)


# --- certificates -------------------------------------------------------------------------------------------


def test_the_solver_confirms_decisions_and_what_a_run_comes_to(vigil: Vigil) -> None:
    (shop,) = objects(vigil("replay", RULES, SHOP, "--certify", "all", "--format", "json"))
    reasons = [statement for decision in shop["decisions"] for statement in decision["statements"]]
    assert [reason["solver"]["core"] for reason in reasons] == [["by_hand@e2"], ["checked@e4"], ["refunds@e5"]]
    answers = {each["statement"]: each["result"] for each in shop["end"]["solver"]}
    assert [name for name, result in answers.items() if result == "unsat"] == shop["end"]["violated"]
    screen = vigil("replay", RULES, SHOP, "--certify", "violations").out
    assert "blocked: checked (confirmed by Z3: 1 of 1)\n" in screen


def test_what_rests_on_calls_in_flight_alone_has_no_certificate(vigil: Vigil, write: Write) -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": name, "input": {}} for n, name in enumerate(("a", "b"))]
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "done"} for n in range(2)]
    messages = [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    run = write("r.json", json.dumps({"messages": messages}))
    policy = write("a.vgl", "statement A: prec(b(), a())\nstatement B: abs(x()) after b()\n")
    (found,) = objects(vigil("replay", policy, run, "--certify", "violations", "--format", "json"))
    assert decided(found) == {"e1": "pass", "e2": "block"}
    (reason,) = found["decisions"][1]["statements"]
    assert reason["solver"]["core"] == ["A@e2"]  # without the call in flight there is no guard


def test_a_solver_that_disagrees_is_a_fault_of_the_tool(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    def disagree(*_: object) -> None:
        raise SolverDisagrees("it says sat")

    monkeypatch.setattr("vigil_lang.engines.smt.breach.Breaches.certified", disagree)
    result = vigil("replay", RULES, SHOP, "--certify", "violations")
    assert result.status == 3
    assert "VGL901" in result.err
    assert "the solver did not confirm a decision: it says sat" in result.err


# --- statuses and errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ((), 1),
        (("--statement", "by_hand"), 1),
        (("--statement", "by_hand", "--fail-level", "warning"), 0),
        (("--statement", "keys"), 1),
        (("--fail-level", "never"), 0),
    ],
)
def test_the_status_is_that_of_what_reaches_the_fail_level(vigil: Vigil, more: tuple[str, ...], status: int) -> None:
    assert vigil("replay", RULES, SHOP, *more).status == status


def test_a_broken_recording_does_not_stop_the_others(vigil: Vigil, write: Write) -> None:
    broken = write("b.jsonl", '{"action":"a"}\n{oops\n')
    result = vigil("replay", RULES, broken, SHOP, write("empty.jsonl", ""), "--format", "json")
    assert result.status == 2
    assert [found["run"]["path"] for found in objects(result)] == [SHOP]
    assert "b.jsonl:2:2: VGL601" in result.err
    assert "VGL605" in result.err
    told = vigil("verify", RULES, broken, "--format", "json").err
    assert told in result.err


def test_a_run_without_calls_is_let_pass_where_asked(vigil: Vigil, write: Write) -> None:
    result = vigil("replay", RULES, write("empty.jsonl", ""), "--allow-empty")
    assert result.status == 0
    assert "0 calls" in result.out
    assert "VGL605" in result.err


def test_a_result_that_would_not_be_whole_is_not_saved(vigil: Vigil, write: Write, tmp_path: Path) -> None:
    target = tmp_path / "result"
    result = vigil("replay", RULES, SHOP, write("b.jsonl", "oops\n"), "-o", target)
    assert result.status == 2
    assert "is not written: the result would not be whole" in result.err
    assert not target.exists()
    assert vigil("replay", RULES, SHOP, "-o", target, "--format", "concise").out == ""
    assert target.read_text(encoding="utf-8") == vigil("replay", RULES, SHOP, "--format", "concise").out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((RULES,), "There is no run beside the policy"),
        ((SHOP,), "There is no policy beside the run"),
        ((RULES, SHOP, "--statement", "chekked"), "Did you mean 'checked'?"),
        ((RULES, SHOP, "--set", "a=1"), "no policy has a param 'a'"),
        ((RULES, SHOP, "--labels", "missing.jsonl"), "VGL001"),
        ((RULES, SHOP, "--against", "missing.vgl"), "VGL001"),
        ((RULES, SHOP, "--skills", "missing"), "--skills: there is no folder 'missing'"),
        ((RULES, SHOP, "--jobs", "0"), "--jobs"),
    ],
)
def test_a_call_that_makes_no_sense_has_status_2(vigil: Vigil, args: tuple[str, ...], message: str) -> None:
    result = vigil("replay", *args)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_run_may_come_from_standard_input(vigil: Vigil) -> None:
    run = '{"action":"warpAffine","args":{"transform":"M"},"status":"ok"}\n'
    result = vigil("replay", DASHCAM, "-", "--format", "concise", stdin=run.encode())
    assert (result.status, result.out.split(":")[0]) == (1, "<stdin>")


def test_hostile_texts_act_on_no_terminal(vigil: Vigil, write: Write) -> None:
    line = {"event": "a\nb\x1b[1m", "call": "c\u202e", "action": "x", "args": {"\u2028": "::error::\x07"}}
    run = write("r\u202e.jsonl", json.dumps(line) + "\n")
    for format_ in ("human", "concise", "json", "junit", "markdown"):
        out = vigil("replay", write("a.vgl"), run, "--format", format_).out
        assert all(char.isprintable() or char == "\n" for char in out), format_


# --- processes ----------------------------------------------------------------------------------------------


def test_processes_give_the_same_in_the_same_order(vigil: Vigil, write: Write) -> None:
    runs = [write(f"r{n}.jsonl", '{"action":"pay","args":{"invoice":"1"}}\n' * n) for n in range(WORTH_A_PROCESS)]
    runs.append(write("broken.jsonl", "oops\n"))
    for more in (("--format", "concise"), ("--format", "junit", "--as-if-blocked"), ("--against", DASHCAM)):
        alone = vigil("replay", RULES, *runs, "--allow-empty", "--jobs", "1", *more)
        together = vigil("replay", RULES, *runs, "--allow-empty", "--jobs", "2", *more)
        assert (alone.status, alone.out, alone.err) == (together.status, together.out, together.err)
        assert alone.status == 2
