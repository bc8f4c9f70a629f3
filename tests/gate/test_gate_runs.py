"""Runs at enforcement points: docs/gate.md, "Runs at enforcement points"."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from runs_support import HELD, SKILL, TESTED, Point, names

from vigil_lang.gate.entering import Ended
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.request import Request
from vigil_lang.gate.setup import ensure
from vigil_lang.gate.state import StateError
from vigil_lang.gate.status import status_of
from vigil_lang.trace.record import Message


@pytest.fixture
def point(tmp_path: Path) -> Point:
    point = Point(tmp_path, tested=TESTED, held=HELD)
    assert point.gate.enter(point.entering("tested", "held")) == ()
    return point


# --- a run's own policies ---


def test_a_run_goes_by_its_own_policies_and_others_do_not(point: Point) -> None:
    assert point.mode("Deploy", target="prod") == "block"
    assert point.mode("Pay", amount=1) == "hold"
    assert point.opened().policies.policies == ()
    start = next(entry for entry in point.entries() if entry["kind"] == "run_start")
    assert (start["host"], start["own"], start["outcomes"]) == ("claude", True, "reported")
    assert (point.state / "policies" / f"{start['policy_digest']}.json").exists()
    point.check()


def test_entering_again_changes_nothing(point: Point) -> None:
    before = point.kinds()
    point.write("held", "policy held")
    point.gate.enter(point.entering("tested"))
    point.gate = point.opened()
    point.gate.enter(point.entering("tested"))
    assert point.kinds() == before
    assert point.mode("Pay", amount=1) == "hold"
    point.check()


def test_a_run_that_goes_on_waits_for_no_lock(point: Point, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked() -> None:
        raise StateError("somebody has the lock")

    entering, changes = point.entering("tested"), point.entering("tested", apply_changes=True)
    with monkeypatch.context() as held:
        held.setattr(point.gate.storage, "lock", locked)
        assert point.gate.has_begun(entering.run)
        assert point.gate.enter(entering) == ()
        with pytest.raises(StateError, match="somebody"):
            point.gate.enter(changes)
        with pytest.raises(StateError, match="somebody"):
            point.gate.has_begun("another")
        assert point.mode("Deploy", target="a") == "block"  # what decides does wait, and says why it blocks
    assert point.gate.enter(changes) == ()


def test_a_run_that_began_without_policies_of_its_own_gets_them(tmp_path: Path) -> None:
    point = Point(tmp_path, tested=TESTED)
    assert point.mode("Deploy", target="a") == "pass"
    for _ in range(2):
        point.gate.enter(point.entering("tested"))
        assert point.mode("Deploy", target="a") == "block"
        point.gate = point.opened()
    assert point.kinds().count("run_policy") == 1
    point.check()


def test_what_the_workspace_brings_lowers_nothing(tmp_path: Path) -> None:
    point = Point(tmp_path, held=HELD)
    loose = "policy loose\nrule loose: when Pay() then pass relaxes payments\nrule stop: when Stop() then block\n"
    loose += "rule softer: when Rm() then hold relaxes protected_files\n"
    (first, second) = point.gate.enter(point.entering("held", workspace=(point.write("loose", loose),)))
    assert "`loose` (" in first
    assert "loose.vgl:2:6) is left out: policies of a workspace lower no rule" in first
    assert "`softer`" in second
    assert [point.mode("Pay"), point.mode("Stop"), point.mode("Rm")] == ["hold", "block", "pass"]
    point.gate = point.opened()
    assert [point.mode("Pay"), point.mode("Stop"), point.mode("Rm")] == ["hold", "block", "pass"]
    point.check()


def test_two_policies_of_a_run_may_have_rules_of_one_name(tmp_path: Path) -> None:
    point = Point(tmp_path)
    one, two = (point.write(name, f"policy {name}\nrule R1: when {name}() then block\n") for name in ("a", "b"))
    point.gate.enter(point.entering(workspace=(one, two, one)))
    told = [point.ask(name).decision.reasons[0].name for name in ("a", "b")]
    assert told == ["R1", "b.R1"]
    point.gate = point.opened()
    assert point.ask("b").decision.reasons[0].name == "b.R1"


def test_a_policy_with_findings_is_an_error_with_its_place(tmp_path: Path) -> None:
    point = Point(tmp_path, broken="policy broken\nstatement s: prec(a(x = y), nothing\n")
    with pytest.raises(StateError, match=r"broken\.vgl:2:\d+ has no meaning"):
        point.gate.enter(point.entering("broken"))
    with pytest.raises(StateError, match="has no meaning"):
        point.gate.enter(point.entering("absent"))
    assert "run_start" not in point.kinds()


def test_protected_files_are_protected_by_the_organisation(tmp_path: Path) -> None:
    point = Point(tmp_path)
    point.gate.enter(point.entering(protected=(str(point.state), f"{point.state}/*")))
    answer = point.ask("Write", file_path=f"{point.state}/gate.toml", content="x")
    assert answer.decision.mode == "block"
    assert answer.decision.reasons[0].layer == "organisation"
    assert point.mode("Write", file_path=str(tmp_path / "x"), content="x") == "pass"
    point.check()


def test_policies_whose_bundle_is_gone_block(point: Point) -> None:
    for kept in (point.state / "policies").iterdir():
        kept.unlink()
    point.gate = point.opened()
    answer = point.ask("Look")
    assert (answer.decision.mode, answer.is_fault) == ("block", True)
    assert "policies" in answer.decision.reasons[0].message


# --- policies that join or change ---


def test_a_skill_that_joins_is_judged_by_what_went_before(point: Point) -> None:
    assert point.mode("Read", "c1", file="secret") == "pass"
    point.end("Read", "c1", file="secret")
    assert point.mode("Send") == "pass"
    skill = point.write("skill", SKILL)
    assert point.gate.extend("r1", [skill])
    assert not point.gate.extend("r1", [skill])
    assert point.mode("Send") == "block"
    point.mode("Confirm", "c2")
    point.end("Confirm", "c2")
    assert point.mode("Send") == "pass"
    assert point.kinds().count("run_policy") == 1
    point.check()
    point.gate = point.opened()
    assert point.mode("Deploy", target="prod") == "block"
    assert [run.policy for run in point.gate.store.runs()] == [point.entries()[-1]["policy_digest"]]


def test_a_changed_policy_is_noted_once_and_the_run_keeps_what_it_has(point: Point) -> None:
    assert point.gate.changes("r1") == ()
    path = point.write("held", HELD.replace("hold", "block"))
    for _ in range(2):
        assert point.gate.changes("r1") == (path,)
        point.gate = point.opened()
    assert point.mode("Pay") == "hold"
    Path(path).unlink()
    assert point.gate.changes("r1") == (path,)
    digests = [entry["digest"] for entry in point.entries() if entry["kind"] == "policy_change"]
    assert len(digests) == 2
    assert digests[1] is None


def test_changes_are_applied_where_the_registration_says_so(point: Point) -> None:
    skill = point.write("skill", "policy skill\nrule quiet: when Send() then block\n")
    point.gate.extend("r1", [skill])
    point.write("held", HELD.replace("hold", "block"))
    point.gate.enter(point.entering("tested", "held", apply_changes=True))
    assert [point.mode("Pay"), point.mode("Send")] == ["block", "block"]
    before = point.kinds()
    point.gate.enter(point.entering("tested", "held", apply_changes=True))
    assert point.kinds() == before
    Path(skill).unlink()
    point.gate.enter(point.entering("tested", apply_changes=True))
    assert [point.mode("Pay"), point.mode("Send")] == ["pass", "block"]
    point.check()


# --- calls by the host's ids ---


def test_asking_twice_gives_the_same_answer_and_one_call(point: Point) -> None:
    first = point.ask("Test", "c1", target="prod")
    again = point.ask("Test", "c1", target="prod")
    point.gate = point.opened()
    restarted = point.ask("Test", "c1", target="prod")
    assert first.seq == again.seq == restarted.seq
    assert first.decision.mode == "pass"
    assert [str(each) for each in first.decision.reasons] == [str(each) for each in again.decision.reasons]
    assert [event.action for event in restarted.events] == ["Test"]
    assert point.made() == [("Test", "unknown")]
    assert point.kinds().count("decision") == 1


def test_an_id_that_stands_for_another_call_blocks_for_good(point: Point) -> None:
    assert point.mode("Test", "c1", target="prod") == "pass"
    for _ in range(2):
        answer = point.ask("Remove", "c1", target="prod")
        assert answer.decision.mode == "block"
        assert answer.decision.reasons[0].message == "the id c1 is that of another call"
        point.gate = point.opened()
    point.check()


def test_outcomes_come_by_id_or_by_what_the_call_was(point: Point) -> None:
    point.ask("Test", "c1", target="a")
    point.ask("Test", "c2", target="a")
    point.ask("Test", target="a")
    assert point.end("Test", "c2", "error", target="a") == []
    assert point.end("Test", None, "ok", target="a") == []
    assert point.made() == [("Test", "ok"), ("Test", "error"), ("Test", "unknown")]
    assert point.end("Test", "c2", "ok", target="a") == []  # it is known already
    assert point.made() == [("Test", "ok"), ("Test", "error"), ("Test", "unknown")]
    assert "unasked" not in point.kinds()
    assert point.mode("Deploy", target="a") == "pass"
    point.check()


def test_a_call_that_was_not_made_after_all_leaves_nothing(point: Point) -> None:
    point.ask("Test", "c1", target="a")
    point.gate.ended("r1", Ended("Test", {"target": "a"}, "unknown", call="c1", executed=False))
    assert point.made() == []
    point.gate.ended("r1", Ended("Other", {}, call="c9", executed=False))
    assert "unasked" not in point.kinds()
    assert point.mode("Deploy", target="a") == "block"
    point.check()


@pytest.mark.parametrize("call", ["c1", None])
def test_a_call_that_was_made_against_the_answer_is_part_of_the_run(point: Point, call: str | None) -> None:
    assert point.mode("Deploy", call, target="a") == "block"
    for _ in range(2 if call else 1):
        found = point.gate.ended("r1", Ended("Deploy", {"target": "a"}, "ok", "done", call=call))
    assert point.kinds().count("unasked") == 1
    assert point.made() == [("Deploy", "ok")]
    if call is None:
        assert names(found) == ["tested"]
    point.gate = point.opened()
    assert point.made() == [("Deploy", "ok")]
    point.check()


def test_a_call_that_was_made_with_other_arguments_takes_the_place_of_the_one_that_passed(point: Point) -> None:
    point.ask("Test", "c1", target="a")
    for _ in range(2):
        point.end("Test", "c1", target="b")
    assert point.made() == [("Test", "ok")]
    assert [point.mode("Deploy", target=target) for target in "ab"] == ["block", "pass"]
    point.check()


def test_a_host_that_does_not_repeat_the_input_names_the_call(point: Point) -> None:
    point.ask("Test", "c1", target="a")
    for _ in range(2):
        point.gate.ended("r1", Ended("Test", None, "ok", call="c1"))
    assert point.made() == [("Test", "ok")]
    assert point.kinds().count("outcome") == 1


def test_what_cannot_be_logged_makes_the_run_unjudgeable(point: Point) -> None:
    point.gate.ended("r1", Ended("Count", {"n": 2**60}, "ok", "\ud800"))
    answer = point.ask("Look")
    assert answer.decision.mode == "block"
    assert "cannot be judged" in answer.decision.reasons[0].message


def test_sub_agents_and_directories_are_those_of_the_call(point: Point) -> None:
    def ask(call: str, command: str, **more: str) -> tuple[str, ...]:
        request = Request("r1", "claude", "Bash", {"command": command}, call=call, outcomes="reported", **more)
        answer = point.gate.decide(request)
        point.gate.ended("r1", Ended("Bash", {"command": command}, "ok", call=call))
        return next(event.args["path"] for event in answer.events if event.action == "rm")

    assert ask("c1", "rm x", directory="/srv/a") == ("/srv/a/x",)
    point.gate = point.opened()
    assert ask("c2", "cd /tmp && rm x", session="sub", parent="c1") == ("/tmp/x",)
    entry = point.entries()[-2]
    assert (entry["call"], entry["session"], entry["parent"]) == ("c2", "sub", "c1")
    point.check()


def test_an_approval_is_for_the_directory_that_was_shown(point: Point) -> None:
    folders = ("/a", "/b", "/a")
    holds = [point.gate.decide(Request("r1", "claude", "Pay", {}, directory=each)).hold for each in folders]
    assert all(holds)
    assert holds[0].id == holds[2].id != holds[1].id  # type: ignore[union-attr]


def test_what_is_observed_is_made_whatever_the_answer(point: Point) -> None:
    answer = point.ask("Pay", "c1", observe=True, amount=1)
    assert (answer.decision.mode, answer.hold, answer.observed) == ("hold", None, True)
    assert point.ask("Pay", "c1", observe=True, amount=1).seq == answer.seq
    assert point.ask("Deploy", "c2", observe=True, target="a").decision.mode == "block"
    point.end("Deploy", "c2", "ok", target="a")
    assert point.made() == [("Pay", "unknown"), ("Deploy", "ok")]
    assert point.gate.store.holds() == []
    point.gate = point.opened()
    assert point.made() == [("Pay", "unknown"), ("Deploy", "ok")]
    point.check()


# --- messages, turns, halts ---


def test_messages_are_part_of_the_run_and_not_of_the_log(tmp_path: Path) -> None:
    point = Point(tmp_path, asked="policy asked\nstatement asked: prec(Send(), user.message(text ~ /please send/))\n")
    point.gate.enter(point.entering("asked"))
    assert point.mode("Send") == "block"
    point.gate.say("r1", Message("agent", "please send it"))
    assert point.mode("Send") == "block"
    point.gate.say("r1", Message("user", "please send it, Ann \ud800"))
    assert point.mode("Send") == "pass"
    assert "Ann" not in (point.state / "log.jsonl").read_text(encoding="utf-8")
    point.gate = point.opened()
    assert point.mode("Send") == "pass"
    point.check()


def test_a_message_does_not_end_a_call_in_flight(point: Point) -> None:
    point.ask("Test", "c1", target="a")
    point.gate.say("r1", Message("user", "hurry"))
    assert point.end("Test", "c1", target="a") == []
    assert point.mode("Deploy", target="a") == "pass"


def test_a_turn_that_ends_ends_its_calls_and_tells_what_is_owed(point: Point) -> None:
    point.ask("Test", "c1", target="a")
    point.gate.decide(Request("r1", "claude", "Open", {"file": "f"}, call="c2", session="sub"))
    (owed,) = point.gate.turn_ended("r1")
    assert owed.name == "closed"
    assert point.mode("Deploy", target="a") == "block"  # how the test ended is not known
    point.end("Test", "c1", target="a")  # too late
    assert point.mode("Deploy", target="a") == "block"
    assert "unasked" not in point.kinds()
    point.end("Open", "c2", file="f")
    point.ask("Close", "c3", file="f")
    point.end("Close", "c3", file="f")
    assert point.gate.turn_ended("r1") == ()
    point.check()


def test_a_halted_run_makes_no_call(point: Point) -> None:
    point.gate.halt("r1", "it deploys\non a friday")
    point.gate = point.opened()
    answer = point.ask("Look")
    assert answer.decision.mode == "block"
    assert "the run is halted: it deploys" in answer.decision.reasons[0].message
    assert status_of(point.gate)["runs"][0]["halted"].startswith("it deploys")
    point.gate.halt("r1", "again")
    point.gate.resume("r1")
    point.gate.resume("r1")
    assert point.mode("Look") == "pass"
    assert [kind for kind in point.kinds() if kind in ("halt", "resume")] == ["halt", "resume"]
    point.check()


def test_a_run_that_did_not_begin_is_none(tmp_path: Path) -> None:
    gate = Point(tmp_path).gate
    for ask in (
        lambda: gate.halt("r", "x"),
        lambda: gate.resume("r"),
        lambda: gate.changes("r"),
        lambda: gate.extend("r", []),
        lambda: gate.turn_ended("r"),
        lambda: gate.say("r", Message("user", "x")),
        lambda: gate.ended("r", Ended("x", {})),
    ):
        with pytest.raises(ValueError, match="there is no run r"):
            ask()
    with pytest.raises(ValueError, match="no status of a call"):
        gate.ended("r", Ended("x", {}, "done"))  # type: ignore[arg-type]


# --- the state folder ---


def test_a_state_folder_is_made_once_by_whoever_is_first(tmp_path: Path) -> None:
    state = tmp_path / "a" / "state"
    threads = [threading.Thread(target=ensure, args=(state,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.name for each in state.parent.iterdir()] == ["state"]
    assert state.stat().st_mode & 0o777 == 0o700
    gate = Gate(state)
    assert (gate.settings.authority.mode, gate.policies.policies, gate.settings.workspace) == ("open", (), None)
    before = (state / "gate.toml").read_bytes()
    ensure(state)
    assert (state / "gate.toml").read_bytes() == before


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir(mode=0o755)
    ensure(tmp_path / "empty", tmp_path / "work")
    assert Gate(tmp_path / "empty").settings.workspace == str(tmp_path / "work")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    ensure(tmp_path / "full")
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["x"]
    with pytest.raises(StateError, match="lies in the workspace"):
        ensure(tmp_path / "work" / "state", tmp_path / "work")
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="cannot be made"):
        ensure(tmp_path / "file" / "state")
