"""LangSmith: flat exports and trees, LangChain's own forms of arguments, outputs and messages."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, LANGSMITH, NOTE, RUN, WEATHER, read, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.langsmith import READER, detect
from vigil_lang.trace.record import Call, Message, Record, Result, Start

SECOND = 1_000_000
T0 = 1767607200 * SECOND
RECORDS = [
    Start(replace(RUN, name="root")),
    Message("user", ASKED, T0 + SECOND),
    Call("weather", "weather", WEATHER, T0 + 2 * SECOND),
    Result("weather", "ok", DRY),
    Call("save", "save", NOTE, T0 + 3 * SECOND),
    Result("save", "error", DENIED),
    Message("agent", ANSWER, T0 + 4 * SECOND),
]


def tool(**members: Any) -> list[Record]:
    """The records of a trace of one tool run, without the start."""
    run = {
        "id": "a",
        "trace_id": "t",
        "name": "ls",
        "run_type": "tool",
        "inputs": {},
        "end_time": "2026-01-05",
        **members,
    }
    return read(READER, run)[1:]


def test_runs_one_a_line_in_a_list_or_under_a_name() -> None:
    assert read(READER, *LANGSMITH) == RECORDS
    assert read_document(READER, LANGSMITH) == RECORDS
    assert detect([{"runs": LANGSMITH}])
    assert read_document(READER, {"runs": LANGSMITH}) == RECORDS


def test_a_tree_of_runs() -> None:
    children = [{key: value for key, value in run.items() if key != "parent_run_id"} for run in LANGSMITH]
    root = {"id": "root", "name": "agent", "run_type": "chain", "session_name": "demo", "child_runs": children}
    assert detect([root])
    assert read_document(READER, root) == [Start(replace(RUN, name="root", source="demo")), *RECORDS[1:]]


def test_threads_join_traces() -> None:
    about = {"extra": {"metadata": {"thread_id": "talk"}}}
    runs = [run | about | {"trace_id": f"t{n}"} for n, run in enumerate(LANGSMITH)]
    assert read(READER, *runs) == [Start(replace(RUN, name="talk")), *RECORDS[1:]]


@pytest.mark.parametrize(
    ("inputs", "args"),
    [
        ({"p": "."}, {"p": "."}),
        ({"input": "src"}, {"input": "src"}),
        ({"input": "{'p': ['it\\'s', None, True, 1.5]}"}, {"p": ["it's", None, True, 1.5]}),
        ({"input": "{'p': 1e999}"}, {"input": "{'p': 1e999}"}),
        ({"input": "{'p': (1,)}"}, {"input": "{'p': (1,)}"}),
        ({"input": "{1: 2}"}, {"input": "{1: 2}"}),
        ({"input": "{'p': __import__('os')}"}, {"input": "{'p': __import__('os')}"}),
        ({"input": "{'p': " + "[" * 150 + "]" * 150 + "}"}, {"input": "{'p': " + "[" * 150 + "]" * 150 + "}"}),
        ({"input": "{" * 5000}, {"input": "{" * 5000}),
        ({"input": "{'p': '" + "a" * 200_000 + "'}"}, {"input": "{'p': '" + "a" * 200_000 + "'}"}),
        ('{"p": "."}', {"p": "."}),
        (None, {}),
    ],
)
def test_arguments_in_every_form(inputs: Any, args: dict[str, Any]) -> None:
    assert tool(inputs=inputs)[0] == Call("a", "ls", args)


@pytest.mark.parametrize(
    ("members", "result"),
    [
        ({"outputs": {"output": "a.py"}}, Result("a", "ok", "a.py")),
        ({"outputs": {"files": ["a.py"]}}, Result("a", "ok", '{"files":["a.py"]}')),
        ({"outputs": None}, Result("a", "ok", None)),
        ({"outputs": None, "error": "no"}, Result("a", "error", "no")),
        ({"status": "error"}, Result("a", "error", None)),
        ({"end_time": None, "status": "pending"}, None),
        ({"end_time": None, "outputs": {"output": "a.py"}}, Result("a", "ok", "a.py")),
    ],
)
def test_results_in_every_form(members: dict[str, Any], result: Result | None) -> None:
    assert tool(**members)[1:] == ([result] if result else [])


@pytest.mark.parametrize(
    "output",
    [
        {"content": "no", "type": "tool", "tool_call_id": "c", "status": "error"},
        {
            "lc": 1,
            "id": ["langchain", "ToolMessage"],
            "kwargs": {"content": "no", "tool_call_id": "c", "status": "error"},
        },
    ],
)
def test_an_output_that_is_a_message(output: dict[str, Any]) -> None:
    assert tool(outputs={"output": output}) == [Call("c", "ls", {}), Result("c", "error", "no")]


def test_messages_of_a_model_without_tool_runs() -> None:
    said = {
        "lc": 1,
        "id": ["langchain", "schema", "messages", "AIMessageChunk"],
        "kwargs": {"content": "", "tool_calls": [{"id": "c", "name": "ls", "args": {"p": "."}}]},
    }
    told = [
        {"type": "human", "data": {"content": "Hi."}},
        {"role": "assistant", "content": "Hello."},
        {"type": "tool", "content": "?", "tool_call_id": "none"},
    ]
    runs = [
        {
            "id": "m",
            "trace_id": "t",
            "run_type": "llm",
            "inputs": {"messages": told},
            "outputs": {"messages": [[said]]},
        },
        {
            "id": "n",
            "trace_id": "t",
            "run_type": "llm",
            "inputs": {},
            "outputs": {"role": "assistant", "content": "Bye."},
        },
        {"id": "o", "trace_id": "t", "run_type": "llm", "inputs": None, "outputs": {"output": {"text": "?"}}},
    ]
    assert read(READER, *runs)[1:] == [
        Message("user", "Hi."),
        Message("agent", "Hello."),
        Call("c", "ls", {"p": "."}),
        Message("agent", "Bye."),
    ]


def test_what_cannot_be_read_is_a_fault() -> None:
    with pytest.raises(InputError, match="a run has no `run_type`"):
        read(READER, LANGSMITH[0], {"id": "a"})
    with pytest.raises(InputError, match="a run of a tool has no name"):
        tool(name=None)
