"""The log for programs of operators: in pages, and as a stream of what is added (server-sent events)."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import StreamingResponse
from starlette.routing import Route

from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import number
from vigil_lang.service.openapi import operation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from vigil_lang.service.auth.principal import Principal
    from vigil_lang.service.service import Service

MOST = 500
"""Entries on one page."""

STREAMS = 100
"""So many listen at a time."""

BEAT = 15.0
"""Seconds after which a stream says that it is still there."""

LONGEST = 600.0
"""Seconds of a stream: who listens comes again, and is looked at again."""

LOOK = 5.0
"""Seconds after which a stream looks whether its session goes on; it looks at once when the log says that one ended."""

_OF_SESSIONS = ("sign_out", "person")
_LARGEST = 2**53 - 1


class LogEntry(msgspec.Struct):
    """An entry of the log, with its number."""

    seq: int
    entry: dict[str, Any]


class LogPage(msgspec.Struct):
    """Some entries, newest first. The log has `entries` of them, of which the first `signed_to` are signed."""

    schema: str
    entries: int
    signed_to: int
    page: list[LogEntry]


def routes(service: Service) -> list[Route]:
    """What the control address has of the log."""
    gate = service.gate
    listening = 0

    @operation(
        answer=LogPage,
        query={
            "before": "Entries before this number; by default the last ones.",
            "limit": f"How many, at most {MOST}.",
            "kind": "Entries of one kind.",
            "run": "Entries of one run.",
        },
    )
    async def page(request: Request) -> Response:
        """A page of the log, newest first."""
        await service.auth.require(request, "viewer")
        before = number(request, "before", _LARGEST, _LARGEST)
        limit = number(request, "limit", 100, MOST, 1)
        kind, run = request.query_params.get("kind"), request.query_params.get("run")

        def work() -> LogPage:
            with gate.holds.transaction():
                found = gate.store.page(before, limit, kind=kind, run=run)
                return LogPage("vigil.log/1", gate.log.size, gate.log.signed_to, [LogEntry(*each) for each in found])

        return json_response(await service.run(work))

    @operation(answer=LogEntry)
    async def entry(request: Request) -> Response:
        """One entry of the log."""
        await service.auth.require(request, "viewer")
        text = request.path_params["seq"]
        seq = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else -1

        def work() -> list[tuple[int, dict[str, Any]]]:
            with gate.holds.transaction():
                return gate.store.page(seq + 1, 1) if 0 <= seq < gate.log.size else []

        found = await service.run(work)
        if not found:
            raise Refused(404, "not_found", "there is no such entry")
        return json_response(LogEntry(*found[0]))

    @operation(media="text/event-stream", query={"after": "Events from behind this entry; by default new ones."})
    async def events(request: Request) -> Response:
        """What is added to the log: an event an entry, named by its kind, its id the entry's number."""
        nonlocal listening
        principal = await service.auth.require(request, "viewer")
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdecimal() and len(last) < 16 else None
        after = number(request, "after", -1 if after is None else after, _LARGEST, -1)
        if after < 0:
            after = await service.run(lambda: _size(service)) - 1
        if listening >= STREAMS:
            raise Refused(429, "too_many", f"{STREAMS} listen already", {"Retry-After": "10"})
        listening += 1
        return Stream(stream(after, principal), media_type="text/event-stream")

    class Stream(StreamingResponse):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal listening
            try:
                await super().__call__(scope, receive, send)
            finally:
                listening -= 1

    async def stream(after: int, principal: Principal) -> AsyncIterator[bytes]:
        end, looked = time.monotonic() + LONGEST, time.monotonic()
        yield b"retry: 1000\n\n"
        while time.monotonic() < end and not service.changes.is_over:
            found = await service.run(lambda: _behind(service, after))  # noqa: B023 - it is over before the next
            if time.monotonic() >= looked + LOOK or any(each.get("kind") in _OF_SESSIONS for _, each in found):
                if not await service.auth.is_in_session(principal):
                    return
                looked = time.monotonic()
            for seq, each in found:
                after = seq
                yield b"id: %d\nevent: %b\ndata: %b\n\n" % (seq, _word(each), msgspec.json.encode(each))
            if not found and not await service.changes.wait(BEAT):
                yield b": still here\n\n"

    return [
        Route("/v1/log", page, methods=["GET"]),
        Route("/v1/log/events", events, methods=["GET"]),
        Route("/v1/log/{seq}", entry, methods=["GET"]),
    ]


def _word(entry: dict[str, Any]) -> bytes:
    """The kind of an entry; a log that somebody else wrote may have anything there."""
    kind = str(entry.get("kind"))
    return kind.encode() if kind.isidentifier() and kind.isascii() else b"entry"


def _size(service: Service) -> int:
    with service.gate.holds.transaction():
        return service.gate.log.size


def _behind(service: Service, after: int) -> list[tuple[int, dict[str, Any]]]:
    with service.gate.holds.transaction():
        return list(islice(service.gate.log.entries(after + 1), MOST))
