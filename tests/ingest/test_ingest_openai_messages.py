"""OpenAI Chat Completions: lists, fine-tuning files, completions, and benchmarks that record the same messages."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, NOTE, OPENAI, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.openai_messages import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

RECORDS = [
    Message("user", ASKED),
    Call("t1", "weather", WEATHER),
    Call("t2", "save", NOTE),
    Result("t1", "unknown", DRY),
    Result("t2", "unknown", DENIED),
    Message("agent", ANSWER),
]


def test_messages_as_one_list_or_one_a_line() -> None:
    assert read(READER, *OPENAI) == [Start(RUN), *RECORDS]
    assert read_document(READER, OPENAI) == [Start(RUN), *RECORDS]


def test_a_fine_tuning_file_holds_one_run_a_line() -> None:
    example = {"messages": OPENAI, "tools": []}
    assert detect([example])
    assert read(READER, example, example) == [Start(RUN), *RECORDS, Start(replace(RUN, name="2")), *RECORDS]


def test_a_benchmark_that_numbers_its_runs() -> None:
    run = {"task_id": 0, "reward": 1.0, "traj": OPENAI}
    assert detect([run])
    assert read_document(READER, [run]) == [Start(replace(RUN, name="0")), *RECORDS]


def test_a_completion_is_the_message_of_its_first_choice() -> None:
    choices = [{"index": 0, "message": OPENAI[2]}, {"index": 1, "message": OPENAI[5]}]
    completion = {"id": "x", "object": "chat.completion", "created": 1700000000, "model": "m", "choices": choices}
    assert detect([completion])
    assert read(READER, completion) == [
        Start(replace(RUN, source="m")),
        Call("t1", "weather", WEATHER, 1700000000_000_000),
        Call("t2", "save", NOTE, 1700000000_000_000),
    ]


def test_loose_messages_after_a_conversation_are_a_further_run() -> None:
    assert read(READER, {"messages": OPENAI}, OPENAI[1]) == [
        Start(RUN),
        *RECORDS,
        Start(replace(RUN, name="2")),
        Message("user", ASKED),
    ]


def test_times_of_messages_are_kept() -> None:
    message = {"role": "user", "content": "hi", "timestamp": "2026-01-05T10:00:00Z"}
    assert read(READER, {"messages": [message]})[1] == Message("user", "hi", 1767607200_000_000)


def test_ids_used_again_belong_to_the_latest_call() -> None:
    answer = {"role": "tool", "tool_call_id": "t1", "content": DRY}
    call = OPENAI[2] | {"tool_calls": OPENAI[2]["tool_calls"][:1]}
    assert read(READER, call, call, answer)[1:] == [
        Call("t1", "weather", WEATHER),
        Call("t1#2", "weather", WEATHER),
        Result("t1#2", "unknown", DRY),
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"role": "wizard", "content": "hi"},
        {"messages": []},
        {"messages": [{"content": "hi"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]},
        {"suite_name": "banking", "messages": OPENAI},
        {"object": "response", "role": "assistant"},
        {"prompt": "hi"},
    ],
)
def test_other_formats_are_left_to_others(line: dict[str, object]) -> None:
    assert not detect([line])


def test_a_line_that_is_no_message_is_a_fault() -> None:
    with pytest.raises(InputError, match="neither a message nor an object with `messages`"):
        read(READER, {"prompt": "hi"})
