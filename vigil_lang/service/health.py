"""Whether the process lives, and whether it can decide: for supervisors, which have no token."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from starlette.routing import Route

from vigil_lang.gate.state import StateError
from vigil_lang.service.edge import json_response
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.service.service import Service

import msgspec


class Health(msgspec.Struct):
    """Whether a service is as it should be; `why` says what is not."""

    status: str
    why: str | None = None


def routes(service: Service) -> list[Route]:
    """Both addresses have these."""

    @operation(answer=Health, public=True)
    async def healthz(_: Request) -> Response:
        """The process lives, and its event loop turns."""
        return json_response(Health("ok"))

    @operation(answer=Health, public=True, also={503: (Health, "application/json")})
    async def readyz(_: Request) -> Response:
        """The state can be read and written: decisions are made."""
        why = "the service ends" if service.changes.is_over else await service.run(lambda: _wrong_with(service))
        return json_response(Health("ok") if why is None else Health("unavailable", why), 200 if why is None else 503)

    return [Route("/healthz", healthz, methods=["GET"]), Route("/readyz", readyz, methods=["GET"])]


def _wrong_with(service: Service) -> str | None:
    gate = service.gate
    try:
        with gate.holds.transaction():
            room = os.statvfs(gate.folder.path)
        if room.f_bavail * room.f_frsize < 16_000_000:
            return "the disk of the state folder is full"
        return None if os.access(gate.folder.log, os.W_OK) else "the log cannot be written"
    except (StateError, OSError) as error:
        return str(error)[:300]
