"""MCP traffic: pairing by id, batches, wrappers, errors of the protocol and of tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import DENIED, DRY, MCP, NOTE, RUN, WEATHER, read
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.mcp_log import READER, detect
from vigil_lang.trace.record import Call, Record, Result, Start

RECORDS = [
    Start(RUN),
    Start(replace(RUN, source="sky 1.2"), again=True),
    Call("1", "weather", WEATHER),
    Call("2", "save", NOTE),
    Result("2", "error", DENIED),
    Result("1", "ok", DRY),
]


def request(id: Any, name: str = "ls", **params: Any) -> dict[str, Any]:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, **params}}


def answer(id: Any, text: str) -> dict[str, Any]:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}}


def test_messages_as_they_are() -> None:
    assert read(READER, *MCP) == RECORDS


@pytest.mark.parametrize("key", ["message", "payload", "data"])
def test_messages_in_a_wrapper(key: str) -> None:
    wrapped = [{"direction": "out", key: message} for message in MCP]
    assert detect(wrapped)
    assert read(READER, *wrapped) == RECORDS


def test_messages_as_texts_with_the_time() -> None:
    line = {"ts": "2026-01-05T10:00:00Z", "raw": json.dumps(request(1))}
    assert read(READER, line) == [Start(RUN), Call("1", "ls", {}, 1767607200_000_000)]


def test_a_batch_in_a_wrapper() -> None:
    batches = [{"message": MCP[3:5]}, {"message": MCP[5:]}]
    assert read(READER, *batches) == [RECORDS[0], *RECORDS[2:]]


def test_an_id_is_used_again_after_its_answer() -> None:
    assert read(READER, request("a"), answer("a", "x"), request("a"), answer("a", "y"), answer("a", "z")) == [
        Start(RUN),
        Call("a", "ls", {}),
        Result("a", "ok", "x"),
        Call("a#2", "ls", {}),
        Result("a#2", "ok", "y"),
    ]


def test_each_server_has_ids_of_its_own() -> None:
    lines = [
        {"server": "files", "message": request(1, "ls")},
        {"server": "sky", "message": request(1, "weather")},
        {"server": "files", "message": answer(1, "a.py")},
        {"server": "sky", "message": answer(1, "dry")},
    ]
    assert read(READER, *lines)[1:] == [
        Call("1", "ls", {}),
        Call("1#2", "weather", {}),
        Result("1", "ok", "a.py"),
        Result("1#2", "ok", "dry"),
    ]


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"result": {"content": [], "isError": False}}, Result("1", "ok", "")),
        ({"result": {"structuredContent": {"n": 1}}}, Result("1", "ok", '{"n":1}')),
        ({"result": {"content": [{"type": "image", "data": ""}]}}, Result("1", "ok", None)),
        ({"error": {"code": -32602, "message": "unknown tool"}}, Result("1", "error", "unknown tool", executed=False)),
        ({"error": {"code": -32603, "message": "it broke"}}, Result("1", "error", "it broke")),
        ({"result": {"resultType": "input_required"}}, Result("1", "unknown", None, executed=False)),
    ],
)
def test_answers_of_every_kind(response: dict[str, Any], result: Result) -> None:
    records: list[Record] = read(READER, request(1, arguments={"a": 1}), {"jsonrpc": "2.0", "id": 1, **response})
    assert records[1:] == [Call("1", "ls", {"a": 1}), result]


def test_neither_notifications_nor_other_methods_are_calls() -> None:
    lines = [
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "ls"}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}},
        {"level": "info", "message": "started"},
    ]
    assert read(READER, *lines) == [Start(RUN)]


def test_a_call_of_no_tool_is_a_fault() -> None:
    with pytest.raises(InputError, match="`tools/call` names no tool"):
        read(READER, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []})


def test_other_formats_are_left_to_others() -> None:
    assert not detect([{"message": {"role": "user"}}, {"jsonrpc": "1.0"}])
