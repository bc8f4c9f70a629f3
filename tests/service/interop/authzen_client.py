"""A policy enforcement point for any AuthZEN decision point, written from the OpenID documents alone.

It follows the Authorization API 1.0 (discovery, evaluation, evaluations, request identifiers, errors) and the draft
Access Request and Approval profile (requestable denial, submission, task status, re-evaluation). It knows nothing of
Vigil, and it refuses every answer that breaks a MUST of these documents.
"""

import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

Json = dict[str, Any]

WELL_KNOWN = "/.well-known/authzen-configuration"
DEFAULT_PATHS = {
    "access_evaluation_endpoint": "/access/v1/evaluation",
    "access_evaluations_endpoint": "/access/v1/evaluations",
}
SEMANTICS = ("execute_all", "deny_on_first_deny", "permit_on_first_permit")
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
PROBLEM = "urn:openid:authzen:access-request:error:"


class ContractError(Exception):
    """The decision point's answer breaks the documents; the caller must treat it as a denial."""


class RequestError(Exception):
    """The decision point answered with an HTTP error status (400, 401, 403, 500, ...): no decision was made."""

    def __init__(self, status: int, message: str, problem: str = "", retry_after: str | None = None) -> None:
        super().__init__(f"HTTP {status}: {message}")
        self.status = status
        self.message = message
        self.problem = problem
        """The last part of the profile's problem type, such as `unknown_task`; empty for other errors."""
        self.retry_after = retry_after


