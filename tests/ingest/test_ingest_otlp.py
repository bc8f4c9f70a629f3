"""OpenTelemetry: OTLP's JSON, flat spans, and the attributes of several conventions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, NOTE, OTLP, RUN, WEATHER, otlp, read, read_document, span
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.otlp import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

SECOND = 1_000_000
T0 = 1700000000 * SECOND
TRACE = replace(RUN, name="aa" * 16, source="forecaster")


def test_an_export_in_one_document() -> None:
    records = [
        Start(TRACE),
        Message("user", ASKED, T0),
        Call("t1", "weather", WEATHER, T0 + 2 * SECOND),
        Result("t1", "ok", DRY),
        Call("t2", "save", NOTE, T0 + 3 * SECOND),
        Result("t2", "error", DENIED),
        Message("agent", ANSWER, T0 + 6 * SECOND),
    ]
    assert read_document(READER, OTLP) == records


def test_exports_one_a_line_are_one_recording() -> None:
    spans = OTLP["resourceSpans"][0]["scopeSpans"][0]["spans"]
    resource = OTLP["resourceSpans"][0]["resource"]
    lines = [{"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [each]}]}]} for each in spans]
    assert read(READER, *lines) == read_document(READER, OTLP)


def test_the_names_of_protobuf_are_read_too() -> None:
    text = json.dumps(OTLP)
    for camel, snake in (
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans"),
        ("traceId", "trace_id"),
        ("spanId", "span_id"),
        ("parentSpanId", "parent_span_id"),
        ("startTimeUnixNano", "start_time_unix_nano"),
        ("endTimeUnixNano", "end_time_unix_nano"),
        ("stringValue", "string_value"),
        ("kvlistValue", "kvlist_value"),
    ):
        text = text.replace(f'"{camel}"', f'"{snake}"')
    export = json.loads(text)
    assert detect([export])
    assert read(READER, export) == read(READER, OTLP)


def test_values_of_every_type() -> None:
    values = {
        "text": {"stringValue": "a"},
        "whole": {"intValue": "12"},
        "number": {"intValue": 12},
        "odd": {"intValue": "1" * 30},
        "real": {"doubleValue": 0.5},
        "flag": {"boolValue": True},
        "list": {"arrayValue": {"values": [{"intValue": "-1"}, {"stringValue": "b"}]}},
        "empty": {},
    }
    arguments = {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in values.items()]}}
    attributes = [
        {"key": "gen_ai.tool.name", "value": {"stringValue": "ls"}},
        {"key": "gen_ai.tool.call.arguments", "value": arguments},
    ]
    export = otlp(span("a", 1, 2))
    export["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = attributes
    call = read(READER, export)[1]
    assert isinstance(call, Call)
    assert {name: str(value) for name, value in call.args.items()} == {
        "text": "a",
        "whole": "12",
        "number": "12",
        "odd": "1" * 30,
        "real": "0.5",
        "flag": "True",
        "list": "[-1, 'b']",
        "empty": "None",
    }


@pytest.mark.parametrize(
    ("attributes", "name", "args", "output"),
    [
        ({"gen_ai.operation.name": "execute_tool"}, "step", {}, None),
        ({"gen_ai.tool.name": "ls", "tool_arguments": '{"p": "."}', "tool_response": "a.py"}, "ls", {"p": "."}, "a.py"),
        (
            {"traceloop.span.kind": "tool", "traceloop.entity.name": "ls", "traceloop.entity.input": '{"p": "."}'},
            "ls",
            {"p": "."},
            None,
        ),
        (
            {"ai.toolCall.name": "ls", "ai.toolCall.args": '{"p": ', "ai.toolCall.result": '"x"'},
            "ls",
            {"arguments": '{"p": '},
            '"x"',
        ),
        (
            {
                "mcp.method.name": "tools/call",
                "mcp.tool.name": "ls",
                "mcp.request.argument.p": '"."',
                "mcp.request.argument.depth": 2,
                "mcp.tool.result.content": "a.py",
            },
            "ls",
            {"p": ".", "depth": 2},
            "a.py",
        ),
        (
            {"openinference.span.kind": "TOOL", "tool.name": "ls", "input.value": ".", "output.value": "a.py"},
            "ls",
            {"input": "."},
            "a.py",
        ),
    ],
)
def test_tools_of_several_conventions(attributes: dict[str, Any], name: str, args: Any, output: str | None) -> None:
    export = otlp(span("a", 1700000000, 1700000001, attributes=attributes) | {"name": "step"})
    assert read(READER, export)[1:] == [Call("a", name, args, T0), Result("a", "ok", output)]


def test_a_tool_is_named_for_its_span_where_no_attribute_does() -> None:
    attributes = {"gen_ai.operation.name": "execute_tool"}
    export = otlp(span("a", 1, 2, attributes=attributes) | {"name": "execute_tool ls"})
    assert [record.name for record in read(READER, export) if isinstance(record, Call)] == ["ls"]


@pytest.mark.parametrize(
    ("attributes", "result"),
    [
        ({}, Result("7", "ok")),
        ({"error.type": "tool_error"}, Result("7", "error")),
        ({"error.type": "-32602"}, Result("7", "error", executed=False)),
        ({"error.type": "x", "rpc.response.status_code": "-32601"}, Result("7", "error", executed=False)),
    ],
)
def test_a_request_to_an_mcp_server(attributes: dict[str, Any], result: Result) -> None:
    about = {"mcp.method.name": "tools/call", "jsonrpc.request.id": "7"}
    export = otlp(span("a", 1700000000, 1700000001, attributes=about | attributes) | {"name": "tools/call ls"})
    assert read(READER, export)[1:] == [Call("7", "ls", {}, T0), result]


def test_other_spans_of_mcp_and_models_are_no_calls() -> None:
    for attributes in (
        {"mcp.method.name": "tools/list", "gen_ai.tool.name": "ls"},
        {"gen_ai.operation.name": "chat", "gen_ai.tool.name": "ls"},
        {"http.route": "/"},
        {"traceloop.span.kind": "task", "traceloop.entity.name": "ls"},
    ):
        assert read(READER, otlp(span("a", 1, 2, attributes=attributes))) == [Start(RUN)]


def test_calls_in_messages_where_the_tools_have_no_spans() -> None:
    parts = [{"type": "tool_call", "id": "t1", "name": "weather", "arguments": WEATHER}]
    answered = [{"type": "tool_call_response", "id": "t1", "response": DRY}]
    told = [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]
    said = [{"role": "assistant", "parts": parts, "finish_reason": "tool_call"}]
    later = [*told, {"role": "assistant", "parts": parts}, {"role": "tool", "parts": answered}]

    def chat(id: str, start: int, told: list[Any], said: list[Any]) -> dict[str, Any]:  # noqa: A002
        attributes = {"gen_ai.input.messages": told, "gen_ai.output.messages": json.dumps(said)}
        return span(id, start, start + 1, attributes=attributes | {"gen_ai.conversation.id": "talk"})

    export = otlp(
        chat("a", 1700000000, told, said),
        chat("b", 1700000002, later, [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]),
    )
    assert read(READER, export) == [
        Start(replace(TRACE, name="talk")),
        Message("user", ASKED, T0),
        Call("t1", "weather", WEATHER, T0 + SECOND),
        Result("t1", "unknown", DRY),
        Message("agent", ANSWER, T0 + 3 * SECOND),
    ]


def test_messages_spread_over_attributes() -> None:
    attributes = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": '[{"type": "text", "text": "Hi."}]',
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": '[{"not": "json',
        "gen_ai.completion.0.tool_calls.0.id": "c",
        "gen_ai.completion.0.tool_calls.0.name": "ls",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"p": "."}',
    }
    export = otlp(span("a", 1700000000, 1700000001, attributes=attributes))
    assert read(READER, export)[1:] == [
        Message("user", "Hi.", T0),
        Message("agent", '[{"not": "json', T0 + SECOND),
        Call("c", "ls", {"p": "."}, T0 + SECOND),
    ]


def test_flat_spans_as_sdks_print_them() -> None:
    line = {
        "name": "execute_tool ls",
        "context": {"trace_id": "0xaa", "span_id": "0xbb", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None,
        "start_time": "2023-11-14T22:13:20.000000Z",
        "end_time": "2023-11-14T22:13:21.000000Z",
        "status": {"status_code": "ERROR", "description": "no such file"},
        "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.agent.name": "finder"},
        "resource": {"attributes": {"service.name": "s"}},
    }
    assert detect([line])
    assert read(READER, line) == [
        Start(replace(RUN, name="0xaa", source="finder")),
        Call("0xbb", "ls", {}, T0),
        Result("0xbb", "error", "no such file"),
    ]


def test_a_span_that_has_not_ended_is_pending() -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls"}
    for running in (span("a", 1700000000, None), span("a", 1700000000, None) | {"endTimeUnixNano": "0"}):
        assert read(READER, otlp(running | {"attributes": attributes}))[1:] == [Call("a", "ls", {}, T0)]


def test_what_cannot_be_read_is_a_fault() -> None:
    with pytest.raises(InputError, match="a span has no `traceId` and `spanId`"):
        read(READER, otlp({"name": "a"}))
    value: dict[str, Any] = {"stringValue": "a"}
    for _ in range(150):
        value = {"arrayValue": {"values": [value]}}
    export = otlp(span("a", 1, 2))
    export["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = [{"key": "a", "value": value}]
    with pytest.raises(InputError, match="attributes are nested more than 100 deep"):
        read(READER, export)


def test_other_formats_are_left_to_others() -> None:
    assert not detect([{"resourceLogs": []}])
    assert not detect([{"trace_id": "a", "span_id": "b"}])
