"""The kill switch for programs of operators: a list that was signed elsewhere is put in force here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.routing import Route

from vigil_lang.gate.kill_switch import KillSwitch, killed_json
from vigil_lang.gate.state import StateError
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import body
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.service.service import Service

MOST = 16_000_000
"""Bytes of the longest list."""


class Envelope(msgspec.Struct):
    """A DSSE envelope over a revocation list, as `vigil kill` writes `revocations.json`."""

    payload: str
    payloadType: str  # noqa: N815 - as DSSE calls it
    signatures: list[dict[str, Any]]


class InForce(msgspec.Struct):
    """The list in force: its number, what it revokes, and why it counts for nothing where it does not."""

    schema: str
    seq: int
    revoked: list[dict[str, Any]]
    fault: str | None


class Killed(msgspec.Struct):
    """What came of a list: the live runs that it concerns, each with whether it has seen it, and the holds it voids."""

    schema: str
    seq: int
    revoked: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    void: list[str]
    fault: str | None


def routes(service: Service) -> list[Route]:
    """What the control address has of revocations."""
    gate = service.gate

    @operation(answer=InForce)
    async def in_force(request: Request) -> Response:
        """The revocation list in force."""
        await service.auth.require(request, "viewer")
        found = await service.run(gate.revoked)
        entries = [] if found.list is None else found.members()["revoked"]
        return json_response(InForce("vigil.revocations/1", found.seq, entries, found.fault))

    @operation(body=Envelope, answer=Killed)
    async def put(request: Request) -> Response:
        """Put a signed list in force. It needs the signature of a key that may revoke, and a higher number."""
        await service.auth.require(request, "administrator")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(400, "content_type", "the content type has to be application/json")
        data = await body(request, MOST)
        switch = KillSwitch(gate.folder, gate.settings)
        try:
            found = await service.run(lambda: switch.put(data))
        except StateError as error:
            raise Refused(409, "revocation", str(error)) from None
        return json_response({"schema": "vigil.kill/1", **killed_json(found)})

    return [Route("/v1/revocations", in_force, methods=["GET"]), Route("/v1/revocations", put, methods=["POST"])]
