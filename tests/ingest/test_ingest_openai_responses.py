"""OpenAI Responses: items, requests with their responses, and the tools the provider runs."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, NOTE, RESPONSES, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.openai_responses import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

RECORDS = [
    Message("user", ASKED),
    Call("t1", "weather", WEATHER),
    Call("t2", "save", NOTE),
    Result("t1", "unknown", DRY),
    Result("t2", "unknown", DENIED),
    Message("agent", ANSWER),
]


def test_items_as_one_list_or_one_a_line() -> None:
    assert read(READER, *RESPONSES) == [Start(RUN), *RECORDS]
    assert read_document(READER, RESPONSES) == [Start(RUN), *RECORDS]


def test_a_response_object() -> None:
    response = {"id": "resp_1", "object": "response", "model": "m", "created_at": 1700000000, "output": RESPONSES[1:3]}
    assert detect([response])
    assert read_document(READER, response) == [
        Start(replace(RUN, name="resp_1", source="m")),
        Call("t1", "weather", WEATHER, 1700000000_000_000),
        Call("t2", "save", NOTE, 1700000000_000_000),
    ]


def test_requests_that_repeat_the_conversation_are_read_once() -> None:
    first = {"input": RESPONSES[:1], "output": RESPONSES[1:3]}
    second = {"input": RESPONSES[:5], "output": RESPONSES[5:]}
    assert detect([first])
    assert read(READER, first, second) == [Start(RUN), *RECORDS]


def test_requests_that_refer_to_the_response_before_hold_new_items_only() -> None:
    yes = {"role": "user", "content": "Yes."}
    first = {"input": [yes], "output": []}
    second = {"input": [yes], "output": [], "previous_response_id": "resp_1"}
    assert read(READER, first, second)[1:] == [Message("user", "Yes."), Message("user", "Yes.")]


def test_the_input_may_be_a_text() -> None:
    assert read(READER, {"input": ASKED, "output": RESPONSES[5:]})[1:] == [
        Message("user", ASKED),
        Message("agent", ANSWER),
    ]


@pytest.mark.parametrize(
    ("items", "records"),
    [
        (
            [
                {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"},
                {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "ok"}]},
            ],
            [Call("c", "apply_patch", {"input": "*** Begin"}), Result("c", "unknown", "ok")],
        ),
        (
            [
                {
                    "type": "local_shell_call",
                    "call_id": "c",
                    "action": {"type": "exec", "command": ["ls", "-l"], "working_directory": "/srv"},
                },
                {
                    "type": "local_shell_call_output",
                    "call_id": "c",
                    "output": '{"output": "no such file", "metadata": {"exit_code": 2}}',
                },
            ],
            [
                Call(
                    "c",
                    "local_shell",
                    {"type": "exec", "command": ["ls", "-l"], "working_directory": "/srv"},
                    cwd="/srv",
                ),
                Result("c", "error", "no such file", exit_code=2),
            ],
        ),
        (
            [
                {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
                {"type": "local_shell_call_output", "id": "c", "output": "a.py"},
            ],
            [Call("c", "local_shell", {"command": ["ls"]}), Result("c", "unknown", "a.py")],
        ),
        (
            [
                {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls", "false"]}},
                {
                    "type": "shell_call_output",
                    "call_id": "c",
                    "output": [
                        {"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
                        {"stdout": "", "stderr": "x", "outcome": {"type": "exit", "exit_code": 1}},
                    ],
                },
            ],
            [Call("c", "shell", {"commands": ["ls", "false"]}), Result("c", "error", "a.py\nx", exit_code=1)],
        ),
        (
            [
                {"type": "shell_call", "call_id": "c", "action": {"commands": ["sleep 9"]}},
                {"type": "shell_call_output", "call_id": "c", "output": [{"outcome": {"type": "timeout"}}]},
            ],
            [Call("c", "shell", {"commands": ["sleep 9"]}), Result("c", "error", "")],
        ),
        (
            [
                {"type": "computer_call", "call_id": "c", "action": {"type": "click", "x": 3, "y": 4}},
                {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
            ],
            [Call("c", "computer", {"type": "click", "x": 3, "y": 4}), Result("c", "unknown", None)],
        ),
        (
            [
                {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}},
                {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "gone"},
            ],
            [Call("c", "apply_patch", {"type": "delete_file", "path": "a"}), Result("c", "error", "gone")],
        ),
        (
            [{"type": "mcp_call", "id": "c", "name": "roll", "arguments": '{"n": 2}', "output": "5", "error": None}],
            [Call("c", "roll", {"n": 2}), Result("c", "ok", "5")],
        ),
        (
            [{"type": "mcp_call", "id": "c", "name": "roll", "arguments": "{", "error": {"message": "no"}}],
            [Call("c", "roll", {"arguments": "{"}), Result("c", "error", "no")],
        ),
        (
            [
                {
                    "type": "web_search_call",
                    "id": "c",
                    "status": "completed",
                    "action": {"type": "search", "query": "rain"},
                }
            ],
            [Call("c", "web_search", {"type": "search", "query": "rain"}), Result("c", "ok", None)],
        ),
        (
            [
                {
                    "type": "code_interpreter_call",
                    "id": "c",
                    "code": "1+1",
                    "status": "failed",
                    "outputs": [{"type": "logs", "logs": "2"}],
                }
            ],
            [
                Call("c", "code_interpreter", {"code": "1+1"}),
                Result("c", "error", '[{"type":"logs","logs":"2"}]'),
            ],
        ),
        (
            [{"type": "file_search_call", "id": "c", "queries": ["a"], "status": "in_progress", "results": None}],
            [Call("c", "file_search", {"queries": ["a"]})],
        ),
    ],
)
def test_items_of_every_kind(items: list[dict[str, Any]], records: list[Any]) -> None:
    assert detect(items)
    assert read(READER, *items)[1:] == records


def test_what_says_nothing_of_tools_or_speech_is_skipped() -> None:
    items = [
        RESPONSES[1],
        {"type": "reasoning", "summary": []},
        {"type": "function_call_output", "call_id": "?", "output": "a"},
    ]
    assert read(READER, *items)[1:] == [Call("t1", "weather", WEATHER)]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ({"type": "function_call", "call_id": "c"}, "a `function_call` has no name"),
        ({"input": ["hi"]}, "an item must be an object"),
    ],
)
def test_what_cannot_be_read_is_a_fault(line: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        read(READER, line)


def test_other_formats_are_left_to_others() -> None:
    assert not detect([{"role": "user", "content": "hi"}, {"type": "response_item", "payload": {}}, {"input": ["hi"]}])
