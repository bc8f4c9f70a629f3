"""Holds for programs of operators: what waits, and the signed words that confirm or deny it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from starlette.routing import Route

from vigil_lang.gate.hold_json import hold_json
from vigil_lang.gate.holds import HoldError, Signed
from vigil_lang.gate.store import STATES, HoldState
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import converted, json_body, number
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.store import Hold
    from vigil_lang.service.service import Service

MOST = 500
"""Holds on one page, or in one batch."""


class Holds(msgspec.Struct):
    """Some holds, each as `vigil hold show --format json` has it, and how many there are in each state."""

    schema: str
    holds: list[dict[str, Any]]
    counts: dict[HoldState, int]


class Held(msgspec.Struct):
    """Holds as they are now."""

    schema: str
    holds: list[dict[str, Any]]


class Words(msgspec.Struct):
    """Approvals or denials, each signed by its key: all of them count or, where one cannot, none."""

    words: Annotated[list[Signed], msgspec.Meta(min_length=1, max_length=MOST)]


class Cancelled(msgspec.Struct):
    """Why a hold is cancelled."""

    why: str = "it is not wanted any more"


def routes(service: Service) -> list[Route]:
    """What the control address has of holds."""
    gate = service.gate

    def shown(found: Sequence[Hold]) -> list[dict[str, Any]]:
        with gate.holds.transaction():
            inputs = [gate.log.plain(hold.seq, "/inputs") for hold in found]
        actions = [each.get("action") if isinstance(each, dict) else None for each in inputs]
        return [hold_json(hold, action) for hold, action in zip(found, actions, strict=True)]

    async def changed(work: Callable[[], Sequence[Hold]]) -> Response:
        try:
            return json_response(Held("vigil.holds/1", await service.run(lambda: shown(work()))))
        except HoldError as error:
            raise Refused(409, "hold", str(error)) from None

    @operation(
        answer=Holds,
        query={
            "state": f"One of {', '.join(STATES)}, or all; by default those that wait.",
            "limit": f"How many, at most {MOST}.",
            "offset": "Behind so many.",
        },
    )
    async def listed(request: Request) -> Response:
        """The holds in a state: the most severe first, and the oldest of them."""
        await service.auth.require(request, "viewer")
        named = request.query_params.get("state", "pending")
        state = next((each for each in STATES if each == named), None)
        if state is None and named != "all":
            raise Refused(400, "invalid", f"`state` is one of {', '.join(STATES)}, or all")
        limit, offset = number(request, "limit", 100, MOST, 1), number(request, "offset", 0, 10**9)

        def work() -> Holds:
            with gate.holds.transaction():
                gate.holds.settle()
                found = gate.store.hold_page(state, limit, offset)
                counts = gate.store.hold_counts()
            gate.holds.tell()
            return Holds("vigil.holds/1", shown(found), counts)

        return json_response(await service.run(work))

    @operation(answer=dict[str, Any])
    async def show(request: Request) -> Response:
        """One hold, as `vigil.hold/1`."""
        await service.auth.require(request, "viewer")
        name = request.path_params["name"]
        try:
            found = await service.run(lambda: shown([gate.holds.look(name)]))
        except HoldError as error:
            raise Refused(404, "not_found", str(error)) from None
        return json_response({"schema": "vigil.hold/1", **found[0]})

    @operation(body=Words, answer=Held)
    async def approve(request: Request) -> Response:
        """Approve holds by the signatures of approvers; a signature that does not count is refused, and logged."""
        await service.auth.require(request, "approver")
        words = converted(await json_body(request), Words).words
        return await changed(lambda: gate.holds.approve(words))

    @operation(body=Words, answer=Held)
    async def deny(request: Request) -> Response:
        """Deny holds by the signatures of approvers."""
        await service.auth.require(request, "approver")
        words = converted(await json_body(request), Words).words
        return await changed(lambda: gate.holds.deny(words))

    @operation(body=Cancelled, answer=Held, optional=True)
    async def cancel(request: Request) -> Response:
        """Cancel a hold that waits: its action is not wanted any more."""
        await service.auth.require(request, "approver")
        why = converted(await json_body(request, optional=True) or {}, Cancelled).why
        name = request.path_params["name"]
        return await changed(lambda: gate.holds.cancel([name], why))

    return [
        Route("/v1/holds", listed, methods=["GET"]),
        Route("/v1/holds/approve", approve, methods=["POST"]),
        Route("/v1/holds/deny", deny, methods=["POST"]),
        Route("/v1/holds/{name}", show, methods=["GET"]),
        Route("/v1/holds/{name}/cancel", cancel, methods=["POST"]),
    ]