@dataclass(frozen=True)
class Reply:
    """One HTTP answer: status, header fields by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise ContractError(f"the body is not JSON: {error}") from None


@dataclass(frozen=True)
class Decision:
    """One decision with its context (empty where the answer has none)."""

    allowed: bool
    context: Json = field(default_factory=dict)

    @property
    def access_request(self) -> Json | None:
        """The requestable denial; None where access cannot be requested."""
        found = self.context.get("access_request")
        return found if not self.allowed and isinstance(found, dict) else None


@dataclass(frozen=True)
class Task:
    """One access request: its task handle, and the approval once the task is approved."""

    handle: Json
    result: Json
    retry_after: float | None = None

    @property
    def id(self) -> str:
        return str(self.handle["id"])

    @property
    def status(self) -> str:
        return str(self.handle["status"])

    @property
    def approval(self) -> Json | None:
        """The approval to carry into the re-evaluation; None for every other status or completion mode."""
        if self.status != "approved" or self.result.get("mode") != "reevaluate":
            return None
        approval = self.result.get("approval")
        if not isinstance(approval, dict) or not {"id", "approved_until"} <= approval.keys():
            raise ContractError("an approved task has no approval with id and approved_until")
        return approval if timestamp(approval["approved_until"]) > datetime.now(UTC) else None


class AuthZenClient:
    """Talks to the decision point `identifier` (its `https` URL; plain `http` only for a loopback host)."""

    def __init__(self, identifier: str, token: str | None = None, timeout: float = 10.0) -> None:
        self.identifier = identifier.rstrip("/")
        require_secure(self.identifier)
        self.token = token
        self.timeout = timeout
        self._metadata: Json | None = None

    # Transport

    def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send one request as given and return its answer, whatever the status."""
        if not url.startswith(("http://", "https://")):
            url = self.identifier + url
        fields = dict(headers or {})
        if self.token is not None:
            fields.setdefault("Authorization", f"Bearer {self.token}")
        request = urllib.request.Request(url, data=body, method=method, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                status, found, content = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                status, found, content = error.code, error.headers, error.read()
        return Reply(status, {name.lower(): value for name, value in found.items()}, content)

    def _ask(self, method: str, url: str, body: Json | None = None, **headers: str) -> tuple[Reply, Json]:
        identifier = str(uuid.uuid4())
        fields = {"X-Request-ID": identifier, "Accept": "application/json", **headers}
        if body is not None:
            fields["Content-Type"] = "application/json"
        reply = self.send(method, url, None if body is None else json.dumps(body).encode(), fields)
        if reply.status >= 400:
            raise error_of(reply)
        if reply.headers.get("x-request-id") != identifier:
            raise ContractError("the answer does not carry the X-Request-ID of the request")
        if reply.media_type != "application/json":
            raise ContractError(f"the answer is {reply.media_type or 'untyped'}, not application/json")
        content = reply.json()
        if not isinstance(content, dict):
            raise ContractError("the answer is not a JSON object")
        return reply, content

    # Discovery

    def metadata(self) -> Json:
        """The metadata document, checked and kept; the default paths where the decision point publishes none."""
        if self._metadata is None:
            parts = urlsplit(self.identifier)
            url = urlunsplit((parts.scheme, parts.netloc, WELL_KNOWN + parts.path, "", ""))
            reply = self.send("GET", url, headers={"Accept": "application/json"})
            if reply.status == 404:
                self._metadata = {name: self.identifier + path for name, path in DEFAULT_PATHS.items()}
                return self._metadata
            if reply.status != 200:
                raise error_of(reply)
            if reply.media_type != "application/json":
                raise ContractError(f"the metadata is {reply.media_type or 'untyped'}, not application/json")
            document = reply.json()
            if not isinstance(document, dict) or document.get("policy_decision_point") != self.identifier:
                raise ContractError("policy_decision_point is not the identifier that the metadata was asked of")
            if not isinstance(document.get("access_evaluation_endpoint"), str):
                raise ContractError("the metadata has no access_evaluation_endpoint")
            for name, value in document.items():
                if name.endswith("_endpoint"):
                    require_secure(value)
            self._metadata = document
        return self._metadata

    def _endpoint(self, name: str) -> str:
        url = self.metadata().get(name)
        if not isinstance(url, str):
            raise ContractError(f"the decision point does not offer {name}")
        return url

    # Decisions

    def evaluation(self, subject: Json, action: Json, resource: Json, context: Json | None = None) -> Decision:
        """Ask for one decision."""
        body = {"subject": subject, "action": action, "resource": resource}
        if context is not None:
            body["context"] = context
        return decision_of(self._ask("POST", self._endpoint("access_evaluation_endpoint"), body)[1])

    def evaluations(
        self, items: Iterable[Json], semantic: str = "execute_all", defaults: Json | None = None
    ) -> list[Decision]:
        """Ask for several decisions; `defaults` holds the members that the items leave out.

        The answer has one decision per item, or fewer where `semantic` stopped at the first denial or permit.
        """
        listed = list(items)
        body: Json = {**(defaults or {}), "evaluations": listed}
        if semantic != "execute_all":
            body["options"] = {"evaluations_semantic": semantic}
        answer = self._ask("POST", self._endpoint("access_evaluations_endpoint"), body)[1]
        if not isinstance(answer.get("evaluations"), list):
            raise ContractError("the answer has no evaluations array")
        decisions = [decision_of(item) for item in answer["evaluations"]]
        allowed = [decision.allowed for decision in decisions]
        stopped = {"deny_on_first_deny": False, "permit_on_first_permit": True}.get(semantic)
        if stopped is not None and stopped in allowed[:-1]:
            raise ContractError(f"{semantic} did not stop at the first such decision")
        if len(decisions) != len(listed) and (stopped is None or not allowed or allowed[-1] is not stopped):
            raise ContractError(f"{len(decisions)} decisions answer {len(listed)} evaluations")
        return decisions

    # Access requests

    def request_access(self, evaluation: Json, denial: Decision, key: str | None = None, **members: Any) -> Task:
        """Submit an access request for the requestable `denial` of `evaluation`.

        `evaluation` has the subject, action, resource and context that were denied; `members` are the profile's
        optional members, such as `requested_access`.
        """
        hint = denial.access_request
        if hint is None:
            raise ContractError("the denial is not requestable")
        known = {**denial.context, **hint}
        echoed = ("evaluation_id", "evaluated_at", "reason", "expires_at", "binding_token", "template")
        binding = {name: known[name] for name in echoed if name in known}
        if "expires_at" not in binding or not binding.keys() & {"evaluation_id", "binding_token"}:
            raise ContractError("the requestable denial has no expiry or no binding")
        timestamp(binding["expires_at"])
        endpoint = hint.get("endpoint") or self._endpoint("access_request_endpoint")
        self._require_trusted(endpoint)
        body = {**evaluation, **members, "denial": binding}
        reply, answer = self._ask("POST", endpoint, body, **{"Idempotency-Key": key or str(uuid.uuid4())})
        if reply.status not in (201, 202):
            raise ContractError(f"a submission was answered with {reply.status}, not 201 or 202")
        task = task_of(reply, answer)
        self._require_trusted(task.handle.get("status_endpoint"))
        return task

    def task_status(self, task: Task) -> Task:
        """Read the task once; the handle keeps the members that the answer leaves out."""
        reply, answer = self._ask("GET", task.handle["status_endpoint"])
        found = task_of(reply, answer)
        return Task({**task.handle, **found.handle}, found.result, found.retry_after)

    def wait(self, task: Task, seconds: float, sleep: Callable[[float], None] = time.sleep) -> Task:
        """Poll until the task is no longer pending, `seconds` have passed or the handle has expired."""
        deadline = time.monotonic() + seconds
        pause = 2.0
        while task.status == "pending":
            pause = max(pause, task.retry_after or 0.0)
            over = time.monotonic() + pause > deadline
            if over or ("expires_at" in task.handle and timestamp(task.handle["expires_at"]) <= datetime.now(UTC)):
                break
            sleep(pause)
            task = self.task_status(task)
            pause = min(pause * 2, 60.0)
        return task

    def cancel(self, task: Task) -> Task:
        """Withdraw the request by its cancel link."""
        link = (task.handle.get("links") or {}).get("cancel")
        if link is None:
            raise ContractError("the task has no cancel link")
        self._require_trusted(link)
        return task_of(*self._ask("POST", link, {}))

    def reevaluate(self, evaluation: Json, task: Task) -> Decision:
        """Ask again with the approval of `task`; a task without an approval that still holds is a denial."""
        approval = task.approval
        if approval is None:
            return Decision(False)
        context = {**evaluation.get("context", {}), "approval": approval}
        return self.evaluation(evaluation["subject"], evaluation["action"], evaluation["resource"], context)

    def _require_trusted(self, url: object) -> None:
        require_secure(url)
        known = self.metadata().get("access_request_endpoint", self.identifier)
        if urlsplit(str(url))[:2] != urlsplit(known)[:2]:
            raise ContractError(f"{url} is not of the access request endpoint's origin")


def decision_of(answer: object) -> Decision:
    """Read one decision; anything but a JSON boolean is an error."""
    if not isinstance(answer, dict) or not isinstance(answer.get("decision"), bool):
        raise ContractError("the answer has no boolean decision")
    context = answer.get("context", {})
    if not isinstance(context, dict):
        raise ContractError("the context of the decision is not an object")
    return Decision(answer["decision"], context)


def task_of(reply: Reply, answer: Json) -> Task:
    """Read a task handle; an approved task must have a result."""
    handle, result = answer.get("task"), answer.get("result") or {}
    if not isinstance(handle, dict) or not all(isinstance(handle.get(name), str) for name in ("id", "status")):
        raise ContractError("the answer has no task with id and status")
    if handle["status"] == "approved" and not isinstance(result.get("mode"), str):
        raise ContractError("an approved task has no result")
    after = reply.headers.get("retry-after", "")
    return Task(handle, result, float(after) if after.isdigit() else None)


def error_of(reply: Reply) -> RequestError:
    """Read an error answer: a message string, or a problem document of the access request profile."""
    message, problem = reply.body.decode(errors="replace"), ""
    if reply.media_type in ("application/problem+json", "application/json"):
        content = reply.json()
        if isinstance(content, dict):
            problem = str(content.get("type", "")).removeprefix(PROBLEM)
            message = str(content.get("detail") or content.get("title") or message)
        else:
            message = str(content)
    return RequestError(reply.status, message, problem, reply.headers.get("retry-after"))


def timestamp(text: object) -> datetime:
    """Read an RFC 3339 time."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        raise ContractError(f"{text!r} is not an RFC 3339 time") from None
    if found.tzinfo is None:
        raise ContractError(f"{text!r} has no offset")
    return found


def require_secure(url: object) -> None:
    """Refuse a URL that is not `https`; `http` is fine for a loopback host. Query and fragment are refused."""
    parts = urlsplit(str(url))
    if parts.query or parts.fragment:
        raise ContractError(f"{url} has a query or a fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ContractError(f"{url} is not an https URL")
