"""What one hook payload tells of a run, whichever harness it is of: read alike from logs and while the run happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.ingest import claude_code_results, copilot, gemini_outputs
from vigil_lang.ingest.content import error_text, integer, moment, obj, objects, output_text, parsed, present, string
from vigil_lang.trace.record import Call, Message, Result

if TYPE_CHECKING:
    from vigil_lang.trace import Status

OWN_WORDS = "Vigil: before you stop, "
"""How a text begins that the harness passes on from our hook: the user did not say it."""

BEFORE = frozenset({"PreToolUse", "BeforeTool", "BeforeShellExecution", "BeforeMCPExecution"})
AFTER = frozenset({"PostToolUse", "AfterTool", "PostToolUseFailure", "AfterShellExecution", "AfterMCPExecution"})
PROMPTS = frozenset({"UserPromptSubmit", "UserPromptSubmitted", "BeforeAgent", "BeforeSubmitPrompt"})
STOPS = frozenset({"Stop", "SubagentStop", "AfterAgent", "AgentStop"})

_OWN_EVENTS = {"prompt": "UserPromptSubmit", "stopReason": "Stop", "source": "SessionStart", "reason": "SessionEnd"}
"""The event of a payload of Copilot's own form that is about no tool, by a member that no other has."""

_STDOUT = ("stdout", "stderr")
_SHELLS = frozenset({"shell", "bash", "run_terminal_cmd"})


def event_of(payload: dict[str, Any]) -> str | None:
    """The event that a payload tells of, with a capital first; None where it is no payload of a hook.

    Copilot's own payloads do not say, and are told apart by their members.
    """
    if "jsonrpc" in payload or "type" in payload:
        return None
    named = string(payload, "hook_event_name", "hookEventName", "hookName")
    if named:
        return named[:1].upper() + named[1:]
    if "sessionId" not in payload or "cwd" not in payload or "timestamp" not in payload:
        return None
    if "toolName" in payload:
        return "PostToolUse" if "toolResult" in payload else "PreToolUse"
    return next((event for member, event in _OWN_EVENTS.items() if member in payload), "Session")


def run_of(payload: dict[str, Any]) -> str | None:
    """The harness's id of the run; a sub-agent that has a session of its own is in the run of who began it."""
    session = string(payload, "conversation_id", "session_id", "sessionId")
    parent = string(payload, "parent_agent_id", "parentAgentId")
    return parent if parent is not None and session == agent_of(payload) else session


def agent_of(payload: dict[str, Any]) -> str | None:
    """The harness's id of the sub-agent that a payload is about."""
    return string(payload, "agent_id", "agentId")


