"""`vigil gate`: what it prints and how it ends."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import called

if TYPE_CHECKING:
    from pathlib import Path

    from gate_support import World

REQUEST: dict[str, Any] = {"run": "r1", "agent": "payer", "action": {"tool": "get_weather", "input": {"city": "Bern"}}}


def decided(world: World, request: object, *more: str) -> tuple[int, dict[str, Any]]:
    data = request if isinstance(request, bytes) else json.dumps(request).encode()
    result = called("gate", "decide", "--state", world.state, *more, stdin=data)
    assert "Traceback" not in result.err
    return result.status, json.loads(result.out) if result.out else {"error": result.err}


def test_pass(world: World) -> None:
    status, answer = decided(world, REQUEST)
    assert (status, answer["mode"], answer["log"]) == (0, "pass", {"seq": 2})
    assert answer["schema"] == "vigil.decision/1"
    assert {"action_digest", "policy_digest", "authority_digest", "tier", "microseconds", "reasons"} <= answer.keys()


def test_hold(world: World) -> None:
    action = {"tool": "pay", "input": {"amount": 700, "to": "acme"}}
    status, answer = decided(world, REQUEST | {"action": action})
    assert (status, answer["mode"]) == (1, "hold")
    assert answer["hold"].keys() == {"id", "binding", "expires"}
    assert answer["reasons"][0] == {
        "kind": "rule",
        "asks": "hold",
        "name": "large",
        "message": "The treasury confirms a payment above the threshold.",
        "layer": "organisation",
        "at": f"{world.folder}/organisation.vgl:7:6",
        "who": "organisation",
        "lifted": None,
    }


def test_block(world: World) -> None:
    action = {"tool": "pay", "input": {"amount": 70_000, "to": "acme"}}
    status, answer = decided(world, REQUEST | {"action": action})
    assert (status, answer["mode"], "hold" in answer) == (1, "block", False)


def test_events_that_are_abstracted_already(world: World) -> None:
    event = {"action": "wire", "kinds": ["payment.transfer"], "args": {"amount": 700}}
    status, answer = decided(world, {"run": "r1", "agent": "a", "events": [event]})
    assert (status, answer["mode"]) == (1, "hold")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"run":1}', b"[" * 100_000, b'{"run":"r","run":"r"}'])
def test_a_bad_request_is_refused_and_noted(world: World, data: bytes) -> None:
    status, answer = decided(world, data)
    assert status == 2
    assert answer["error"].startswith("Error: ")
    assert world.kinds() == ["refusal"]


def test_without_a_state_it_blocks(world: World, tmp_path: Path) -> None:
    world.state = tmp_path / "none"
    status, answer = decided(world, REQUEST)
    assert (status, answer["mode"], answer["reasons"][0]["kind"]) == (3, "block", "fault")
    assert "log" not in answer


def test_with_a_damaged_state_it_blocks_and_says_why(world: World) -> None:
    (world.state / "gate.toml").write_text("mode = ")
    status, answer = decided(world, REQUEST)
    assert (status, answer["mode"]) == (3, "block")
    assert "are not valid" in answer["reasons"][0]["message"]
    explained = called("gate", "decide", "--explain", "--state", world.state, stdin=json.dumps(REQUEST).encode())
    assert explained.status == 3
    assert "not in the log: the gate could not judge, and blocks" in explained.out


def test_explain_shows_the_calls_that_led_here(world: World) -> None:
    world.ask("get_invoice", invoice="i8")
    action = {"tool": "pay_invoice", "input": {"invoice": "i7", "amount": 20}}
    result = called(
        "gate", "decide", "--explain", "--state", world.state, stdin=json.dumps(REQUEST | {"action": action}).encode()
    )
    assert result.status == 1
    assert "near miss: invoice is `i8`, not `i7`" in result.out
    assert "looked_at: `get_invoice(invoice = x)` with `x` = `i7`" in result.out


def test_nothing_is_promised_to_lower_what_the_organisation_blocks(world: World) -> None:
    action = {"tool": "pay", "input": {"amount": 70_000, "to": "acme\x1b[2J"}}
    data = json.dumps(REQUEST | {"action": action}).encode()
    result = called("gate", "decide", "--explain", "--state", world.state, stdin=data)
    assert "nothing: the organisation's `beyond` blocks it, whoever confirms" in result.out
    assert "\x1b[2J" not in result.out


def test_outcomes_and_the_end_of_a_run(world: World) -> None:
    decided(world, REQUEST | {"outcomes": "reported"})
    told = called(
        "gate", "outcome", "r1", "2", "--status", "ok", "--output", "-", "--state", world.state, stdin=b"fine"
    )
    assert told.status == 0
    again = called("gate", "outcome", "r1", "2", "--status", "ok", "--state", world.state)
    assert (again.status, again.out) == (2, "")
    assert "waits for its outcome" in again.err
    unknown = called("gate", "end", "nope", "--state", world.state)
    assert (unknown.status, "there is no run nope" in unknown.err) == (2, True)
    assert called("gate", "end", "r1", "--state", world.state).status == 0
    assert world.kinds() == ["policy", "run_start", "decision", "outcome", "run_end"]
    assert (world.state / "checkpoint").exists()


def test_outcomes_by_the_id_of_the_host(world: World) -> None:
    status, answer = decided(world, REQUEST | {"outcomes": "reported", "call": "toolu_1", "observe": True})
    assert (status, answer["observed"]) == (0, True)
    for named in ([], ["2", "--call", "toolu_1"]):
        wrong = called("gate", "outcome", "r1", *named, "--status", "ok", "--state", world.state)
        assert (wrong.status, "named by SEQ or by --call" in wrong.err) == (2, True)
    for status, told in ((0, ""), (2, "no call of the run r1 with the id toolu_1 waits for its outcome")):
        found = called("gate", "outcome", "r1", "--call", "toolu_1", "--status", "ok", "--state", world.state)
        assert (found.status, told in found.err) == (status, True)


def test_a_checkpoint_on_demand(world: World) -> None:
    decided(world, REQUEST)
    made = called("gate", "checkpoint", "--state", world.state)
    assert (made.status, made.out) == (0, (world.state / "checkpoint").read_text(encoding="utf-8"))
    assert made.out.splitlines()[1] == "3"
    found = json.loads(called("audit", "verify", "--state", world.state, "--format", "json").out)
    assert (found["entries"], found["signed_to"], found["problems"]) == (3, 3, [])
    assert called("audit", "prove", "2", "--state", world.state, "-o", world.folder / "proof").status == 0


def test_status(world: World) -> None:
    world.ask("pay", amount=700, to="acme")
    found = json.loads(called("gate", "status", "--state", world.state, "--format", "json").out)
    assert found["schema"] == "vigil.status/1"
    assert [hold["agent"] for hold in found["holds"]] == ["payer"]
    assert [run["run"] for run in found["runs"]] == ["r1"]
    shown = called("gate", "status", "--state", world.state)
    assert (shown.status, shown.err) == (0, "")
    assert "1 waiting" in shown.out


def test_init_refuses_what_it_must_not_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside = called("gate", "init", "--state", tmp_path / "state")
    assert (inside.status, "lies in the workspace" in inside.err) == (2, True)
    assert not (tmp_path / "state").exists()
    (tmp_path / "work").mkdir()
    (tmp_path / "bad.vgl").write_text("rule r: when x then")
    bad = called("gate", "init", "--state", tmp_path / "state", "--workspace", "work", "--personal", "bad.vgl")
    assert (bad.status, "bad.vgl:1:" in bad.err) == (2, True)
    assert not (tmp_path / "state").exists()
    made = called("gate", "init", "--state", tmp_path / "state", "--workspace", "work")
    assert (made.status, made.err) == (0, "")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state" / "keys").iterdir()}
    assert modes == {0o600}
    again = called("gate", "init", "--state", tmp_path / "state", "--workspace", "work")
    assert (again.status, "is not empty" in again.err) == (2, True)


def test_without_open_everything_waits(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    called("gate", "init", "--state", tmp_path / "state", "--workspace", tmp_path / "work")
    result = called("gate", "decide", "--state", tmp_path / "state", stdin=json.dumps(REQUEST).encode())
    answer = json.loads(result.out)
    assert (result.status, answer["mode"], answer["reasons"][0]["name"]) == (1, "hold", "outside")


def test_check_finds_what_has_no_effect_beside_other_layers(world: World) -> None:
    world.set("default = false", "default = true")
    (world.folder / "personal.vgl").write_text(
        "policy ann\n\n/// Mine.\nrule mine: when payment.transfer(amount > 20000) then pass relaxes default.payments\n"
    )
    found = called("gate", "check", "--state", world.state, "--format", "json")
    codes = [finding["code"] for finding in json.loads(found.out)["findings"]]
    assert (found.status, "VGL354" in codes) == (1, True)


def test_what_no_checkpoint_covers_is_known_to_the_index(world: World) -> None:
    """Each process leaves an index that knows the last entry."""
    for _ in range(3):
        assert decided(world, REQUEST)[0] == 0
    log = world.state / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    for damaged, kind in [
        (lines[:-1], "cut"),
        (lines[:-3], "cut"),
        ([*lines[:-1], lines[-1].replace(b'"payer"', b'"other"', 1)], "changed"),
        ([*lines[:-2], lines[-1], lines[-2]], "reordered"),
        ([*lines[:-2], lines[-1]], "removed"),
    ]:
        log.write_bytes(b"".join(damaged))
        found = called("audit", "verify", "--state", world.state, "--format", "json")
        problems = json.loads(found.out)["problems"]
        assert (found.status, kind in {problem["kind"] for problem in problems}) == (1, True), problems
        status, answer = decided(world, REQUEST)
        assert (status, answer["mode"]) == (3, "block")
    log.write_bytes(b"".join(lines))
    assert called("audit", "verify", "--state", world.state).status == 0
    assert decided(world, REQUEST)[0] == 0
