"""What LangChain, LangGraph, Google ADK and pydantic-ai write themselves, and Claude Desktop's log of MCP.

The dumps in tests/fixtures/runs/dumps were made by these packages, with models that answer what they are told; the log
is made up.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ingest.recordings import calls, records, results, runs, said
from vigil_lang.ingest import read_records
from vigil_lang.ingest.load import opened
from vigil_lang.runs import load_trace
from vigil_lang.trace.record import Call, Message, Record, Result, Start

DUMPS = Path(__file__).parents[1] / "fixtures/runs/dumps"


def dumped(name: str) -> list[Record]:
    with opened(DUMPS / name) as (stream, path):
        return list(read_records(stream, path))


def outcomes(found: list[Record]) -> list[tuple[str, object, str, str | None, bool]]:
    ends = {each.key: each for each in results(found)}
    return [
        (call.name, call.args, ends[call.key].status, ends[call.key].output, ends[call.key].executed)
        for call in calls(found)
    ]


@pytest.mark.parametrize("name", ["lc_to_dict.json", "lc_model_dump.json", "lc_dumpd.json"])
def test_messages_of_langchain_however_they_are_dumped(name: str) -> None:
    found = dumped(name)
    assert runs(found)[0].format == "langchain"
    assert outcomes(found) == [
        ("bash", {"command": "ls"}, "ok", "a.txt", True),
        ("read_file", {"path": "/x"}, "error", "no such file", True),
    ]
    assert said(found) == [("user", "list the files"), ("agent", "done")]


@pytest.mark.parametrize("name", ["lg_checkpoints.json", "lg_state_history.json"])
def test_snapshots_of_a_graph_are_one_run_whichever_comes_first(name: str, tmp_path: Path) -> None:
    found = dumped(name)
    assert [run.name for run in runs(found)] == ["t1"]
    assert [(call, status) for call, _, status, _, _ in outcomes(found)] == [("bash", "ok"), ("bash", "error")]
    assert said(found) == [("user", "go"), ("agent", "done")]
    turned = tmp_path / name
    turned.write_text(json.dumps(json.loads((DUMPS / name).read_text(encoding="utf-8"))[::-1]), encoding="utf-8")
    with opened(turned) as (stream, path):
        other = list(read_records(stream, path))
    assert [each for each in other if not isinstance(each, Start)] == [
        each for each in found if not isinstance(each, Start)
    ]


def test_states_without_a_thread_are_runs_of_their_own() -> None:
    human = {"type": "human", "content": "go", "additional_kwargs": {}}
    found = records("langchain", {"messages": [human]}, {"values": {"messages": [human]}})
    assert [run.name for run in runs(found)] == ["2"]
    assert said(found) == [("user", "go")] * 2


TOOL_CALL = {"name": "bash", "args": {"command": "ls"}, "id": "c1", "type": "tool_call"}
KINDS = ("system", "human", "ai", "tool", "ai")
# What `model_dump(exclude_unset=True)` leaves of five messages, and `exclude_defaults=True` too.
UNTOLD: list[dict[str, object]] = [
    {"content": "be good"},
    {"content": "hi"},
    {"content": "", "tool_calls": [TOOL_CALL]},
    {"content": "a.txt", "tool_call_id": "c1"},
    {"content": "done", "usage_metadata": {"input_tokens": 1}},
]
TOLD = [{"type": kind} | message for kind, message in zip(KINDS, UNTOLD, strict=True)]


@pytest.mark.parametrize(
    ("document", "texts", "lost"),
    [
        (TOLD, [("user", "hi"), ("agent", "done")], 0),
        (TOLD[1:], [("user", "hi"), ("agent", "done")], 0),
        ({"messages": TOLD}, [("user", "hi"), ("agent", "done")], 0),
        ({"checkpoint": {"channel_values": {"messages": TOLD}}}, [("user", "hi"), ("agent", "done")], 0),
        # Whose the first two texts are is nowhere in such a dump: they are counted, not guessed.
        (UNTOLD, [("agent", "done")], 2),
        (UNTOLD[2:], [("agent", "done")], 0),
    ],
)
def test_messages_of_langchain_whose_dump_leaves_members_out(
    document: object, texts: list[tuple[str, str]], lost: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with opened(path) as (stream, name):
        found = list(read_records(stream, name))
    assert runs(found)[0].format == "langchain"
    assert outcomes(found) == [("bash", {"command": "ls"}, "unknown", "a.txt", True)]
    assert said(found) == texts
    assert runs(found)[-1].not_understood == lost


def test_a_session_of_adk_and_its_events() -> None:
    for name in ("adk_session.json", "adk_events.jsonl"):
        found = dumped(name)
        assert runs(found)[0].format == "google-adk"
        assert outcomes(found) == [
            ("bash", {"command": "ls"}, "ok", "a.txt", True),
            ("bash", {"command": "fail"}, "error", "no such command", True),
        ]
        assert said(found) == [("user", "list the files"), ("agent", "looking"), ("agent", "done")]
    assert runs(dumped("adk_session.json"))[0].source == "app"


def event(*parts: object) -> dict[str, object]:
    return {"author": "a", "invocation_id": "i", "content": {"parts": list(parts)}}


def test_what_adk_asks_the_user_is_no_call_and_code_is_one() -> None:
    found = records(
        "google-adk",
        event({"function_call": {"id": "c", "name": "adk_request_confirmation", "args": {}}}),
        event({"function_response": {"id": "c", "name": "adk_request_confirmation", "response": {"confirmed": True}}}),
        event({"executable_code": {"code": "print(1)", "language": "PYTHON"}}),
        event({"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "no"}}),
    )
    assert outcomes(found) == [("code_execution", {"code": "print(1)", "language": "PYTHON"}, "error", "no", True)]


def test_a_history_of_pydantic_ai() -> None:
    found = dumped("pai_all.json")
    assert runs(found)[-1].source == "pydantic-ai"
    assert outcomes(found) == [
        ("bash", {"command": "ls"}, "ok", "a.txt", True),
        ("bash", {"command": "fail"}, "error", "bad command", True),
        ("nope", {}, "error", "Unknown tool name: 'nope'. Available tools: 'bash'", False),
    ]
    assert said(found) == [("user", "list"), ("agent", "looking"), ("agent", "done")]
    assert load_trace(DUMPS / "pai_all.json").run.not_executed == 1


@pytest.mark.parametrize(
    ("part", "status", "executed"),
    [
        ({"part_kind": "retry-prompt", "content": "try again", "tool_name": "t", "tool_call_id": "c"}, "error", True),
        (
            {"part_kind": "retry-prompt", "content": [{"loc": ["x"]}], "tool_name": "t", "tool_call_id": "c"},
            "error",
            False,
        ),
        ({"part_kind": "tool-return", "content": "no", "tool_call_id": "c", "outcome": "denied"}, "error", False),
        ({"part_kind": "tool-return", "content": "", "tool_call_id": "c", "outcome": "interrupted"}, "unknown", True),
        ({"part_kind": "tool-return", "content": "x", "tool_call_id": "c"}, "unknown", True),
    ],
)
def test_how_a_call_of_pydantic_ai_ended(part: dict[str, object], status: str, executed: bool) -> None:
    call = {"part_kind": "tool-call", "tool_name": "t", "args": "{}", "tool_call_id": "c"}
    found = records("pydantic-ai", {"kind": "response", "parts": [call]}, {"kind": "request", "parts": [part]})
    assert [(each.status, each.executed) for each in results(found)] == [(status, executed)]


def test_the_log_of_claude_desktop() -> None:
    found = dumped("claude-desktop.log")
    assert outcomes(found) == [("read_file", {"path": "/home/ann/a.txt"}, "ok", "hello", True)]
    assert runs(found)[-2].source == "secure-filesystem-server 0.2.0"
    # The last message was cut by the log: nobody knows which call it was.
    assert runs(found)[-1].not_understood == 1
    assert isinstance(found[0], Start)
    assert {type(each) for each in found} == {Start, Call, Result}
    assert not any(isinstance(each, Message) for each in found)
