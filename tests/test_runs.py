"""Recordings as traces: one run, several, and a run as it is read."""

from __future__ import annotations

import gzip
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vigil_lang as vigil
from vigil_lang.abstraction.run import Options
from vigil_lang.runs import is_run, load_trace, load_traces, read_trace, read_traces, stream_events
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Call, Start

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ONE = b'{"action":"a"}\n{"action":"b","output":"done"}\n'
TWO = b'{"vigil_trace":1,"run":"x","cwd":"/r"}\n{"action":"a"}\n{"vigil_trace":1}\n{"action":"b"}\n{"action":"c"}\n'


EMPTY = Options(allow_empty=True)


def lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def fault(data: bytes, **how: object) -> vigil.Diagnostic:
    with pytest.raises(vigil.InputError) as caught:
        read_trace(lines(data), "run.jsonl", **how)  # type: ignore[arg-type]
    (found,) = caught.value.diagnostics
    return found


# --- one run -----------------------------------------------------------------------------------------------


def test_a_run_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(ONE)
    trace = load_trace(path)
    assert [event.action for event in trace.events] == ["a", "b"]
    assert trace.run == Run(str(path))
    assert load_trace(str(path)) == trace
    assert list(load_traces(path)) == [trace]


def test_a_run_counts_whatever_is_wrong_with_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(TWO + b'{"vigil_trace":1}\n{"action":7}\n')
    found = load_traces(path)
    assert [len(next(found)), len(next(found))] == [1, 2]
    with pytest.raises(vigil.InputError):
        next(found)


def test_a_recording_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(ONE))
    assert len(load_trace(path)) == 2


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ONE)))
    assert load_trace("-").run.path == "<stdin>"


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"vigil_trace":1}\n', gzip.compress(b"", mtime=0)])
def test_an_empty_recording_is_a_run_only_where_that_is_allowed(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(data)
    for load in (load_trace, lambda path: list(load_traces(path)), vigil.load_signature):
        with pytest.raises(vigil.InputError) as caught:
            load(path)
        (found,) = caught.value.diagnostics
        assert (found.code, found.severity, found.source.path) == ("VGL605", "error", str(path))
    assert load_trace(path, options=EMPTY) == Trace((), Run(str(path)))
    assert read_trace(data.splitlines(keepends=True), "r") == Trace((), Run("r"))


def test_the_format_and_the_options_may_be_given() -> None:
    data = b'{"action":"rm","id":1,"source":"agent","args":{},"output":"' + b"x" * 400 + b'"}\n'
    assert read_trace(lines(data), "r").run.format == "openhands"
    trace = read_trace(lines(data), "r", "vigil", Options(kept=300))
    assert (trace.run.format, len(trace.events[0].output or "")) == ("vigil", 300)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"action":1}\n', "VGL601"),
        (b'{"action":"a"}\noops\n', "VGL601"),
        (b'{"event":"a","action":"a"}\n{"event":"a","action":"a"}\n', "VGL602"),
        (b'{"who":"knows"}\n', "VGL603"),
        (TWO, "VGL606"),
    ],
)
def test_what_is_at_fault_has_a_code(data: bytes, code: str) -> None:
    assert fault(data).code == code


def test_what_is_not_there_is_a_finding(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path, "a\0b"):
        for load in (load_trace, lambda path: list(load_traces(path)), lambda path: list(stream_events(str(path)))):
            with pytest.raises(vigil.InputError) as caught:
                load(path)
            assert caught.value.diagnostics[0].code == "VGL001"


@pytest.mark.parametrize(
    ("deep", "message"),
    [
        (102, "arguments are nested more than 100 deep"),
        (3, "a nested argument's name is longer than 1000 characters"),
    ],
)
def test_arguments_without_end_are_a_finding(tmp_path: Path, deep: int, message: str) -> None:
    value: object = 1
    for _ in range(deep):
        value = {"a" * (1 if deep > 100 else 400): value}
    use = {"type": "tool_use", "id": "t1", "name": "x", "input": value}
    start = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/r", "claude_code_version": "2.1.0"}
    call = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [use]}, "session_id": "s"}
    data = b"".join(json.dumps(each).encode() + b"\n" for each in (start, call))
    found = fault(data)
    assert found.code == "VGL601"
    assert found.message.startswith(message)
    (tmp_path / "r.jsonl").write_bytes(data)
    with pytest.raises(vigil.InputError):
        list(stream_events(str(tmp_path / "r.jsonl")))


def test_a_reader_that_lets_such_arguments_pass_is_no_fault_of_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    value: object = 1
    for _ in range(102):
        value = {"a": value}
    monkeypatch.setattr(
        "vigil_lang.runs.read_records", lambda *_: iter([Start(Run("r")), Call("t", "x", {"a": value})])
    )
    assert fault(b"").message == "a call's arguments are nested more than 100 deep"


# --- several runs ------------------------------------------------------------------------------------------


