"""OpenInference: tools, messages and sessions, with the attributes flat, nested or in columns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import (
    ANSWER,
    ASKED,
    DENIED,
    DRY,
    NOTE,
    OPENINFERENCE,
    RUN,
    WEATHER,
    flat,
    read,
    read_document,
)
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.openinference import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

SECOND = 1_000_000
T0 = 1767607200 * SECOND
TRACE = replace(RUN, name="bb" * 16)


def test_spans_one_a_line_or_in_a_list() -> None:
    records = [
        Start(TRACE),
        Message("user", ASKED, T0),
        Call("weather", "weather", WEATHER, T0 + SECOND),
        Result("weather", "ok", DRY),
        Call("save", "save", NOTE, T0 + 2 * SECOND),
        Result("save", "error", DENIED),
        Message("agent", ANSWER, T0 + 5 * SECOND),
    ]
    assert read(READER, *OPENINFERENCE) == records
    assert read_document(READER, OPENINFERENCE) == records


def test_columns_of_a_data_frame() -> None:
    line = {
        "context.trace_id": "t",
        "context.span_id": "s",
        "parent_id": None,
        "name": "ls",
        "start_time": 1767607200000,
        "end_time": 1767607201000,
        "status_code": "OK",
        "attributes.openinference.span.kind": "TOOL",
        "attributes.input.value": '{"p": "."}',
        "attributes.tool.name": None,
        "attributes.output.value": '["a.py"]',
        "attributes.session.id": "talk",
    }
    assert detect([line])
    assert read(READER, line) == [
        Start(replace(RUN, name="talk")),
        Call("s", "ls", {"p": "."}, T0),
        Result("s", "ok", '["a.py"]'),
    ]


def test_messages_with_parts_and_calls_of_tools_without_spans() -> None:
    told = [
        {"message": {"role": "user", "contents": [{"message_content": {"type": "text", "text": ASKED}}]}},
        {
            "message": {
                "role": "assistant",
                "tool_calls": [{"tool_call": {"id": "t1", "function": {"name": "weather"}}}],
            }
        },
        {"message": {"role": "tool", "tool_call_id": "t1", "content": DRY}},
    ]
    line = flat("l", 0, "LLM", attributes={"llm.input_messages": json.dumps(told), "llm.output_messages": "none"})
    assert read(READER, line)[1:] == [
        Message("user", ASKED, T0),
        Call("t1", "weather", {}, T0),
        Result("t1", "unknown", DRY),
    ]


def test_arguments_that_are_a_text_are_the_input() -> None:
    line = flat("ls", 0, "TOOL", attributes={"input.value": "src", "tool_call.id": "c"})
    assert read(READER, line)[1:] == [Call("c", "ls", {"input": "src"}, T0), Result("c", "ok")]


def test_indices_that_are_none_are_names() -> None:
    attributes: dict[str, Any] = {"llm.input_messages.first.message.role": "user", "llm.output_messages.0": 5}
    attributes |= {"llm.output_messages.0.message.content": "a", "llm.input_messages.x": {"0": {"a": 1}}}
    assert read(READER, flat("l", 0, "LLM", attributes=attributes)) == [Start(RUN)]


def test_a_line_that_is_no_span_is_a_fault() -> None:
    with pytest.raises(InputError, match="the object is no span"):
        read(READER, OPENINFERENCE[0], {"name": "a"})


def test_other_formats_are_left_to_others() -> None:
    assert not detect([flat("a", 0, "INTERNAL", attributes={"http.route": "/"})])
    assert not detect([{"span_kind": "TOOL"}])
