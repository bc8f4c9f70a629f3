"""What detectors say of runs: a number, signed by the source's key or given by the operator. Never a text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.routing import Route

from vigil_lang.gate.tier import combine
from vigil_lang.gate.tier.signals import MAX_BYTES, local_signal, signed_members
from vigil_lang.gate.tier.signals import Refused as NoSignal
from vigil_lang.service.asking import known
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import converted, json_body
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.service.service import Service


class LocalSignal(msgspec.Struct, rename={"seconds": "for"}):
    """What a source without a key says of a run: a score from 0 to 1, which counts `for` so many seconds, at most for
    the source's window. A DSSE envelope in its place is a signal that the source's key signed."""

    run: str
    source: str
    score: float
    seconds: int | None = None


class Heard(msgspec.Struct):
    """A signal that is in the log, and the run's tier by now."""

    schema: str
    seq: int
    tier: int


def routes(service: Service) -> list[Route]:
    """Both addresses have this."""
    gate = service.gate
    settings = gate.settings.tier

    def noted(members: dict[str, Any]) -> Heard:
        with gate.holds.transaction():
            seq = gate.log.append("signal", members)
            gate.store.catch_up()
            at = gate.log.at() // 1_000_000
            level = combine(gate.store.signals(members["run"], at), settings, at).level
        return Heard("vigil.signal/1", seq, level)

    @operation(body=LocalSignal, answer=Heard)
    async def signal(request: Request) -> Response:
        """Report a detector's score for a run. One that is not signed needs the operator's token."""
        principal = await known(service, request)
        found = await json_body(request, limit=MAX_BYTES)
        at = int(time.time())
        try:
            if isinstance(found, dict) and "payload" in found:
                members = signed_members(settings, msgspec.json.encode(found), at)
            elif principal.kind != "operator":
                raise Refused(403, "forbidden", "an agent says nothing of runs that is not signed by a source")
            else:
                given = converted(found, LocalSignal)
                members = local_signal(settings, given.run, given.source, given.score, given.seconds, at).members()
        except NoSignal as error:
            raise Refused(400, "signal", str(error)) from None
        return json_response(await service.run(lambda: noted(members)))

    return [Route("/v1/signals", signal, methods=["POST"])]
