"""One made-up run as each of the foreign formats records it, and what reads such samples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.lines import Lines
from vigil_lang.trace import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.ingest.reader import Reader
    from vigil_lang.trace.record import Record

RUN = Run("run.jsonl", "sample")

ASKED = "Is it raining in Oslo?"
ANSWER = "It is dry. I could not save that."
WEATHER = {"city": "Oslo", "days": [1, 2]}
NOTE = {"path": "notes.md", "text": "dry"}
DRY = "dry, 4 degrees"
DENIED = "notes.md is read-only"


def lines_of(*objects: Any) -> Lines:
    return Lines([json.dumps(value).encode() + b"\n" for value in objects], RUN.path)


def read(reader: Reader, *objects: Any) -> list[Record]:
    """The records of JSON Lines."""
    return list(reader.read(lines_of(*objects), RUN))


def read_document(reader: Reader, document: Any) -> list[Record]:
    """The records of one JSON document over many lines."""
    text = json.dumps(document, indent=1).encode()
    return list(reader.read(Lines(text.splitlines(keepends=True), RUN.path), RUN))


ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": ASKED},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "t1", "name": "weather", "input": WEATHER},
            {"type": "tool_use", "id": "t2", "name": "save", "input": NOTE},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t2", "content": DENIED, "is_error": True},
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": DRY}]},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]


def _function(name: str, args: Any) -> dict[str, Any]:
    return {"name": name, "arguments": json.dumps(args)}


OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": ASKED},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "t1", "type": "function", "function": _function("weather", WEATHER)},
            {"id": "t2", "type": "function", "function": _function("save", NOTE)},
        ],
    },
    {"role": "tool", "tool_call_id": "t1", "content": DRY},
    {"role": "tool", "tool_call_id": "t2", "content": DENIED},
    {"role": "assistant", "content": ANSWER},
]

RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
    {"type": "function_call", "call_id": "t1", **_function("weather", WEATHER)},
    {"type": "function_call", "call_id": "t2", **_function("save", NOTE)},
    {"type": "function_call_output", "call_id": "t1", "output": DRY},
    {"type": "function_call_output", "call_id": "t2", "output": DENIED},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
]

AGENTDOJO: dict[str, Any] = {
    "suite_name": "weather",
    "pipeline_name": "some-model",
    "user_task_id": "user_task_0",
    "injection_task_id": None,
    "attack_type": None,
    "messages": [
        {"role": "system", "content": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "content": [{"type": "text", "content": ASKED}]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"function": "weather", "args": WEATHER, "id": "t1", "placeholder_args": None},
                {"function": "save", "args": NOTE, "id": "t2", "placeholder_args": None},
            ],
        },
        {"role": "tool", "content": DRY, "tool_call_id": "t1", "error": None},
        {"role": "tool", "content": "", "tool_call_id": "t2", "error": DENIED},
        {"role": "assistant", "content": ANSWER, "tool_calls": None},
    ],
    "utility": True,
    "security": True,
}

EVENTS = {
    "id": "oslo",
    "prompt": ASKED,
    "events": [
        {"i": 0, "tool": "weather", "args": WEATHER, "status": "ok", "output": DRY},
        {"i": 1, "tool": "save", "args": NOTE, "status": "error", "output": DENIED},
    ],
    "final_output": ANSWER,
}

INSPECT: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "forecast", "model": "some/model"},
    "samples": [
        {
            "id": "oslo",
            "epoch": 1,
            "messages": [
                {"role": "user", "content": ASKED},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": "t1", "function": "weather", "arguments": WEATHER},
                        {"id": "t2", "function": "save", "arguments": NOTE},
                    ],
                },
                {"role": "tool", "tool_call_id": "t1", "content": DRY},
                {
                    "role": "tool",
                    "tool_call_id": "t2",
                    "content": DENIED,
                    "error": {"type": "permission", "message": ""},
                },
                {"role": "assistant", "content": ANSWER},
            ],
            "events": [
                {"event": "model", "model": "some/model"},
                {"event": "tool", "id": "t1", "function": "weather", "arguments": WEATHER, "result": DRY},
                {
                    "event": "tool",
                    "id": "t2",
                    "function": "save",
                    "arguments": NOTE,
                    "result": "",
                    "error": {"type": "permission", "message": DENIED},
                },
            ],
        }
    ],
}

MCP: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
    {"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {"name": "sky", "version": "1.2"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": WEATHER}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "save", "arguments": NOTE}},
    {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": DENIED}], "isError": True}},
    {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": DRY}]}},
]


def _otlp_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": [_otlp_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": _otlp_attributes(value)}}
    return {"stringValue": value}


def _otlp_attributes(members: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _otlp_value(value)} for key, value in members.items()]


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """An export request of one scope, of spans with their attributes as an object."""
    encoded = [span | {"attributes": _otlp_attributes(span.get("attributes", {}))} for span in spans]
    resource = {"attributes": _otlp_attributes({"service.name": "forecaster"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "s"}, "spans": encoded}]}]}


def span(id: str, start: int, end: int | None, parent: str = "", **members: Any) -> dict[str, Any]:  # noqa: A002
    """A span of OTLP; times in seconds since 1970."""
    times = {"startTimeUnixNano": f"{start}000000000"} | ({"endTimeUnixNano": f"{end}000000000"} if end else {})
    return {"traceId": "aa" * 16, "spanId": id, "parentSpanId": parent, "name": id, **times, **members}


OTLP = otlp(
    span(
        "c1",
        1700000000,
        1700000001,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]),
        },
    ),
    # The second call is listed before the first, which began earlier.
    span(
        "s2",
        1700000003,
        1700000004,
        status={"code": 2, "message": DENIED},
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "save",
            "gen_ai.tool.call.id": "t2",
            "gen_ai.tool.call.arguments": NOTE,
            "error.type": "PermissionError",
        },
    ),
    span(
        "s1",
        1700000002,
        1700000003,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.id": "t1",
            "gen_ai.tool.call.arguments": json.dumps(WEATHER),
            "gen_ai.tool.call.result": DRY,
        },
    ),
    span(
        "c2",
        1700000005,
        1700000006,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]
            ),
        },
    ),
)


def flat(id: str, start: int, kind: str, **members: Any) -> dict[str, Any]:  # noqa: A002
    """A span as Phoenix exports it."""
    return {
        "name": id,
        "context": {"trace_id": "bb" * 16, "span_id": id},
        "span_kind": kind,
        "parent_id": None,
        "start_time": f"2026-01-05T10:00:0{start}+00:00",
        "end_time": f"2026-01-05T10:00:0{start + 1}+00:00",
        "status_code": "OK",
        **members,
    }


OPENINFERENCE = [
    flat(
        "l1",
        0,
        "LLM",
        attributes={
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": ASKED,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "t1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "weather",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": json.dumps(WEATHER),
        },
    ),
    flat(
        "weather",
        1,
        "TOOL",
        attributes={"tool.name": "weather", "input.value": json.dumps(WEATHER), "output.value": DRY},
    ),
    flat(
        "save",
        2,
        "TOOL",
        status_code="ERROR",
        status_message=DENIED,
        attributes={"tool": {"name": "save", "parameters": json.dumps(NOTE)}},
    ),
    flat(
        "l2",
        4,
        "LLM",
        attributes={"llm": {"output_messages": [{"message": {"role": "assistant", "content": ANSWER}}]}},
    ),
]


def _smith(id: str, start: int, kind: str, **members: Any) -> dict[str, Any]:  # noqa: A002
    time = f"2026-01-05T10:00:0{start}"
    root = {"trace_id": "root", "parent_run_id": "root", "dotted_order": f"20260105T100000Zroot.{start}Z{id}"}
    return (
        {"id": id, "name": id, "run_type": kind, "start_time": time, "end_time": time, "error": None} | root | members
    )


LANGSMITH = [
    _smith("save", 3, "tool", inputs=NOTE, outputs=None, error=DENIED, status="error"),
    _smith(
        "model",
        1,
        "llm",
        inputs={"messages": [[{"id": ["langchain", "HumanMessage"], "kwargs": {"content": ASKED}}]]},
        outputs={"generations": [[{"message": {"kwargs": {"type": "ai", "content": ""}}}]]},
    ),
    _smith("weather", 2, "tool", inputs={"input": str(WEATHER)}, outputs={"output": DRY}, status="success"),
    _smith(
        "model-2", 4, "llm", inputs={}, outputs={"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}
    ),
]


def _fuse(id: str, start: int, kind: str, **members: Any) -> dict[str, Any]:  # noqa: A002
    times = {"startTime": f"2026-01-05T10:00:0{start}.000Z", "endTime": f"2026-01-05T10:00:0{start}.500Z"}
    return {"id": id, "type": kind, "name": id, "level": "DEFAULT", "parentObservationId": None, **times, **members}


LANGFUSE: dict[str, Any] = {
    "id": "trace-1",
    "name": "forecast",
    "observations": [
        _fuse("g", 0, "GENERATION", input=[{"role": "user", "content": ASKED}], output=None),
        _fuse("save", 2, "TOOL", input=NOTE, level="ERROR", statusMessage=DENIED),
        _fuse("weather", 1, "TOOL", input=WEATHER, output=DRY),
        _fuse("g2", 3, "GENERATION", input=None, output=ANSWER),
    ],
}

SWE_AGENT: dict[str, Any] = {
    "instance_id": "repo__1",
    "info": {"exit_status": "submitted", "swe_agent_version": "1.1.0"},
    "trajectory": [],
    "history": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": ASKED},
        OPENAI[2] | {"content": ""},
        {"role": "tool", "tool_call_ids": ["t1"], "content": [{"type": "text", "text": DRY}]},
        {"role": "tool", "tool_call_ids": ["t2"], "content": [{"type": "text", "text": DENIED}]},
        {"role": "assistant", "content": ANSWER},
    ],
}


def _chain(kind: str, content: str, **members: Any) -> dict[str, Any]:
    return {"type": kind, "content": content, "additional_kwargs": {}, "response_metadata": {}, **members}


_TOOLS = [
    {"name": "weather", "args": WEATHER, "id": "t1", "type": "tool_call"},
    {"name": "save", "args": NOTE, "id": "t2", "type": "tool_call"},
]
LANGCHAIN = [
    _chain("system", "Be brief."),
    _chain("human", ASKED),
    _chain("ai", "", tool_calls=_TOOLS),
    _chain("tool", DENIED, tool_call_id="t2", status="error"),
    {"type": "tool", "data": _chain("tool", DRY, tool_call_id="t1", status="success")},
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "AIMessageChunk"], "kwargs": {"content": ANSWER}},
]


def _adk(author: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"author": author, "invocationId": "i1", "timestamp": 1767607200.5, "content": {"parts": list(parts)}}


ADK: dict[str, Any] = {
    "id": "s1",
    "appName": "forecast",
    "userId": "ann",
    "events": [
        _adk("user", {"text": ASKED}),
        _adk(
            "model",
            {"text": "It is", "thought": True},
            {"functionCall": {"id": "t1", "name": "weather", "args": WEATHER}},
        ),
        _adk("model", {"functionCall": {"id": "t2", "name": "save", "args": NOTE}}),
        _adk("model", {"functionResponse": {"id": "t2", "name": "save", "response": {"error": DENIED}}}),
        _adk("model", {"functionResponse": {"id": "t1", "name": "weather", "response": {"result": DRY}}}),
        _adk("model", {"text": ANSWER[:5]}) | {"partial": True},
        _adk("model", {"text": ANSWER}),
    ],
}


def _part(kind: str, **members: Any) -> dict[str, Any]:
    return {"part_kind": kind, **members}


PYDANTIC_AI = [
    {"kind": "request", "parts": [_part("system-prompt", content="Be brief."), _part("user-prompt", content=ASKED)]},
    {
        "kind": "response",
        "parts": [
            _part("thinking", content="Rain?"),
            _part("tool-call", tool_name="weather", args=json.dumps(WEATHER), tool_call_id="t1"),
            _part("tool-call", tool_name="save", args=NOTE, tool_call_id="t2"),
        ],
    },
    {
        "kind": "request",
        "parts": [
            _part("tool-return", tool_name="save", content=DENIED, tool_call_id="t2", outcome="failed"),
            _part("tool-return", tool_name="weather", content=DRY, tool_call_id="t1", outcome="success"),
        ],
    },
    {"kind": "response", "parts": [_part("text", content=ANSWER)]},
]


def samples() -> dict[str, Sequence[dict[str, Any]]]:
    """The objects of the run in each format, by the reader's name."""
    return {
        "anthropic-messages": ANTHROPIC,
        "openai-messages": OPENAI,
        "openai-responses": RESPONSES,
        "agentdojo": [AGENTDOJO],
        "tool-events": [EVENTS],
        "inspect": [INSPECT],
        "mcp": MCP,
        "otlp": [OTLP],
        "openinference": OPENINFERENCE,
        "langsmith": LANGSMITH,
        "langfuse": [LANGFUSE],
        "swe-agent": [SWE_AGENT],
        "langchain": LANGCHAIN,
        "google-adk": [ADK],
        "pydantic-ai": PYDANTIC_AI,
    }
