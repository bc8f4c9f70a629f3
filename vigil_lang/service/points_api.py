"""What enforcement points on other machines ask: `POST /v1/runs/{verb}`, a verb for each method of a gate they use.

A token is good for its own run and agent, and a run is that of the agent that it began with. Nothing that is named is
read from this machine's disk: policies come as texts.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from starlette.routing import Route

from vigil_lang.gate import run_calls as calls
from vigil_lang.gate.brought import admitted
from vigil_lang.gate.canonical import NotCanonical
from vigil_lang.gate.entering import Entering
from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.request import BadRequest, request_of
from vigil_lang.gate.state import StateError
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import converted, json_body
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import msgspec
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

    from vigil_lang.gate.store import Hold
    from vigil_lang.service.auth.principal import Principal
    from vigil_lang.service.service import Service

_MOST_RUNS = 10_000
_PAUSE = 5.0
"""Seconds after which a hold is looked at whether or not the log grew: its time may be over."""


def routes(service: Service) -> list[Route]:
    """What the data address has for enforcement points."""
    points = _Points(service)
    return [_route(service, verb, getattr(points, verb)) for verb in calls.FORMS]


def _route(
    service: Service,
    verb: str,
    work: Callable[[Any, Principal], Awaitable[msgspec.Struct]],
) -> Route:
    takes, gives = calls.FORMS[verb]

    @operation(body=takes, answer=gives)
    async def answered(request: HttpRequest) -> Response:
        body = converted(await json_body(request), takes)
        principal = await service.auth.require_agent(request, body.run, body.agent, is_decided=verb == "decide")
        try:
            return json_response(await work(body, principal))
        except HoldError as error:
            raise Refused(409, "hold", str(error)) from error
        except (BadRequest, NotCanonical) as error:
            raise Refused(400, "invalid", str(error)) from error
        except ValueError as error:
            raise Refused(404, "no_run", str(error)) from error

    answered.__doc__ = work.__doc__
    return Route(f"{calls.PATH}{verb}", answered, methods=["POST"])


class _Points:
    """The verbs, each as the method of `Gate` of that name."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._gate = service.gate
        self._agents: OrderedDict[str, str] = OrderedDict()

    async def enter(self, body: calls.Enter, principal: Principal) -> calls.Remarks:
        """A run begins, with the policies that it brings, or goes on."""
        await self._check_owner(body)
        brought = body.policies
        remarks: tuple[str, ...] = ()
        if brought and not self._service.settings.accept_policies:
            brought, remarks = (), ("the service takes no policies of runs: those of this one do not count",)
        entering = Entering(
            body.run,
            body.agent,
            body.host,
            body.cwd,
            user=body.user,
            apply_changes=body.apply_changes,
            brought=brought,
            chain=principal.chain,
        )
        gate = self._gate
        try:
            policies = await self._service.run(lambda: gate.policies_for(entering))
        except StateError as error:
            raise Refused(400, "policies", str(error)) from error
        found = await self._service.run(lambda: gate.enter(entering, policies))
        return calls.Remarks((*remarks, *found))

    async def extend(self, body: calls.Extend, _: Principal) -> calls.Joined:
        """Policies join those of a run."""
        await self._check_owner(body, begun=True)
        if not self._service.settings.accept_policies:
            return calls.Joined(joined=False)
        params = self._gate.settings.params
        try:
            await self._service.run(lambda: admitted(body.policies, params))
        except StateError as error:
            raise Refused(400, "policies", str(error)) from error
        return calls.Joined(joined=await self._service.run(lambda: self._gate.extend(body.run, (), body.policies)))

    async def decide(self, body: calls.Decide, principal: Principal) -> calls.Decided:
        """What becomes of an action; it is in the log before the answer."""
        request = request_of(body.request)
        if (request.run, request.agent) != (body.run, body.agent):
            raise Refused(400, "invalid", "the request is about another run or agent")
        if request.authority is not None:
            raise Refused(400, "invalid", "a request names no chain: the agent proves which one it acts under")
        await self._check_owner(body, begun=body.begun)
        answer = await self._service.decider.decide(replace(request, chain=principal.chain))
        return calls.decided(body.id, answer, self._service.origins.control)

    async def ended(self, body: calls.EndedCall, _: Principal) -> calls.Violated:
        """How a call ended."""
        await self._check_owner(body, begun=True)
        return calls.Violated(await self._service.run(lambda: self._gate.ended(body.run, body.ended())))

    async def say(self, body: calls.Say, _: Principal) -> calls.Violated:
        """The user or the agent said something."""
        await self._check_owner(body, begun=True)
        return calls.Violated(await self._service.run(lambda: self._gate.say(body.run, body.message())))

    async def turn_ended(self, body: calls.TurnEnded, _: Principal) -> calls.OwedNow:
        """A turn of the agent is over: what it owes."""
        await self._check_owner(body, begun=True)
        return calls.OwedNow(await self._service.run(lambda: self._gate.turn_ended(body.run, body.session)))

    async def halt(self, body: calls.Why, _: Principal) -> calls.Done:
        """Every call of the run blocks from now on."""
        await self._check_owner(body, begun=True)
        await self._service.run(lambda: self._gate.halt(body.run, body.why))
        return calls.Done()

    async def refuse(self, body: calls.Why, _: Principal) -> calls.Done:
        """Something was refused before the gate was asked, which the log notes."""
        await self._check_owner(body)
        message = f"{body.agent} in {body.run}: {body.why}"
        await self._service.run(lambda: self._gate.refuse(message))
        return calls.Done()

    async def end(self, body: calls.Of, _: Principal) -> calls.Done:
        """The run is over."""
        await self._check_owner(body, begun=True)
        await self._service.run(lambda: self._gate.end(body.run))
        return calls.Done()

    async def status(self, body: calls.Of, _: Principal) -> calls.RunStatus:
        """What is known of a run."""
        gate, run = self._gate, body.run

        def looked() -> calls.RunStatus:
            if not gate.has_begun(run):
                return calls.RunStatus(begun=False)
            return calls.RunStatus(begun=True, folder=gate.folder_of(run), events=gate.event_count(run))

        await self._check_owner(body)
        return await self._service.run(looked)

    async def hold(self, body: calls.OfHold, _: Principal) -> calls.HoldNow:
        """A hold of the run as it is now."""
        return calls.HoldNow(calls.shown_hold(await self._held(body)))

    async def wait(self, body: calls.OfHold, _: Principal) -> calls.HoldNow:
        """A hold of the run when it waits no more, or after some seconds."""
        end = time.monotonic() + body.seconds
        while True:
            found = await self._held(body)
            left = end - time.monotonic()
            if found.state != "pending" or left <= 0 or self._service.changes.is_over:
                return calls.HoldNow(calls.shown_hold(found))
            await self._service.changes.wait(min(left, _PAUSE, max(0.05, found.expires - time.time())))

    async def cancel(self, body: calls.OfHold, _: Principal) -> calls.HoldNow:
        """A hold that waits is not wanted any more."""
        await self._held(body)
        why = body.why or "the agent takes it back"
        return calls.HoldNow(calls.shown_hold(await self._service.run(lambda: self._gate.cancel(body.hold, why))))

    async def _held(self, body: calls.OfHold) -> Hold:
        """A hold of the run and the agent; to others there is none."""
        try:
            found = await self._service.run(lambda: self._gate.hold(body.hold))
        except HoldError as error:
            raise Refused(404, "hold", str(error)) from error
        if (found.opened["run"], found.opened["agent"]) != (body.run, body.agent):
            raise Refused(404, "hold", f"there is no hold `{body.hold[:40]}`")
        return found

    async def _check_owner(self, body: calls.Of, *, begun: bool = False) -> None:
        """Refuse a run that is another agent's or, where it has to be known, one that never began."""
        agent = self._agents.get(body.run)
        if agent is None:
            agent = await self._service.run(lambda: self._gate.agent_of(body.run))
            if agent is not None:
                self._agents[body.run] = agent
                if len(self._agents) > _MOST_RUNS:
                    self._agents.popitem(last=False)
        if agent is None and begun:
            raise Refused(404, "no_run", "the service does not know this run: it began with another log")
        if agent not in (None, body.agent):
            raise Refused(403, "forbidden", "this run is that of another agent")
