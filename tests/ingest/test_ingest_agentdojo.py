"""AgentDojo runs: names, errors, calls without ids, tools the suite does not have."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.ingest.samples import AGENTDOJO, ANSWER, ASKED, DENIED, DRY, NOTE, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.agentdojo import READER
from vigil_lang.trace.record import Call, Message, Result, Start

RECORDS = [
    Message("user", ASKED),
    Call("t1", "weather", WEATHER),
    Call("t2", "save", NOTE),
    Result("t1", "ok", DRY),
    Result("t2", "error", DENIED),
    Message("agent", ANSWER),
]


def test_a_run_in_one_document() -> None:
    start = Start(replace(RUN, name="weather/some-model/user_task_0", source="some-model"))
    assert read_document(READER, AGENTDOJO) == [start, *RECORDS]


def test_runs_one_a_line_are_named_for_task_and_attack() -> None:
    attacked = AGENTDOJO | {"attack_type": "direct", "injection_task_id": "injection_task_3"}
    records = read(READER, AGENTDOJO, attacked)
    names = [record.run.name for record in records if isinstance(record, Start)]
    assert names == ["weather/some-model/user_task_0", "weather/some-model/user_task_0/direct/injection_task_3"]


def test_calls_without_ids_are_answered_in_their_order() -> None:
    calls = [{"function": "weather", "args": {"city": city}, "id": None} for city in ("Oslo", "Rome")]
    answers = [{"role": "tool", "content": text, "tool_call_id": None, "error": None} for text in ("dry", "wet")]
    run = AGENTDOJO | {"messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]}
    assert read(READER, run)[1:] == [
        Call("weather", "weather", {"city": "Oslo"}),
        Call("weather#2", "weather", {"city": "Rome"}),
        Result("weather", "ok", "dry"),
        Result("weather#2", "ok", "wet"),
    ]


def test_a_tool_that_the_suite_does_not_have_never_ran() -> None:
    call = {"function": "fly", "args": {}, "id": "t1"}
    answer = {"role": "tool", "content": "", "tool_call": call, "error": "Invalid tool fly provided."}
    run = AGENTDOJO | {"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}, answer, answer]}
    assert read(READER, run)[1:] == [
        Call("t1", "fly", {}),
        Result("t1", "error", "Invalid tool fly provided.", executed=False),
    ]


def test_messages_that_are_none_are_a_fault() -> None:
    with pytest.raises(InputError, match="a message must be an object, not `5`"):
        read(READER, AGENTDOJO | {"messages": [5]})
    with pytest.raises(InputError, match="`messages` must be a list"):
        read(READER, AGENTDOJO, {"suite_name": "weather"})
