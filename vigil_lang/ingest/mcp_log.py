"""MCP traffic: JSON-RPC messages between a client and its servers, bare or wrapped by whatever logged them.

Only `tools/call` requests and their responses are read. A response belongs to the latest unanswered request of its
id, so that ids may be used again; messages of different servers or sessions, where the log tells them apart, have
ids of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.content import (
    compact,
    error_text,
    integer,
    moment,
    obj,
    objects,
    output_text,
    parsed,
    present,
    string,
)
from vigil_lang.ingest.message_parts import Pairing
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record

_WRAPPED = ("message", "payload", "data", "raw", "body", "request", "response")
_TIMES = ("timestamp", "time", "ts")
_PEERS = ("session_id", "sessionId", "session", "server_name", "server")
_REJECTED = frozenset({-32700, -32600, -32601, -32602, -32042})
"""Errors for a request that is not valid, names no tool or needs consent first: no tool ran."""


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first objects are JSON-RPC messages."""
    return any(message.get("jsonrpc") == "2.0" for line in head[:5] for message in _messages(line))


def _messages(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The JSON-RPC messages of a line: itself, the one it wraps (also as a text), or a batch of them."""
    if "jsonrpc" in line:
        return [line]
    found: list[dict[str, Any]] = []
    for key in _WRAPPED:
        value = line.get(key)
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            value = parsed(value)
        found += [item for item in objects(value if isinstance(value, list) else [value]) if "jsonrpc" in item]
    return found


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for the whole log."""
    yield Start(run)
    calls = Pairing()
    asked: dict[tuple[str | None, bytes], list[str]] = {}
    for line in lines:
        time = moment(present(line, *_TIMES))
        peer = string(line, *_PEERS)
        for message in _messages(line):
            calls.turn += 1
            identity = peer, compact(message.get("id"))
            if message.get("method") == "tools/call" and message.get("id") is not None:
                call = _call(lines, message, calls, time)
                asked.setdefault(identity, []).append(call.key)
                yield call
            elif isinstance(message.get("method"), str):
                continue
            elif asked.get(identity):
                yield _result(asked[identity].pop(), message)
            elif run.source is None and (name := _server(message)):
                run = replace(run, source=name)
                yield Start(run, again=True)


READER = Reader("mcp", "MCP messages", detect, read)


def _call(lines: Lines, message: dict[str, Any], calls: Pairing, time: int | None) -> Call:
    params = obj(message.get("params"))
    name = string(params, "name")
    if not name:
        raise lines.fault("`tools/call` names no tool", "params")
    given = message["id"]
    key = calls.call(given if isinstance(given, str) else compact(given).decode())
    return Call(key, name, arguments_of(lines, params.get("arguments"), "params", "arguments"), time)


def _result(key: str, message: dict[str, Any]) -> Result:
    error = message.get("error")
    if error is not None:
        return Result(key, "error", error_text(error), executed=integer(obj(error).get("code")) not in _REJECTED)
    result = obj(message.get("result"))
    if result.get("resultType") == "input_required":
        return Result(key, "unknown", None, executed=False)  # the client asks again, under a new id
    status: Status = "error" if result.get("isError") is True else "ok"
    # What is structured stands in the content too, as the specification advises; alone it is what there is to see.
    output = result.get("structuredContent") if not result.get("content") and "structuredContent" in result else result
    return Result(key, status, output_text(output))


def _server(message: dict[str, Any]) -> str | None:
    """The name and version of the server in its answer to `initialize`."""
    info = obj(obj(message.get("result")).get("serverInfo"))
    return " ".join(text for key in ("name", "version") if (text := string(info, key))) or None
