"""The addresses of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from vigil_lang.service.page.holds import HoldPages
from vigil_lang.service.page.kill import KillPages
from vigil_lang.service.page.logs import LogPages
from vigil_lang.service.page.policies import PolicyPages
from vigil_lang.service.page.rendering import static
from vigil_lang.service.page.runs import RunPages
from vigil_lang.service.page.stories import Stories

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.service.service import Service


def routes(service: Service) -> list[Route]:
    """What the control address has for people to look at and to decide."""

    async def file(request: Request) -> Response:
        return static(request.path_params["name"])

    stories = Stories(service.gate)
    return [
        Route("/static/{name}", file, methods=["GET"]),
        *HoldPages(service, stories).routes(),
        *RunPages(service).routes(),
        *LogPages(service).routes(),
        *PolicyPages(service).routes(),
        *KillPages(service).routes(),
    ]
