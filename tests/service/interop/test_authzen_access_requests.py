"""The AuthZEN Access Request and Approval profile (draft 1) by a client that knows the document alone: a denial that
may be requested, the request, its task, the approval, and the evaluation that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from authzen_client import AuthZenClient, Decision, RequestError, Task, timestamp
from cli_support import called
from interop_support import Served, serving, written

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.processes

POLICY = """
policy requests

rule large: when spend(amount > 500) then hold

rule huge: when spend(amount > 5000) then block
"""

ANN: dict[str, Any] = {"type": "user", "id": "ann", "properties": {"department": "Sales"}}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("requests")
    with serving(folder, written(folder, POLICY)) as found:
        yield found


@pytest.fixture
def client(served: Served) -> AuthZenClient:
    return served.client()


def payment(amount: int, **context: Any) -> dict[str, Any]:
    return {
        "subject": ANN,
        "action": {"name": "spend", "properties": {"amount": amount}},
        "resource": {"type": "account", "id": "acme"},
        "context": {"run": "monday", **context},
    }


def denied(client: AuthZenClient, body: dict[str, Any]) -> Decision:
    """A denial that may be requested."""
    found = client.evaluation(**body)
    assert not found.allowed
    assert found.access_request is not None
    return found


def answer(served: Served, verb: str, task: Task) -> None:
    key = str(served.state / "keys" / "approver.pem")
    result = called("hold", verb, task.id, "--key", key, "--state", str(served.state))
    assert result.status == 0, result.err


def test_the_metadata_has_the_endpoint_and_the_capability(client: AuthZenClient) -> None:
    found = client.metadata()
    assert found["access_request_endpoint"]
    assert "urn:openid:authzen:capability:access-request" in found["capabilities"]


def test_a_requestable_denial_says_where_and_until_when(client: AuthZenClient) -> None:
    denial = denied(client, payment(600))
    hint = denial.context["access_request"]
    assert hint["endpoint"] == client.metadata()["access_request_endpoint"]
    assert timestamp(hint["expires_at"])
    assert denial.context["evaluation_id"]
    assert denial.context["reason"] == "approval_required"
    assert denial.context["next_action"] == "request"


def test_what_needs_no_approval_or_can_have_none_is_not_requestable(client: AuthZenClient) -> None:
    for amount in (20, 6000):
        decision = client.evaluation(**payment(amount))
        assert (decision.allowed, decision.access_request) == (amount == 20, None)


def test_a_request_that_is_approved_is_evaluated_again(client: AuthZenClient, served: Served) -> None:
    body = payment(601)
    task = client.request_access(body, denied(client, body))
    assert task.status == "pending"
    assert not client.reevaluate(body, task).allowed
    task = client.wait(task, 60, sleep=lambda _: answer(served, "approve", task))
    assert task.status == "approved"
    found = client.reevaluate(body, task)
    assert found.allowed
    assert found.context["approval"]["id"] == task.result["approval"]["id"]


def test_a_request_that_is_denied_stays_denied(client: AuthZenClient, served: Served) -> None:
    body = payment(602)
    task = client.request_access(body, denied(client, body))
    answer(served, "deny", task)
    task = client.task_status(task)
    assert (task.status, task.approval) == ("denied", None)
    assert not client.reevaluate(body, task).allowed


def test_a_request_can_be_withdrawn_once(client: AuthZenClient) -> None:
    body = payment(603)
    task = client.request_access(body, denied(client, body))
    assert client.cancel(task).status == "cancelled"
    with pytest.raises(RequestError) as error:
        client.cancel(task)
    assert (error.value.status, error.value.problem) == (409, "invalid_task_state")


def test_an_approval_is_for_its_own_subject_action_and_resource(client: AuthZenClient, served: Served) -> None:
    body = payment(604)
    task = client.request_access(body, denied(client, body))
    answer(served, "approve", task)
    task = client.task_status(task)
    others = [
        payment(605),
        {**body, "subject": {"type": "user", "id": "bob"}},
        {**body, "resource": {"type": "account", "id": "else"}},
        {**body, "action": {"name": "spend", "properties": {"amount": 604, "currency": "EUR"}}},
    ]
    for other in others:
        found = client.reevaluate(other, task)
        assert not found.allowed
        assert found.context["reason"] == "approval_unverifiable"
        assert found.context["next_action"] == "none"
    assert client.reevaluate(body, task).allowed


def test_an_approval_that_nobody_gave_is_none(client: AuthZenClient) -> None:
    for approval in ({"id": "apr_unknown", "approved_until": "2999-01-01T00:00:00Z"}, {}, "yes"):
        found = client.evaluation(**payment(606, approval=approval))
        assert not found.allowed
        assert found.context["reason"] == "approval_unverifiable"


def test_an_approval_lifts_no_block(client: AuthZenClient, served: Served) -> None:
    body = payment(607)
    task = client.request_access(body, denied(client, body))
    answer(served, "approve", task)
    assert not client.reevaluate(payment(6000), client.task_status(task)).allowed


def test_a_submission_may_say_more_than_the_evaluation(client: AuthZenClient) -> None:
    """A justification is added to the context, and members of the profile stand beside the entities."""
    body = payment(608)
    denial = denied(client, body)
    more = payment(608, business_justification="the invoice is due", ticket={"system": "jira", "labels": ["a", "b"]})
    members: dict[str, Any] = {
        "requested_access": {"requested_until": "2999-05-01T00:15:00Z", "emergency": False},
        "client": {"id": "shop", "actor": {"id": "agent-7", "type": "ai_agent"}, "source": {"session_id": "s1"}},
    }
    assert client.request_access(more, denial, **members).status == "pending"


def test_the_actor_is_no_part_of_the_binding(client: AuthZenClient) -> None:
    """A client may move `subject.properties.act` to `client.actor`."""
    body = payment(609)
    acting = {**body, "subject": {**ANN, "properties": {**ANN["properties"], "act": {"sub": "agent-7", "iss": "x"}}}}
    denial = denied(client, acting)
    assert client.request_access(body, denial, client={"actor": {"id": "agent-7", "issuer": "x"}}).status == "pending"


def test_a_repeated_submission_is_the_same_task(client: AuthZenClient) -> None:
    body = payment(610)
    denial = denied(client, body)
    assert len({client.request_access(body, denial, key="one").id for _ in range(3)}) == 1


def test_an_item_of_a_batch_is_requestable(client: AuthZenClient) -> None:
    bodies = [payment(20), payment(611), payment(6000)]
    found = client.evaluations(bodies)
    assert [each.access_request is not None for each in found] == [False, True, False]
    assert client.request_access(bodies[1], found[1]).status == "pending"


def problem(client: AuthZenClient, body: dict[str, Any]) -> tuple[int, str]:
    """The status and the problem that a submission is refused with."""
    endpoint = client.metadata()["access_request_endpoint"]
    with pytest.raises(RequestError) as error:
        client._ask("POST", endpoint, body)
    return error.value.status, error.value.problem


def test_a_submission_that_is_not_the_denied_evaluation_is_refused(client: AuthZenClient) -> None:
    body = payment(612)
    context = denied(client, body).context
    denial = {"evaluation_id": context["evaluation_id"], "expires_at": context["access_request"]["expires_at"]}
    bad = (400, "invalid_denial_binding")
    assert problem(client, {**payment(613), "denial": denial}) == bad
    assert problem(client, {**body, "subject": {"type": "user", "id": "bob"}, "denial": denial}) == bad
    assert problem(client, {**body, "resource": {"type": "account", "id": "else"}, "denial": denial}) == bad
    assert problem(client, {**body, "denial": {**denial, "evaluation_id": "eval_unknown"}}) == bad


def test_a_submission_without_a_binding_is_refused(client: AuthZenClient) -> None:
    body = payment(614)
    expires = denied(client, body).context["access_request"]["expires_at"]
    bad = (400, "invalid_denial_binding")
    assert problem(client, body) == bad
    assert problem(client, {**body, "denial": {"expires_at": expires}}) == bad


def test_a_submission_for_what_is_not_requestable_is_refused(client: AuthZenClient) -> None:
    for amount in (20, 6000):
        body = payment(amount)
        denial = {"evaluation_id": client.evaluation(**body).context["evaluation_id"]}
        assert problem(client, {**body, "denial": denial}) == (400, "not_requestable")


def test_an_unknown_task_is_404(client: AuthZenClient) -> None:
    endpoint = client.metadata()["access_request_endpoint"]
    with pytest.raises(RequestError) as error:
        client.task_status(Task({"id": "x", "status": "pending", "status_endpoint": f"{endpoint}/unknown"}, {}))
    assert (error.value.status, error.value.problem) == (404, "unknown_task")


def test_a_task_is_no_bearer_secret(client: AuthZenClient, served: Served) -> None:
    """Who knows a task's address, and no token, learns nothing."""
    body = payment(615)
    denial = denied(client, body)
    task = client.request_access(body, denial)
    stranger = AuthZenClient(served.url)
    with pytest.raises(RequestError, match="401"):
        stranger.task_status(task)
    with pytest.raises(RequestError, match="401"):
        stranger.cancel(task)
    with pytest.raises(RequestError, match="401"):
        stranger.request_access(body, denial)
