"""What LangChain, LangGraph, Google ADK and pydantic-ai write themselves, and Claude Desktop's log of MCP.

The dumps in tests/fixtures/runs/dumps were made by these packages, with models that answer what they are told; the log
is made up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.ingest.recordings import calls, records, results, runs, said
from vigil_lang.ingest import read_records
from vigil_lang.ingest.load import opened, reader_of
from vigil_lang.runs import load_trace
from vigil_lang.trace.record import Call, Message, Record, Result, Start

if TYPE_CHECKING:
    from collections.abc import Callable

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


def test_a_call_that_a_person_edited_before_it_was_made_is_the_edited_one() -> None:
    """LangGraph keeps the message as the model wrote it in the snapshot before, under the same id."""
    found = dumped("lg_edited.json")
    assert outcomes(found) == [("bash", {"command": "rm -rf /"}, "ok", "a.txt", True)]
    assert said(found) == [("user", "one"), ("agent", "done")]


STREAMS = ["lg_debug.jsonl", "lg_debug_without_checkpoints.jsonl", "lg_tasks.jsonl", "lg_tagged.jsonl"]


@pytest.mark.parametrize("name", STREAMS)
def test_streams_of_tasks_and_of_debugging_are_one_run(name: str) -> None:
    """`lg_tagged.jsonl` has four streams of one run, each line with its mode (`version="v2"`)."""
    found = dumped(name)
    assert [run.source for run in runs(found)] == ["LangGraph"]
    assert [(args, status, output) for _, args, status, output, _ in outcomes(found)] == [
        ({"command": "rm -rf /"}, "ok", "ran rm -rf /"),
        ({"command": "ls"}, "ok", "ran ls"),
    ]
    assert said(found) == [("user", "go"), ("agent", "done")]
    assert runs(found)[-1].not_understood == 0


def test_a_task_that_raised_ends_its_call() -> None:
    found = dumped("lg_tasks_raises.jsonl")
    assert len(calls(found)) == 2
    assert [(each.key, each.status, each.output) for each in results(found)] == [("c1", "error", "boom")]


WAYS = ["messages.json", "updates.jsonl", "values.jsonl", "tasks.jsonl", "debug.jsonl"]


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_a_person_rejected_was_not_made(way: str) -> None:
    found = dumped(f"lg_rejected_{way}")
    assert [(args["command"], status, ran) for _, args, status, _, ran in outcomes(found)] == [
        ("rm -rf /", "error", False),
        ("ls", "ok", True),
    ]
    assert runs(found)[-1].not_understood == 0
    trace = load_trace(DUMPS / f"lg_rejected_{way}")
    assert [event.args["command"] for event in trace.events if event.action == "bash"] == [("ls",)]
    assert trace.run.not_executed == 1


def test_a_call_that_a_person_answered_in_place_of_the_tool_was_not_made() -> None:
    found = dumped("lg_answered.json")
    assert [(status, output, ran) for _, _, status, output, ran in outcomes(found)] == [
        ("ok", "I did it", False),
        ("ok", "ran ls", True),
    ]


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_call_that_a_person_edited_is_the_one_that_the_state_says_was_made(way: str) -> None:
    """Since 1.5 the message keeps the call of the model."""
    found = dumped(f"lg_edited_{way}")
    assert [args["command"] for _, args, _, _, _ in outcomes(found)] == ["echo hi", "ls"]
    assert runs(found)[-1].not_understood == 0


def test_calls_that_still_wait_for_a_person_were_not_made() -> None:
    found = dumped("lg_waiting.json")
    assert [(each.key, each.status, each.executed) for each in results(found)] == [
        ("c1", "unknown", False),
        ("c2", "unknown", False),
    ]
    asked = {"type": "tool_approval", "tool_call_id": "c1", "name": "bash", "args": {"command": "ls"}}
    messages = [answered("a"), answered("b", call="")]
    for waits in ({"__interrupt__": [{"value": asked}]}, {"tasks": [{"interrupts": [{"value": asked}]}]}):
        (end,) = results(records("langchain", {"values": {"messages": messages}, **waits}))
        assert (end.key, end.executed) == ("c1", False)
    assert results(records("langchain", {"values": {"messages": messages}, "interrupts": [{"value": "c1"}]})) == []


@pytest.mark.parametrize(
    "told",
    [
        {"lc_source": ["vigil"], "lc_data": {"decision": "reject"}},
        {"lc_source": "vigil", "lc_data": {"decision": {}}},
        {"lc_source": "vigil", "lc_data": "reject"},
        {"lc_source": "other", "lc_data": {"decision": "reject"}},
        "vigil",
    ],
)
def test_a_message_that_does_not_say_that_a_call_was_rejected(told: object) -> None:
    (end,) = results(records("langchain", answered("a"), RESULT | {"additional_kwargs": told}))
    assert (end.status, end.executed) == ("ok", True)


def test_a_tool_cannot_say_that_its_call_was_not_made() -> None:
    text = "User rejected the tool call for `bash` with id c1. The tool was not executed."
    (end,) = results(records("langchain", answered("a"), RESULT | {"content": text, "status": "error"}))
    assert (end.status, end.executed) == ("error", True)


PART: dict[str, Any] = {"id": "1", "name": "model"}


@pytest.mark.parametrize(
    "line",
    [
        PART | {"input": 3, "triggers": []},
        PART | {"input": {"messages": 3}, "triggers": []},
        PART | {"input": [3, {"id": 4}], "triggers": []},
        PART | {"result": 3, "interrupts": 4},
        PART | {"result": [3, ["messages"], ["messages", 3]], "interrupts": [4], "error": {"a": 1}},
        PART | {"result": {"messages": [3], "hitl_edited_tool_calls": 3}, "interrupts": [{"value": 3}]},
        PART | {"input": {"messages": [{"type": "human", "content": [{}], "tool_call_id": {}}]}, "triggers": []},
        {"type": "values", "ns": [3], "data": 4},
        {"type": ["values"], "ns": [], "data": {}},
        {"type": "debug", "ns": ["a"], "data": {"type": "task", "step": 1, "payload": 5}},
        {"type": {}, "step": 1, "payload": {}},
        {"type": "checkpoint", "step": 1, "payload": {"values": {"messages": []}, "tasks": 3}},
    ],
)
def test_parts_of_a_stream_that_are_not_as_graphs_write_them(line: dict[str, Any]) -> None:
    begins = PART | {"result": {"messages": [answered("a")]}, "interrupts": []}
    assert [call.args for call in calls(records("langchain", begins, line))] == [{"command": "ls"}]


def test_results_of_tasks_as_older_graphs_write_them() -> None:
    made = PART | {"result": [["messages", [answered("a")]]], "interrupts": [], "error": None}
    assert [call.args for call in calls(records("langchain", made))] == [{"command": "ls"}]


def test_parts_of_a_graph_inside_a_graph_are_a_run_of_their_own() -> None:
    def part(space: list[str], *messages: dict[str, object]) -> dict[str, object]:
        return {"type": "values", "ns": space, "data": {"messages": list(messages)}}

    first, inner = answered("a"), answered("b", call="rm x") | {"tool_calls": [TOOL_CALL | {"id": "c9"}]}
    found = records("langchain", part([], first), part(["tools:1"], inner), part([], first, RESULT))
    assert [(run.name, run.source) for run in runs(found)] == [("tools:1", "LangGraph")], "and the first"
    assert [call.key for call in calls(found)] == ["c1", "c9"]


def test_messages_that_a_graph_removes_are_not_said_again() -> None:
    found = dumped("lg_trimmed.json")
    assert [text for role, text in said(found) if role == "user"] == ["one", "two", "three"]
    assert [call.args for call in calls(found)] == [{"command": "ls"}]
    assert runs(found)[-1].not_understood == 0


def answered(name: str, *, call: str = "ls", said_: str = "", kind: str = "ai") -> dict[str, object]:
    calls_ = [TOOL_CALL | {"args": {"command": call}}] if call else []
    return {"type": kind, "id": name, "content": said_, "tool_calls": calls_}


def snapshots(*states: list[dict[str, object]]) -> list[dict[str, object]]:
    config = {"configurable": {"thread_id": "t"}}
    return [
        {"values": {"messages": state}, "config": config, "created_at": f"2026-01-05T10:00:0{at}Z"}
        for at, state in enumerate(states)
    ]


RESULT: dict[str, object] = {"type": "tool", "id": "r", "content": "a.txt", "tool_call_id": "c1", "status": "success"}


@pytest.mark.parametrize(
    ("after", "commands", "lost"),
    [
        # What was called stays called, whatever becomes of the message that called it.
        ([answered("a", call=""), RESULT], ["ls"], 0),
        ([answered("a"), RESULT | {"content": "[cleared]"}], ["ls"], 0),
        # Another branch that calls something else under the same ids is not read, and that is said.
        ([answered("a", call="rm x")], ["ls"], 1),
    ],
)
def test_a_message_that_is_replaced_after_its_calls_were_made(
    after: list[dict[str, object]], commands: list[str], lost: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(snapshots([answered("a"), RESULT], after)), encoding="utf-8")
    with opened(path) as (stream, name):
        found = list(read_records(stream, name))
    assert [(call, output) for _, call, _, output, _ in outcomes(found)] == [
        ({"command": c}, "a.txt") for c in commands
    ]
    assert runs(found)[-1].not_understood == lost


@pytest.mark.parametrize("name", ["lg_updates.jsonl", "lg_values.jsonl"])
def test_the_streams_of_a_graph_are_one_run(name: str) -> None:
    found = dumped(name)
    assert [run.source for run in runs(found)] == ["LangGraph"]
    assert outcomes(found) == [("bash", {"command": "ls"}, "ok", "a.txt", True)]
    assert said(found)[-1:] == [("agent", "done")]


def test_a_stream_of_updates_whose_first_node_adds_nothing() -> None:
    message = {"type": "ai", "content": "done", "additional_kwargs": {}}
    lines: list[dict[str, Any]] = [
        {"Guard.before_model": None},
        {"model": {"messages": [message]}},
        {"__interrupt__": [{"value": "ok?"}]},
    ]
    assert reader_of("langchain").detect(lines)
    assert not reader_of("langchain").detect([{"a": 1}, *lines])
    assert not reader_of("langchain").detect(lines[:1])
    assert said(records("langchain", *lines)) == [("agent", "done")]


STATES = [
    ({"messages": UNTOLD}, 2, 5),
    ({"messages": TOLD}, 0, 5),
    ({"messages": [*TOLD, "go", {"role": "assistant", "content": "bye"}, {"x": 1}]}, 2, 8),
    (snapshots(UNTOLD[:2], UNTOLD), 2, 5),
    (snapshots([], TOLD), 0, 5),
    # What looks like an update that adds nothing is one in a stream of updates only.
    ([*TOLD, {"node": {"x": 1}}], 1, 6),
    ([{"messages": TOLD}, {"node": None}], 1, 6),
    ([{"node": None}, {"model": {"messages": TOLD}}, {"node": {"x": 1}}], 0, 5),
]


@pytest.mark.parametrize(("document", "lost", "of"), STATES)
def test_what_is_not_understood_in_a_state_is_counted(document: object, lost: int, of: int, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with opened(path) as (stream, name):
        last = runs(list(read_records(stream, name)))[-1]
    assert (last.not_understood, last.records) == (lost, of if lost else 0)


def test_events_of_adk_are_no_messages_of_langchain_where_a_dump_names_all_members() -> None:
    found = dumped("adk_full_snake.json")
    assert runs(found)[0].format == "google-adk"
    assert [call.name for call in calls(found)] == ["bash", "bash", "bash", "boom"]
    assert [each.status for each in results(found)] == ["ok", "error", "ok"], "what raised has no response"


@pytest.mark.parametrize("extra", [{}, {"id": "s"}, {"state": {}, "last_update_time": 1.0}])
def test_a_session_of_adk_without_its_names(extra: dict[str, object], tmp_path: Path) -> None:
    call = event({"function_call": {"id": "c", "name": "bash", "args": {}}})
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"events": [call, {"what": "else"}, "x"]} | extra), encoding="utf-8")
    with opened(path) as (stream, name):
        found = list(read_records(stream, name))
    assert [each.name for each in calls(found)] == ["bash"]
    assert (runs(found)[0].name, runs(found)[-1].not_understood, runs(found)[-1].records) == (extra.get("id"), 2, 3)


@pytest.mark.parametrize(
    ("response", "output"),
    [({"result": None}, None), ({"result": 0}, "0"), ({"result": ""}, ""), ({"lines": 3}, '{"lines":3}')],
)
def test_what_a_tool_of_adk_gave_back(response: object, output: str | None) -> None:
    found = records(
        "google-adk",
        event({"function_call": {"id": "c", "name": "f"}}),
        event({"function_response": {"id": "c", "name": "f", "response": response}}),
    )
    assert [each.output for each in results(found)] == [output]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda messages: {"all_messages": messages},
        lambda messages: {"new": messages[2:], "history": messages},
        lambda messages: {"output": "done", "messages": messages, "new_messages": messages[2:]},
        lambda messages: {"output": "done", "_state": {"message_history": messages, "run_step": 3}},
    ],
)
def test_a_history_of_pydantic_ai_inside_an_object(wrapped: Callable[[list[object]], object], tmp_path: Path) -> None:
    messages = json.loads((DUMPS / "pai_all.json").read_text(encoding="utf-8"))
    path = tmp_path / "run.json"
    path.write_text(json.dumps(wrapped(messages)), encoding="utf-8")
    with opened(path) as (stream, name):
        found = list(read_records(stream, name))
    alone = dumped("pai_all.json")
    assert [each for each in found if not isinstance(each, Start)] == [
        each for each in alone if not isinstance(each, Start)
    ]
    assert runs(found)[-1].not_understood == 0


def test_messages_of_pydantic_ai_beside_the_history_that_is_read_are_counted(tmp_path: Path) -> None:
    messages = json.loads((DUMPS / "pai_all.json").read_text(encoding="utf-8"))
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"messages": messages[1:4], "earlier": messages[:2]}), encoding="utf-8")
    with opened(path) as (stream, name):
        last = runs(list(read_records(stream, name)))[-1]
    assert (last.not_understood, last.records) == (1, 4)


def test_two_histories_of_pydantic_ai_are_two_runs() -> None:
    messages = json.loads((DUMPS / "pai_all.json").read_text(encoding="utf-8"))
    found = records("pydantic-ai", {"all_messages": messages}, {"all_messages": messages}, {"other": 1})
    assert len([each for each in found if isinstance(each, Start) and not each.again]) == 1, "and the first"
    assert len(calls(found)) == 2 * len(calls(dumped("pai_all.json")))


def test_a_history_of_pydantic_ai_without_defaults() -> None:
    """Neither the kinds of messages nor those of parts are in it: a text may be the user's, or only be thought."""
    found = dumped("pai_exclude_defaults.json")
    assert [(name, args, status, ran) for name, args, status, _, ran in outcomes(found)] == [
        ("bash", {"command": "ls"}, "unknown", True),
        ("bash", {"command": "fail"}, "error", True),
        ("nope", {}, "error", False),
        ("bash", {"wrong": 1}, "error", False),
    ]
    assert said(found) == []
    assert (runs(found)[-1].not_understood, runs(found)[-1].records) == (3, 8)


