"""Runs: which are live, what each owes, and the calls of one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from starlette.routing import Route

from vigil_lang.gate.hold_words import seconds_text
from vigil_lang.gate.state import StateError
from vigil_lang.service.errors import Refused
from vigil_lang.service.page.logs import Line, line_of
from vigil_lang.service.page.rendering import page
from vigil_lang.service.page.viewing import viewed, whole

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.store import Run
    from vigil_lang.service.service import Service

PAGE = 40
"""Runs on a page."""

_BUDGET = 0.08
"""Seconds in which runs of a list are followed; what the others owe is said where they are looked at alone."""

_MESSAGES = 20
_ENTRIES = 50


class Standing(NamedTuple):
    """A run as it is followed now: what it owes, what it broke, what cannot be judged, how many calls it made and how
    many of them have not ended. `fault` says why it cannot be followed."""

    owed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    calls: int = 0
    flying: int = 0
    fault: str | None = None


class Listed(NamedTuple):
    """A run in the list."""

    run: Run
    seen: str
    standing: Standing | None


class RunPages:
    """The pages of runs."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._gate = service.gate

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/runs", viewed(self._service, "viewer", self.listed), methods=["GET"]),
            Route("/runs/{name:path}", viewed(self._service, "viewer", self.shown), methods=["GET"]),
        ]

    async def listed(self, request: Request) -> Response:
        """The runs that have not ended, those seen last first."""
        if "name" in request.query_params:
            return await self._one(request, request.query_params["name"])
        number = whole(request.query_params.get("page"), 1, 1_000_000) or 1

        def look() -> tuple[list[Listed], int]:
            gate, end = self._gate, time.monotonic() + _BUDGET
            with gate.holds.transaction():
                live = gate.store.runs()
                now = gate.now()
                chosen = live[(number - 1) * PAGE : number * PAGE]
                return [
                    Listed(each, _ago(now - each.seen), self._standing(each.name) if time.monotonic() < end else None)
                    for each in chosen
                ], len(live)

        rows, count = await self._service.run(look)
        of = max(1, -(-count // PAGE))
        return page(request, "runs.html", title="Live runs", rows=rows, count=count, number=number, of=of)

    async def shown(self, request: Request) -> Response:
        """One run: what it owes and broke, and its last entries."""
        return await self._one(request, request.path_params["name"])

    async def _one(self, request: Request, name: str) -> Response:
        def look() -> tuple[Run, str, Standing, list[Line]]:
            gate = self._gate
            with gate.holds.transaction():
                run = gate.store.run(name)
                if run is None:
                    raise Refused(404, "unknown", f"there is no run `{name[:200]}`")
                lines = [line_of(seq, entry) for seq, entry in gate.store.page(None, _ENTRIES, run=name)]
                return run, _ago(gate.now() - run.seen), self._standing(name), lines

        run, seen, standing, lines = await self._service.run(look)
        return page(
            request, "run.html", title=f"Run {name}", run=run, seen=seen, standing=standing, lines=lines,
            started=run.started // 1_000_000, ended=None if run.ended is None else run.ended // 1_000_000,
        )  # fmt: skip

    def _standing(self, name: str) -> Standing:
        try:
            live = self._gate.follow(name)
        except (StateError, ValueError) as error:
            return Standing(fault=str(error))
        return Standing(
            tuple(f"{each.statement.name}: {each.message}" for each in live.run.pending()[:_MESSAGES]),
            tuple(f"{each.statement.name}: {each.offence.message}" for each in live.run.broken[:_MESSAGES]),
            tuple(f"{each.statement.name}: {each.why}" for each in live.run.unjudged[:_MESSAGES]),
            live.calls,
            len(live.open),
        )


def _ago(microseconds: int) -> str:
    return f"{seconds_text(max(0, microseconds // 1_000_000))} ago"
