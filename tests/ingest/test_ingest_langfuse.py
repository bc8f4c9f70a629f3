"""Langfuse: traces with their observations, observations alone, spans from before there were tools."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, LANGFUSE, NOTE, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.langfuse import READER, detect
from vigil_lang.trace.record import Call, Message, Result, Start

SECOND = 1_000_000
T0 = 1767607200 * SECOND
RECORDS = [
    Message("user", ASKED, T0),
    Call("weather", "weather", WEATHER, T0 + SECOND),
    Result("weather", "ok", DRY),
    Call("save", "save", NOTE, T0 + 2 * SECOND),
    Result("save", "error", DENIED),
    Message("agent", ANSWER, T0 + 3 * SECOND + SECOND // 2),
]


def test_a_trace_with_its_observations() -> None:
    assert read_document(READER, LANGFUSE) == [Start(replace(RUN, name="trace-1", source="forecast")), *RECORDS]


def test_a_session_joins_traces() -> None:
    observations: list[dict[str, Any]] = LANGFUSE["observations"]
    traces = [{"id": f"t{n}", "sessionId": "talk", "observations": [item]} for n, item in enumerate(observations)]
    assert read(READER, *traces) == [Start(replace(RUN, name="talk")), *RECORDS]


def test_observations_alone_in_the_spelling_of_the_database() -> None:
    rows = []
    for item in LANGFUSE["observations"]:
        row = {
            "id": item["id"],
            "trace_id": "trace-1",
            "type": item["type"],
            "name": item["name"],
            "level": item["level"],
            "start_time": item["startTime"],
            "end_time": item["endTime"],
            "status_message": item.get("statusMessage"),
            "input": item.get("input"),
            "output": item.get("output"),
        }
        rows.append(row)
    assert detect(rows)
    assert read(READER, *rows) == [Start(replace(RUN, name="trace-1")), *RECORDS]


def observation(id: str, kind: str, parent: str | None = None, **members: Any) -> dict[str, Any]:  # noqa: A002
    return {"id": id, "traceId": "t", "type": kind, "name": id, "parentObservationId": parent, **members}


def test_without_tools_a_span_with_nothing_inside_is_a_call() -> None:
    items = [
        observation("agent", "SPAN"),
        observation("step", "SPAN", "agent"),
        observation("ls", "SPAN", "step", input='{"p": "."}', output={"files": []}),
        observation("run", "SPAN", "step", level="ERROR", statusMessage="no"),
    ]
    assert read(READER, *items)[1:] == [
        Call("ls", "ls", {"p": "."}),
        Result("ls", "ok", '{"files":[]}'),
        Call("run", "run", {}),
        Result("run", "error", "no"),
    ]


def test_with_tools_a_span_is_none() -> None:
    items = [
        observation("agent", "AGENT"),
        observation("step", "SPAN", "agent"),
        observation("ls", "TOOL", "agent", metadata={"attributes": {"gen_ai.tool.call.id": "c"}}),
    ]
    assert read(READER, *items)[1:] == [Call("c", "ls", {})]  # it has not ended


def test_generations_hold_messages_as_json_or_its_text() -> None:
    items = [
        observation("a", "GENERATION", input='[{"role": "user", "content": "Hi."}]', output={"content": "Hello."}),
        observation("b", "GENERATION", input={"messages": [{"role": "user", "content": "Go."}]}, output="[Done."),
        observation("c", "GENERATION", input="Bye.", output=5),
    ]
    assert read(READER, *items)[1:] == [
        Message("user", "Hi."),
        Message("agent", "Hello."),
        Message("user", "Go."),
        Message("agent", "[Done."),
        Message("user", "Bye."),
    ]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (observation("a", "TOOL") | {"name": None}, "an observation of a tool has no name"),
        ({"id": "a", "type": "TOOL"}, "neither a trace with `observations` nor an observation"),
    ],
)
def test_what_cannot_be_read_is_a_fault(line: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        read(READER, line)


def test_other_formats_are_left_to_others() -> None:
    assert not detect([{"id": "a", "observations": [{"type": "weather"}]}])
    assert not detect([{"type": "TOOL"}])
