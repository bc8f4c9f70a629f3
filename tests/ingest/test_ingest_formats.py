"""The foreign formats side by side: one run reads the same from each, and nothing that is read ends in a traceback."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, NOTE, RUN, WEATHER, lines_of, read, samples
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest import (
    agentdojo,
    anthropic_messages,
    google_adk,
    inspect_ai,
    langchain,
    langfuse,
    langsmith,
    mcp_log,
    openai_messages,
    openai_responses,
    openinference,
    otlp,
    pydantic_ai,
    swe_agent,
    tool_events,
)
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from vigil_lang.trace.record import Record

MODULES = (
    agentdojo,
    anthropic_messages,
    google_adk,
    inspect_ai,
    langchain,
    langfuse,
    langsmith,
    mcp_log,
    openai_messages,
    openai_responses,
    openinference,
    otlp,
    pydantic_ai,
    swe_agent,
    tool_events,
)
READERS = {module.READER.name: module.READER for module in MODULES}
SAMPLES = samples()
SILENT = {"openai-messages", "openai-responses", "swe-agent"}


def test_there_is_a_sample_of_every_format() -> None:
    assert READERS.keys() == SAMPLES.keys()


@pytest.mark.parametrize("name", READERS)
def test_a_recording_is_recognised_by_its_own_reader_alone(name: str) -> None:
    recognised = [other for other, reader in READERS.items() if reader.detect(SAMPLES[name])]
    assert recognised == [name]


@pytest.mark.parametrize("name", READERS)
def test_the_run_reads_the_same_from_every_format(name: str) -> None:
    records = read(READERS[name], *SAMPLES[name])
    assert isinstance(records[0], Start)
    results = {record.key: record for record in records if isinstance(record, Result)}
    read_back = [
        (call.name, flatten(call.args), results[call.key].status, results[call.key].output)
        for call in records
        if isinstance(call, Call)
    ]
    ok, error = ("unknown", "unknown") if name in SILENT else ("ok", "error")
    assert read_back == [
        ("weather", flatten(WEATHER), ok, DRY),
        ("save", flatten(NOTE), error, DENIED),
    ]
    said = [(record.role, record.text) for record in records if isinstance(record, Message)]
    assert said == ([] if name == "mcp" else [("user", ASKED), ("agent", ANSWER)])


@pytest.mark.parametrize("name", READERS)
def test_an_empty_recording_is_an_empty_run(name: str) -> None:
    assert not READERS[name].detect([])
    assert read(READERS[name]) == [Start(RUN)]


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
values = st.recursive(
    scalars | st.sampled_from(["t1", "tool", "assistant", "2.0", "LLM", "execute_tool", "attachment://x", "[{", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """The name of a format and its sample with some members replaced, dropped or taken from elsewhere."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    whole = json.loads(json.dumps(list(SAMPLES[name])))
    for _ in range(draw(st.integers(1, 4))):
        place: Any = whole
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and draw(st.integers(0, 3)):
                place = place[key]
                continue
            action = draw(st.integers(0, 3))
            if action == 0:
                place[key] = draw(values)
            elif action == 1:
                del place[key]
            elif action == 2 and isinstance(place, list):
                place.append(place[key])
            elif isinstance(place, dict):
                place[draw(st.sampled_from([*keys, "content", "id", "type"]))] = place[key]
            break
    return name, [line for line in whole if isinstance(line, dict)]


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_whatever_the_objects_they_are_records_or_one_fault(sample: tuple[str, list[Any]]) -> None:
    name, objects = sample
    for reader in READERS.values():
        reader.detect(objects)
    for reader in (READERS[name], openai_messages.READER):
        records: list[Record] = []
        with contextlib.suppress(InputError):
            records += reader.read(lines_of(*objects), RUN)
            assert isinstance(records[0], Start)
        keys: set[str] = set()
        for record in records:
            if isinstance(record, Start) and not record.again:
                keys = set()
            elif isinstance(record, Call):
                assert record.key not in keys, "keys are unique within a run"
                keys.add(record.key)
                flatten(record.args)
            elif isinstance(record, Result):
                assert record.key in keys, "a result follows its call"
                assert record.output is None or isinstance(record.output, str)
