"""Hooks, the MCP proxy and adapters where a service decides: the same answers; what is of this machine stays here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from client_support import Machine, Service

from tests.points.mcp.mcp_support import PROXY, RAW, Wire, text_of
from vigil_lang.adapters.mediation import Asked, Mediation
from vigil_lang.gate.authority.keys import load_key
from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.state import StateError
from vigil_lang.points.daemon import asking, server, wire
from vigil_lang.points.daemon.server import Server
from vigil_lang.points.gates import gate_at
from vigil_lang.points.hook import Gates, handle
from vigil_lang.points.invocation import Invocation, Reply
from vigil_lang.points.remote import RemoteGate
from vigil_lang.points.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.gate.gate import Gate

HOOK = Path(wire.__file__).with_name("client.py")


def said(machine: Machine, gate: Gate, what: str) -> None:
    """An approver of the service approves or denies the hold of a machine that waits."""
    end = time.monotonic() + 20
    while True:
        found = [each.id for each in gate.holds.listed() if each.opened["run"] == machine.run]
        if found:
            break
        assert time.monotonic() < end
        time.sleep(0.02)
    key = load_key(gate.folder.keys / "approver.pem")
    if what == "approve":
        gate.holds.approve(gate.holds.signed(found, key))
    else:
        gate.holds.deny(gate.holds.signed_denials(found, key))


class Hooks:
    """Claude Code's hooks on a machine."""

    def __init__(self, machine: Machine, *options: str) -> None:
        self.machine = machine
        self.options = ("--host", "claude", "--agent", "mailer", *options)
        self.gates = Gates()
        self._count = 0

    def payload(self, name: str, **more: Any) -> bytes:
        common = {"session_id": self.machine.run, "cwd": str(self.machine.work), "hook_event_name": name}
        return json.dumps(common | more).encode()

    def tell(self, name: str, **more: Any) -> Reply:
        env = {"HOME": str(self.machine.home), "VIGIL_STATE": str(self.machine.state)}
        return handle(Invocation(self.options, self.payload(name, **more), str(self.machine.work), env), self.gates)

    def ask(self, tool: str, key: str = "", **given: Any) -> str:
        """Why a call is not made; "" where it is."""
        self._count += 1
        reply = self.tell("PreToolUse", tool_name=tool, tool_input=given, tool_use_id=key or f"t{self._count}")
        assert reply.status == 0
        return json.loads(reply.stdout)["reason"] if reply.stdout else ""

    def done(self, tool: str, key: str, output: str = "done", **given: Any) -> Reply:
        shown = {"stdout": output, "stderr": "", "interrupted": False}
        return self.tell("PostToolUse", tool_name=tool, tool_input=given, tool_use_id=key, tool_response=shown)


@pytest.fixture
def operator(service: Service) -> Iterator[Gate]:
    gate = service.gate()
    yield gate
    gate.close()


@pytest.fixture
def hooks(machine: Machine) -> Iterator[Hooks]:
    found = Hooks(machine)
    yield found
    found.gates.close()


