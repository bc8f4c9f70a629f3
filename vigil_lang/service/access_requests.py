"""The AuthZEN Access Request and Approval profile: a hold is a request for access, whose task is the hold.

The hold is there with the decision that opened it; submitting it joins it and opens none. After an approval the action
is evaluated again, with the approval as `context.approval`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.routing import Route

from vigil_lang.gate.binding import asked as action_of
from vigil_lang.gate.canonical import NotCanonical
from vigil_lang.gate.holds import LONGEST_WAIT, HoldError
from vigil_lang.gate.log.log import moment
from vigil_lang.service.asking import check_may_ask, known, may_ask, noted
from vigil_lang.service.authzen import REQUESTS, Action, Evaluation, Resource, Subject, asked_for, rfc3339
from vigil_lang.service.edge import json_response
from vigil_lang.service.limits import converted, json_body, number
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

    from vigil_lang.gate.request import Request
    from vigil_lang.gate.store import Hold
    from vigil_lang.service.auth.principal import Principal
    from vigil_lang.service.service import Service

PROBLEM = "urn:openid:authzen:access-request:error:"
PROBLEM_MEDIA = "application/problem+json"
RETRY_AFTER = 2
"""Seconds between two looks at a task that waits."""


class Denial(msgspec.Struct):
    """The denied evaluation that the request is about."""

    evaluation_id: str = ""


class AccessRequest(msgspec.Struct):
    """A submission: the entities of the denied evaluation as they were. `items` are not taken: each evaluation has a
    request of its own."""

    subject: Subject
    resource: Resource
    action: Action
    denial: Denial = msgspec.field(default_factory=Denial)
    context: dict[str, Any] = {}


class Task(msgspec.Struct, omit_defaults=True):
    """The request as it is now: `pending`, `approved`, `denied`, `expired` or `cancelled`."""

    id: str
    status: str
    status_endpoint: str
    expires_at: str
    links: dict[str, str] = {}


class Approval(msgspec.Struct, omit_defaults=True):
    """What goes into `context.approval` of the evaluation that follows, as it is."""

    id: str
    approved_until: str
    approved_at: str | None = None


class Result(msgspec.Struct):
    """How to go on with an approval."""

    mode: str
    approval: Approval


class TaskAnswer(msgspec.Struct, omit_defaults=True):
    """A task, and its result where it is approved."""

    task: Task
    result: Result | None = None


class Cancelling(msgspec.Struct):
    """Why a request is taken back."""

    reason: str = ""
    comment: str = ""


class Problem(msgspec.Struct):
    """Why it cannot be (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class _Wrong(Exception):
    """A problem of the profile."""

    def __init__(self, status: int, name: str, detail: str) -> None:
        super().__init__(detail)
        self.problem = Problem(f"{PROBLEM}{name}", name.replace("_", " "), status, detail)


def routes(service: Service) -> list[Route]:
    """What the data address has of the profile."""
    holds = service.gate.holds
    problem = Problem, PROBLEM_MEDIA
    joining = {201: (TaskAnswer, "application/json"), **dict.fromkeys((400, 404, 409, 410), problem)}

    def told(hold: Hold, status: int = 200) -> Response:
        answer = json_response(_answer(hold, service.origins.data), status)
        if hold.state == "pending":
            answer.headers["retry-after"] = str(RETRY_AFTER)
        return answer

    async def look(name: str, principal: Principal) -> Hold:
        """A hold that somebody may know of, as it is now."""
        try:
            hold = await service.run(lambda: holds.look(name))
        except HoldError:
            raise _unknown() from None
        if not may_ask(principal, hold.opened["run"], hold.opened["agent"]):
            raise _unknown()
        return hold

    @operation(body=AccessRequest, answer=TaskAnswer, status=202, also=joining)
    async def submit(request: HttpRequest) -> Response:
        """Ask for access that an evaluation denied: it joins the hold that waits."""
        principal = await known(service, request)
        try:
            async with noted(service):
                found = await json_body(request)
                if isinstance(found, dict) and "items" in found:
                    raise _Wrong(400, "invalid_denial_binding", "each evaluation has an access request of its own")
                given = converted(found, AccessRequest)
                asked = asked_for(Evaluation(given.subject, given.action, given.resource, given.context), principal)
                check_may_ask(principal, asked.run, asked.agent)
            name, _, seq = given.denial.evaluation_id.partition(".")
            if name.isdecimal() and not seq:
                raise _Wrong(400, "not_requestable", "no access can be requested for this evaluation")
            try:
                hold = await look(name, principal)
            except _Wrong:
                raise _Wrong(400, "invalid_denial_binding", "no such evaluation was denied and requestable") from None
            if not seq.isdecimal() or not _is_of(asked, hold):
                raise _Wrong(400, "invalid_denial_binding", "it is not the evaluation that was denied")
            if hold.state == "expired":
                raise _Wrong(410, "expired_denial", "nobody answered in time: evaluate the action again")
        except _Wrong as error:
            return _told(error)
        response = told(hold, 202 if hold.state == "pending" else 201)
        response.headers["location"] = f"{service.origins.data}{REQUESTS}/{hold.id}"
        return response

    @operation(
        answer=TaskAnswer,
        also={404: problem},
        query={"wait": f"Wait for the answer so many seconds, at most {LONGEST_WAIT:g}."},
    )
    async def status(request: HttpRequest) -> Response:
        """A request as it is now; with `wait`, as soon as it waits no more."""
        principal = await known(service, request)
        end = time.monotonic() + number(request, "wait", 0, int(LONGEST_WAIT))
        try:
            hold = await look(request.path_params["name"], principal)
            while hold.state == "pending" and (left := end - time.monotonic()) > 0 and not service.changes.is_over:
                await service.changes.wait(min(left, max(0.05, hold.expires - time.time()), 5))
                hold = await look(hold.id, principal)
        except _Wrong as error:
            return _told(error)
        return told(hold)

    @operation(body=Cancelling, answer=TaskAnswer, also={404: problem, 409: problem}, optional=True)
    async def cancel(request: HttpRequest) -> Response:
        """Take a request back: its action is not wanted any more."""
        principal = await known(service, request)
        given = converted(await json_body(request, optional=True) or {}, Cancelling)
        try:
            hold = await look(request.path_params["name"], principal)
            why = f"{given.reason} {given.comment}".strip() or "it is not wanted any more"
            try:
                await service.run(lambda: holds.cancel([hold.id], why))
            except HoldError as error:
                raise _Wrong(409, "invalid_task_state", str(error)) from None
            hold = await look(hold.id, principal)
        except _Wrong as error:
            return _told(error)
        return told(hold)

    return [
        Route(REQUESTS, submit, methods=["POST"]),
        Route(REQUESTS + "/{name}", status, methods=["GET"]),
        Route(REQUESTS + "/{name}/cancel", cancel, methods=["POST"]),
    ]


def _unknown() -> _Wrong:
    return _Wrong(404, "unknown_task", "there is no such request")


def _told(error: _Wrong) -> Response:
    return json_response(error.problem, error.problem.status, media=PROBLEM_MEDIA)


def _is_of(asked: Request, hold: Hold) -> bool:
    """Whether a request is that of the action that is held."""
    opened = hold.opened
    try:
        digest = action_of(asked).digest
    except NotCanonical:
        return False
    given = (asked.run, asked.agent, asked.user, digest)
    return given == (opened["run"], opened["agent"], opened.get("user"), opened["action_digest"])


def _answer(hold: Hold, origin: str) -> TaskAnswer:
    place = f"{origin}{REQUESTS}/{hold.id}"
    links = {"cancel": f"{place}/cancel"} if hold.state == "pending" else {}
    task = Task(hold.id, hold.state, place, rfc3339(hold.expires), links)
    if hold.state != "approved" or hold.until is None:
        return TaskAnswer(task)
    last = moment(hold.confirmations[-1]["at"]) // 1_000_000 if hold.confirmations else None
    approval = Approval(hold.id, rfc3339(hold.until), None if last is None else rfc3339(last))
    return TaskAnswer(task, Result("reevaluate", approval))
