"""Codex session files (`rollout-….jsonl`): what the model sent and was shown, and what the harness noted of it.

A line is `{"timestamp", "type", "payload"}`. Calls and their outputs are `response_item`s; the exit code and the
directory of a command are known from `event_msg`s, which also tell of calls that the model did not issue one by one.
Messages stand in both, and count once.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of, decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.codex_outputs import ended, mcp_ended, shown_result
from vigil_lang.ingest.content import obj, objects, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run, Status
    from vigil_lang.trace.record import Record

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)
_HOSTED = {"web_search_call": "web_search", "image_generation_call": "image_generation"}
_HOSTED_STATUS: dict[Any, Status] = {"completed": "ok", "failed": "error"}
_ENDS = frozenset({"exec_command_end", "patch_apply_end"})

# What the harness sends to the model in the user's name.
_HARNESS = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|user_shell_command|skill"
    r"|subagent_notification|INSTRUCTIONS|hook_prompt|collaboration_mode|apps_instructions|skills_instructions)\b"
    r"|\# AGENTS\.md instructions)",
)


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is one of a session file."""
    return any(string(line, "type") in _TYPES and isinstance(line.get("payload"), dict) for line in head)


def _knows(line: dict[str, Any]) -> bool:
    """Whether a line is one of a session file, of a type that is known or not."""
    return isinstance(line.get("type"), str) and isinstance(line.get("payload"), dict)


@dataclass(slots=True)
class _Session:
    """What has been read so far."""

    run: Run
    calls: Calls = field(default_factory=Calls)
    names: dict[str, str] = field(default_factory=dict)
    """The tool of each call, by the call's id."""
    from_event: set[str] = field(default_factory=set)
    """Ids of calls of which an event told first."""
    said: Counter[tuple[str, bytes, str]] = field(default_factory=Counter)
    """How often each source told of a message."""
    cwd: str | None = None
    session: str = ""
    parent: str | None = None
    """The session a sub-agent was started from."""


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of a session file."""
    yield Start(run)
    found = _Session(run)
    for line in lines:
        payload = line.get("payload")
        if not isinstance(payload, dict):
            continue
        time = parse_time(line.get("timestamp"))
        match line.get("type"):
            case "session_meta":
                before = found.run
                _learn(found, payload)
                if found.run != before:
                    yield Start(found.run, again=True)
            case "turn_context":
                found.cwd = _path(payload.get("cwd")) or found.cwd
            case "response_item":
                yield from _item(lines, found, payload, time)
            case "event_msg":
                yield from _event(lines, found, payload, time)


READER = Reader("codex", "Codex session", detect, read, _knows)


def _learn(found: _Session, meta: dict[str, Any]) -> None:
    """The first description is the run's own; a forked session repeats that of the one it continues."""
    run = found.run
    name, version, cwd = string(meta, "id", "session_id"), string(meta, "cli_version"), _path(meta.get("cwd"))
    if run.name is None:
        found.run = replace(run, name=name, source=f"Codex {version}" if version else "Codex", cwd=cwd)
        source = obj(meta.get("source"))
        if meta.get("thread_source") == "subagent" or "subagent" in source or "sub_agent" in source:
            spawned = obj(obj(source.get("subagent")).get("thread_spawn"))
            found.parent = string(meta, "parent_thread_id") or string(spawned, "parent_thread_id") or "subagent"
            found.session = name or found.parent
    found.cwd = cwd or found.cwd


def _item(lines: Lines, found: _Session, item: dict[str, Any], time: int | None) -> Iterator[Record]:
    kind = string(item, "type")
    given = string(item, "call_id", "id")
    if kind == "message":
        role = item.get("role")
        text = "".join(text for part in objects(item.get("content")) if (text := string(part, "text")))
        if role == "assistant" or (role == "user" and not _HARNESS.match(text)):
            yield from _message(found, "user" if role == "user" else "agent", text, "item", time)
    elif kind == "function_call":
        name = _tool(item)
        args = decoded_arguments(lines, item.get("arguments"), ("payload", "arguments"), "arguments")
        yield from _issue(found, given, Call("", name, args, time, _workdir(found.cwd, args)))
    elif kind == "custom_tool_call":
        args = arguments_of(lines, item.get("input"), ("payload", "input"))
        yield from _issue(found, given, Call("", _tool(item), args, time, found.cwd))
    elif kind == "tool_search_call":
        args = arguments_of(lines, item.get("arguments"), ("payload", "arguments"))
        yield from _issue(found, given, Call("", "tool_search", args, time, found.cwd))
    elif kind == "local_shell_call":
        args = _without_type(arguments_of(lines, item.get("action"), ("payload", "action")))
        yield from _issue(found, given, Call("", "local_shell", args, time, _workdir(found.cwd, args)))
    elif kind in _HOSTED:
        yield from _hosted(lines, found, item, time)
    elif kind in _OUTPUTS and given:
        result = shown_result(found.names.get(given, ""), item.get("output"), found.calls.so_far(given))
        yield from found.calls.settle(given, result)


