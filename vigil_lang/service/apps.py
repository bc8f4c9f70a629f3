"""The applications behind the two addresses: data for agents, control for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette

from vigil_lang.service import (
    access_requests,
    authzen,
    health,
    holds_api,
    log_api,
    metrics_api,
    openapi,
    points_api,
    revocations,
    runs_api,
    signals,
)
from vigil_lang.service.auth import routes as auth
from vigil_lang.service.authzen import EVALUATION, EVALUATIONS
from vigil_lang.service.edge import HANDLERS, Edge
from vigil_lang.service.page import routes as page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Route
    from starlette.types import ASGIApp

    from vigil_lang.service.service import Service


def data_routes(service: Service) -> list[Route]:
    """What agents and their enforcement points reach."""
    return [
        *authzen.routes(service),
        *access_requests.routes(service),
        *signals.routes(service),
        *auth.data_routes(service),
        *points_api.routes(service),
        *health.routes(service),
    ]


def control_routes(service: Service) -> list[Route]:
    """What people and operators reach."""
    return [
        *auth.routes(service),
        *page.routes(service),
        *holds_api.routes(service),
        *revocations.routes(service),
        *signals.routes(service),
        *log_api.routes(service),
        *runs_api.routes(service),
        *metrics_api.routes(service),
        *health.routes(service),
    ]


def data_app(service: Service) -> ASGIApp:
    """The application of the data address."""
    return _app(service, "Vigil gate: decisions", service.origins.data, data_routes(service))


def control_app(service: Service) -> ASGIApp:
    """The application of the control address."""
    app = _app(service, "Vigil gate: people and operators", service.origins.control, control_routes(service))
    return service.auth.refreshing(app)


def _app(service: Service, title: str, origin: str, found: Sequence[Route]) -> ASGIApp:
    routes = [*found, *openapi.routes(title, origin, found)]
    app = Starlette(routes=routes, exception_handlers=dict(HANDLERS))
    app.router.redirect_slashes = False
    often = {each.path: each.endpoint for each in found if each.path in (EVALUATION, EVALUATIONS)}
    return Edge(app, service, often)
