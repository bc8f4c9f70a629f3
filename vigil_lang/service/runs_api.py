"""Runs for programs of operators: which there are, and what each did, breaks and owes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.routing import Route

from vigil_lang.gate.history import seen
from vigil_lang.gate.log.log import text_of
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import number
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.store import Run
    from vigil_lang.service.service import Service

MOST = 500
"""Runs on one page."""


class RunState(msgspec.Struct):
    """A run: when it began and was seen last, by which list of revocations it is judged, and why it is halted."""

    run: str
    agent: str
    host: str | None
    started: str
    seen: str
    ended: str | None
    acknowledged: int | None
    policy_digest: str | None
    halted: str | None


class Runs(msgspec.Struct):
    """Runs, those seen last first."""

    schema: str
    runs: list[RunState]


class RunDetail(msgspec.Struct):
    """A run with its calls by what became of them, its verdict so far, and the statements that it breaks and owes."""

    schema: str
    run: RunState
    state: str
    verdict: str
    passed: int
    held: int
    blocked: int
    unasked: int
    broken: list[str]
    owed: list[str]
    fault: str | None


def routes(service: Service) -> list[Route]:
    """What the control address has of runs."""
    gate = service.gate

    @operation(answer=Runs, query={"limit": f"How many, at most {MOST}."})
    async def listed(request: Request) -> Response:
        """The runs that were seen last."""
        await service.auth.require(request, "viewer")
        limit = number(request, "limit", 100, MOST, 1)

        def work() -> Runs:
            with gate.holds.transaction():
                return Runs("vigil.runs/1", [_state(run) for run in gate.store.latest_runs(limit)])

        return json_response(await service.run(work))

    @operation(answer=RunDetail)
    async def show(request: Request) -> Response:
        """One run, with what it did, breaks and owes."""
        await service.auth.require(request, "viewer")
        name = request.path_params["name"]

        def work() -> RunDetail | None:
            with gate.holds.transaction():
                run = gate.store.run(name)
            return None if run is None else _detail(service, run)

        found = await service.run(work)
        if found is None:
            raise Refused(404, "not_found", "there is no such run")
        return json_response(found)

    return [Route("/v1/runs", listed, methods=["GET"]), Route("/v1/runs/{name:path}", show, methods=["GET"])]


def _state(run: Run) -> RunState:
    return RunState(
        run.name,
        run.agent,
        run.host,
        text_of(run.started),
        text_of(run.seen),
        None if run.ended is None else text_of(run.ended),
        run.acknowledged,
        run.policy,
        run.halted,
    )


def _detail(service: Service, run: Run) -> RunDetail:
    found = seen(service.gate, run)
    return RunDetail(
        "vigil.run/1",
        _state(run),
        found.state,
        found.standing,
        found.passed,
        found.held,
        found.blocked,
        found.unasked,
        [each.statement.name for each in found.broken],
        [each.statement.name for each in found.owed],
        found.fault,
    )
