"""Claude Code transcripts: pairing, status, calls that never ran, sub-agents, two sessions in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from assembling import load_trace, read_trace
from msgspec.structs import replace

from tests.ingest.recordings import records
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest import read_records
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Call, Result

RUNS = Path(__file__).parent.parent / "fixtures" / "runs"


def use(call: str, name: str = "Bash", given: Any = None, /, message: str | None = None, **line: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call, "name": name, "input": {} if given is None else given}
    said = {"role": "assistant", "content": [block], **({"id": message} if message else {})}
    return {"type": "assistant", "message": said, **line}


def result(call: str, content: Any = "done", /, error: bool | None = None, **line: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    if error is not None:
        block["is_error"] = error
    return {"type": "user", "message": {"role": "user", "content": [block]}, **line}


def read(*lines: dict[str, Any]) -> Trace:
    """The trace without what was said."""
    trace = read_all(*lines)
    return replace(trace, events=calls(trace))


def calls(trace: Trace) -> tuple[Event, ...]:
    return tuple(event for event in trace.events if not event.action.endswith(".message"))


def read_all(*lines: dict[str, Any]) -> Trace:
    return read_trace([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl", "claude-code")


def test_a_stream_and_the_session_file_of_the_same_run_hold_the_same_events() -> None:
    stream = load_trace(RUNS / "claude-stream.jsonl")
    session = load_trace(RUNS / "claude-session.jsonl")
    assert calls(stream) == calls(session)
    assert stream.run.not_executed == session.run.not_executed == 1  # the call its hook denied
    assert calls(stream)[:2] == (
        Event(
            "e1",
            "Bash",
            "toolu_01AAA",
            {"command": ("echo hello; ls",), "description": ("List",)},
            "ok",
            "hello",
            time=1795198257_126000,
        ),
        Event(
            "e2",
            "Bash",
            "toolu_01BBB",
            {"command": ("cat /nonexistent",), "description": ("fail",)},
            "error",
            "Exit code 1\ncat: /nonexistent: No such file or directory",
            time=1795198257_468000,
        ),
    )
    assert session.run == Run(
        str(RUNS / "claude-session.jsonl"),
        "claude-code",
        "801c731c-bb01-4e3d-bbdf-18d7b866b1c7",
        "Claude Code 2.1.329",
        "/home/user/project",
        1,
    )


def test_line_types_that_nobody_knows_are_skipped() -> None:
    trace = load_trace(RUNS / "claude-session-unknown-types.jsonl")
    assert [(event.action, event.status, event.output) for event in calls(trace)] == [("Read", "ok", "package parser")]


def test_a_real_run() -> None:
    trace = load_trace(RUNS / "claude-stream-skilllearnbench.jsonl")
    assert (len(trace), trace.run.not_executed, trace.run.cwd) == (11, 1, "/root")
    assert [event.id for event in trace.events] == [f"e{n}" for n in range(1, 12)]
    assert {event.status for event in trace.events} == {"ok"}
    assert trace.events[0].output is None  # ToolSearch: its result holds no text


def test_results_are_paired_by_id_in_any_order() -> None:
    trace = read(result("c", "C"), use("a"), use("b"), use("c"), result("b", "B", True), result("a", "A"))
    assert [(event.call, event.status, event.output) for event in trace.events] == [
        ("a", "ok", "A"),
        ("b", "error", "B"),
        ("c", "ok", "C"),
    ]


def test_a_call_without_a_result_is_unknown() -> None:
    (event,) = read(use("a")).events
    assert (event.status, event.output) == ("unknown", None)


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("text", "text"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "image"}], None),
        ([{"type": "tool_reference", "tool_name": "Read"}], None),
        ([], ""),
        (None, ""),
    ],
)
def test_output_is_the_text_the_model_saw(content: Any, output: str | None) -> None:
    assert read(use("a"), result("a", content)).events[0].output == output


NEVER_RAN = [
    "<tool_use_error>InputValidationError: Skill failed due to the following issue: …</tool_use_error>",
    "<tool_use_error>Cancelled: parallel tool call Bash(make) errored</tool_use_error>",
    "<tool_use_error>Error: No such tool available: Foo</tool_use_error>",
    "The user doesn't want to proceed with this tool use. The tool use was rejected …",
    "Claude requested permissions to use Bash, but you haven't granted it yet.",
    "Permission to use Bash with command rm -rf / has been denied.",
    "PreToolUse:Bash hook error: [./gate]: R3 violated by e4",
]


@pytest.mark.parametrize("text", NEVER_RAN)
def test_a_call_that_never_ran_is_no_event(text: str) -> None:
    trace = read(use("a"), result("a", text, True), use("b"), result("b"))
    assert [(event.id, event.call) for event in trace.events] == [("e1", "b")]
    assert trace.run.not_executed == 1


@pytest.mark.parametrize("text", NEVER_RAN)
def test_a_call_that_did_run_cannot_hide_behind_those_words(text: str) -> None:
    succeeded = result("a", text, False)
    accepted = result("b", text, True, permissionDecision={"decision": "accept"})
    accepted_too = result(
        "c", text, True, tool_result_meta=[{"id": "c", "permission_decision": {"decision": "accept"}}]
    )
    quoted = result("d", f"Exit code 1\n{text}", True)
    trace = read(use("a"), use("b"), use("c"), use("d"), succeeded, accepted, accepted_too, quoted)
    assert [event.status for event in trace.events] == ["ok", "error", "error", "error"]


@pytest.mark.parametrize(
    "line",
    [
        {"permissionDecision": {"decision": "reject", "source": "hook"}},
        {"toolDenialKind": "permission-rule"},
        {"tool_result_meta": [{"id": "a", "non_execution_kind": "user-rejected"}]},
        {"tool_result_meta": [{"id": "a", "permission_decision": {"decision": "reject"}}]},
    ],
)
def test_a_recorded_refusal_needs_no_known_words(line: dict[str, Any]) -> None:
    trace = read(use("a"), result("a", "please confirm", True, **line))
    assert (len(trace), trace.run.not_executed) == (0, 1)


def test_another_calls_refusal_does_not_count() -> None:
    meta = [{"id": "b", "non_execution_kind": "user-rejected"}]
    assert len(read(use("a"), result("a", "oh", True, tool_result_meta=meta))) == 1


def test_the_result_line_lists_denied_and_deferred_calls() -> None:
    end = {
        "type": "result",
        "permission_denials": [{"tool_use_id": "a", "tool_name": "Bash"}],
        "deferred_tool_use": {"id": "b", "name": "Bash", "input": {}},
    }
    trace = read(use("a"), use("b"), use("c"), result("a", "not now", True), end)
    assert [event.call for event in trace.events] == ["c"]
    assert trace.run.not_executed == 2


def test_a_failure_that_happened_while_running_stays() -> None:
    text = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    (event,) = read(use("a", "Write"), result("a", text, True)).events
    assert event.status == "error"


def test_sub_agents_calls_name_their_parent() -> None:
    trace = read(
        use("task", "Agent", {"prompt": "look"}),
        use("inner", "Read", parent_tool_use_id="task"),
        result("inner", parent_tool_use_id="task"),
        result("task", [{"type": "text", "text": "found"}]),
        use("side", "Read", isSidechain=True, agentId="a17"),
        use("side2", "Read", isSidechain=True),
        use("top", "Read", isSidechain=False, parent_tool_use_id=None),
    )
    assert [(event.action, event.extra) for event in trace.events] == [
        ("Agent", {}),
        ("Read", {"parent": "task"}),
        ("Read", {"parent": "a17"}),
        ("Read", {"parent": "sidechain"}),
        ("Read", {}),
    ]


def test_two_sessions_in_one_file_may_use_the_same_ids() -> None:
    first, second = {"session_id": "s1"}, {"session_id": "s2"}
    trace = read(
        use("t1", "Agent", **first),
        use("t2", "Read", parent_tool_use_id="t1", **first),
        result("t2", "one", **first),
        use("t1", "Agent", **second),
        use("t2", "Read", parent_tool_use_id="t1", **second),
        result("t2", "two", True, **second),
    )
    assert [(event.id, event.call, event.output, event.extra) for event in trace.events] == [
        ("e1", "t1", None, {}),
        ("e2", "t2", "one", {"parent": "t1"}),
        ("e3", "t1#2", None, {}),
        ("e4", "t2#2", "two", {"parent": "t1#2"}),
    ]


def test_lines_without_a_session_belong_to_the_one_before() -> None:
    init = {"type": "system", "subtype": "init"}
    lines = [use("a"), result("a", "1"), {**init, "session_id": "s2"}, use("a"), result("a", "2")]
    trace = read({**init, "session_id": "s1"}, *lines)
    assert [event.output for event in trace.events] == ["1", "2"]


def test_a_result_recorded_under_a_resumed_session_finds_its_call() -> None:
    (event,) = read(use("a", session_id="s1"), result("a", "late", session_id="s2")).events
    assert event.output == "late"


def test_a_repeated_line_counts_once() -> None:
    again = use("a", message="m1", uuid="u1")
    trace = read(again, again, result("a", "first"), again, result("a", "second"))
    assert [event.output for event in trace.events] == ["first"]
    rewritten = use("a", message="m1", uuid="u2")
    assert len(read(again, rewritten)) == 1


def test_an_id_used_for_another_call_is_another_call() -> None:
    trace = read(
        use("a", "Read", message="m1", uuid="u1"),
        result("a", "1"),
        use("a", "Write", message="m2", uuid="u2"),
        result("a", "2"),
    )
    assert [(event.call, event.action, event.output) for event in trace.events] == [
        ("a", "Read", "1"),
        ("a#2", "Write", "2"),
    ]


def test_input_that_is_no_object_is_kept() -> None:
    (event,) = read(use("a", "Bash", '{"command": "l')).events
    assert event.args == {"input": ('{"command": "l',)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"type": "assistant", "message": "hi"}, "`message` must be an object"),
        (use(None), "`id` of a `tool_use` block is missing"),  # type: ignore[arg-type]
        (use("a", 5), "`name` of a `tool_use` block must be a string, not `5`"),  # type: ignore[arg-type]
        (result([1]), "`tool_use_id` of a `tool_result` block must be a string, not `[1]`"),  # type: ignore[arg-type]
        (
            use("a", "Bash", {"x": {"y" * 1001: 1}}),
            "a nested argument's name is longer than 1000 characters (at column 116)",
        ),
    ],
)
def test_a_line_at_fault(line: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(use("first"), line)
    (found,) = refused.value.diagnostics
    assert (found.code, found.message, found.source.first_line) == ("VGL601", message, 2)


def test_a_transcript_cut_off_in_its_last_line() -> None:
    data = (RUNS / "claude-session.jsonl").read_bytes()
    with pytest.raises(InputError) as refused:
        read_trace(data[:-100].splitlines(keepends=True), "run.jsonl")
    (found,) = refused.value.diagnostics
    assert found.code == "VGL601"
    assert found.message.startswith("the file ends in the middle of a JSON value: it was cut off")
    assert found.source.first_line == 11


def test_a_broken_line_in_the_middle() -> None:
    lines = (RUNS / "claude-session.jsonl").read_bytes().splitlines(keepends=True)
    with pytest.raises(InputError) as refused:
        read_trace([*lines[:3], b"{broken}\n", *lines[3:]], "run.jsonl")
    (found,) = refused.value.diagnostics
    assert (found.code, found.source.first_line, found.span.start) == ("VGL601", 4, 1)


def text_line(kind: str, text: Any, **line: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if kind == "assistant" else text
    return {"type": kind, "message": {"role": kind, "content": content}, **line}


def queued(prompt: str, **members: Any) -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt, **members}}


def said(*lines: dict[str, Any]) -> list[tuple[str, str]]:
    return [(e.action, e.values("text")[0]) for e in read_all(*lines).events if e.action.endswith(".message")]


def test_messages_are_events_in_their_order() -> None:
    trace = read_all(
        text_line("user", "Tidy up."),
        text_line("assistant", "I will."),
        use("a"),
        result("a"),
        text_line("user", "Thanks."),
    )
    assert [(event.id, event.action) for event in trace.events] == [
        ("m1", "user.message"),
        ("m2", "agent.message"),
        ("e1", "Bash"),
        ("m3", "user.message"),
    ]
    assert trace.events[0] == Event("m1", "user.message", "m1", {"text": ("Tidy up.",)}, "ok")


@pytest.mark.parametrize(
    "line",
    [
        text_line("user", "Base directory for this skill: /s", isSynthetic=True),
        text_line("user", "Caveat", isMeta=True),
        text_line("user", "Summary", isCompactSummary=True),
        text_line("user", "Summary", isVisibleInTranscriptOnly=True),
        text_line("user", "the skill", sourceToolUseID="t1"),
        text_line("user", "look", parent_tool_use_id="t1"),
        text_line("user", "look", isSidechain=True),
        text_line("user", "done", origin={"kind": "task-notification"}),
        text_line("user", "<system-reminder>\nbe good\n</system-reminder>"),
        text_line("user", "<local-command-stdout>x</local-command-stdout>"),
        text_line("user", "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"),
        text_line("user", "<task-notification><x/></task-notification>"),
        text_line("user", "[Request interrupted by user for tool use]"),
        text_line("user", "This session is being continued from a previous conversation that ran out of context."),
        text_line("user", "  "),
        text_line("assistant", "(no content)"),
        {
            "type": "attachment",
            "attachment": {"type": "queued_command", "prompt": "x", "commandMode": "task-notification"},
        },
        {"type": "attachment", "attachment": {"type": "todo", "prompt": "x"}},
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "hm", "text": "hm"}]}},
    ],
)
def test_what_the_harness_adds_is_no_message(line: dict[str, Any]) -> None:
    assert said({"type": "system", "subtype": "init", "session_id": "s"}, line) == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain <b>", "plain <b>"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "hi"}], "hi"),
        (
            "<command-message>go</command-message>\n<command-name>/go</command-name>\n<command-args>a b</command-args>",
            "/go a b",
        ),
        ("<command-name>/clear</command-name>", "/clear"),
        ("<bash-input>ls</bash-input>", "!ls"),
        ("<command-odd>x", "<command-odd>x"),
    ],
)
def test_what_the_user_typed(content: Any, text: str) -> None:
    assert said(text_line("user", content)) == [("user.message", text)]


def test_a_message_typed_while_the_agent_works_stands_in_an_attachment() -> None:
    queued = {
        "type": "attachment",
        "uuid": "u",
        "sessionId": "s",
        "attachment": {"type": "queued_command", "prompt": "stop"},
    }
    assert said(queued, queued) == [("user.message", "stop")]


def test_a_repeated_message_counts_once() -> None:
    hello = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "hi"}]}}
    assert said({**hello, "uuid": "a"}, {**hello, "uuid": "b"}, {**hello, "uuid": "a"}) == [("agent.message", "hi")]
    assert len(said(text_line("user", "on", uuid="a"), text_line("user", "on", uuid="a"), text_line("user", "on"))) == 2


def test_sub_agents_messages_have_a_parent() -> None:
    (event,) = read_all(text_line("assistant", "found", isSidechain=True, agentId="a1")).events
    assert event.extra == {"parent": "a1"}


def bash(text: str, error: bool | None = None, /, **details: Any) -> Result:
    """The result of a `Bash` call in a run that started in /repo."""
    init = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/repo"}
    extra = {"tool_use_result": details} if details else {}
    lines = [init, use("a", "Bash", {"command": "x"}), result("a", text, error, **extra)]
    found = list(read_records([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl"))[-1]
    assert isinstance(found, Result)
    return found


def test_exit_codes() -> None:
    assert (bash("Exit code 127\nnot found", True).exit_code, bash("Exit code 1", True).exit_code) == (127, 1)
    assert (bash("Exit code 1x", True).exit_code, bash("Exit code 1\n").exit_code) == (None, None)
    assert bash("a", stdout="a", stderr="").exit_code == 0
    nothing = bash("", stdout="", stderr="", returnCodeInterpretation="No matches found")
    assert (nothing.status, nothing.exit_code) == ("ok", 1)


def test_a_command_in_the_background_has_not_ended() -> None:
    assert bash("Command running in background with ID: b1").status == "unknown"
    assert bash("x", stdout="", backgroundTaskId="b1").status == "unknown"
    assert bash("x", stdout="", interrupted=True).status == "unknown"


def test_where_the_shell_was_put_back_to() -> None:
    note = "Shell cwd was reset to /repo"
    assert bash(f"done\n{note}").cwd == "/repo"
    assert bash(f"Exit code 1\nbad\n{note}", True).cwd == "/repo"
    assert bash("done", stdout="done", stderr=f"warning\n{note}").cwd == "/repo"
    # In a program's own output, and where the harness never puts it, the words mean nothing.
    assert bash(f"{note}\nmore").cwd is None
    assert bash(f"x {note}").cwd is None
    assert bash("Shell cwd was reset to /etc").cwd is None
    assert bash(f"done\n{note}", stdout=f"done\n{note}", stderr="").cwd is None


def shown_file(text: str, given: dict[str, Any] | None = None, **details: Any) -> tuple[str, str] | None:
    extra = {"toolUseResult": {"type": "text", "file": details}} if details else {}
    call = use("a", "Read", {"file_path": "/f", **(given or {})})
    lines = [call, result("a", text, **extra)]
    found = list(read_records([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl"))[-1]
    assert isinstance(found, Result)
    return found.file


def test_a_file_that_is_shown_whole() -> None:
    whole = {"filePath": "/f", "content": "a\nb\n", "startLine": 1, "numLines": 3, "totalLines": 3}
    assert shown_file("", **whole) == ("/f", "a\nb\n")
    assert shown_file("", **{**whole, "numLines": 2}) is None
    assert shown_file("", **{**whole, "startLine": 2}) is None
    numbered = "     1→a\n     2→b\n     3→"
    assert shown_file(numbered) == ("/f", "a\nb\n")
    assert shown_file(numbered + "\n\n<system-reminder>\nbe good\n</system-reminder>\n") == ("/f", "a\nb\n")
    assert shown_file("1\ta") == ("/f", "a")
    for part in ({"offset": 1}, {"limit": 2}):
        assert shown_file(numbered, part) is None
    for text in (
        "     2→b",
        "     1→a\nmore",
        "     1→" + "x" * 2000,
        "",
        "\n".join(f"{n}\tx" for n in range(1, 2002)),
    ):
        assert shown_file(text) is None


def test_a_line_with_several_results_has_no_details_of_each() -> None:
    both = result("a", "A", tool_use_result={"stdout": "A", "stderr": ""})
    both["message"]["content"].append({"type": "tool_result", "tool_use_id": "b", "content": "B"})
    found = read_records([json.dumps(line).encode() + b"\n" for line in (use("a"), use("b"), both)], "run.jsonl")
    assert [record.exit_code for record in found if isinstance(record, Result)] == [None, None]


def test_shells_of_sub_agents_and_of_later_sessions() -> None:
    lines = [
        use("t", "Agent", session_id="s1", cwd="/repo/src"),
        use("i", parent_tool_use_id="t", session_id="s1"),
        {"type": "system", "subtype": "init", "session_id": "s2", "cwd": "/other"},
        use("a", session_id="s2"),
        use("b", session_id="s2"),
    ]
    found = read_records([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl")
    assert [(r.key, r.session, r.cwd) for r in found if isinstance(r, Call)] == [
        ("t", "", "/repo/src"),
        ("i", "t", None),
        ("a", "s2", "/other"),
        ("b", "s2", None),
    ]


def test_a_late_refusal_is_a_later_result() -> None:
    end = {"type": "result", "subtype": "success", "permission_denials": [{"tool_use_id": "a"}]}

    def of(*lines: dict[str, Any]) -> list[Result]:
        return [record for record in records("claude-code", use("a"), *lines) if isinstance(record, Result)]

    refused = Result("a", executed=False)
    assert of(result("a", "please confirm", True), end, end) == [Result("a", "error", "please confirm"), refused]
    assert of(end, result("a", "no", True)) == [refused, Result("a", "error", "no", executed=False)]
    assert of(result("a", "done"), end) == [Result("a", "ok", "done")]


def test_results_wait_for_their_call_within_bounds() -> None:
    early = [result(f"a{n}", str(n)) for n in range(1002)]
    found = records("claude-code", *early, use("a0"), use("a1"), use("a2"))
    assert [(r.key, r.output) for r in found if isinstance(r, Result)] == [("a2", "2")]
