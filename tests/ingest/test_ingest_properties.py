"""What holds of every recording: reading never fails in another way, and writing loses nothing."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.diagnostics import InputError
from vigil_lang.ingest import FORMATS, dump_trace
from vigil_lang.runs import read_trace
from vigil_lang.signatures import read_signature
from vigil_lang.trace import Event, Run, Trace, observe
from vigil_lang.trace.signature_file import signature_from_json, signature_to_json
from vigil_lang.trace.values import parse_time, time_text

RUNS = Path(__file__).parent.parent / "fixtures" / "runs"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
carried = st.dictionaries(
    texts.filter(lambda key: key not in {"event", "call", "action", "kinds", "args", "status", "output", "time"}),
    st.booleans() | st.integers(-(2**63), 2**64) | texts | st.none(),
    max_size=2,
)
events = st.builds(
    Event,
    id=ids,
    action=texts,
    call=ids,
    args=st.dictionaries(texts, st.lists(texts, max_size=3).map(tuple), max_size=3),
    status=st.sampled_from(["ok", "error", "unknown"]),
    output=st.none() | texts,
    kinds=st.lists(texts, max_size=2).map(tuple),
    time=st.none() | st.integers(-62135596800 * 10**6, 253402300799 * 10**6),
    extra=carried,
)
runs = st.builds(
    Run,
    path=st.just("run.jsonl"),
    format=st.sampled_from(FORMATS),
    name=st.none() | texts,
    source=st.none() | texts,
    cwd=st.none() | texts,
    not_executed=st.integers(0, 2**40),
)
traces = st.builds(Trace, st.lists(events, max_size=4, unique_by=lambda event: event.id).map(tuple), runs)


def dumped(trace: Trace) -> bytes:
    written: list[bytes] = []
    dump_trace(trace, written.append)
    return b"".join(written)


@given(traces)
def test_what_is_written_reads_back_equal(trace: Trace) -> None:
    assert read_trace(io.BytesIO(dumped(trace)), "run.jsonl") == trace


@given(st.lists(st.dictionaries(texts, json_values, max_size=3), max_size=3), texts, st.text(max_size=20))
def test_what_is_read_writes_and_reads_back_equal(args: list[dict[str, Any]], extra: str, time: str) -> None:
    lines = [json.dumps({"action": "a", "args": arg, "x": {extra: arg}, "time": time}) for arg in args]
    trace = read_trace([line.encode() + b"\n" for line in lines], "run.jsonl")
    assert read_trace(io.BytesIO(dumped(trace)), "run.jsonl") == trace


@given(st.integers(-62135596800 * 10**6, 253402300799 * 10**6))
def test_times_survive(time: int) -> None:
    assert parse_time(time_text(time)) == time


@given(st.lists(traces, max_size=3))
def test_a_signature_survives_its_file(recorded: list[Trace]) -> None:
    signature = observe(recorded)
    text = signature_to_json(signature)
    assert signature_from_json(json.loads(text)) == signature
    assert read_signature(text.encode(), "signature.json") == signature


def attempt(data: bytes) -> None:
    for form in (None, *FORMATS):
        try:
            trace = read_trace(io.BytesIO(data), "run.jsonl", form)
        except InputError as refused:
            for found in refused.diagnostics:
                start, end = found.source.position(found.span.start), found.source.position(found.span.end)
                assert start <= end
                assert len(found.source.text) <= 200
                assert found.message[:1] == found.message[:1].lower()
        else:
            assert len({event.id for event in trace.events}) == len(trace)
            assert read_trace(io.BytesIO(dumped(trace)), "run.jsonl") == trace


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    attempt(data)


MEMBERS = [
    "type", "message", "content", "id", "name", "input", "tool_use_id", "is_error", "session_id", "uuid", "text",
    "action", "event", "call", "args", "kinds", "status", "output", "time", "vigil_trace", "permission_denials",
    "tool_result_meta", "permissionDecision", "parent_tool_use_id",
]  # fmt: skip
WORDS = ["assistant", "user", "system", "result", "tool_use", "tool_result", "text", "ok", "e1", "a"]
shaped = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(MEMBERS), shaped, max_size=6), max_size=3))
def test_any_objects_with_the_members_readers_look_at(lines: list[dict[str, Any]]) -> None:
    attempt(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@pytest.mark.parametrize("path", sorted(RUNS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_damaged_recordings(path: Path) -> None:
    data = path.read_bytes()
    chance = random.Random(7)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(damaged))
            damaged[at : at + chance.randint(0, 3)] = chance.choice(
                [b"", b"\0", b"\xff", b'"', b"}", b"\n", b"null", b"1e9"]
            )
        attempt(bytes(damaged[: chance.randrange(len(damaged))]))


def codes(data: bytes) -> set[str]:
    """The codes a signature is refused with; one that is accepted must survive its file."""
    try:
        signature = read_signature(data, "tools.json")
    except InputError as refused:
        return {found.code for found in refused.diagnostics}
    assert signature_from_json(json.loads(signature_to_json(signature))) == signature
    return set()


@given(st.binary(max_size=60) | st.builds(lambda value: json.dumps(value).encode(), shaped))
def test_any_bytes_as_a_signature(data: bytes) -> None:
    assert codes(data) <= {"VGL001", "VGL002", "VGL601", "VGL602", "VGL603", "VGL604", "VGL605", "VGL606", "VGL609"}


SCHEMA_WORDS = ["type", "properties", "items", "anyOf", "allOf", "$ref", "enum", "const", "additionalProperties"]
schemas = st.recursive(
    st.sampled_from(["string", "object", "array", "#", "#/properties", None, True, False, 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(SCHEMA_WORDS), inner, max_size=4),
    max_leaves=12,
)


@given(schemas)
def test_any_schema(schema: Any) -> None:
    assert codes(json.dumps([{"name": "t", "inputSchema": schema}]).encode()) <= {"VGL604", "VGL003"}