def entries(service: Service, run: str, kind: str) -> list[dict[str, Any]]:
    """The entries of a run in the service's log."""
    lines = (service.state / "log.jsonl").read_text("utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each.get("run") == run and each["kind"] == kind]


# --- hooks ----------------------------------------------------------------------------------------------------------


@pytest.mark.processes
def test_a_session_of_hooks(hooks: Hooks, machine: Machine, service: Service, operator: Gate) -> None:
    assert hooks.tell("SessionStart", source="startup") == Reply()
    assert hooks.ask("Look", "a", x=1) == ""
    hooks.done("Look", "a", x=1)
    assert "Nobody formats disks" in hooks.ask("Format")
    held = hooks.ask("Pay", amount=3)
    assert "Money is confirmed" in held
    assert "on the page http://127.0.0.1:" in held
    assert "/holds/" in held
    said(machine, operator, "approve")
    assert hooks.ask("Pay", amount=3) == ""
    assert "held, " in hooks.ask("Pay", amount=4), "another amount"
    assert hooks.ask("Open", file="f") == ""
    assert "`closed`" in json.loads(hooks.tell("Stop").stdout)["reason"]
    assert hooks.ask("Close", file="f") == ""
    assert hooks.tell("Stop") == Reply()
    assert hooks.tell("SessionEnd", reason="exit") == Reply()
    assert [each["status"] for each in entries(service, machine.run, "outcome")][:1] == ["ok"]
    assert len(entries(service, machine.run, "run_end")) == 1
    assert (machine.state / "log.jsonl").read_bytes() == b"", "nothing is decided here"
    assert list((machine.state / "remote").iterdir()) == []


def test_a_held_call_waits_for_its_end(machine: Machine, operator: Gate) -> None:
    hooks = Hooks(machine, "--wait", "20")
    for what, told in (("approve", ""), ("deny", "denied")):
        person = threading.Thread(target=said, args=(machine, operator, what))
        person.start()
        began = time.monotonic()
        assert told in hooks.ask("Pay", what=what)
        person.join()
        assert time.monotonic() - began < 10
    hooks.gates.close()


def test_policies_of_this_machine_count_and_lower_nothing(machine: Machine, hooks: Hooks) -> None:
    module = machine.policy('policy words\npattern costly = Send(to = "boss")\n', "words.vgl")
    policy = machine.policy(
        "policy own\nuse .words: costly\n/// Not to the boss.\nrule boss: when costly then block\n"
        "rule all_pays: when Pay() then pass relaxes default.payments\n"
    )
    hooks.options = (*hooks.options, "--policy", policy)
    started = hooks.tell("SessionStart", source="startup").stdout.decode()
    assert "`all_pays`" in started
    assert "is left out" in started
    assert "Not to the boss" in hooks.ask("Send", to="boss")
    assert "Money is confirmed" in hooks.ask("Pay", amount=1)
    Path(module).write_text('policy words\npattern costly = Send(to = "nobody")\n')
    assert f"{module} was changed" in hooks.tell("SessionStart", source="resume").stdout.decode()
    assert "Not to the boss" in hooks.ask("Send", to="boss"), "a run keeps its policies"


def test_what_guards_the_agent_is_kept_from_it_here(machine: Machine, hooks: Hooks, service: Service) -> None:
    link = machine.work / "innocent"
    link.symlink_to(machine.state)
    policy = machine.policy("policy p\nrule r: when Never() then block\n")
    hooks.options = (*hooks.options, "--policy", policy)
    for command in (f"cat {machine.state}/gate.toml", f"rm -r {machine.state}", "cat innocent/gate.toml"):
        assert "state of the gate" in hooks.ask("Bash", command=command), command
    assert "guards" in hooks.ask("Write", file_path=policy, content="{}")
    assert hooks.ask("Bash", command="ls") == ""
    assert all(each["executed"] is False for each in entries(service, machine.run, "outcome"))
    fresh = Hooks(machine)
    assert "state of the gate" in fresh.ask("Bash", "fresh", command="cat innocent/gate.toml"), (
        "also in a process of its own"
    )
    fresh.gates.close()


def test_a_checkpoint_is_of_this_machine(machine: Machine) -> None:
    hooks = Hooks(machine, "--checkpoint", "copy")
    (machine.work / "f").write_text("one")
    assert hooks.ask("Write", "w", file_path=str(machine.work / "f"), content="two") == ""
    assert list((machine.state / "checkpoints-of-runs").iterdir())
    hooks.gates.close()


def test_hooks_without_a_daemon_and_with_one(
    machine: Machine, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_MEMORY", 1 << 40)  # tests before this may have left more than a daemon has
    monkeypatch.setattr(asking, "PATIENCE", 20.0)
    hooks = Hooks(machine)
    env = {"PATH": os.environ["PATH"], "HOME": str(machine.home), "VIGIL_DAEMON": "off"}
    line = [sys.executable, "-I", "-S", str(HOOK), "--state", str(machine.state), *hooks.options]

    def cold(tool: str, key: str) -> str:
        payload = hooks.payload("PreToolUse", tool_name=tool, tool_input={}, tool_use_id=key)
        done = subprocess.run(
            line, input=payload, env=env, cwd=machine.work, capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    assert cold("Look", "c1") == ""
    assert "Nobody formats disks" in cold("Format", "c2")
    assert len(entries(service, machine.run, "run_start")) == 1
    daemon = Server(machine.state, 60)
    thread = threading.Thread(target=daemon.run)
    thread.start()
    try:
        args = ["--state", str(machine.state), *hooks.options]
        for tool, told in (("Look", b""), ("Format", b"Nobody formats disks")):
            payload = hooks.payload("PreToolUse", tool_name=tool, tool_input={"n": 2}, tool_use_id=f"d-{tool}")
            answer = asking._asked(str(machine.state), args, payload)
            assert answer is not None
            assert told in answer[0]
    finally:
        daemon.stopping.set()
        thread.join(30)
    assert len(entries(service, machine.run, "run_start")) == 1
    assert len(entries(service, machine.run, "session")) == 1, "one token for all of them"


# --- proxy and adapters ---------------------------------------------------------------------------------------------


@pytest.mark.processes
def test_the_mcp_proxy(machine: Machine, operator: Gate, service: Service) -> None:
    policy = machine.policy(
        "policy m\n/// Money.\nrule pay: when mcp__raw__pay() then hold\n/// Never.\n"
        "rule all: when mcp__raw__delete_all() then block\n"
    )
    argv = [*PROXY, "--state", str(machine.state), "--name", "raw", "--run", machine.run, "--agent", "mailer"]
    proxy = Wire([*argv, "--policy", policy, "--wait", "20s", "--", *RAW, "raw"], None)
    try:
        proxy.initialize()
        assert text_of(proxy.call("echo", n=1)) == 'raw:echo:{"n": 1}'
        assert "Never" in text_of(proxy.call("delete_all", path="/"))
        for what in ("approve", "deny"):
            proxy.send({"id": what, "method": "tools/call", "params": {"name": "pay", "arguments": {"n": what}}})
            assert text_of(proxy.call("echo")) == "raw:echo:{}", "others do not wait"
            said(machine, operator, what)
            found = proxy.next()
            assert ("raw:pay" in text_of(found)) == (what == "approve")
        assert proxy.close() == 0
    finally:
        proxy.process.kill()
        proxy.process.wait()
    assert entries(service, machine.run, "outcome")[0]["status"] == "ok"
    assert len(entries(service, machine.run, "run_end")) == 1


def test_adapters(machine: Machine, operator: Gate, service: Service) -> None:
    run = Mediation("sdk", machine.state, run=machine.run, agent="mailer", wait=20)
    assert run.before(Asked("Look", {"x": 1}, "a")) is None
    run.after(Asked("Look", {"x": 1}, "a"), "ok", "seen")
    refused = run.before(Asked("Format", {}, "b"))
    assert refused is not None
    assert "Nobody formats disks" in refused.text
    for what in ("approve", "deny"):
        person = threading.Thread(target=said, args=(machine, operator, what))
        person.start()
        refused = run.before(Asked("Pay", {"to": what}, f"p-{what}"))
        person.join()
        assert (refused is None) == (what == "approve")
    assert run.before(Asked("Open", {"file": "f"}, "o")) is None
    assert "closed" in run.owed()
    run.close()
    assert entries(service, machine.run, "outcome")[0]["status"] == "ok"


# --- who ------------------------------------------------------------------------------------------------------------


def test_two_agents_have_nothing_of_each_other(tmp_path: Path, service: Service) -> None:
    one, other = Machine(tmp_path / "1", service), Machine(tmp_path / "2", service, "clerk")
    first, second = gate_at(one.state), gate_at(other.state)
    assert isinstance(first, RemoteGate)
    assert isinstance(second, RemoteGate)
    mine = Session(first, Entering(one.run, "mailer"))
    held = mine.before("Pay", {"amount": 1}, call="p").hold
    assert held is not None
    # its run, by its name
    with pytest.raises(StateError, match="another agent's"):
        second.enter(Entering(one.run, "clerk"))
    # its name
    with pytest.raises(StateError, match="the settings"):
        second.enter(Entering("other", "mailer"))
    # its hold
    second.enter(Entering(other.run, "clerk"))
    for work in (second._client.hold, lambda name, **of: second._client.cancel(name, "no", **of)):
        with pytest.raises(HoldError, match="there is no hold"):
            work(held.id, run=other.run, agent="clerk")
    # its token
    token = first._client.begin(one.run, "mailer")
    from vigil_lang.gate import Client
    from vigil_lang.gate.request import Request

    with Client(service.url, token=token) as thief:
        assert thief.decide(Request(one.run, "mailer", "Look", {})).decision.mode == "pass"
        for run, agent in ((other.run, "clerk"), (one.run, "clerk"), (other.run, "mailer"), ("new", "mailer")):
            answer = thief.decide(Request(run, agent, "Look", {}))
            assert answer.is_fault
            assert "another run or agent" in answer.decision.reasons[0].message
    first.close()
    second.close()


# --- when it is not there -------------------------------------------------------------------------------------------


def test_a_service_that_is_down_blocks_and_one_that_is_back_goes_on(tmp_path: Path) -> None:
    service = Service(tmp_path / "s")
    service.start()
    machine = Machine(tmp_path / "m", service)
    hooks = Hooks(machine, "--wait", "30")
    try:
        assert hooks.ask("Open", "o", file="f") == ""
        service.stop()
        why = hooks.ask("Look")
        assert why.startswith("Vigil blocked this call without judging it: the gate service http://127.0.0.1:")
        assert "cannot be reached" in why
        assert hooks.tell("Stop").status == 0, "the end of a turn is not blocked"
        service.start()
        assert hooks.ask("Look") == ""
        assert "`closed`" in json.loads(hooks.tell("Stop").stdout)["reason"], "what was owed is owed"

        def people() -> None:
            """The service begins anew while somebody waits, and then the hold is approved."""
            gate = service.gate()
            while not gate.holds.listed():
                time.sleep(0.02)
            service.stop()
            service.start()
            said(machine, gate, "approve")
            gate.close()

        person = threading.Thread(target=people)
        person.start()
        assert hooks.ask("Pay", amount=1) == ""
        person.join()
    finally:
        service.stop()
        hooks.gates.close()


def test_a_service_with_another_log_does_not_go_on(tmp_path: Path) -> None:
    service = Service(tmp_path / "s")
    service.start()
    machine = Machine(tmp_path / "m", service)
    hooks = Hooks(machine)
    try:
        assert hooks.ask("Look") == ""
        service.stop()
        other = Service(tmp_path / "t")
        other.port, other.keys = service.port, service.keys
        (other.state / "gate.toml").write_text((service.state / "gate.toml").read_text())
        other.start()
        try:
            assert "another gate" in hooks.ask("Look")
        finally:
            other.stop()
    finally:
        service.stop()
        hooks.gates.close()


def test_settings_that_are_wrong(tmp_path: Path, service: Service) -> None:
    machine = Machine(tmp_path, service)
    settings = machine.state / "gate.toml"
    whole = settings.read_text()
    for wrong, why in (
        (whole.replace(service.url, "http://gate.example.org"), "TLS"),
        (whole.replace(service.keys["mailer"], "/nowhere.pem"), "nowhere"),
    ):
        settings.write_text(wrong)
        assert why in Hooks(machine).ask("Look")


def test_messages_and_endings_reach_the_service(machine: Machine, hooks: Hooks, service: Service) -> None:
    hooks.tell("UserPromptSubmit", prompt="hello")
    assert len(entries(service, machine.run, "message")) == 1
    gate = gate_at(machine.state)
    gate.enter(Entering(machine.run, "mailer"))
    assert gate.ended(machine.run, Ended("Look", {}, "ok", "é" * 2_000_000, call="z")) == ()
    assert gate.ended(machine.run, Ended("Look", {"big": 2**70}, "ok", call="y")) == ()
    assert len(entries(service, machine.run, "unasked")) == 2
    gate.refuse("something")
    gate.halt(machine.run, "enough")
    assert "halted" in hooks.ask("Look")
    gate.end(machine.run)
    gate.close()
