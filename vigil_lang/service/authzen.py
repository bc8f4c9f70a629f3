"""The OpenID AuthZEN Authorization API 1.0: evaluation, evaluations, and the document that names them.

A subject is the agent and the user that it acts for, an action the tool or the kind of what is done; the properties of
the action and of the resource are the input. A decision that is not a pass is `false`, and says what may be done about
it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec.structs import replace
from starlette.routing import Route

from vigil_lang.gate.gate import UNVERIFIABLE
from vigil_lang.gate.request import OWN, BadRequest, Request, request_of
from vigil_lang.service import tracing
from vigil_lang.service.asking import check_may_ask, known, may_ask, noted
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import converted, json_body
from vigil_lang.service.openapi import operation
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

    from vigil_lang.gate.answer import Answer
    from vigil_lang.service.auth.principal import Principal
    from vigil_lang.service.service import Service

MOST = 1000
"""Evaluations in one request."""

EVALUATION, EVALUATIONS, REQUESTS = "/access/v1/evaluation", "/access/v1/evaluations", "/access/v1/requests"
CAPABILITY = "urn:openid:authzen:capability:access-request"

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
Semantic = Literal["execute_all", "deny_on_first_deny", "permit_on_first_permit"]


class Subject(msgspec.Struct):
    """Who asks: of type `agent` it is the agent, with the `user` that it acts for among its properties; of another type
    it is the user, with the `agent` among its properties."""

    type: Name
    id: Name
    properties: dict[str, Any] = {}


class Resource(msgspec.Struct):
    """What is acted on."""

    type: Name
    id: Name
    properties: dict[str, Any] = {}


class Action(msgspec.Struct):
    """What is done: the name of a tool, or a kind of the vocabulary, whose tool is the resource then."""

    name: Name
    properties: dict[str, Any] = {}


class Evaluation(msgspec.Struct):
    """An action that is asked for. `context.run` names the run; `context.approval` an approval that is to count."""

    subject: Subject
    action: Action
    resource: Resource
    context: dict[str, Any] = {}


class Options(msgspec.Struct):
    """How a batch is evaluated."""

    evaluations_semantic: Semantic = "execute_all"


class Evaluations(msgspec.Struct):
    """A batch: what an evaluation lacks is taken from the request itself."""

    subject: dict[str, Any] | None = None
    action: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    context: dict[str, Any] | None = None
    evaluations: list[Any] = []
    options: Options = msgspec.field(default_factory=Options)


class Decided(msgspec.Struct):
    """Whether the action may be taken. `context` says why not, and what may be done about it."""

    decision: bool
    context: dict[str, Any] = {}


class DecidedAll(msgspec.Struct):
    """The decisions of a batch, in its order."""

    evaluations: list[Decided]


class Configuration(msgspec.Struct):
    """The metadata of the policy decision point."""

    policy_decision_point: str
    access_evaluation_endpoint: str
    access_evaluations_endpoint: str
    access_request_endpoint: str
    capabilities: list[str]


def routes(service: Service) -> list[Route]:
    """What the data address has of AuthZEN."""
    decider, origin = service.decider, service.origins.data
    traced = tracing.tracer() is not None

    @operation(body=Evaluation, answer=Decided)
    async def evaluation(request: HttpRequest) -> Response:
        """What becomes of one action."""
        principal = await known(service, request)
        async with noted(service):
            asked = asked_for(converted(await json_body(request), Evaluation), principal)
            check_may_ask(principal, asked.run, asked.agent)
        return json_response(await decided(asked))

    @operation(body=Evaluations, answer=DecidedAll)
    async def evaluations(request: HttpRequest) -> Response:
        """What becomes of some actions; without `evaluations`, of the one in the request itself."""
        principal = await known(service, request)
        async with noted(service):
            found = await json_body(request)
            batch = converted(found, Evaluations)
            if len(batch.evaluations) > MOST:
                raise Refused(400, "too_many", f"a batch has at most {MOST:,} evaluations")
            if not batch.evaluations:
                asked = asked_for(converted(found, Evaluation), principal)
                check_may_ask(principal, asked.run, asked.agent)
        if not batch.evaluations:
            return json_response(await decided(asked))
        each = [item_of(one, batch, principal) for one in batch.evaluations]
        semantic = batch.options.evaluations_semantic
        answers = await all_decided(each) if semantic == "execute_all" else await until(each, semantic)
        return json_response({"evaluations": answers})

    @operation(answer=Configuration, public=True)
    async def configuration(_: HttpRequest) -> Response:
        """Where the evaluations are."""
        found = Configuration(
            origin, f"{origin}{EVALUATION}", f"{origin}{EVALUATIONS}", f"{origin}{REQUESTS}", [CAPABILITY]
        )
        return json_response(found)

    async def decided(asked: Request) -> dict[str, Any]:
        answer = await decider.decide(asked)
        if traced:
            tracing.note(answer)
        return decision_of(answer, asked, origin)

    async def all_decided(each: list[Request | Refused]) -> list[dict[str, Any]]:
        asked = [one for one in each if isinstance(one, Request)]
        answers = iter(await decider.decide_all(asked))
        found = []
        for one in each:
            found.append(_not_asked(one) if isinstance(one, Refused) else decision_of(next(answers), one, origin))
        return found

    async def until(each: list[Request | Refused], semantic: Semantic) -> list[dict[str, Any]]:
        """The decisions up to the first that ends the batch: what follows is not decided."""
        found = []
        for one in each:
            found.append(_not_asked(one) if isinstance(one, Refused) else await decided(one))
            if found[-1]["decision"] is (semantic == "permit_on_first_permit"):
                break
        return found

    return [
        Route(EVALUATION, evaluation, methods=["POST"]),
        Route(EVALUATIONS, evaluations, methods=["POST"]),
        Route("/.well-known/authzen-configuration", configuration, methods=["GET"]),
    ]


# --- what is asked ------------------------------------------------------------------------------------------------


def asked_for(found: Evaluation, principal: Principal) -> Request:
    """An evaluation as the gate is asked for it. Without `context.run` the run is the token's, or named as the agent.

    Raises:
        Refused: it cannot be asked for (400).
    """
    subject, resource, context = found.subject, found.resource, found.context
    if subject.type == "agent":
        agent, user = subject.id, subject.properties.get("user")
    else:
        agent, user = subject.properties.get("agent") or subject.id, subject.id
    given = dict(resource.properties)
    for name, value in found.action.properties.items():
        if given.setdefault(name, value) != value:
            raise Refused(400, "invalid", f"action and resource differ in the property {name[:80]!r}")
    name = found.action.name
    is_kind = name in vocabulary().kinds
    tool = resource.id if is_kind else name
    if (resource.type, resource.id) != ("tool", tool):
        if "resource" in given:
            raise Refused(400, "invalid", "no property may be called `resource`: that is the resource itself")
        given["resource"] = {"type": resource.type, "id": resource.id}
    told = {key: value for key, value in context.items() if key not in OWN and key != "approval"}
    if about := {key: value for key, value in subject.properties.items() if key not in ("agent", "user", "act")}:
        told["user"] = about
    members: dict[str, Any] = {
        "run": context.get("run", principal.run or agent),
        "agent": agent,
        "user": user,
        "context": told,
    }
    members["action"] = {"tool": tool, "input": given} | ({"kinds": _with_implied(name)} if is_kind else {})
    try:
        asked = replace(request_of(members), chain=principal.chain)
    except (BadRequest, TypeError, ValueError) as error:
        raise Refused(400, "invalid", str(error)[:500]) from error
    if "approval" in context:
        asked = replace(asked, approval=_approval(context["approval"]))
    return asked if principal.chain is None else replace(asked, chain=principal.chain)


def _approval(given: object) -> str:
    name = given.get("id") if isinstance(given, dict) else None
    return name if isinstance(name, str) else ""


def _with_implied(kind: str) -> list[str]:
    """A kind, and those that it implies."""
    known, found = vocabulary().kinds, [kind]
    for each in found:
        found += [implied for implied in known[each].implies if implied not in found]
    return found


def item_of(one: object, batch: Evaluations, principal: Principal) -> Request | Refused:
    """An evaluation of a batch, with the batch's own members for those that it lacks; or why it cannot be asked for."""
    try:
        if not isinstance(one, dict):
            raise Refused(400, "invalid", "an evaluation is an object")
        found = {
            "subject": _merged(one.get("subject"), batch.subject, ("type", "id")),
            "action": _merged(one.get("action"), batch.action, ("name",)),
            "resource": _merged(one.get("resource"), batch.resource, ("type", "id")),
            "context": _merged(one.get("context"), batch.context, ("run",)),
        }
        given = {name: value for name, value in found.items() if value is not None}
        asked = asked_for(converted(given, Evaluation), principal)
        if not may_ask(principal, asked.run, asked.agent):
            raise Refused(403, "forbidden", "this token is for another run or agent")
        return asked
    except Refused as error:
        return error


