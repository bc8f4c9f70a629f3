"""Tool events: whole runs and single events, in every spelling."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, EVENTS, NOTE, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.tool_events import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

CALLS = [
    Call("0", "weather", WEATHER),
    Result("0", "ok", DRY),
    Call("1", "save", NOTE),
    Result("1", "error", DENIED),
]


def test_a_run_an_object() -> None:
    records = [Start(replace(RUN, name="oslo")), Message("user", ASKED), *CALLS, Message("agent", ANSWER)]
    assert read(READER, EVENTS, EVENTS) == [*records, *records]
    assert read_document(READER, EVENTS) == records


def test_events_one_a_line_after_what_is_known_of_the_run() -> None:
    meta = {"meta": {"harness": "some-harness", "model": "m", "cwd": "/srv"}}
    assert detect([meta])
    events = [
        {"i": 0, "tool": "terminal", "input": "ls", "status": "ok", "exit_code": 0, "output_preview": "a.py"},
        {"i": 1, "tool": "file_editor", "input": {"command": "view"}, "status": "err", "exit_code": None},
        {"i": 2, "tool": "browse", "input": "example.org", "status": "ok", "output": None},
    ]
    assert read(READER, meta, *events, meta, events[0]) == [
        Start(replace(RUN, source="some-harness m", cwd="/srv")),
        Call("0", "terminal", {"command": "ls"}),
        Result("0", "ok", "a.py", exit_code=0),
        Call("1", "file_editor", {"command": "view"}),
        Result("1", "error", None),
        Call("2", "browse", {"input": "example.org"}),
        Result("2", "ok", None),
        Start(replace(RUN, name="2", source="some-harness m", cwd="/srv")),
        Call("0", "terminal", {"command": "ls"}),
        Result("0", "ok", "a.py", exit_code=0),
    ]


def test_events_alone() -> None:
    event = {"tool": "ls", "args": {"path": "."}, "output": "a.py", "cwd": "/srv", "time": "2026-01-05T10:00:00Z"}
    assert detect([event])
    assert read(READER, event) == [
        Start(RUN),
        Call("ls", "ls", {"path": "."}, 1767607200_000_000, cwd="/srv"),
        Result("ls", "unknown", "a.py"),
    ]


def test_what_was_said_between_the_calls_stands_in_place_of_the_prompt() -> None:
    events = [
        {"i": 0, "tool": "user_message", "args": {}, "status": "ok", "output": "Hi."},
        {"i": 1, "tool": "agent_message", "args": {"text": "Hello."}, "status": "ok", "output": ""},
        {"i": 2, "tool": "agent_message", "args": {}},
    ]
    run = {"id": 7, "prompt": "You are a customer.", "events": events, "final_output": "Bye."}
    assert read(READER, run) == [
        Start(replace(RUN, name="7")),
        Message("user", "Hi."),
        Message("agent", "Hello."),
    ]


@pytest.mark.parametrize(
    ("members", "result"),
    [
        ({"status": "ok"}, Result("a", "ok")),
        ({"status": "success", "output": {"n": 1}}, Result("a", "ok", '{"n":1}')),
        ({"status": "failed", "error": "no"}, Result("a", "error", "no")),
        ({"status": "unknown", "output": "x"}, Result("a", "unknown", "x")),
        ({"status": "denied"}, Result("a", "unknown", executed=False)),
        ({"exit_code": 0}, Result("a", "ok", exit_code=0)),
        ({"exit_code": 3}, Result("a", "error", exit_code=3)),
        ({"error": {"message": "no"}}, Result("a", "error", "no")),
        ({"output": "x"}, Result("a", "unknown", "x")),
        ({"status": "pending"}, None),
        ({}, None),
    ],
)
def test_the_status_is_stated_or_follows_from_the_exit_code(members: dict[str, Any], result: Result | None) -> None:
    records = read(READER, {"id": "a", "tool": "ls", "args": {}, **members})
    assert records[2:] == ([result] if result else [])


def test_ids_used_again_are_numbered() -> None:
    event = {"id": "a", "name": "ls", "arguments": '{"path": "."}', "status": "ok"}
    records = read(READER, event, event)
    assert [record.key for record in records if isinstance(record, Call)] == ["a", "a#2"]
    assert [record.args for record in records if isinstance(record, Call)] == [{"path": "."}, {"path": "."}]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ({"events": "none"}, "`events` must be a list of objects"),
        ({"events": [5]}, "`events` must be a list of objects"),
        ({"events": [{"args": {}}]}, "an event has no `tool`"),
        ({"tool": 5, "args": {}}, "an event has no `tool`"),
        ({"tool": "ls", "args": {}, "status": "perhaps"}, "`status` must be one of"),
        ({"tool": "ls", "args": {}, "status": ["ok"]}, "`status` must be one of"),
    ],
)
def test_what_cannot_be_read_is_a_fault(line: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        read(READER, line)


def test_other_formats_are_left_to_others() -> None:
    assert not detect([{"events": [{"event": "tool"}]}])
    assert not detect([{"tool": "ls"}])
    assert not detect([{"meta": {}, "messages": []}])
