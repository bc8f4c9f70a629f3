"""Inspect logs: samples as runs, tool events, attachments, and the archives that logs come in."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, INSPECT, NOTE, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest import inspect_ai, stream
from vigil_lang.ingest.inspect_ai import READER, detect, unpacked
from vigil_lang.ingest.lines import Lines
from vigil_lang.trace.record import Call, Message, Record, Result, Start

SAMPLE: dict[str, Any] = INSPECT["samples"][0]
HEADER = {key: value for key, value in INSPECT.items() if key != "samples"}
START = Start(replace(RUN, name="forecast/oslo/1", source="some/model"))
RECORDS = [
    Message("user", ASKED),
    Call("t1", "weather", WEATHER),
    Result("t1", "ok", DRY),
    Call("t2", "save", NOTE),
    Result("t2", "error", DENIED),
    Message("agent", ANSWER),
]


def calls(*events: dict[str, Any], **members: Any) -> list[Record]:
    sample = {"id": 1, "epoch": 1, "messages": [], "events": list(events), **members}
    return read(READER, sample)[1:]


def test_a_log_in_one_document() -> None:
    assert read_document(READER, INSPECT) == [START, *RECORDS]


def test_a_header_with_its_samples_after_it() -> None:
    assert detect([HEADER])
    assert read(READER, HEADER, SAMPLE, SAMPLE | {"epoch": 2}) == [
        START,
        *RECORDS,
        Start(replace(START.run, name="forecast/oslo/2")),
        *RECORDS,
    ]


def test_without_events_the_messages_are_read() -> None:
    sample = SAMPLE | {"events": [{"event": "model"}]}
    assert detect([sample])
    assert read(READER, sample) == [
        Start(replace(RUN, name="oslo/1")),
        Message("user", ASKED),
        Call("t1", "weather", WEATHER),
        Call("t2", "save", NOTE),
        Result("t1", "ok", DRY),
        Result("t2", "error", DENIED),
        Message("agent", ANSWER),
    ]


def test_a_message_too_says_that_the_approver_rejected_its_call() -> None:
    asked = {"role": "assistant", "content": "", "tool_calls": [{"id": "t", "function": "rm", "arguments": {}}]}
    told = {"role": "tool", "tool_call_id": "t", "content": "", "error": {"type": "approval", "message": "no"}}
    assert calls(messages=[asked, told]) == [Call("t", "rm", {}), Result("t", "error", "no", executed=False)]


def test_a_call_that_the_approver_rejected_never_ran() -> None:
    event = {"event": "tool", "id": "t", "function": "rm", "arguments": {}}
    error = {"type": "approval", "message": "no"}
    assert calls(event | {"error": error, "timestamp": "2026-01-05T10:00:00+00:00"}) == [
        Call("t", "rm", {}, 1767607200_000_000),
        Result("t", "error", "no", executed=False),
    ]
    assert calls(event | {"failed": True, "result": "x"}) == [Call("t", "rm", {}), Result("t", "error", "x")]
    assert calls(event | {"pending": True}, event) == [Call("t", "rm", {}), Call("t#2", "rm", {}), Result("t#2", "ok")]


def test_calls_of_an_agent_belong_to_the_call_that_started_it() -> None:
    def tool(id: str, span: str, **members: str) -> dict[str, Any]:  # noqa: A002
        return {"event": "tool", "id": id, "function": id, "arguments": {}, "span_id": span, **members}

    events = [
        {"event": "span_begin", "id": "main"},
        tool("ask", "main", agent_span_id="s1"),
        {"event": "span_begin", "id": "s1", "parent_id": "main"},
        {"event": "span_begin", "id": "s2", "parent_id": "s1"},
        tool("ls", "s2"),
        tool("cat", "main"),
    ]
    found = [(record.key, record.session, record.parent) for record in calls(*events) if isinstance(record, Call)]
    assert found == [("ask", "", None), ("ls", "ask", "ask"), ("cat", "", None)]


def test_long_texts_stand_among_the_attachments() -> None:
    event = {"event": "tool", "id": "t", "function": "ls", "arguments": {"p": ["attachment://a"]}}
    event["result"] = [{"type": "text", "text": "attachment://b"}]
    assert calls(event, attachments={"a": "src", "b": "a.py"}) == [
        Call("t", "ls", {"p": ["src"]}),
        Result("t", "ok", "a.py"),
    ]
    assert calls(event, attachments={"a": "src"})[1] == Result("t", "ok", "attachment://b")


def test_attachments_are_used_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_ai, "MAX_MEMBER", 10)
    event = {"event": "tool", "id": "t", "function": "ls", "arguments": {"p": ["attachment://a"] * 3}}
    with pytest.raises(InputError, match=r"VGL003 its attachments are used too often"):
        calls(event, attachments={"a": "four"})


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (HEADER | {"samples": "none"}, "`samples` must be a list"),
        (HEADER | {"samples": [5]}, "a sample must be an object"),
        (SAMPLE | {"events": [{"event": "tool", "function": 5}]}, "a tool event names no function"),
    ],
)
def test_what_cannot_be_read_is_a_fault(line: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        read(READER, line)


def archive(method: int = zipfile.ZIP_DEFLATED, **members: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    return data.getvalue()


def from_archive(data: bytes) -> list[Record]:
    assert data.startswith(inspect_ai.ZIP)
    return list(READER.read(Lines(unpacked(io.BytesIO(data), RUN.path), RUN.path), RUN))


LOG = {
    "_journal/start.json": json.dumps(HEADER),
    "summaries.json": "[]",
    "samples/oslo_epoch_1.json": json.dumps(SAMPLE, indent=2),
    "header.json": json.dumps(HEADER, indent=2),
}


def test_an_archive_holds_the_header_and_the_samples() -> None:
    assert from_archive(archive(**LOG)) == [START, *RECORDS]


def test_an_archive_that_is_cut_off_or_no_archive() -> None:
    for data in (archive(**LOG)[:-30], b"PK\x03\x04 and no more"):
        with pytest.raises(InputError, match=r"VGL001 cannot read `run\.jsonl`: the archive is damaged"):
            from_archive(data)


def test_an_archive_packed_in_another_way_says_how_to_convert_it() -> None:
    data = archive(zipfile.ZIP_STORED, **LOG)
    zstandard = (93).to_bytes(2, "little")
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(signature)
        while start >= 0:
            data = data[: start + at] + zstandard + data[start + at + 2 :]
            start = data.find(signature, start + 4)
    with pytest.raises(InputError, match=r"VGL001 .*inspect log convert"):
        from_archive(data)


def test_a_sample_that_is_no_json_or_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"run\.jsonl/samples/a\.json:1:.*VGL601"):
        from_archive(archive(**{"samples/a.json": "{"}))
    monkeypatch.setattr(inspect_ai, "MAX_MEMBER", 10)
    with pytest.raises(InputError, match=r"VGL003 `header\.json` is larger"):
        from_archive(archive(**LOG))
    monkeypatch.setattr(stream, "_ALWAYS_FINE", 0)
    with pytest.raises(InputError, match=r"VGL003 the archive unpacks to more than 25 times its size"):
        from_archive(archive(**LOG | {"samples/a.json": '{"a":"' + "a" * 100_000 + '"}'}))
