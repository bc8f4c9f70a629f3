"""Hooks as hosts call them, over a state folder of a test's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.points.hook import Gates, handle
from vigil_lang.points.invocation import Invocation, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

HOOKS = Path(__file__).parents[1] / "fixtures" / "hooks"
HOSTS = ("claude", "codex", "gemini", "copilot", "cursor")


def recorded(host: str) -> list[dict[str, Any]]:
    """The payloads of a recorded session."""
    return [json.loads(line) for line in (HOOKS / f"{host}.jsonl").read_text(encoding="utf-8").splitlines()]


def before(host: str, tool: str, given: dict[str, Any], key: str = "t1", **more: Any) -> dict[str, Any]:
    """A payload before a call, as a host writes it."""
    common: dict[str, Any] = {"cwd": "/repo"}
    match host:
        case "claude":
            own = {"session_id": "r1", "hook_event_name": "PreToolUse", "tool_use_id": key}
        case "codex":
            own = {
                "session_id": "r1",
                "hook_event_name": "PreToolUse",
                "tool_use_id": key,
                "turn_id": "1",
                "model": "m",
            }
        case "gemini":
            own = {"session_id": "r1", "hook_event_name": "BeforeTool", "timestamp": "2026-01-05T10:00:00Z"}
        case "copilot":
            named = {"sessionId": "r1", "timestamp": 1767607200000, "toolName": tool, "toolArgs": given}
            return common | named | more
        case _:
            own = {"conversation_id": "r1", "hook_event_name": "preToolUse", "tool_use_id": key}
    return common | own | {"tool_name": tool, "tool_input": given} | more


def event(host: str, name: str, **more: Any) -> dict[str, Any]:
    """Another payload of a host."""
    key = {"copilot": "sessionId", "cursor": "conversation_id"}.get(host, "session_id")
    return {key: "r1", "cwd": "/repo", "hook_event_name": name, **more}


class Hooks:
    """The hook of a host, over one state folder."""

    def __init__(self, folder: Path, host: str = "claude", *options: str, **env: str) -> None:
        self.host = host
        self.folder = folder
        self.state = folder / "state"
        self.home = folder / "home"
        self.work = folder / "work"
        for each in (self.home, self.work):
            each.mkdir(parents=True, exist_ok=True)
        self.options = options
        self.gates = Gates()
        self.env = {"HOME": str(self.home), "VIGIL_STATE": str(self.state)} | env

    def policy(self, text: str, name: str = "p.vgl") -> str:
        """Write a policy outside the workspace, and go by it."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        self.options = (*self.options, "--policy", str(path))
        return str(path)

    def raw(self, data: bytes, *options: str, host: str | None = None, **env: str) -> Reply:
        args = ("--host", host or self.host, *self.options, *options)
        return handle(Invocation(args, data, str(self.work), self.env | env), self.gates)

    def ask(self, payload: dict[str, Any], *options: str) -> Reply:
        if payload.get("cwd") == "/repo":
            payload = payload | {"cwd": str(self.work)}
        return self.raw(json.dumps(payload).encode(), *options)

    def asks(self, *payloads: dict[str, Any]) -> Iterator[Reply]:
        for payload in payloads:
            yield self.ask(payload)

    @property
    def gate(self) -> Any:
        return self.gates.at(self.state)


def blocked(host: str, reply: Reply) -> str | None:
    """The reason of an answer that blocks on this host by its measured rules; None where the call is made."""
    assert reply.status == 0
    if not reply.stdout:
        assert host != "cursor"
        return None
    told = json.loads(reply.stdout)
    if host == "cursor":
        return str(told["user_message"]) if told["permission"] == "deny" else None
    if "decision" not in told:
        return None
    own = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    assert told == {
        "decision": "block",
        "reason": told["reason"],
        "hookSpecificOutput": own | {"permissionDecisionReason": told["reason"]},
    }
    assert told["reason"]
    return str(told["reason"])
