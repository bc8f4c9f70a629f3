"""Who may ask about what, and what is noted where a request is bad."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from vigil_lang.gate.state import StateError
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from vigil_lang.service.auth.principal import Principal
    from vigil_lang.service.service import Service


async def known(service: Service, request: Request) -> Principal:
    """Who asks, where that is an agent or the operator.

    Raises:
        Refused: 401 nobody knows, 403 a person, who asks for no actions.
    """
    found = await service.auth.known(request)
    if found.kind == "person":
        raise Refused(403, "forbidden", "a person asks for no actions")
    return found


def may_ask(principal: Principal, run: str, agent: str) -> bool:
    """Whether somebody may ask about a run of an agent."""
    return principal.kind == "operator" or (principal.run == run and principal.name == agent)


def check_may_ask(principal: Principal, run: str, agent: str) -> None:
    """Refuse who asks about a run of somebody else's.

    Raises:
        Refused: 403.
    """
    if not may_ask(principal, run, agent):
        raise Refused(403, "forbidden", "this token is for another run or agent")


@asynccontextmanager
async def noted(service: Service) -> AsyncIterator[None]:
    """A request of somebody who is known, where nothing is decided because it is bad: that is in the log."""
    try:
        yield
    except Refused as error:
        message = error.message
        with suppress(StateError, OSError):  # the request is refused all the same
            await service.run(lambda: service.gate.refuse(message))
        raise
