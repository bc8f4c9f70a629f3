"""A log of payloads, read afterwards, and the run that the gate followed meanwhile are the same run."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from points_support import HOSTS, Hooks, before, event, recorded

from vigil_lang.abstraction.run import Options
from vigil_lang.runs import load_trace

if TYPE_CHECKING:
    from vigil_lang.trace import Trace

SHELL = {"claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "copilot": "bash", "cursor": "Shell"}
WRITE = {
    "claude": ("Write", {"file_path": "/repo/a.sh", "content": "echo a"}),
    "codex": ("apply_patch", {"command": "*** Begin Patch\n*** Add File: /repo/a.sh\n+echo a\n*** End Patch"}),
    "gemini": ("write_file", {"file_path": "/repo/a.sh", "content": "echo a"}),
    "copilot": ("create", {"path": "/repo/a.sh", "file_text": "echo a"}),
    "cursor": ("Write", {"file_path": "/repo/a.sh", "content": "echo a"}),
}
COMMANDS = ("ls", "cd sub", "cd sub && make test", "grep x a.sh", "sh a.sh", "cat /repo/a.sh | wc -l")


def told(trace: Trace) -> list[tuple[object, ...]]:
    """What a run says, but for the names of its calls and when they were made."""
    places: dict[str, int] = {}
    return [
        (each.action, each.kinds, dict(each.args), each.status, each.output, places.setdefault(each.call, len(places)))
        for each in trace.events
    ]


def followed(hooks: Hooks, payloads: list[dict[str, Any]], run: str) -> Trace:
    for payload in payloads:
        reply = hooks.raw(json.dumps(payload).encode())
        assert reply.stderr == b"", reply.stderr
    trace: Trace = hooks.gate.trace(run)
    return trace


def verified(folder: Path, payloads: list[dict[str, Any]]) -> Trace:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in payloads), encoding="utf-8")
    return load_trace(path, format="hooks", options=Options(allow_empty=True))


@pytest.mark.parametrize("host", HOSTS)
def test_recorded_sessions(host: str, tmp_path: Path) -> None:
    payloads = recorded(host)
    run = next(
        payload[key] for payload in payloads for key in ("conversation_id", "session_id", "sessionId") if key in payload
    )
    hooks = Hooks(tmp_path, host)
    if host == "claude":
        hooks.policy('policy p\nrule r: when shell.run(command ~ "echo DENYME") then block\n')
    found = followed(hooks, payloads, run)
    assert len(found.events) > 1
    assert told(found) == told(verified(tmp_path, payloads))


def after(
    host: str, tool: str, args: dict[str, Any], key: str, code: int | None, text: str, **more: Any
) -> dict[str, Any]:
    """A payload after a call that ended with an exit code, as a host writes it."""
    common = before(host, tool, args, key, **more)
    failed = bool(code)
    match host:
        case "claude" if failed and args.get("command", "").startswith("grep"):
            quiet = {"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}
            return common | {"hook_event_name": "PostToolUse", "tool_response": quiet}
        case "claude" if failed:
            return common | {"hook_event_name": "PostToolUseFailure", "error": f"Exit code {code}\n{text}"}
        case "claude":
            return common | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": text, "stderr": ""}}
        case "codex":
            return common | {"hook_event_name": "PostToolUse", "tool_response": text}
        case "gemini":
            shown = f"Output: {text}" + (f"\nExit Code: {code}" if failed else "")
            return common | {"hook_event_name": "AfterTool", "tool_response": {"llmContent": shown}}
        case "copilot":
            shown = f"{text}\n<exited with exit code {code}>"
            return common | {"toolResult": {"resultType": "success", "textResultForLlm": shown}}
        case _:
            shown = json.dumps({"output": text, "exitCode": code})
            return common | {"hook_event_name": "postToolUse", "tool_output": shown}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["shell", "write", "end", "end", "say", "stop", "refused", "batch"]),
        st.sampled_from(COMMANDS),
        st.sampled_from([0, 0, 1]),
        st.sampled_from(["", "sub-1"]),
        st.integers(0, 3),
    ),
    max_size=12,
)


def session(host: str, steps: list[tuple[str, str, int, str, int]]) -> list[dict[str, Any]]:
    """The payloads of a session in which these things happen."""
    found: list[dict[str, Any]] = []
    waiting: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = []
    prompt = {"gemini": "BeforeAgent", "cursor": "beforeSubmitPrompt"}.get(host, "UserPromptSubmit")
    stop = {"gemini": "AfterAgent", "cursor": "stop"}.get(host, "Stop")
    said = "prompt_response" if host == "gemini" else "last_assistant_message"
    for at, (what, command, code, agent, which) in enumerate(steps):
        key = f"t{at}"
        more = {"agent_id": agent} if agent and host in ("claude", "codex") else {}
        match what:
            case "shell" | "write":
                tool, args = (SHELL[host], {"command": command}) if what == "shell" else WRITE[host]
                found.append(before(host, tool, args, key, **more))
                waiting.append((tool, args, key, more))
            case "end" if waiting:
                tool, args, key, more = waiting.pop(which % len(waiting))
                found.append(after(host, tool, args, key, code, f"shown {at}", **more))
            case "refused" if waiting and host == "claude":
                tool, args, key, more = waiting.pop(which % len(waiting))
                found.append(event(host, "PermissionDenied", tool_name=tool, tool_input=args, tool_use_id=key, **more))
            case "batch" if host == "claude":
                calls = [
                    {
                        "tool_name": t,
                        "tool_input": a,
                        "tool_use_id": k,
                        "tool_response": "PreToolUse:Bash hook error: no",
                    }
                    for t, a, k, _ in waiting
                ]
                found.append(event(host, "PostToolBatch", tool_calls=calls))
                waiting.clear()
            case "say":
                found.append(event(host, prompt, prompt=f"please {at}"))
            case "stop" if not waiting:
                found.append(event(host, stop, **{said: f"done {at}"}))
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(HOSTS), STEPS)
def test_generated_sessions(host: str, steps: list[tuple[str, str, int, str, int]]) -> None:
    payloads = session(host, steps)
    if not payloads:
        return
    with TemporaryDirectory() as folder:
        hooks = Hooks(Path(folder), host)
        assert told(followed(hooks, payloads, "r1")) == told(verified(Path(folder), payloads))
