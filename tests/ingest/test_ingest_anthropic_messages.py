"""Anthropic Messages: lists, JSON Lines, conversations with a system prompt, and responses."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ANTHROPIC, ASKED, DENIED, DRY, NOTE, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.anthropic_messages import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

RECORDS = [
    Message("user", ASKED),
    Call("t1", "weather", WEATHER),
    Call("t2", "save", NOTE),
    Result("t2", "error", DENIED),
    Result("t1", "ok", DRY),
    Message("agent", ANSWER),
]


def test_messages_one_a_line() -> None:
    assert read(READER, *ANTHROPIC) == [Start(RUN), *RECORDS]


def test_messages_as_one_list() -> None:
    assert read_document(READER, ANTHROPIC) == [Start(RUN), *RECORDS]


def test_a_request_with_its_system_prompt_and_model() -> None:
    request = {"model": "some-model", "system": "Be brief.", "messages": ANTHROPIC}
    assert detect([request])
    assert read_document(READER, request) == [Start(replace(RUN, source="some-model")), *RECORDS]


def test_each_conversation_is_a_run_of_its_own() -> None:
    conversations = [{"id": "first", "messages": ANTHROPIC}, {"messages": ANTHROPIC}]
    assert read(READER, *conversations) == [
        Start(replace(RUN, name="first")),
        *RECORDS,
        Start(replace(RUN, name="2")),
        *RECORDS,
    ]


def test_a_response_of_the_api() -> None:
    response = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
        ],
    }
    assert detect([response])
    assert read(READER, response) == [
        Start(replace(RUN, source="some-model")),
        Message("agent", "Let me see."),
        Call("t1", "ls", {}),
    ]


def test_a_server_tool_and_a_tool_of_an_mcp_server() -> None:
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rain"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "mcp_tool_use", "id": "m1", "name": "echo", "server_name": "demo", "input": {"p": 1}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": [{"type": "text", "text": "no"}]},
    ]
    assert read(READER, {"role": "assistant", "content": content}) == [
        Start(RUN),
        Call("s1", "web_search", {"query": "rain"}),
        Result("s1", "ok", '[{"type":"web_search_result","url":"u"}]'),
        Call("m1", "echo", {"p": 1}),
        Result("m1", "error", "no"),
    ]


def test_a_line_that_is_no_message_is_a_fault() -> None:
    with pytest.raises(InputError, match=r"run\.jsonl:5:.*neither a message nor an object with `messages`"):
        read(READER, *ANTHROPIC, {"type": "ping"})
    with pytest.raises(InputError, match="a message must be an object"):
        read(READER, {"messages": ["hi"]})


def test_arguments_nested_too_deeply_are_a_fault() -> None:
    deep: object = 1
    for _ in range(150):
        deep = [deep]
    block = {"type": "tool_use", "id": "t", "name": "ls", "input": {"a": deep}}
    with pytest.raises(InputError, match="nested more than 100 deep"):
        read(READER, {"role": "assistant", "content": [block]})


def test_a_plain_chat_is_not_taken_for_this_api() -> None:
    assert not detect([{"role": "user", "content": "hi"}])
    assert not detect([{"type": "assistant", "message": ANTHROPIC[1]}])
    assert not detect([{"action": "ls"}])
