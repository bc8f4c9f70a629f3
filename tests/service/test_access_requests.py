"""The access request profile: a hold's life over the wire, and whose approval counts for what."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from service_support import EVALUATION, REQUESTS, Served, asked

pytestmark = pytest.mark.processes

PROBLEM = "urn:openid:authzen:access-request:error:"


def held(served: Served, amount: int, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An evaluation that is held, with its answer's context."""
    body = asked("pay", {"amount": amount, "to": "acme"}, **more)
    answer = served.post(EVALUATION, body).json()
    assert answer["decision"] is False
    return body, answer["context"]


def again(served: Served, body: dict[str, Any], approval: object) -> dict[str, Any]:
    context = {**body["context"], "approval": approval}
    return dict(served.post(EVALUATION, {**body, "context": context}).json())


def submitted(body: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    return {**body, "denial": {"evaluation_id": context["evaluation_id"], "reason": context["reason"]}}


def test_a_hold_is_requestable_and_an_approval_counts_once(served: Served) -> None:
    body, context = held(served, 601)
    told = context["access_request"]
    assert (context["reason"], context["next_action"]) == ("approval_required", "request")
    assert told["status_endpoint"] == f"{served.data}{REQUESTS}/{told['id']}"
    assert told["id"] == context["hold"]["id"]
    assert told["expires_at"].endswith("Z")

    answer = served.post(REQUESTS, submitted(body, context))
    assert (answer.status_code, answer.json()["task"]["status"]) == (202, "pending")
    assert answer.json()["task"]["id"] == told["id"]
    assert answer.headers["location"] == told["status_endpoint"]
    pending = served.get(f"{REQUESTS}/{told['id']}", control=False)
    assert (pending.json()["task"]["status"], "result" in pending.json()) == ("pending", False)
    assert int(pending.headers["retry-after"]) > 0

    served.approve(told["id"])
    result = served.get(f"{REQUESTS}/{told['id']}", control=False).json()["result"]
    assert result["mode"] == "reevaluate"
    approval = result["approval"]
    assert again(served, body, approval)["decision"] is True
    consumed = again(served, body, approval)
    assert (consumed["decision"], consumed["context"]["reason"]) == (False, "approval_unverifiable")
    assert consumed["context"]["next_action"] == "none"


def test_an_approval_counts_for_its_own_action_alone(served: Served) -> None:
    body, context = held(served, 602)
    name = context["access_request"]["id"]
    served.approve(name)
    other = asked("pay", {"amount": 9_999, "to": "acme"})
    elsewhere = asked("pay", {"amount": 602, "to": "acme"}, run="r2")
    before = served.get("/v1/holds").json()["counts"]
    for foreign, approval in (
        (other, {"id": name}),
        (elsewhere, {"id": name}),
        (body, {"id": "unknown"}),
        (body, {}),
        (body, "x"),
        (body, None),
    ):
        found = again(served, foreign, approval)
        assert (found["decision"], found["context"]["reason"], found["context"]["next_action"]) == (
            False,
            "approval_unverifiable",
            "none",
        )
    assert served.get("/v1/holds").json()["counts"] == before
    assert again(served, body, {"id": name})["decision"] is True


def test_of_many_at_once_one_uses_an_approval(served: Served) -> None:
    body, context = held(served, 603)
    approval = {"id": context["access_request"]["id"]}
    served.approve(approval["id"])
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(again(served, body, approval)["decision"])) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False] * 7 + [True]


def test_a_pending_hold_is_no_approval(served: Served) -> None:
    body, context = held(served, 604)
    found = again(served, body, {"id": context["access_request"]["id"]})
    assert (found["decision"], found["context"]["reason"]) == (False, "approval_unverifiable")


def test_waiting_ends_with_the_answer(served: Served) -> None:
    _, context = held(served, 605)
    name = context["access_request"]["id"]
    timer = threading.Timer(0.5, served.approve, [name])
    timer.start()
    began = time.monotonic()
    answer = served.get(f"{REQUESTS}/{name}?wait=20", control=False).json()
    timer.join()
    assert answer["task"]["status"] == "approved"
    assert time.monotonic() - began < 10


def test_a_request_can_be_taken_back_once(served: Served) -> None:
    body, context = held(served, 606)
    place = f"{REQUESTS}/{context['access_request']['id']}"
    answer = served.post(f"{place}/cancel", {"reason": "no_longer_needed", "comment": "sorry"})
    assert answer.json()["task"]["status"] == "cancelled"
    answer = served.post(f"{place}/cancel", content=b"")
    assert (answer.status_code, answer.json()["type"]) == (409, f"{PROBLEM}invalid_task_state")
    assert answer.headers["content-type"] == "application/problem+json"
    answer = served.post(REQUESTS, submitted(body, context))
    assert (answer.status_code, answer.json()["task"]["status"]) == (201, "cancelled")


def test_what_cannot_be_joined_is_a_problem(served: Served) -> None:
    body, context = held(served, 607)
    bad = f"{PROBLEM}invalid_denial_binding"
    other = asked("pay", {"amount": 1_607, "to": "acme"})
    for given in (
        submitted(other, context),
        submitted(body, context | {"evaluation_id": "unknown.7"}),
        submitted(body, context | {"evaluation_id": context["access_request"]["id"]}),
        {"subject": body["subject"], "items": []},
    ):
        answer = served.post(REQUESTS, given)
        assert (answer.status_code, answer.json()["type"]) == (400, bad), answer.text
    answer = served.get(f"{REQUESTS}/unknown", control=False)
    assert (answer.status_code, answer.json()["type"]) == (404, f"{PROBLEM}unknown_task")
    assert served.post(REQUESTS, {"denial": {}}).status_code == 400


def test_the_same_action_joins_its_hold(served: Served) -> None:
    body, context = held(served, 608)
    found = served.post(EVALUATION, body).json()["context"]
    assert found["access_request"]["id"] == context["access_request"]["id"]
    assert served.post(REQUESTS, submitted(body, found)).status_code == 202
