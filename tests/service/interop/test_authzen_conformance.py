"""OpenID AuthZEN Authorization API 1.0: what the document demands of a decision point, each by name, over a service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from authzen_client import AuthZenClient, ContractError, RequestError, require_secure
from interop_support import Served, free_port, serving, written

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.client import Client
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from authzen_client import Reply

pytestmark = pytest.mark.processes

EVALUATION, EVALUATIONS = "/access/v1/evaluation", "/access/v1/evaluations"
DISCOVERY = "/.well-known/authzen-configuration"
AGENT = Key.new()

# The fixture of the working group's certification scenario.
POLICY = """
policy certification

pattern admin = has context.user.role and context.user.role = "admin"

rule bob_reads: when write() and context.user = "bob" and not admin then block

rule archived: when write(has "status", "status" = "archived") and not admin then block

rule hard: when delete(not has soft or soft = "false") then block
"""

ALICE = {"type": "user", "id": "alice"}
BOB = {"type": "user", "id": "bob"}
ADMIN = {**BOB, "properties": {"role": "admin"}}
RECORD = {"type": "record", "id": "record-1"}
ARCHIVED = {"type": "record", "id": "record-2", "properties": {"status": "archived"}}
READ, WRITE = {"name": "read"}, {"name": "write"}
REQUEST: dict[str, Any] = {"subject": ALICE, "action": READ, "resource": RECORD}
DENIED: dict[str, Any] = {"subject": BOB, "action": WRITE, "resource": RECORD}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("certification")
    settings = f'[service.agents]\nmailer = "{AGENT.public}"\n'
    with serving(folder, written(folder, POLICY), settings) as found:
        yield found


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AuthZenClient, Path]]:
    """A service that others reach by another name, through a program that ends TLS in front of it; and its state."""
    folder, port = tmp_path_factory.mktemp("proxied"), free_port()
    settings = '[service]\norigin = "https://gate.example.com"\ndata_origin = "https://pdp.example.com"\n'
    with serving(folder, written(folder, POLICY), settings, port) as found:
        yield AuthZenClient(f"http://127.0.0.1:{port}", found.token), found.state


@pytest.fixture
def client(served: Served) -> AuthZenClient:
    return served.client()


def post(client: AuthZenClient, body: object, path: str = EVALUATION, **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return client.send("POST", path, data, fields)


def decided(client: AuthZenClient, body: object, path: str = EVALUATION) -> bool:
    """The decision of an answer that has the published form."""
    reply = post(client, body, path)
    assert (reply.status, reply.media_type) == (200, "application/json"), reply.body
    found = reply.json()
    assert isinstance(found["decision"], bool)
    assert isinstance(found.get("context", {}), dict)
    return found["decision"]


def refused(reply: Reply, status: int = 400) -> None:
    """An error has its status, a message, and no decision."""
    assert reply.status == status, reply.body
    assert reply.body
    assert b'"decision"' not in reply.body


def without(*names: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(json.dumps(REQUEST))
    place = body
    for name in names[:-1]:
        place = place[name]
    del place[names[-1]]
    return body


# --- information model: sections 5 and 6 ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        ("subject",),
        ("action",),
        ("resource",),
        ("subject", "type"),
        ("subject", "id"),
        ("action", "name"),
        ("resource", "type"),
        ("resource", "id"),
    ],
    ids=".".join,
)
def test_a_required_member_that_is_missing_is_400(client: AuthZenClient, path: tuple[str, ...]) -> None:
    refused(post(client, without(*path)))


@pytest.mark.parametrize(
    "changed",
    [
        {"subject": "alice"},
        {"subject": None},
        {"subject": {"type": 1, "id": "alice"}},
        {"subject": {"type": "user", "id": 7}},
        {"subject": {**ALICE, "properties": []}},
        {"action": "read"},
        {"action": {"name": 123}},
        {"action": {"name": "read", "properties": "GET"}},
        {"resource": ["record", "record-1"]},
        {"resource": {"type": "record", "id": None}},
        {"resource": {**RECORD, "properties": 1}},
        {"context": "now"},
    ],
    ids=str,
)
def test_a_member_of_the_wrong_type_is_400(client: AuthZenClient, changed: dict[str, Any]) -> None:
    refused(post(client, {**REQUEST, **changed}))


def test_properties_are_optional_and_hold_any_json(client: AuthZenClient) -> None:
    some = {
        "text": "x",
        "number": 1.5,
        "flag": True,
        "nothing": None,
        "list": [1, {"a": []}],
        "object": {"b": {"c": 2}},
    }
    body = {
        "subject": {**ALICE, "properties": {**some, "ip_address": "172.217.22.14", "device_id": "8:65:ee:17:7e:0b"}},
        "action": {**READ, "properties": {"method": "GET"}},
        "resource": {**RECORD, "properties": {"library_record": {"title": "t", "isbn": "978-0593383322"}, **some}},
        "context": {"time": "1985-10-26T01:22-07:00", **some},
    }
    assert decided(client, body)


def test_a_context_changes_no_decision_that_does_not_ask_for_it(client: AuthZenClient) -> None:
    context = {"time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1"}
    assert decided(client, {**REQUEST, "context": context})
    assert not decided(client, {**DENIED, "context": context})


@pytest.mark.parametrize(
    ("subject", "action", "resource", "expected"),
    [
        (ALICE, READ, RECORD, True),
        (ALICE, WRITE, RECORD, True),
        (BOB, READ, RECORD, True),
        (BOB, WRITE, RECORD, False),
        (ALICE, WRITE, ARCHIVED, False),
        (ADMIN, WRITE, ARCHIVED, True),
        (ALICE, {"name": "delete", "properties": {"soft": True}}, RECORD, True),
        (ALICE, {"name": "delete", "properties": {"soft": False}}, RECORD, False),
    ],
)
def test_the_eight_decisions_of_the_certification(
    client: AuthZenClient, subject: Any, action: Any, resource: Any, expected: bool
) -> None:
    assert client.evaluation(subject, action, resource).allowed is expected


def test_unknown_members_are_ignored(client: AuthZenClient) -> None:
    more = {"foo": "bar", "future": {"nested": [True]}}
    body = {name: {**value, **more} for name, value in REQUEST.items()} | more
    assert decided(client, body)


def test_types_of_subjects_and_resources_are_free(client: AuthZenClient) -> None:
    for kind in ("user", "agent", "service", "urn:example:spaceship", "ß 部署"):
        assert decided(client, {**REQUEST, "subject": {"type": kind, "id": "alice"}}), kind
        assert decided(client, {**REQUEST, "resource": {"type": kind, "id": "ß 部署/1?x#y"}}), kind


# --- responses: sections 6.2 and 7.2 --------------------------------------------------------------------------------


def test_a_denial_is_200_with_decision_false(client: AuthZenClient) -> None:
    assert not decided(client, DENIED)


def test_a_context_of_a_decision_has_the_published_forms(client: AuthZenClient) -> None:
    """A reason is a word; reasons for administrators and users are objects of texts by language."""
    for body in (REQUEST, DENIED):
        context = post(client, body).json().get("context", {})
        assert isinstance(context.get("reason", ""), str)
        assert isinstance(context.get("id", ""), str)
        for name in ("reason_admin", "reason_user"):
            assert all(isinstance(each, str) for pair in context.get(name, {}).items() for each in pair)
    assert post(client, DENIED).json()["context"]["reason"] == "denied"


def test_the_same_request_has_the_same_decision(client: AuthZenClient) -> None:
    assert {decided(client, REQUEST) for _ in range(5)} == {True}
    assert {decided(client, DENIED) for _ in range(5)} == {False}


# --- evaluations: section 7 -----------------------------------------------------------------------------------------


def test_evaluations_are_answered_in_their_order_and_number(client: AuthZenClient) -> None:
    items = [{"action": READ}, {"action": WRITE}, {"action": READ}]
    found = client.evaluations(items, defaults={"subject": BOB, "resource": RECORD})
    assert [each.allowed for each in found] == [True, False, True]


def test_evaluations_need_no_defaults(client: AuthZenClient) -> None:
    assert [each.allowed for each in client.evaluations([REQUEST, DENIED])] == [True, False]


def test_the_decision_beside_evaluations_is_omitted(client: AuthZenClient) -> None:
    assert "decision" not in post(client, {"evaluations": [REQUEST]}, EVALUATIONS).json()


def test_an_item_takes_precedence_over_a_default(client: AuthZenClient) -> None:
    defaults = {"subject": BOB, "action": WRITE, "resource": RECORD}
    items: list[Any] = [{}, {"subject": ALICE}, {"action": READ}, {"subject": ADMIN, "resource": ARCHIVED}]
    assert [each.allowed for each in client.evaluations(items, defaults=defaults)] == [False, True, True, True]


def test_an_entity_is_replaced_as_a_whole(client: AuthZenClient) -> None:
    """The properties of a default do not go over to an item that has the entity itself."""
    defaults = {"subject": ADMIN, "action": WRITE, "resource": ARCHIVED}
    items = [{}, {"subject": ALICE}, {"subject": ALICE, "resource": RECORD}]
    assert [each.allowed for each in client.evaluations(items, defaults=defaults)] == [True, False, True]


def test_a_required_member_of_an_entity_falls_back_on_the_default(client: AuthZenClient) -> None:
    defaults = {"subject": ALICE, "action": WRITE, "resource": {"type": "record"}}
    items = [{"resource": {"id": "record-1", "properties": {"status": "active"}}}, {"resource": ARCHIVED}]
    assert [each.allowed for each in client.evaluations(items, defaults=defaults)] == [True, False]


def test_a_context_is_inherited_and_overridden(client: AuthZenClient) -> None:
    defaults = {**REQUEST, "context": {"time": "2025-06-27T18:03-07:00"}}
    items = [{}, {"context": {"time": "2025-06-27T19:00-07:00", "source": "batch-override"}}]
    assert [each.allowed for each in client.evaluations(items, defaults=defaults)] == [True, True]


@pytest.mark.parametrize("more", [{}, {"evaluations": []}], ids=["missing", "empty"])
def test_without_evaluations_it_is_one_evaluation(client: AuthZenClient, more: dict[str, Any]) -> None:
    assert decided(client, REQUEST | more, EVALUATIONS)
    assert not decided(client, DENIED | more, EVALUATIONS)
    refused(post(client, without("resource") | more, EVALUATIONS))


def test_an_error_of_one_evaluation_is_a_denial_of_that_one(client: AuthZenClient) -> None:
    items: list[Any] = [{"resource": RECORD}, {}, {"resource": 7}, 7, {"resource": RECORD}]
    found = client.evaluations(items, defaults={"subject": ALICE, "action": READ})
    assert [each.allowed for each in found] == [True, False, False, False, True]
    for each in found[1:4]:
        assert each.context["error"]["status"] == 400
        assert isinstance(each.context["error"]["message"], str)


def test_execute_all_is_the_default_and_unknown_options_are_ignored(client: AuthZenClient) -> None:
    for options in ({}, {"another_option": "value"}, {"evaluations_semantic": "execute_all"}):
        body = {"evaluations": [REQUEST, DENIED, REQUEST], "options": options}
        found = post(client, body, EVALUATIONS).json()["evaluations"]
        assert [each["decision"] for each in found] == [True, False, True]


@pytest.mark.parametrize(
    ("semantic", "items", "expected"),
    [
        ("deny_on_first_deny", [REQUEST, DENIED, REQUEST], [True, False]),
        ("deny_on_first_deny", [REQUEST, {}, REQUEST], [True, False]),
        ("deny_on_first_deny", [REQUEST, REQUEST], [True, True]),
        ("permit_on_first_permit", [DENIED, REQUEST, DENIED], [False, True]),
        ("permit_on_first_permit", [{}, REQUEST, DENIED], [False, True]),
        ("permit_on_first_permit", [DENIED, {}], [False, False]),
    ],
)
def test_a_semantic_ends_a_batch(client: AuthZenClient, semantic: str, items: list[Any], expected: list[bool]) -> None:
    """A failure counts as a denial."""
    assert [each.allowed for each in client.evaluations(items, semantic)] == expected


def test_another_semantic_is_400(client: AuthZenClient) -> None:
    with pytest.raises(RequestError, match="evaluations_semantic"):
        client.evaluations([REQUEST], "whatever")


@pytest.mark.parametrize("body", [{"evaluations": {}}, {"evaluations": "x"}, [], 7, None], ids=str)
def test_a_batch_that_is_none_is_400(client: AuthZenClient, body: object) -> None:
    refused(post(client, body, EVALUATIONS))


# --- the HTTPS binding: section 10 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [EVALUATION, EVALUATIONS])
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
def test_another_content_type_is_400(client: AuthZenClient, path: str, kind: str) -> None:
    refused(post(client, REQUEST, path, Content_Type=kind))


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_the_content_type_is_json_with_or_without_parameters(client: AuthZenClient, kind: str) -> None:
    assert post(client, REQUEST, Content_Type=kind).status == 200


@pytest.mark.parametrize("path", [EVALUATION, EVALUATIONS])
@pytest.mark.parametrize("body", [b"", b"{", b"{'a': 1}", b"\xff", b"{} {}"])
def test_a_body_that_is_no_json_is_400(client: AuthZenClient, path: str, body: bytes) -> None:
    refused(post(client, body, path))


@pytest.mark.parametrize("body", [[], "x", 7, None, True], ids=str)
def test_a_body_that_is_no_object_is_400(client: AuthZenClient, body: object) -> None:
    refused(post(client, body))


@pytest.mark.parametrize("name", ["bfe9eb29-ab87-4ca3-be83-a1d5d8305716", 'a b, c;d="e"/\\?%00<>', "ä\tü", "~" * 1000])
def test_a_request_id_comes_back_as_it_is(client: AuthZenClient, name: str) -> None:
    for reply in (
        post(client, REQUEST, X_Request_ID=name),
        post(client, DENIED, X_Request_ID=name),
        post(client, {"evaluations": [REQUEST]}, EVALUATIONS, X_Request_ID=name),
        post(client, {}, X_Request_ID=name),
        client.send("GET", DISCOVERY, headers={"X-Request-ID": name}),
        client.send("GET", "/nothing/here", headers={"X-Request-ID": name}),
    ):
        assert reply.headers.get("x-request-id") == name, reply


def test_a_request_needs_no_id(client: AuthZenClient) -> None:
    assert decided(client, REQUEST)


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Bearer ", "Basic dXNlcjpwYXNz", "garbage"])
@pytest.mark.parametrize("path", [EVALUATION, EVALUATIONS])
def test_who_does_not_authenticate_is_401(served: Served, path: str, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    reply = post(AuthZenClient(served.url), REQUEST, path, X_Request_ID="q", **headers)
    refused(reply, 401)
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert reply.headers["x-request-id"] == "q"


def test_nothing_of_a_bad_request_is_told_before_who_asks_is_known(served: Served) -> None:
    refused(post(AuthZenClient(served.url), b"{"), 401)


def test_who_may_not_ask_is_403(served: Served) -> None:
    """A token of an agent is for its own run; in a batch that is said of the item."""
    with Client(served.url, key=AGENT) as agent:
        client = served.client(agent.begin("r1", "mailer"))
    own: dict[str, Any] = {**REQUEST, "subject": {"type": "agent", "id": "mailer"}, "context": {"run": "r1"}}
    assert decided(client, own)
    refused(post(client, REQUEST), 403)
    refused(post(client, {**own, "context": {"run": "r2"}}), 403)
    found = client.evaluations([own, REQUEST])
    assert [each.allowed for each in found] == [True, False]
    assert found[1].context["error"]["status"] == 403


def test_a_decision_is_asked_for_by_post(client: AuthZenClient) -> None:
    for path in (EVALUATION, EVALUATIONS):
        for method in ("GET", "PUT", "DELETE"):
            refused(client.send(method, path), 405)


# --- metadata: section 9 --------------------------------------------------------------------------------------------


def test_the_metadata_is_json_at_the_well_known_address(served: Served) -> None:
    reply = AuthZenClient(served.url).send("GET", DISCOVERY)
    assert (reply.status, reply.media_type) == (200, "application/json")
    found = reply.json()
    assert {"policy_decision_point", "access_evaluation_endpoint"} <= found.keys()
    assert all(isinstance(each, str) for each in found["capabilities"])
    assert all(value not in (None, "", [], {}) for value in found.values()), "a parameter without a value is omitted"


def test_the_identifier_is_the_address_that_was_asked(served: Served, client: AuthZenClient) -> None:
    assert client.metadata()["policy_decision_point"] == served.url


def test_a_client_refuses_another_identifier(served: Served) -> None:
    """The service answers under another name of this machine too; its metadata is for one alone."""
    with pytest.raises(ContractError, match="identifier"):
        AuthZenClient(served.url.replace("127.0.0.1", "localhost")).metadata()


def test_endpoints_are_those_that_answer(client: AuthZenClient) -> None:
    found = client.metadata()
    assert decided(client, REQUEST, found["access_evaluation_endpoint"])
    assert post(client, {"evaluations": [REQUEST]}, found["access_evaluations_endpoint"]).status == 200
    for name in ("access_evaluation_endpoint", "access_evaluations_endpoint", "access_request_endpoint"):
        require_secure(found[name])
        assert "/v1/" in urlsplit(found[name]).path


def test_what_is_not_offered_is_not_named(client: AuthZenClient) -> None:
    """There is no search, and no signed metadata."""
    assert not {name for name in client.metadata() if name.startswith(("search_", "signed_"))}
    for kind in ("subject", "resource", "action"):
        refused(post(client, REQUEST, f"/access/v1/search/{kind}"), 404)


def test_metadata_is_read_by_get(client: AuthZenClient) -> None:
    refused(client.send("POST", DISCOVERY, b"{}"), 405)


def test_beyond_this_machine_the_identifier_is_https(proxied: tuple[AuthZenClient, Path]) -> None:
    told = proxied[0].send("GET", DISCOVERY).json()
    assert told["policy_decision_point"] == "https://pdp.example.com"
    endpoints = [value for name, value in told.items() if name.endswith("_endpoint")]
    assert all(each.startswith("https://pdp.example.com/") for each in endpoints)


@pytest.mark.parametrize(
    "address",
    [
        "http://pdp.example.com",
        "https://pdp.example.com?a=b",
        "https://pdp.example.com#a",
        "https://pdp.example.com/",
        "",
    ],
)
def test_an_identifier_that_may_not_be_published_is_refused(tmp_path: Path, address: str) -> None:
    """It is an https URL without query and fragment; a path of its own would move the well-known address."""
    (tmp_path / "gate.toml").write_text(f'[service]\ndata_origin = "{address}"\n', encoding="utf-8")
    with pytest.raises(StateError, match="data_origin"):
        read_settings(tmp_path / "gate.toml")


@pytest.mark.parametrize(
    "address", ["https://pdp.example.com", "https://pdp.example.com:8443", "http://127.0.0.1:8181"]
)
def test_an_identifier_is_https_or_of_this_machine(tmp_path: Path, address: str) -> None:
    (tmp_path / "gate.toml").write_text(f'[service]\ndata_origin = "{address}"\n', encoding="utf-8")
    assert read_settings(tmp_path / "gate.toml").service.data_origin == address


def test_a_state_that_cannot_be_judged_allows_nothing(proxied: tuple[AuthZenClient, Path]) -> None:
    """It is said by a status of 500 and above, or by a denial."""
    client, state = proxied
    assert decided(client, REQUEST)
    (state / "log.jsonl").unlink()
    (state / "log.jsonl").mkdir()
    reply = post(client, REQUEST, X_Request_ID="q")
    assert reply.status >= 500 or reply.json()["decision"] is False
    assert reply.headers["x-request-id"] == "q"
