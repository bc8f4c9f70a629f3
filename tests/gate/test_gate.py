"""The gate as a whole: what passes, is held and blocked, and that each known failure of other gates is none here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from gate_support import PERSONAL, World, request

from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.request import request_of
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from pathlib import Path


def names(answer: object) -> list[str]:
    return [f"{each.asks} {each.name}" for each in answer.decision.reasons]  # type: ignore[attr-defined]


def test_pass(world: World) -> None:
    answer = world.ask("get_weather", city="Bern")
    assert answer.decision.mode == "pass"
    assert names(answer) == ["pass open"]
    assert world.kinds() == ["policy", "run_start", "decision"]
    assert answer.seq == 2


def test_hold_confirm_pass_once(world: World) -> None:
    held = world.ask("pay", amount=700, to="acme")
    assert (held.decision.mode, held.decision.who) == ("hold", "organisation")
    assert held.decision.record == (("amount", ("700",)), ("recipient", ("acme",)))
    assert world.ask("pay", amount=700, to="acme").hold == held.hold  # it waits: the same question is not asked twice
    world.confirm(held)
    passed = world.ask("pay", amount=700, to="acme")
    assert passed.decision.mode == "pass"
    assert held.hold is not None
    assert passed.decision.approvals == (held.hold.id,)
    assert names(passed) == ["pass open", "hold large"]
    again = world.ask("pay", amount=700, to="acme")
    assert again.decision.mode == "hold"
    assert again.hold is not None
    assert again.hold.id != held.hold.id


def test_hold_deny(world: World) -> None:
    held = world.ask("pay", amount=700, to="acme")
    world.deny(held)
    again = world.ask("pay", amount=700, to="acme")
    assert again.decision.mode == "hold"
    assert again.hold is not None
    assert held.hold is not None
    assert again.hold.id != held.hold.id
    assert "denial" in world.kinds()


def test_block_whoever_confirms(world: World) -> None:
    blocked = world.ask("pay", amount=70_000, to="acme")
    assert blocked.decision.mode == "block"
    assert blocked.hold is None
    assert names(blocked) == ["block beyond", "hold large", "pass open"]


def test_a_statement_is_judged_over_the_run(world: World) -> None:
    first = world.ask("pay_invoice", invoice="i7", amount=100)
    assert names(first)[0] == "block looked_at"
    assert first.broken[0].remedy is not None
    world.ask("get_invoice", invoice="i7")
    assert world.ask("pay_invoice", invoice="i7", amount=100).decision.mode == "pass"
    assert world.ask("pay_invoice", invoice="i8", amount=100).decision.mode == "block"


def test_another_process_knows_the_run(world: World) -> None:
    world.ask("get_invoice", invoice="i7")
    other = world.opened()
    assert world.ask("pay_invoice", other, invoice="i7", amount=100).decision.mode == "pass"
    assert world.ask("pay_invoice", other, invoice="i7", amount=100, run="r2").decision.mode == "block"


def test_a_blocked_call_is_no_part_of_the_run(world: World) -> None:
    (world.folder / "organisation.vgl").write_text(
        "policy org\nstatement never: abs(b())\nstatement s: prec(a(), b())\n"
    )
    gate = world.opened()
    assert world.ask("b", gate).decision.mode == "block"
    assert world.ask("a", gate).decision.mode == "block"


def test_a_failed_guard_is_no_guard(world: World) -> None:
    (world.folder / "organisation.vgl").write_text("policy org\nstatement s: prec(deploy(), test() and status = ok)\n")
    gate = world.opened()
    for status, mode in [("error", "block"), ("ok", "pass")]:
        guard = gate.decide(
            request_of({"run": status, "agent": "a", "outcomes": "reported", "action": {"tool": "test", "input": {}}})
        )
        assert guard.seq is not None
        assert world.ask("deploy", gate, run=status).decision.mode == "block"  # issued beside its tests
        gate.outcome(status, guard.seq, status, "done")  # type: ignore[arg-type]
        assert world.ask("deploy", gate, run=status).decision.mode == mode
        assert world.ask("deploy", world.opened(), run=status).decision.mode == mode
    with pytest.raises(ValueError, match="waits for its outcome"):
        gate.outcome("ok", 0, "ok")
    with pytest.raises(ValueError, match="`done` is no status"):
        gate.outcome("ok", 0, "done")  # type: ignore[arg-type]


def test_so_many_wait_and_no_more(tmp_path: Path) -> None:
    world = World(tmp_path, **{"timeout = 300": "timeout = 300\nmost_pending = 3"})
    held = [world.ask("pay", amount=700 + number, to="acme") for number in range(3)]
    assert [answer.decision.mode for answer in held] == ["hold"] * 3
    assert world.ask("pay", amount=700, to="acme").decision.mode == "hold"  # it waits already
    beyond = world.ask("pay", amount=800, to="acme")
    assert (beyond.decision.mode, names(beyond)[0]) == ("block", "block state")
    assert world.ask("pay", amount=800, to="acme", agent="other").decision.mode == "hold"
    world.deny(held[0])
    assert world.ask("pay", amount=800, to="acme").decision.mode == "hold"


def test_a_chain_in_a_request_counts_only_where_that_is_set(world: World) -> None:
    world.set('mode = "open"', 'mode = "chain"')
    given = {"run": "r", "agent": "a", "authority": "/dev/zero", "action": {"tool": "t", "input": {}}}
    answer = world.opened().decide(request_of(given))
    assert names(answer)[0] == "block refused"
    assert "take none from requests" in answer.decision.reasons[0].message
    world.set('mode = "chain"', 'mode = "chain"\npresented = true')
    answer = world.opened().decide(request_of(given))
    assert names(answer)[0] == "block refused"
    assert "is a device, not a file" in answer.decision.reasons[0].message


# --- what others got wrong -----------------------------------------------------------------------------------------


def test_a_timeout_is_no_approval(world: World) -> None:
    held = world.ask("pay", amount=700, to="acme")
    world.wait(301)
    again = world.ask("pay", amount=700, to="acme")
    assert again.decision.mode == "hold"
    assert again.hold != held.hold
    assert "expiry" in world.kinds()
    with pytest.raises(HoldError):
        world.confirm(held)


def test_a_rule_that_cannot_be_evaluated_blocks(world: World) -> None:
    for misfit in ({"amount": "five thousand"}, {"sum": 5000}, {"amount": []}, {}):
        answer = world.ask("pay", to="acme", **misfit)
        assert answer.decision.mode == "block", misfit
        assert answer.decision.reasons[0].kind == "fault"
    assert world.ask("pay", amount="5000", to="acme").decision.mode == "hold"  # a number as a text is one


def test_an_approval_is_for_its_arguments_only(world: World) -> None:
    world.confirm(world.ask("pay", amount=700, to="acme"))
    for other in ({"amount": 701, "to": "acme"}, {"amount": 700, "to": "evil"}, {"amount": 700, "to": "acme", "cc": 1}):
        assert world.ask("pay", **other).decision.mode == "hold"
    assert world.ask("pay", amount=700, to="acme", run="r2").decision.mode == "hold"
    assert world.ask("pay", amount=700, to="acme", agent="other").decision.mode == "hold"
    assert world.ask("pay", amount=700, to="acme").decision.mode == "pass"


def test_an_object_beside_texts_hides_none_of_its_values(tmp_path: Path) -> None:
    """As mail clients take it: `to: ["a@example.com", {"name": …, "address": …}]`."""
    personal = 'policy p\nrule own: when file.write(path ~ "/shop/*") then pass relaxes writes_outside\n'
    world = World(tmp_path, organisation="policy org\n", personal=personal)
    world.set("default = false", "default = true")
    world.set("[params]", '[params]\ninternal_hosts = ["example.com"]')
    gate = world.opened()
    assert world.ask("send_email", gate, to=["a@example.com", "b@example.com"]).decision.mode == "pass"
    assert world.ask("send_email", gate, to=["a@example.com", {"address": "b@evil.com"}]).decision.mode == "hold"
    assert world.ask("Write", gate, file_path=["/shop/a"], content="x").decision.mode == "pass"
    assert world.ask("Write", gate, file_path=["/shop/a", {"path": "/home/b"}], content="x").decision.mode == "hold"


def test_an_approval_of_a_call_is_for_no_events_that_look_like_it(world: World) -> None:
    events = [{"action": "pay", "kinds": ["payment.transfer"], "args": {"amount": ["700"]}}]
    called = world.ask("pay", amount=700, events=events).hold
    told = world.gate.decide(request_of({"run": "r1", "agent": "payer", "events": events})).hold
    assert called is not None
    assert told is not None
    assert called.opened["binding"] != told.opened["binding"]


def test_an_approval_does_not_survive_a_change_of_policy(world: World) -> None:
    world.confirm(world.ask("pay", amount=700, to="acme"))
    (world.folder / "personal.vgl").write_text(PERSONAL + "\n// a remark\n", encoding="utf-8")
    gate = world.opened()
    assert world.ask("pay", gate, amount=700, to="acme").decision.mode == "hold"
    assert world.kinds().count("policy") == 2


def test_an_approval_does_not_lift_what_was_not_shown(world: World) -> None:
    """The invoice was looked at when somebody confirmed; another statement is violated since."""
    (world.folder / "organisation.vgl").write_text(
        "policy org\nrule r: when pay() then hold\n@on_violation(hold)\nstatement s: abs(pay()) after spent()\n"
    )
    gate = world.opened()
    world.gate = gate
    world.confirm(world.ask("pay"))
    world.ask("spent")
    assert world.ask("pay").decision.mode == "hold"


def test_denied_attempts_are_in_the_log(world: World) -> None:
    world.ask("pay", amount=70_000, to="acme")
    entry = world.entries()[-1]
    assert (entry["kind"], entry["mode"]) == ("decision", "block")
    assert [reason["name"] for reason in entry["reasons"]] == ["beyond", "large", "open"]
    assert len(entry["action_digest"]) == len(entry["policy_digest"]) == 64


def test_bad_requests_are_in_the_log(world: World) -> None:
    world.gate.refuse("the request is no JSON")
    assert world.entries()[-1]["message"] == "the request is no JSON"


def test_arguments_are_not_in_the_log(world: World) -> None:
    world.ask("get_weather", city="Timbuktu")
    assert "Timbuktu" not in (world.state / "log.jsonl").read_text(encoding="utf-8")


def test_the_log_is_not_in_the_agents_workspace(world: World, tmp_path: Path) -> None:
    world.set(f'workspace = "{world.workspace}"', f'workspace = "{tmp_path}"')
    with pytest.raises(StateError, match="lies in the workspace"):
        world.opened()


def test_nothing_configured_means_held(world: World) -> None:
    world.set('mode = "open"', 'mode = "chain"')
    answer = world.ask("get_weather", world.opened(), city="Bern")
    assert (answer.decision.mode, names(answer)) == ("hold", ["hold outside"])


def test_a_policy_added_in_mid_run_sees_the_whole_run(world: World) -> None:
    world.ask("leak")
    with (world.folder / "personal.vgl").open("a", encoding="utf-8") as file:
        file.write("\nstatement after_leak: abs(post()) after leak()\n")
    assert world.ask("post", world.opened()).decision.mode == "block"


def test_holds_survive_a_restart(world: World) -> None:
    held = world.ask("pay", amount=700, to="acme")
    assert world.ask("pay", world.opened(), amount=700, to="acme").hold == held.hold
    world.confirm(held)
    assert world.ask("pay", world.opened(), amount=700, to="acme").decision.mode == "pass"


def test_the_clock_that_goes_back_blocks(world: World) -> None:
    world.ask("get_weather")
    world.wait(-3)
    assert world.ask("get_weather").decision.mode == "pass"
    world.wait(-60)
    answer = world.ask("get_weather")
    assert (answer.decision.mode, answer.is_fault) == ("block", True)
    assert "the clock went back" in answer.decision.reasons[0].message


def test_a_clock_that_no_entry_can_tell_leaves_the_log_readable(world: World) -> None:
    world.ask("get_weather")
    now, world.at = world.at, 300_000_000_000 * 1_000_000
    answer = world.ask("get_weather")
    assert (answer.decision.mode, answer.seq) == ("block", None)
    world.at = now
    assert world.ask("get_weather", world.opened()).decision.mode == "pass"


@pytest.mark.folder
@pytest.mark.parametrize("name", ["log.vkey", "checkpoint", "keys/log.pem"])
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(world: World, name: str) -> None:
    world.ask("get_weather")
    path = world.state / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(StateError):
        world.opened().end("r1")


@pytest.mark.folder
def test_a_damaged_log_blocks(world: World) -> None:
    world.ask("get_weather")
    log = world.state / "log.jsonl"
    log.write_bytes(log.read_bytes() + b"{}\n")
    assert world.ask("get_weather").decision.mode == "block"
    with pytest.raises(StateError, match="damaged"):
        world.opened()


@pytest.mark.folder
def test_a_cut_log_blocks(world: World) -> None:
    for _ in range(3):
        world.ask("get_weather")
    log = world.state / "log.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    answer = world.ask("get_weather")
    assert answer.decision.mode == "block"
    assert "cut" in answer.decision.reasons[0].message


@pytest.mark.folder
def test_a_full_disk_blocks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.ask("get_weather")
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if data.startswith(b'{"v":1'):
            write(descriptor, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    size = (world.state / "log.jsonl").stat().st_size
    monkeypatch.setattr(os, "write", full)
    answer = world.ask("get_weather")
    assert (answer.decision.mode, answer.is_fault) == ("block", True)
    assert "No space left" in answer.decision.reasons[0].message
    monkeypatch.undo()
    assert (world.state / "log.jsonl").stat().st_size == size
    assert world.ask("get_weather").decision.mode == "pass"


@pytest.mark.folder
def test_deleted_arguments_block_what_rests_on_them(world: World) -> None:
    world.ask("get_invoice", invoice="i7")
    for suffix in ("", "-wal", "-shm"):
        (world.state / f"args.sqlite{suffix}").unlink(missing_ok=True)
    answer = world.ask("pay_invoice", world.opened(), invoice="i7", amount=100)
    assert answer.decision.mode == "block"
    assert "were deleted" in answer.decision.reasons[0].message


def test_whatever_fails_blocks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vigil_lang.gate.gate.combine", lambda *_: 1 / 0)
    answer = world.ask("get_weather")
    assert answer.decision.mode == "block"
    assert "ZeroDivisionError" in answer.decision.reasons[0].message
    assert world.entries()[-1]["kind"] == "fault"
    monkeypatch.undo()
    assert world.ask("get_weather").decision.mode == "pass"


def test_the_context_is_the_gates_own(world: World) -> None:
    assert world.ask("send_email", to="bob@example.com").decision.mode == "hold"
    world.wait(7 * 3600)
    assert names(world.ask("send_email", to="bob@example.com"))[0] == "block evening"


def test_what_an_agent_calls_context_is_none(world: World) -> None:
    """An argument named like a field of the context is an argument."""
    world.wait(7 * 3600)
    assert world.ask("send_email", to="b@example.com", **{"context.hour": 9}).decision.mode == "block"


def test_32_processes_at_once(world: World) -> None:
    pids = []
    for number in range(32):
        pid = os.fork()
        if pid == 0:
            answer = world.opened().decide(request("get_weather", run=f"r{number % 4}"))
            os._exit(0 if answer.decision.mode == "pass" else 1)
        pids.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 32
    assert world.kinds().count("decision") == 32
    assert world.ask("get_weather").decision.mode == "pass"