LOG = (DUMPS / "claude-desktop.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        LOG.replace("[filesystem] [info]", "[info] [filesystem]"),
        LOG.replace("[filesystem] [info]", "[info]"),
        "Server is starting\n[files] ready\n" + LOG,
        LOG.replace("\n", "\r\n"),
    ],
)
def test_the_log_of_claude_desktop_of_other_versions(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp-server-filesystem.log"
    path.write_bytes(text.encode())
    with opened(path) as (stream, name):
        found = list(read_records(stream, name))
    assert outcomes(found) == [("read_file", {"path": "/home/ann/a.txt"}, "ok", "hello", True)]
    assert runs(found)[-1].not_understood == 1


def test_answers_of_two_servers_in_the_log_of_claude_desktop_are_told_apart(tmp_path: Path) -> None:
    """`mcp.log` has the messages of all servers, each of which counts its own."""
    line = "2026-01-05T10:00:0{}.000Z [info] [{}] Message from {}: {}\n"
    ask = '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"NAME","arguments":{}}}'
    tell = '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"NAME"}]}}'
    path = tmp_path / "mcp.log"
    told = [("a", "client", ask), ("b", "client", ask), ("a", "server", tell), ("b", "server", tell)]
    path.write_text(
        "".join(line.format(at, who, side, what.replace("NAME", who)) for at, (who, side, what) in enumerate(told)),
        encoding="utf-8",
    )
    with opened(path) as (stream, name):
        found = list(read_records(stream, name))
    assert [(name, output) for name, _, _, output, _ in outcomes(found)] == [("a", "a"), ("b", "b")]
