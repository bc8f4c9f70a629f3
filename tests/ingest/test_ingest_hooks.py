"""Logs of hook payloads, of four harnesses."""

from __future__ import annotations

from typing import Any

from tests.ingest.recordings import calls, hook, records, results, said
from vigil_lang.trace.record import Call, Record, Result


def read(*payloads: dict[str, Any]) -> list[Record]:
    return records("hooks", *payloads)


def tool(event: str, name: str = "Bash", given: str | None = "t1", **members: Any) -> dict[str, Any]:
    told = hook(event, tool_name=name, tool_input={"command": "x"}, **members)
    return {**told, "tool_use_id": given} if given else told


def test_what_came_of_calls() -> None:
    found = read(
        tool("PreToolUse"),
        tool("PostToolUse", tool_response={"stdout": "out", "stderr": "err"}),
        tool("PreToolUse", given="t2"),
        tool("PostToolUseFailure", given="t2", error="Exit code 3\nbad"),
        tool("PreToolUse", "Read", "t3"),
        tool("PostToolUse", "Read", "t3", tool_response={"file": {"filePath": "/a", "content": "text"}}),
        tool("PreToolUse", given="t4"),
        tool("PermissionDenied", given="t4", reason="too risky"),
        tool("PreToolUse", given="t5"),
        tool("PermissionDenied", given="t9", reason="never issued"),
    )
    assert [call.key for call in calls(found)] == ["t1", "t2", "t3", "t4", "t5"]
    assert results(found) == [
        Result("t1", "ok", "out\nerr", exit_code=0),
        Result("t2", "error", "Exit code 3\nbad", exit_code=3),
        Result("t3", "ok", "text", file=("/a", "text")),
        Result("t4", "error", "too risky", executed=False),
    ]
    assert calls(found)[0] == Call("t1", "Bash", {"command": "x"}, None, "/repo")


def test_a_batch_ends_the_calls_that_nothing_else_ended() -> None:
    """Of these it tells which were refused. What ended is over: whoever decides meanwhile cannot wait for a batch."""

    def entry(given: str, response: str) -> dict[str, Any]:
        return {"tool_name": "Bash", "tool_input": {}, "tool_use_id": given, "tool_response": response}

    found = read(
        tool("PreToolUse"),
        tool("PostToolUse", tool_response={"stdout": "PreToolUse:Bash hook error"}),
        tool("PreToolUse", given="t2"),
        hook(
            "PostToolBatch",
            tool_calls=[
                entry("t1", "PreToolUse:Bash hook error: shown"),
                entry("t2", "PreToolUse:Bash hook error: no"),
                entry("t7", ""),
            ],
        ),
    )
    assert [(r.key, r.status, r.executed, r.output) for r in results(found)] == [
        ("t1", "ok", True, "PreToolUse:Bash hook error"),
        ("t2", "error", False, "PreToolUse:Bash hook error: no"),
    ]


def test_codex_does_not_say_whether_a_call_failed() -> None:
    found = read(tool("PreToolUse", turn_id="1"), tool("PostToolUse", turn_id="1", tool_response="out\nerr\n"))
    assert results(found) == [Result("t1", "unknown", "out\nerr\n")]


def test_gemini_has_no_ids() -> None:
    def shown(text: str, **members: Any) -> dict[str, Any]:
        return tool("AfterTool", "run_shell_command", None, tool_response={"llmContent": text, **members})

    before = tool("BeforeTool", "run_shell_command", None)
    found = read(
        hook("BeforeAgent", prompt="go"),
        before,
        before,
        shown("Output: 1\nExit Code: 1\nProcess Group PGID: 7"),
        shown("?", error={"message": "bad"}),
        shown("Output: late"),
        hook("AfterAgent", prompt="go", prompt_response="done"),
    )
    assert [call.key for call in calls(found)] == ["call-1", "call-2", "call-3"]
    assert [(r.key, r.status, r.exit_code) for r in results(found)] == [
        ("call-1", "error", 1),
        ("call-2", "error", None),
        ("call-3", "ok", 0),
    ]
    assert said(found) == [("user", "go"), ("agent", "done")]


def test_copilots_own_payloads() -> None:
    def own(**members: Any) -> dict[str, Any]:
        return {"sessionId": "s", "timestamp": 1767607200000, "cwd": "/repo", **members}

    given = {"toolName": "bash", "toolArgs": {"command": "x"}}
    found = read(
        own(source="new"),
        own(prompt="go"),
        own(**given),
        own(**given, toolResult={"resultType": "success", "textResultForLlm": "a\n<exited with exit code 2>"}),
        own(**given),
        own(**given, toolResult={"resultType": "denied", "textResultForLlm": "no"}),
        own(**given),
        own(**given, toolResult={"resultType": "failure", "textResultForLlm": "bad"}),
    )
    assert said(found) == [("user", "go")]
    assert calls(found)[0].time == 1767607200_000000
    assert [(r.status, r.executed, r.exit_code) for r in results(found)] == [
        ("error", True, 2),
        ("error", False, None),
        ("error", True, None),
    ]


def test_repeated_payloads_and_sub_agents() -> None:
    found = read(
        tool("PreToolUse", agent_id="a1"),
        tool("PreToolUse", agent_id="a1"),
        hook("SubagentStop", agent_id="a1", last_assistant_message="found"),
    )
    assert [(call.session, call.parent) for call in calls(found)] == [("a1", "a1")]
    assert said(found) == [("agent", "found")]


def test_other_things_a_tool_returns() -> None:
    found = read(tool("PreToolUse"), tool("PostToolUse", tool_response=[{"type": "text", "text": "hi"}]))
    assert [result.output for result in results(found)] == ["hi"]
