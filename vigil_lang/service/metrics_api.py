"""The metrics, as Prometheus reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response
from starlette.routing import Route

from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from starlette.requests import Request

    from vigil_lang.service.service import Service


def routes(service: Service) -> list[Route]:
    """The control address has this."""
    gate, metrics = service.gate, service.metrics

    def work() -> bytes:
        with gate.holds.transaction():
            metrics.entries.set(gate.log.size)
            metrics.holds.set(gate.store.hold_counts()["pending"])
        metrics.queue.set(service.decider.waiting)
        return generate_latest(metrics.registry)

    @operation(media="text/plain")
    async def show(request: Request) -> Response:
        """Decisions by mode, how long they took, what waits, and faults."""
        await service.auth.require(request, "viewer")
        return Response(await service.run(work), headers={"content-type": CONTENT_TYPE_LATEST})

    return [Route("/metrics", show, methods=["GET"])]