def test_several_runs_are_several_traces() -> None:
    first, second = read_traces(lines(TWO), "run.jsonl")
    assert first.run == Run("run.jsonl#x", name="x", cwd="/r", label="x")
    assert second.run == Run("run.jsonl#2", label="2")
    assert [event.id for event in second.events] == ["e1", "e2"]


def test_one_trace_is_asked_of_a_recording_of_one() -> None:
    found = fault(TWO)
    assert (found.message, found.help) == (
        "the recording holds several runs",
        "`vigil abstract --run NAME` makes a recording of one of them",
    )


def test_runs_are_given_as_they_are_read() -> None:
    def broken_off() -> Iterable[bytes]:
        yield from lines(TWO)
        yield b'{"vigil_trace":1}\n'
        yield b"oops\n"

    # The first objects are read ahead for the sake of the format.
    many = [*lines(TWO * 30), b'{"vigil_trace":1}\n', b"oops\n"]
    found = read_traces(many, "r")
    assert [next(found).run.path for _ in range(3)] == ["r#x", "r#2", "r#x#2"]
    with pytest.raises(vigil.InputError):
        list(found)
    with pytest.raises(vigil.InputError):
        list(read_traces(broken_off(), "r"))


# --- a run as a stream -------------------------------------------------------------------------------------


def streamed(path: Path, name: str | None = None) -> list[Trace]:
    found: list[tuple[Run, list[Event]]] = []
    for item in stream_events(str(path), name=name):
        if isinstance(item, Run):
            found.append((item, []))
        else:
            found[-1][1].append(item)
    return [Trace(tuple(events), run) for run, events in found]


@pytest.mark.parametrize("data", [b"", ONE, TWO, TWO * 40, b'{"vigil_trace":1}\n' * 3])
def test_a_stream_has_the_events_of_the_traces(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(data)
    assert streamed(path) == list(load_traces(path, options=EMPTY))


def test_a_stream_goes_by_the_name_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(TWO)
    assert [trace.run.path for trace in streamed(tmp_path / "copy", "<stdin>")] == ["<stdin>#x", "<stdin>#2"]


actions = st.lists(
    st.tuples(
        st.sampled_from(["call", "result", "failed", "denied", "said"]),
        st.integers(0, 5),
        st.sampled_from(["cd src", "cat a | wc -l", "rm b && ls", "echo 'x", "python3 -c 'import os; os.remove(1)'"]),
    ),
    max_size=12,
)


def hooked(found: list[tuple[str, int, str]]) -> bytes:
    """Calls, results and messages in any order, as hooks of Claude Code log them."""
    made: list[dict[str, object]] = [{"hook_event_name": "SessionStart"}]
    for what, number, command in found:
        tool = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{number}"}
        match what:
            case "call":
                made.append({"hook_event_name": "PreToolUse", **tool})
            case "result":
                made.append({"hook_event_name": "PostToolUse", **tool, "tool_response": {"stdout": "x"}})
            case "failed":
                made.append({"hook_event_name": "PostToolUseFailure", **tool, "error": "Exit code 1"})
            case "denied":
                made.append({"hook_event_name": "PermissionDenied", **tool})
            case _:
                made.append({"hook_event_name": "UserPromptSubmit", "prompt": command})
    return b"".join(json.dumps({"session_id": "s", "cwd": "/r", **each}).encode() + b"\n" for each in made)


@given(actions)
def test_streams_wait_for_no_result_that_never_comes(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[str, int, str]]
) -> None:
    path = tmp_path_factory.mktemp("runs") / "run.jsonl"
    path.write_bytes(hooked(found))
    assert streamed(path) == list(load_traces(path, options=EMPTY))


def test_a_recording_that_shrinks_while_it_is_read_ends(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(TWO)
    stream = stream_events(str(path))
    first = next(stream)
    path.write_bytes(b"")
    assert isinstance(first, Run)
    assert all(isinstance(item, Run | Event) for item in stream)


# --- what is a run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.jsonl", ONE, True),
        ("a.jsonl", b"", True),
        ("a.json", json.dumps({"messages": [{"role": "user", "content": "x"}]}).encode(), True),
        ("a.txt", ONE, True),
        ("a.jsonl", b'{"who":"knows"}\n', False),
        ("a.json", b'{"name":"x"}\n', False),
        ("a.txt", b"hello\n", False),
        ("a.log", b"12:00 started\n", False),
        ("a.jsonl", b"{oops\n", True),
        ("a.jsonl", ONE + b"{oops\n", True),
        ("a.jsonl", b"\xff\n", True),
        ("a.txt", b"\xff\n", False),
        ("a.gz", b"\x1f\x8bno gzip", False),
        ("a.json", b"[1, 2]", False),
        ("a.json", b'{"a": 1, // comment\n}', False),
    ],
)
def test_a_run_is_told_by_its_first_lines(tmp_path: Path, name: str, data: bytes, expected: bool) -> None:
    (tmp_path / name).write_bytes(data)
    assert is_run(str(tmp_path / name)) is expected


def test_a_run_that_cannot_be_read_is_one(tmp_path: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    assert is_run(str(tmp_path / "loop.jsonl"))
    assert not is_run(str(tmp_path / "none.txt"))