def _hosted(lines: Lines, found: _Session, item: dict[str, Any], time: int | None) -> Iterator[Record]:
    """A tool that the model's provider runs: call and result in one."""
    given = string(item, "id", "call_id")
    name = _HOSTED[item["type"]]
    if name == "web_search":
        args = _without_type(arguments_of(lines, item.get("action"), ("payload", "action")))
    else:
        args = {key: item[key] for key in ("revised_prompt",) if isinstance(item.get(key), str)}
    status: Status = _HOSTED_STATUS.get(string(item, "status"), "unknown")
    for record in _issue(found, given, Call("", name, args, time)):
        yield record
        if isinstance(record, Call):
            yield Result(record.key, status)


def _event(lines: Lines, found: _Session, event: dict[str, Any], time: int | None) -> Iterator[Record]:
    kind = string(event, "type")
    given = string(event, "call_id")
    if kind == "user_message" and event.get("kind") in (None, "plain"):
        yield from _message(found, "user", event.get("message"), "event", time)
    elif kind == "agent_message":
        yield from _message(found, "agent", event.get("message"), "event", time)
    elif kind == "item_completed":
        yield from _completed(lines, found, obj(event.get("item")), time)
    elif kind in ("exec_command_begin", "patch_apply_begin"):
        yield from _told(lines, found, given, event, time)
    elif kind in _ENDS:
        yield from _told(lines, found, given, event, time)
        if given and found.calls.knows(given):
            yield from found.calls.settle(given, ended(event))
    elif kind == "mcp_tool_call_end":
        yield from _mcp(lines, found, given, {**event, **obj(event.get("invocation"))}, time)


def _completed(lines: Lines, found: _Session, item: dict[str, Any], time: int | None) -> Iterator[Record]:
    given = string(item, "id")
    match item.get("type"):
        case "UserMessage" | "AgentMessage" as kind:
            text = "".join(text for part in objects(item.get("content")) if (text := string(part, "text")))
            yield from _message(found, "user" if kind == "UserMessage" else "agent", text, "turn item", time)
        case "CommandExecution" | "FileChange":
            yield from _told(lines, found, given, item, time)
            if given and found.calls.knows(given):
                yield from found.calls.settle(given, ended(item))
        case "McpToolCall":
            yield from _mcp(lines, found, given, item, time)


def _told(
    lines: Lines, found: _Session, given: str | None, event: dict[str, Any], time: int | None
) -> Iterator[Record]:
    """The command or patch an event tells of, where no call of the model stands for it; the user's own are none."""
    if not given or found.calls.knows(given) or str(event.get("source")).lower().replace("_", "") == "usershell":
        return
    if "changes" in event:
        changes = [
            {"path": path, **({"kind": change.pop("type", None), **change} if isinstance(change, dict) else {})}
            for path, change in obj(event["changes"]).items()
        ]
        call = Call("", "apply_patch", arguments_of(lines, {"changes": changes}, "payload"), time, found.cwd)
    else:
        args = arguments_of(lines, {"command": event.get("command")}, "payload")
        call = Call("", "shell", args, time, _path(event.get("cwd")) or found.cwd)
    yield from _issue(found, given, call, told=True)


def _mcp(lines: Lines, found: _Session, given: str | None, item: dict[str, Any], time: int | None) -> Iterator[Record]:
    if not given:
        return
    if not found.calls.knows(given):
        args = arguments_of(lines, item.get("arguments"), "payload")
        name = f"mcp__{item.get('server')}__{item.get('tool')}"
        yield from _issue(found, given, Call("", name, args, time, found.cwd), told=True)
    yield from found.calls.settle(given, mcp_ended(item))


def _issue(found: _Session, given: str | None, call: Call, *, told: bool = False) -> Iterator[Record]:
    """A call of the model, or one that an event told of; once an event did, the model's own adds nothing."""
    if given and told:
        found.from_event.add(given)
    elif given in found.from_event:
        return
    if given:
        found.names[given] = call.name
    call.session, call.parent = found.session, found.parent
    yield from found.calls.issue(given, call)


def _message(
    found: _Session, role: Literal["user", "agent"], text: Any, source: str, time: int | None
) -> Iterator[Message]:
    """A message, unless another source told of it already; what a sub-agent is told comes from no user."""
    if not isinstance(text, str) or not text.strip() or (role == "user" and found.parent is not None):
        return
    sources = ("item", "event", "turn item")
    gist = blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
    told = max(found.said[role, gist, other] for other in sources)
    found.said[role, gist, source] += 1
    if found.said[role, gist, source] > told:
        yield Message(role, text, time, found.session, found.parent)


def _tool(item: dict[str, Any]) -> str:
    name, space = string(item, "name") or "unknown", string(item, "namespace")
    if space and space.startswith("mcp__") and not name.startswith(space):
        return f"{space.rstrip('_')}__{name.lstrip('_')}"
    return name


def _without_type(args: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if key != "type" and value is not None}


def _workdir(cwd: str | None, args: dict[str, Any]) -> str | None:
    """The directory of a call: every one starts in that of its turn, unless it names another."""
    own = string(args, "workdir", "working_directory")
    if own is None:
        return cwd
    return posixpath.normpath(own if cwd is None else posixpath.join(cwd, own))


def _path(value: Any) -> str | None:
    """A directory, which newer versions write as a `file:` URL."""
    if not isinstance(value, str) or not value:
        return None
    return unquote(value.removeprefix("file://")) if value.startswith("file:///") else value