def _merged(own: object, default: Mapping[str, Any] | None, names: tuple[str, ...]) -> object:
    """An entity of an evaluation takes the place of the batch's own, but for the members that it needs and lacks."""
    if own is None or default is None or not isinstance(own, dict):
        return default if own is None else own
    return {name: default[name] for name in names if name in default} | own


# --- what is answered ---------------------------------------------------------------------------------------------


def decision_of(answer: Answer, asked: Request, origin: str) -> dict[str, Any]:
    """A decision in the form of AuthZEN, with what a hold and its approval need."""
    decision = answer.decision
    mode = decision.mode
    context: dict[str, Any] = answer.to_json()
    del context["schema"]
    if answer.seq is not None:
        context["evaluation_id"] = str(answer.seq)
    if mode == "pass":
        if decision.approvals:
            context["approval"] = {"id": decision.approvals[0]}
        return {"decision": True, "context": context}
    context["reason"], context["next_action"] = _why(answer, asked)
    if answer.hold is not None:
        name = answer.hold.id
        context["evaluation_id"] = f"{name}.{answer.seq}"
        context["access_request"] = {
            "id": name,
            "endpoint": f"{origin}{REQUESTS}",
            "expires_at": rfc3339(answer.hold.expires),
            "status_endpoint": f"{origin}{REQUESTS}/{name}",
        }
    return {"decision": False, "context": context}


def _why(answer: Answer, asked: Request) -> tuple[str, Literal["request", "retry", "none"]]:
    if answer.is_fault:
        return "cannot_judge", "retry"
    if answer.decision.mode == "hold":
        return "approval_required", "request"
    if asked.approval is not None and any(each.message == UNVERIFIABLE for each in answer.decision.reasons):
        return "approval_unverifiable", "none"
    return "denied", "none"


def rfc3339(seconds: int) -> str:
    """A time in POSIX seconds as RFC 3339 has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _not_asked(error: Refused) -> dict[str, Any]:
    told = {"status": error.status, "code": error.code, "message": error.message}
    return {"decision": False, "context": {"reason": "invalid_request", "next_action": "none", "error": told}}
