"""AuthZEN 1.0 on the wire: what conformance asks for, the mapping to requests, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from service_support import EVALUATION, EVALUATIONS, REQUESTS, Served, asked, made_state

pytestmark = pytest.mark.processes

POLICIES = """
policy org

rule bob_only_reads: when write() and context.user = "bob" and not context.user.role = "admin" then block
rule archived: when write(has "status" and "status" = "archived") and not context.user.role = "admin" then block
rule hard: when delete(soft = "false") then block
"""


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Any:
    found = Served(made_state(tmp_path_factory.mktemp("certified"), organisation=POLICIES, personal="policy ann\n"))
    yield found
    found.stop()


def record(name: str = "record-1", **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "record", "id": name}
    return found | ({"properties": properties} if properties else {})


def who(name: str, **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "user", "id": name}
    return found | ({"properties": properties} if properties else {})


def act(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name} | ({"properties": properties} if properties else {})


FIXTURES = [
    (who("alice"), act("read"), record(), True),
    (who("alice"), act("write"), record(), True),
    (who("bob"), act("read"), record(), True),
    (who("bob"), act("write"), record(), False),
    (who("alice"), act("write"), record("record-2", status="archived"), False),
    (who("bob", role="admin"), act("write"), record("record-2", status="archived"), True),
    (who("alice"), act("delete", soft=True), record(), True),
    (who("alice"), act("delete", soft=False), record(), False),
    (
        who("alice", department="Sales", role="manager"),
        act("read", method="GET"),
        record(status="active", owner="bob"),
        True,
    ),
]


@pytest.mark.parametrize(("subject", "action", "resource", "expected"), FIXTURES)
def test_decisions_of_the_certification(
    certified: Served, subject: Any, action: Any, resource: Any, expected: bool
) -> None:
    body = {"subject": subject, "action": action, "resource": resource, "foo": "bar", "later": {"nested": True}}
    for context in ({}, {"context": {"time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1"}}):
        answer = certified.post(EVALUATION, body | context, headers={"X-Request-ID": "id-1"})
        assert (answer.status_code, answer.json()["decision"]) == (200, expected), answer.text
        assert answer.headers["x-request-id"] == "id-1"


def test_a_batch_is_in_order_and_takes_what_it_lacks_from_the_request(certified: Served) -> None:
    bob = {
        "subject": who("bob"),
        "resource": record(),
        "evaluations": [{"action": act("read")}, {"action": act("write")}],
    }
    merged = {
        "subject": who("alice"),
        "action": act("write"),
        "resource": {"type": "record"},
        "evaluations": [
            {"resource": {"id": "record-1", "properties": {"status": "active"}}},
            {"resource": record("record-2", status="archived")},
        ],
    }
    whole = {
        "evaluations": [
            {"subject": who("alice"), "action": act("read"), "resource": record()},
            {"subject": who("bob"), "action": act("write"), "resource": record()},
        ]
    }
    for body in (bob, merged, whole):
        answer = certified.post(EVALUATIONS, body)
        assert [each["decision"] for each in answer.json()["evaluations"]] == [True, False], answer.text


def test_without_evaluations_a_batch_is_an_evaluation(certified: Served) -> None:
    body = {"subject": who("alice"), "action": act("read"), "resource": record()}
    for more in ({}, {"evaluations": []}):
        assert certified.post(EVALUATIONS, body | more).json()["decision"] is True


def test_an_incomplete_evaluation_of_a_batch_is_denied_alone(certified: Served) -> None:
    body = {
        "subject": who("alice"),
        "action": act("read"),
        "evaluations": [{"resource": record()}, {}, {"resource": 7}, 7, {"resource": {"type": "record", "id": ""}}],
    }
    answer = certified.post(EVALUATIONS, body)
    assert answer.status_code == 200
    found = answer.json()["evaluations"]
    assert [each["decision"] for each in found] == [True, False, False, False, False]
    assert all(each["context"]["error"]["status"] == 400 for each in found[1:])


def test_what_follows_the_deciding_evaluation_is_not_decided(served: Served) -> None:
    first, second, third = (asked(properties={"invoice": f"short-{at}"}) for at in range(3))
    denied = asked("pay", {"amount": 20_000, "to": "x"})
    before = served.get("/v1/log").json()["entries"]
    found = served.post(
        EVALUATIONS,
        {"evaluations": [first, denied, second], "options": {"evaluations_semantic": "deny_on_first_deny"}},
    ).json()["evaluations"]
    assert [each["decision"] for each in found] == [True, False]
    found = served.post(
        EVALUATIONS,
        {"evaluations": [denied, second, third], "options": {"evaluations_semantic": "permit_on_first_permit"}},
    ).json()["evaluations"]
    assert [each["decision"] for each in found] == [False, True]
    page = served.get("/v1/log?kind=decision&run=r1").json()["page"]
    assert sum(each["seq"] >= before for each in page) == 4


def test_discovery_needs_no_token(served: Served) -> None:
    found = httpx.get(served.data + "/.well-known/authzen-configuration").json()
    assert found["policy_decision_point"] == served.data
    assert served.data.startswith("http://127.0.0.1:")
    assert found["access_evaluation_endpoint"] == served.data + EVALUATION
    assert found["access_evaluations_endpoint"] == served.data + EVALUATIONS
    assert found["access_request_endpoint"] == served.data + REQUESTS


def test_the_rest_needs_one(served: Served) -> None:
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {served.token}"}):
        answer = httpx.post(served.data + EVALUATION, json=asked(), headers=headers | {"X-Request-ID": "q"})
        assert (answer.status_code, answer.headers["www-authenticate"].split()[0]) == (401, "Bearer")
        assert answer.headers["x-request-id"] == "q"


def missing(*names: str) -> dict[str, Any]:
    body: dict[str, Any] = {"subject": who("alice"), "action": act("read"), "resource": record()}
    place = body
    for name in names[:-1]:
        place = place[name]
    del place[names[-1]]
    return body


BAD = [
    missing("subject"),
    missing("action"),
    missing("resource"),
    missing("subject", "type"),
    missing("subject", "id"),
    missing("action", "name"),
    missing("resource", "type"),
    missing("resource", "id"),
    asked() | {"subject": "alice"},
    asked() | {"action": {"name": 123}},
    asked() | {"context": {"run": 7}},
    asked() | {"context": {"run": "x" * 300}},
    asked() | {"context": []},
    asked(properties={"n": 2**53}),
    [],
    7,
    None,
]


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_evaluation_is_refused(served: Served, body: Any) -> None:
    answer = served.post(EVALUATION, body, headers={"X-Request-ID": "bad"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (400, "bad"), answer.text
    assert set(answer.json()["error"]) == {"code", "message"}


DEEP = b"[" * 100_000
MALFORMED = [
    b"",
    b"{",
    b"\xff",
    b'{"subject": NaN}',
    b'{"subject": -Infinity}',
    b'{"n": ' + b"9" * 5_000 + b"}",
    b'{"n": 1e999999999999999999999}',
    b'{"a": "\\ud800"}',
    b'{"a": 1, "a": 2}',
    DEEP,
    b'{"context": ' + b'{"a": ' * 500 + b"1" + b"}" * 501,
]


@pytest.mark.parametrize("content", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_bodies_are_refused(served: Served, content: bytes) -> None:
    for path in (EVALUATION, EVALUATIONS, REQUESTS):
        answer = served.post(path, content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, (path, answer.text)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"])
def test_other_content_types_are_refused(served: Served, kind: str) -> None:
    answer = served.post(EVALUATION, content=json.dumps(asked()), headers={"Content-Type": kind})
    assert answer.status_code == 400


def test_a_body_beyond_one_mebibyte_is_refused(served: Served) -> None:
    content = json.dumps(asked(properties={"text": "x" * (1 << 20)})).encode()
    answer = served.post(EVALUATION, content=content, headers={"Content-Type": "application/json", "X-Request-ID": "b"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (413, "b")
    parts = iter([content[:1000], content[1000:]])
    assert served.post(EVALUATION, content=parts, headers={"Content-Type": "application/json"}).status_code == 413


def test_limits_of_a_batch(served: Served) -> None:
    assert served.post(EVALUATIONS, {"evaluations": [7] * 1001}).status_code == 400
    assert len(served.post(EVALUATIONS, {"evaluations": [7] * 1000}).json()["evaluations"]) == 1000
    options = {"options": {"evaluations_semantic": "whatever"}}
    assert served.post(EVALUATIONS, {"evaluations": [asked()]} | options).status_code == 400


def test_an_action_of_a_kind_is_judged_by_it(served: Served) -> None:
    body = asked() | {
        "action": act("payment.transfer", amount=20_000),
        "resource": {"type": "account", "id": "acme"},
    }
    answer = served.post(EVALUATION, body).json()
    assert [each["name"] for each in answer["context"]["reasons"] if each["asks"] == "block"] == ["beyond"], answer
    assert (answer["context"]["reason"], answer["context"]["next_action"]) == ("denied", "none")


def test_an_answer_is_that_of_the_gate(served: Served) -> None:
    answer = served.post(EVALUATION, asked(properties={"invoice": "same"})).json()
    gate = served.gate()
    (seq, entry), *_ = gate.store.page(None, 1)
    gate.close()
    context = answer["context"]
    assert context["log"]["seq"] == seq
    assert {name: context[name] for name in ("mode", "action_digest", "policy_digest", "authority_digest", "tier")} == {
        name: entry[name] for name in ("mode", "action_digest", "policy_digest", "authority_digest", "tier")
    }


def test_another_resource_is_another_action(served: Served) -> None:
    digests = set()
    for resource in ({"type": "todo", "id": "1"}, {"type": "todo", "id": "2"}, {"type": "list", "id": "1"}):
        answer = served.post(EVALUATION, asked() | {"resource": resource})
        digests.add(answer.json()["context"]["action_digest"])
    assert len(digests) == 3


def test_properties_that_contradict_each_other_are_refused(served: Served) -> None:
    resource = {"type": "tool", "id": "get_invoice", "properties": {"invoice": "other"}}
    assert served.post(EVALUATION, asked() | {"resource": resource}).status_code == 400


def test_a_bad_request_is_in_the_log(served: Served) -> None:
    served.post(EVALUATION, {"subject": "not an object, surely"})
    page = served.get("/v1/log?kind=refusal&limit=1").json()["page"]
    assert "object" in page[0]["entry"]["message"]


def test_the_host_is_looked_at(served: Served) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "x" * 300, "[::1"):
        answer = httpx.get(served.data + "/.well-known/authzen-configuration", headers={"Host": host})
        assert answer.status_code == 421
    name = served.data.replace("127.0.0.1", "localhost")
    assert httpx.get(name + "/.well-known/authzen-configuration").status_code == 200
