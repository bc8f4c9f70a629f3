"""`POST /v1/runs/{verb}`: strict bodies, a run for its own agent, and policies that reach nothing on the disk."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from cli_support import called
from client_support import Machine, Service

from vigil_lang.gate.run_calls import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Ask = Callable[..., httpx.Response]

pytestmark = pytest.mark.processes


@pytest.fixture
def ask(service: Service) -> Iterator[Ask]:
    """Ask a verb as the operator."""
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.token}"}, timeout=30) as http:

        def asked(verb: str, run: str = "api", agent: str = "mailer", **members: Any) -> httpx.Response:
            return http.post(f"/v1/runs/{verb}", json={"run": run, "agent": agent, **members})

        asked.http = http  # type: ignore[attr-defined]
        yield asked


def said(answer: httpx.Response, status: int, word: str = "") -> dict[str, Any]:
    """The JSON of an answer of a status, whose text has a word."""
    assert answer.status_code == status, answer.text
    assert word in answer.text
    found: dict[str, Any] = answer.json()
    return found


def look(run: str = "api", agent: str = "mailer", **more: Any) -> dict[str, Any]:
    """A request of an action."""
    return {"run": run, "agent": agent, "action": {"tool": "Look", "input": {}}, **more}


@pytest.mark.parametrize("verb", FORMS)
def test_bad_requests_are_400_and_without_a_token_401(ask: Ask, verb: str) -> None:
    http: httpx.Client = ask.http  # type: ignore[attr-defined]
    path = f"/v1/runs/{verb}"
    bodies = [b"", b"null", b"[]", b'{"run":1}', b'{"run":"r","run":"r"}', b"[" * 100_000, b'{"run":NaN}', b"\xff"]
    bodies += [json.dumps(each).encode() for each in ({}, {"run": "r"}, {"run": "", "agent": "a"})]
    bodies.append(json.dumps({"run": "r", "agent": "a", "unheard": 1}).encode())
    for body in bodies:
        assert http.post(path, content=body, headers={"Content-Type": "application/json"}).status_code == 400, body
    assert http.post(path, content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 400
    assert http.post(path, content=b" " * (1 << 21), headers={"Content-Type": "application/json"}).status_code == 413
    assert http.get(path).status_code in (404, 405)
    refused = http.post(path, json={"run": "r", "agent": "a"} | _least(verb), headers={"Authorization": "Bearer x"})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")


def _least(verb: str) -> dict[str, Any]:
    """What a verb needs at least beside the run and the agent."""
    return {
        "extend": {"policies": []},
        "decide": {"id": "q", "request": look("r", "a")},
        "ended": {"tool": "t", "input": {}},
        "say": {"role": "user", "text": "x"},
        "halt": {"why": "x"},
        "refuse": {"why": "x"},
        **{each: {"hold": "x"} for each in ("hold", "wait", "cancel")},
    }.get(verb, {})


@pytest.mark.parametrize("verb", sorted(set(FORMS) - {"enter", "refuse", "status", "decide", "hold", "wait", "cancel"}))
def test_a_run_that_never_began(ask: Ask, verb: str) -> None:
    said(ask(verb, "never", **_least(verb)), 404, "no_run")


def test_decide(ask: Ask) -> None:
    answer = said(ask("decide", id="q7", request=look()), 200)
    assert (answer["id"], answer["mode"], answer["schema"]) == ("q7", "pass", "vigil.decision/1")
    assert answer["events"][0]["action"] == "Look"
    said(ask("decide", id="q", request=look("other")), 400, "another run or agent")
    said(ask("decide", id="q", request=look(agent="clerk")), 400, "another run or agent")
    said(ask("decide", id="q", request=look(authority="/etc/passwd")), 400, "names no chain")
    said(ask("decide", id="q", request={"run": "api"}), 400)
    said(ask("decide", id="q", request=look(context={"tier": 0})), 400, "for the gate to fill in")
    said(ask("decide", "unknown", id="q", request=look("unknown"), begun=True), 404, "does not know this run")
    said(ask("decide", agent="clerk", id="q", request=look(agent="clerk")), 403, "another agent")


def test_holds_are_seen_without_what_approvers_sign(ask: Ask) -> None:
    pay = look() | {"action": {"tool": "Pay", "input": {"amount": 1}}}
    held = said(ask("decide", id="q", request=pay), 200)["held"]
    assert held["state"] == "pending"
    assert "nonce" not in json.dumps(held)
    assert "inputs" not in held["opened"]
    name = held["id"]
    said(ask("hold", "other", hold=name), 404, "there is no hold")
    said(ask("hold", agent="clerk", hold=name), 404, "there is no hold")
    said(ask("wait", hold=name, seconds=56), 400)
    assert said(ask("wait", hold=name, seconds=0.1), 200)["hold"]["state"] == "pending"
    assert said(ask("cancel", hold=name), 200)["hold"]["state"] == "cancelled"
    said(ask("cancel", hold=name), 409, "waits no more")


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ([{"path": "/etc/passwd"}], "no standard module"),
        ([{"path": "std.none"}], ""),
        ([{"path": "/x/p.vgl", "text": "policy p\nuse .secret: x\nrule r: when x then block\n"}], ""),
        ([{"path": "/x/p.vgl", "text": "policy p\nrule r when"}], "has no meaning"),
        ([{"path": f"/x/{at}.vgl", "text": "policy p\n"} for at in range(40)], "more than 32"),
        ([{"path": "/x/p.vgl", "text": "policy p\n" + "# x\n" * 150_000}], "characters"),
        ([{"path": "/x/p.vgl", "text": "policy p\n", "modules": {"a": 1}}], ""),
        ([{"path": "/x/p.vgl", "text": "policy p\n", "origin": "settings"}], ""),
        ([{"path": "", "text": "policy p\n"}], ""),
    ],
)
def test_policies_that_are_refused(ask: Ask, policies: list[dict[str, Any]], why: str) -> None:
    said(ask("enter", f"p-{os.urandom(4).hex()}", policies=policies), 400, why)


def test_no_file_of_the_service_is_read(ask: Ask, service: Service, tmp_path: Path) -> None:
    """What a policy is called, and what it uses, are names and no more: not even whether such a file exists is told."""
    (tmp_path / "secret.vgl").write_text("policy secret\npattern x = Look()\n")
    pipe = tmp_path / "pipe.vgl"
    os.mkfifo(pipe)
    text = "policy p\nuse .secret: x\nrule r: when x then block\n"
    there = said(ask("enter", "n1", policies=[{"path": f"{tmp_path}/p.vgl", "text": text}]), 400)
    absent = said(ask("enter", "n2", policies=[{"path": "/nowhere/p.vgl", "text": text}]), 400)
    assert str(there).replace(str(tmp_path), "/nowhere") == str(absent)
    own = "policy p\nrule r: when Look() then block\n"
    said(ask("enter", "n3", policies=[{"path": str(pipe), "text": own}]), 200)
    assert said(ask("decide", "n3", id="q", request=look("n3")), 200)["mode"] == "block"
    gate = service.gate()
    try:
        assert gate.changes("n3") == (), "a pipe would never end"
    finally:
        gate.close()


def test_policies_that_are_brought_lower_nothing(ask: Ask) -> None:
    text = "policy org\nrule payment: when Pay() then pass relaxes default.payments\nrule mine: when Walk() then hold\n"
    remarks = said(ask("enter", "low", policies=[{"path": "/x/org.vgl", "text": text}]), 200)["remarks"]
    assert "is left out" in remarks[0]
    pay = {"run": "low", "agent": "mailer", "action": {"tool": "Pay", "input": {}}}
    assert said(ask("decide", "low", id="q", request=pay), 200)["mode"] == "hold"
    walk = pay | {"action": {"tool": "Walk", "input": {}}}
    assert said(ask("decide", "low", id="q", request=walk), 200)["mode"] == "hold"


def test_a_service_may_take_none(tmp_path: Path) -> None:
    strict = Service(tmp_path, more="accept_policies = false")
    strict.start()
    try:
        text = "policy own\nrule mine: when Look() then block\n"
        headers = {"Authorization": f"Bearer {strict.token}"}
        with httpx.Client(base_url=strict.url, headers=headers) as http:
            of = {"run": "r", "agent": "mailer"}
            policies = [{"path": "/x/own.vgl", "text": text}]
            entered = said(http.post("/v1/runs/enter", json={**of, "policies": policies}), 200)
            assert "takes no policies" in entered["remarks"][0]
            assert said(http.post("/v1/runs/extend", json={**of, "policies": policies}), 200) == {"joined": False}
            asked = said(http.post("/v1/runs/decide", json={**of, "id": "q", "request": look("r")}), 200)
            assert asked["mode"] == "pass"
    finally:
        strict.stop()


def test_where_decisions_come_from_is_said(machine: Machine, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.work)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("VIGIL_STATE", str(machine.state))
    (machine.work / ".claude").mkdir()
    made = called("init", "--host", "claude", "--project")
    assert f"decisions come from {service.url}" in made.out
    assert f"decisions come from {service.url}" in called("hook", "status", "--no-trial", "--project").out
    listed = json.loads(called("hook", "status", "--no-trial", "--project", "--format", "json").out)
    assert service.url in [each["service"] for each in listed["hooks"]]
