"""Recordings that are still written: lines as they come, and the same events as of the whole recording."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.ingest import recordings, samples
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest import growing as module
from vigil_lang.ingest.growing import Growing, growing, growing_records
from vigil_lang.ingest.load import FORMATS, reader_of
from vigil_lang.runs import following, read_traces
from vigil_lang.trace import Event, Run

ROOT = Path(__file__).parents[2]
RECORDED: dict[str, Any] = {**recordings.SAMPLES, **samples.samples()}
FILES = [
    *sorted((ROOT / "examples").rglob("*.jsonl")),
    *sorted((ROOT / "tests/fixtures/runs").glob("*.jsonl")),
]


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 0.01)


def followed(path: Path, format: str | None = None) -> tuple[list[Run], list[Event]]:  # noqa: A002
    """The runs as they end, and all their events."""
    with growing(str(path), idle=0.01) as source:
        found = list(following(growing_records(source, format), source.path))
    return [item for item in found if isinstance(item, Run)][1::2], [item for item in found if isinstance(item, Event)]


@pytest.mark.unmeasured
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_recording_that_was_followed_is_the_one_that_is_read(path: Path) -> None:
    with path.open("rb") as stream:
        traces = list(read_traces(stream, str(path)))
    runs, events = followed(path)
    assert events == [event for trace in traces for event in trace.events]
    assert [run.not_executed for run in runs] == [trace.run.not_executed for trace in traces]
    assert [run.format for run in runs] == [trace.run.format for trace in traces]


@pytest.mark.parametrize("name", [name for name in FORMATS if reader_of(name).by_line and name in RECORDED])
def test_every_format_of_lines_can_be_followed(name: str, tmp_path: Path) -> None:
    lines = [json.dumps(value).encode() + b"\n" for value in RECORDED[name]]
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    traces = list(read_traces(lines, str(path), name))
    _, events = followed(path, name)
    assert events == [event for trace in traces for event in trace.events]
    assert events


@pytest.mark.parametrize("name", [name for name in FORMATS if not reader_of(name).by_line])
def test_other_formats_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in RECORDED[name]))
    with pytest.raises(InputError) as refused:
        followed(path)
    (finding,) = refused.value.diagnostics
    assert finding.code == "VGL603"
    assert (
        finding.message == f"a run in the format `{name}` cannot be followed: its content is complete only at its end"
    )
    assert "`claude-code`" in str(finding.help)


@pytest.mark.parametrize("content", [b'[\n{"action":"a"}\n]', b'{\n"action": "a"}', b'[{"action":"a"}]\n'])
def test_documents_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="one JSON document"):
        followed(path)


def test_what_is_packed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(b"\x1f\x8b\x08\n\n")
    with pytest.raises(InputError, match="packed"):
        followed(path)


def test_a_line_is_given_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"action":"a"}\n\n{"act')
    with growing(str(path)) as source, path.open("ab") as more:
        lines = iter(source)
        assert list(islice(lines, 2)) == [b'{"action":"a"}\n', b"\n"]
        threading.Timer(0.05, lambda: (more.write(b'ion":"b"}\n'), more.flush())).start()
        assert next(lines) == b'{"action":"b"}\n'
        more.write(b'{"action"')
        more.flush()
        threading.Timer(0.05, source.stop).start()
        assert list(lines) == []  # the line was not finished


def test_an_event_is_given_before_the_next_line_comes() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream, os.fdopen(writer, "wb", buffering=0) as pipe:
        pipe.write(b'\n{"action":"a"}\n')
        source = Growing(stream, "<stdin>")
        found = following(growing_records(source), source.path)
        assert isinstance(next(found), Run)
        event = next(found)
        assert isinstance(event, Event)
        assert event.action == "a"
        pipe.write(b'{"action":1}\n')
        with pytest.raises(InputError) as fault:
            next(found)
        assert fault.value.diagnostics[0].source.first_line == 3


@pytest.mark.parametrize("what", ["truncated", "removed", "replaced"])
def test_a_file_that_does_not_go_on_is_at_fault(what: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"action":"a"}\n')

    def change() -> None:
        if what == "truncated":
            path.write_bytes(b"")
        elif what == "removed":
            path.unlink()
        else:
            other = tmp_path / "other"
            other.write_bytes(b'{"action":"b"}\n')
            other.replace(path)

    with growing(str(path)) as source:
        lines = iter(source)
        assert next(lines) == b'{"action":"a"}\n'
        change()
        with pytest.raises(InputError, match=f"was {what} while it was followed"):
            next(lines)


def test_a_pipe_is_followed_however_many_files_are_open() -> None:
    """`select` refuses what has a number above 1,023."""
    reader, writer = os.pipe()
    try:
        high = fcntl.fcntl(reader, fcntl.F_DUPFD, 1_500)
    except OSError:
        pytest.skip("no process may have so many open files here")
    os.close(reader)
    with os.fdopen(high, "rb") as stream, os.fdopen(writer, "wb") as pipe:
        pipe.write(b'{"action":"a"}\n')
        pipe.close()
        source = Growing(stream, "<stdin>")
        events = [one for one in following(growing_records(source), source.path) if isinstance(one, Event)]
        assert [event.action for event in events] == ["a"]


def test_a_line_without_an_end_is_refused_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lang.ingest import stream as limits

    monkeypatch.setattr(limits, "MAX_SIZE", 2 << 20)
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(b'{"action":"' + b"a" * (4 << 20))

    threading.Thread(target=write).start()
    with os.fdopen(reader, "rb") as stream:
        source = Growing(stream, "<stdin>")
        with pytest.raises(InputError, match="a line is longer than 2 MB"):
            list(following(growing_records(source), source.path))
        for _ in iter(lambda: stream.read(1 << 20), b""):
            pass


def test_of_ids_only_recent_ones_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lang.ingest import canonical

    monkeypatch.setattr(canonical, "RECENT_IDS", 10)

    def read(again: int) -> int:
        lines = [b'{"event":"x%d","action":"a"}\n' % (number if number != 60 else again) for number in range(100)]
        source = Growing(BytesIO(b"".join(lines)), "run.jsonl")
        return sum(isinstance(item, Event) for item in following(growing_records(source), source.path))

    assert read(1) == 100
    with pytest.raises(InputError, match="is used on lines 51 and 61"):
        read(50)


def test_reading_on_is_prompt(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"action":"a"}\n' * 10_000)
    started = time.monotonic()
    _, events = followed(path)
    assert len(events) == 10_000
    assert time.monotonic() - started < 20
