"""Copilot CLI sessions (`events.jsonl`): one event a line, `{"type", "data", "id", "timestamp", "parentId"}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import error_text, moment, obj, output_text, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.patterns import regex
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

SHELLS = frozenset({"bash", "powershell", "write_bash", "read_bash", "write_powershell", "read_powershell"})
_FAMILIES = ("session.", "user.", "assistant.", "tool.", "subagent.", "hook.", "skill.", "abort")
_REFUSED = frozenset({"denied", "rejected"})
_BY_USER = (None, "user")
_EXITED = regex(r"<[^<>\n]{0,80}\bexit code (-?\d{1,10})>\s*\Z")
_TAIL = 200


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is an event of a session."""
    return any(
        isinstance(line.get("data"), dict) and isinstance(kind := line.get("type"), str) and kind.startswith(_FAMILIES)
        for line in head
    )


def _knows(line: dict[str, Any]) -> bool:
    """Whether a line is an event of a session, of a family that is known or not."""
    return isinstance(line.get("type"), str) and isinstance(line.get("data"), dict)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of a session. A call counts from when it was started, not from its request."""
    yield Start(run)
    calls, names = Calls(), dict[str, str]()
    for line in lines:
        data, time = obj(line.get("data")), moment(line.get("timestamp"))
        given = string(data, "toolCallId")
        parent = string(data, "parentToolCallId") or string(line, "agentId")
        parent = calls.key(parent) if parent else None
        match line.get("type"):
            case "session.start" | "session.resume" if run.name is None:
                version, cwd = string(data, "copilotVersion"), string(obj(data.get("context")), "cwd")
                name, source = string(data, "sessionId"), f"Copilot CLI {version}" if version else "Copilot CLI"
                run = replace(run, name=name, source=source, cwd=cwd)
                yield Start(run, again=True)
            case "user.message" if parent is None and data.get("source") in _BY_USER and string(data, "content"):
                yield Message("user", data["content"], time)
            case "assistant.message" if string(data, "content"):
                yield Message("agent", data["content"], time, parent or "", parent)
            case "tool.execution_start":
                name = string(data, "toolName") or "unknown"
                if given:
                    names[given] = name
                args = decoded_arguments(lines, data.get("arguments"), ("data", "arguments"))
                yield from calls.issue(given, Call("", name, args, time, None, parent or "", parent))
            case "tool.execution_complete" if given:
                yield from calls.settle(given, _result(names.get(given, ""), data))


READER = Reader("copilot", "Copilot CLI session", detect, read, _knows)


def _result(name: str, data: dict[str, Any]) -> Result:
    error = obj(data.get("error"))
    if data.get("success") is True:
        result = Result("", "ok", output_text(_content(data.get("result"))))
    elif data.get("success") is False:
        text = output_text(_content(data.get("result"))) if data.get("result") is not None else error_text(error)
        result = Result("", "error", text, string(error, "code") not in _REFUSED)
    else:
        result = Result("", "unknown", output_text(_content(data.get("result"))))
    return exited(name, result)


def exited(name: str, result: Result) -> Result:
    """The result of a shell with the exit code that the harness notes behind the output."""
    if name in SHELLS and result.output and (code := _EXITED.search(result.output[-_TAIL:])):
        result.exit_code = int(code[1])
        result.status = "error" if result.exit_code else result.status
    return result


def _content(result: Any) -> Any:
    return result.get("content") if isinstance(result, dict) and "content" in result else result