def directory_of(payload: dict[str, Any]) -> str | None:
    """The working directory; where a harness names only the roots of its workspace, the first of these."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    return string(payload, "cwd") or first


def call_of(payload: dict[str, Any]) -> Call:
    """The call that a payload is about, its key empty where the harness gives none; arguments as they are given."""
    agent, event = agent_of(payload), event_of(payload) or ""
    name = string(payload, "tool_name", "toolName") or "unknown"
    given = present(payload, "tool_input", "toolArgs")
    if event.endswith("ShellExecution"):
        name, given = "Shell", {"command": payload.get("command")}
    elif event.endswith("MCPExecution") and not name.startswith("MCP:"):
        name = f"MCP:{name}"
    key, time = string(payload, "tool_use_id") or "", moment(payload.get("timestamp"))
    return Call(key, name, given, time, directory_of(payload), agent or "", agent)


def result_of(payload: dict[str, Any], home: str | None) -> Result:
    """What came of the call, by a payload after it; `home` is the directory that the run started in.

    It is a success only where the harness says so.
    """
    name, event = string(payload, "tool_name", "toolName") or "", event_of(payload)
    told = obj(present(payload, "tool_result", "toolResult"))
    if told:
        kind = string(told, "result_type", "resultType")
        text = string(told, "text_result_for_llm", "textResultForLlm")
        status: Status = (
            "ok" if kind == "success" else "error" if kind in ("failure", "denied", "rejected") else "unknown"
        )
        result = copilot.exited(name.lower(), Result("", status, text, kind not in ("denied", "rejected")))
        if name.lower() in copilot.SHELLS and status == "ok" and result.exit_code is None:
            result.status = "unknown"  # it still runs
        return result
    response = payload.get("tool_response")
    if "turn_id" in payload:  # Codex, which does not say whether a call failed
        return Result("", "unknown", output_text(response))
    if "conversation_id" in payload:
        return _cursor(payload, name, event)
    if event == "AfterTool":
        answer = obj(response)
        text = output_text(answer.get("llmContent"))
        if answer.get("error"):
            return gemini_outputs.result_of("", name, error_text(answer["error"]) or text, "error")
        return gemini_outputs.result_of("", name, text, "ok")
    return _claude(payload, name, home, failed=event == "PostToolUseFailure")


def _claude(payload: dict[str, Any], name: str, home: str | None, *, failed: bool) -> Result:
    response = payload.get("tool_response")
    text = error_text(present(payload, "error", "error_message")) if failed else _shown(response)
    block = {"type": "tool_result", "content": text, "is_error": failed}
    line = {"message": {"content": [block]}, "tool_use_result": response}
    args = obj(payload.get("tool_input"))
    reads = claude_code_results.whole_file(name, args)
    result = claude_code_results.result_of(
        "", line, block, shell=name == claude_code_results.SHELL, reads=reads, home=home
    )
    result.executed = True  # such a hook runs after a tool only
    result.output = text
    return result


def _cursor(payload: dict[str, Any], name: str, event: str | None) -> Result:
    """Cursor has an event for failures; of a command only its exit code says that it went well."""
    if event == "PostToolUseFailure":
        executed = string(payload, "failure_type") not in ("permission_denied", "denied", "rejected")
        return Result("", "error", error_text(present(payload, "error_message", "error")), executed)
    given = present(payload, "tool_output", "output", "result_json")
    told = parsed(given) if isinstance(given, str) else given
    members = obj(told)
    text = string(members, "output", "stdout", "content") or output_text(given)
    code = integer(present(members, "exitCode", "exit_code"))
    if code is not None:
        return Result("", "error" if code else "ok", text, exit_code=code)
    shell = event == "AfterShellExecution" or name.lower() in _SHELLS
    return Result("", "unknown" if shell or event == "AfterMCPExecution" else "ok", text)


def _shown(response: Any) -> str | None:
    """The text of what a tool returned, as far as the payload has it as one."""
    members = obj(response)
    if "stdout" in members:
        return "\n".join(text for key in _STDOUT if (text := string(members, key)))
    text = string(obj(members.get("file")), "content")
    return text if text is not None else output_text(response)


def refusal_of(payload: dict[str, Any]) -> Result:
    """The result of a call that the harness itself refused."""
    return Result("", "error", string(payload, "reason"), executed=False)


def batch_of(payload: dict[str, Any]) -> list[tuple[Call, Result]]:
    """All calls of a turn that have an id, with what the model was shown, also of those that were refused.

    The result is what is to be taken of a call that nothing else told the end of.
    """
    found = []
    for entry in objects(payload.get("tool_calls")):
        call, text = call_of({**payload, **entry}), output_text(entry.get("tool_response"))
        if call.key:
            refused = text is not None and claude_code_results.never_ran(text)
            found.append((call, Result("", "error" if refused else "unknown", text, not refused)))
    return found


def message_of(payload: dict[str, Any]) -> Message | None:
    """What the user or the agent said, by a payload at the beginning or the end of a turn.

    What a sub-agent is asked for is in the call that began it, and is not the user's word.
    """
    event, time = event_of(payload), moment(payload.get("timestamp"))
    if event in PROMPTS and agent_of(payload) is None:
        text = string(payload, "prompt")
        return Message("user", text, time) if text and not text.startswith(OWN_WORDS) else None
    if event in STOPS and (text := string(payload, "last_assistant_message", "prompt_response")):
        agent = agent_of(payload)
        return Message("agent", text, time, agent or "", agent)
    return None
