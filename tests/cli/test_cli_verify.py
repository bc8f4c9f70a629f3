"""`vigil verify`: the screen, the lines, the JSON, and the exit status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import DASHCAM, FIXTURES, REPAIRED, VIOLATING

from vigil_lang.engines.smt.solve import SolverDisagrees

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Golden, Vigil, Write

TOUR = (f"{FIXTURES}/tour.vgl", f"{FIXTURES}/tour.jsonl")


def test_the_running_example_names_the_call_and_the_near_miss(vigil: Vigil, golden: Golden) -> None:
    result = vigil("verify", DASHCAM, VIOLATING)
    assert (result.status, result.err) == (1, "")
    golden("dashcam.txt", result.out)


def test_the_repaired_run_is_safe(vigil: Vigil, golden: Golden) -> None:
    result = vigil("verify", DASHCAM, REPAIRED)
    assert (result.status, result.err) == (0, "")
    golden("dashcam-repaired.txt", result.out)


def test_every_kind_of_verdict_has_its_place_on_the_screen(vigil: Vigil, golden: Golden) -> None:
    result = vigil("verify", *TOUR, "--no-check")
    assert result.status == 1
    assert "\x1b" not in result.out
    golden("tour.txt", result.out)


def test_several_runs_get_a_line_each_and_a_sum(vigil: Vigil, golden: Golden, write: Write) -> None:
    broken = write("broken.jsonl", '{"action":"a"}\n{oops\n')
    result = vigil("verify", "examples/dashcam", REPAIRED, broken, "--no-check")
    assert result.status == 2
    assert "VGL601" in result.err
    assert "broken.jsonl:2:2" in result.err
    golden("several.txt", result.out)


def test_concise_is_one_line_an_offence(vigil: Vigil) -> None:
    result = vigil("verify", DASHCAM, "examples/dashcam", "--format", "concise")
    assert result.status == 1
    assert result.out == f"{VIOLATING}:6:e5: R3 `M` was consumed before anything validated it\n"


def test_concise_stays_on_its_line_whatever_the_run_holds(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", json.dumps({"event": "a\nb\x1b[1m", "action": "x"}) + "\n")
    result = vigil("verify", write("a.vgl"), run, "--format", "concise")
    assert result.out.count("\n") == 1
    assert ":a\\nb\\x1b[1m: A " in result.out


# --- the published form ------------------------------------------------------------------------------------


def is_verdict(found: dict[str, Any]) -> None:
    """Hold an object against `vigil.verdict/1` (design, section 6)."""
    assert list(found) == ["schema", "trace", "verdict", "vacuous", "statements"]
    assert found["schema"] == "vigil.verdict/1"
    required = {"path", "events", "calls", "unseen"}
    optional = {"unseen_events", "not_executed", "records", "not_understood"}
    assert required <= set(found["trace"]) <= required | optional
    assert all(isinstance(found["trace"][name], int) for name in ("events", "calls", "unseen"))
    assert 0 <= found["trace"]["unseen"] <= found["trace"]["calls"] <= found["trace"]["events"]
    assert found["vacuous"] == (bool(found["statements"]) and all(s["vacuous"] for s in found["statements"]))
    violated = False
    for statement in found["statements"]:
        assert set(statement) == {"policy", "name", "form", "verdict", "vacuous", "offending", "solver"}
        assert statement["verdict"] in ("satisfied", "violated")
        assert isinstance(statement["vacuous"], bool)
        assert bool(statement["offending"]) == (statement["verdict"] == "violated")
        violated = violated or bool(statement["offending"])
        indexes = [offence["index"] for offence in statement["offending"]]
        assert indexes == sorted(set(indexes))
        for offence in statement["offending"]:
            required = {"event", "index", "call", "bindings", "message", "near_misses"}
            assert required <= set(offence) <= required | {"forbidden"}
            assert 0 <= offence["index"] < found["trace"]["events"]
            assert all(value is None or isinstance(value, str) for value in offence["bindings"].values())
            assert all(set(miss) == {"event", "why"} for miss in offence["near_misses"])
        solver = statement["solver"]
        assert set(solver) == {"name", "result", "core", "seconds"}
        assert (solver["result"] == "unsat") == (statement["verdict"] == "violated") == bool(solver["core"])
        assert solver["seconds"] >= 0
    assert found["verdict"] == ("unsafe" if violated else "safe")


@pytest.mark.parametrize("args", [(DASHCAM, VIOLATING), (DASHCAM, REPAIRED), TOUR])
def test_json_is_the_published_form(vigil: Vigil, args: tuple[str, str]) -> None:
    # spec RC-1
    result = vigil("verify", *args, "--format", "json")
    is_verdict(json.loads(result.out))
    assert result.out.isprintable() or result.out.rstrip("\n").isprintable()


def test_json_of_several_runs_is_a_line_each_in_order(vigil: Vigil) -> None:
    # spec RC.1-1
    result = vigil("verify", DASHCAM, VIOLATING, REPAIRED, "--format", "json")
    verdicts = [json.loads(line) for line in result.out.splitlines()]
    assert [(v["trace"]["path"], v["verdict"]) for v in verdicts] == [(VIOLATING, "unsafe"), (REPAIRED, "safe")]


def test_what_goes_wrong_beside_json_is_one_line_on_standard_error(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", DASHCAM, REPAIRED, write("b.jsonl", "oops\n"), "--format", "json")
    assert result.status == 2
    is_verdict(json.loads(result.out))
    assert result.err.count("\n") == 1
    assert "b.jsonl:1:1: VGL601" in result.err


# --- what is judged ----------------------------------------------------------------------------------------


def test_a_run_comes_from_standard_input(vigil: Vigil) -> None:
    result = vigil("verify", DASHCAM, "-", "--format", "concise", stdin=b'{"action":"sample_video","args":{"fps":5}}\n')
    assert result.status == 1
    assert result.out.startswith("<stdin>:e1: R0 ")


def test_only_the_named_statements_are_judged(vigil: Vigil) -> None:
    result = vigil("verify", DASHCAM, VIOLATING, "--statement", "R1", "--statement", "R0", "--format", "json")
    assert [s["name"] for s in json.loads(result.out)["statements"]] == ["R0", "R1"]
    assert result.status == 0


def test_values_from_outside_reach_the_policy(vigil: Vigil, write: Write) -> None:
    policy = write("p.vgl", "param rate: number = 6\nstatement A: abs(sample_video(fps < rate))\n")
    params = write("p.toml", "rate = 7.5\nunused = 1\n")
    assert vigil("verify", policy, REPAIRED).status == 0
    assert vigil("verify", policy, REPAIRED, "--set", "rate=7").status == 1
    assert vigil("verify", policy, REPAIRED, "--params", params).status == 1
    assert vigil("verify", policy, REPAIRED, "--params", params, "--set", "rate=6").status == 0


def test_a_run_without_events_is_told_where_it_is_allowed(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", DASHCAM, write("empty.jsonl", ""), "--allow-empty")
    assert result.status == 0
    assert "warning[VGL605]: the run holds no events" in result.err
    assert "4 statements hold, 3 of them vacuously" in result.out


def test_the_verdict_goes_to_a_file(vigil: Vigil, tmp_path: Path) -> None:
    target = tmp_path / "verdict.json"
    result = vigil("verify", DASHCAM, VIOLATING, "--format", "json", "-o", target)
    assert (result.status, result.out, result.err) == (1, "", "")
    is_verdict(json.loads(target.read_text(encoding="utf-8")))


def test_names_that_the_run_does_not_know_are_shown_beside_the_verdict(vigil: Vigil, write: Write) -> None:
    # spec R6-3
    policy = write("p.vgl", "statement A: abs(sample_vidoe(fps = 5))\n")
    result = vigil("verify", policy, REPAIRED)
    assert (result.status, result.err) == (0, "")
    assert "The policy in the light of this run:" in result.out
    assert "`sample_vidoe`" in result.out
    assert f"--trace {REPAIRED}" in result.out
    for quiet in (["--no-check"], ["--format", "json"], ["--format", "concise"]):
        assert "The policy in the light" not in vigil("verify", policy, REPAIRED, *quiet).out


def test_many_doubts_are_limited_and_each_is_said_once(vigil: Vigil, write: Write) -> None:
    names = ["sample_videos", "track_feature", "estimate_N", "load_frames", "emit_masks", "warpAffin"]
    lines = [f"statement A{n}: abs({name}())" for n, name in enumerate(names * 2)]
    out = vigil("verify", write("p.vgl", "\n".join(lines)), REPAIRED, VIOLATING).out
    assert "The policy in the light of these runs:" in out
    assert "`sample_videos` in any of the 2 runs (2 times); did you mean `sample_video`?" in " ".join(out.split())
    assert "and 2 more; vigil check POLICY --trace RUN" in out


def test_a_rule_that_no_run_puts_to_the_test_is_named_where_there_are_many(vigil: Vigil, write: Write) -> None:
    policy = write("p.vgl", "statement Unused: prec(deploy(), test())\n")
    assert "`deploy`" not in vigil("verify", policy, REPAIRED).out
    out = vigil("verify", policy, REPAIRED, VIOLATING).out
    assert "no action `deploy` in any of the 2 runs" in " ".join(out.split())


# --- what cannot be judged ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([DASHCAM], "There is no run beside the policy"),
        ([VIOLATING], "There is no policy beside the run"),
        ([DASHCAM, VIOLATING, "--statement", "r3"], "No policy has a statement 'r3'. Did you mean 'R3'?"),
        ([DASHCAM, VIOLATING, "--statement", "zzz"], "There is R0, R1, R2, R3."),
        ([DASHCAM, VIOLATING, "--set", "x=1"], "no policy has a param 'x'. There is none."),
        ([DASHCAM, VIOLATING, "--set", "x"], "--set takes NAME=VALUE, not 'x'."),
        ([DASHCAM, VIOLATING, "--format", "xml"], "'xml' is not one of"),
        ([DASHCAM, "missing.jsonl"], "there is no file or folder `missing.jsonl`"),
        ([DASHCAM, "examples/dashcam/violatin.jsonl"], "did you mean `examples/dashcam/violating.jsonl`?"),
        ([DASHCAM, VIOLATING, "-o", "/nowhere/at/all"], "cannot write `/nowhere/at/all`"),
        ([], "Missing argument"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(vigil: Vigil, args: list[str], message: str) -> None:
    result = vigil("verify", *args)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert "Traceback" not in result.err


def test_a_policy_that_does_not_parse_is_not_judged_by(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", write("a.vgl", "statement A: abs("), write("b.vgl", "statement B: abs(p(x, y)"), VIOLATING)
    assert (result.status, result.out) == (2, "")
    assert "a.vgl:1:18" in result.err
    assert "b.vgl:1:" in result.err
    assert "2 errors" in result.err


def test_a_policy_without_statements_is_not_safe(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", write("a.vgl", "let X = {a}\n"), VIOLATING)
    assert result.status == 2
    assert "There is no statement to judge by" in result.err


def test_a_solver_that_disagrees_is_a_fault_of_the_tool(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    # spec RB.4-2
    def disagree(*_: object) -> None:
        raise SolverDisagrees("R3: the facts say 1 event offends, Z3 says sat")

    monkeypatch.setattr("vigil_lang.engines.smt.verify.verify", disagree)
    result = vigil("verify", DASHCAM, VIOLATING)
    assert result.status == 3
    assert "error[VGL901]: the solver did not confirm the verdict: R3" in result.err
