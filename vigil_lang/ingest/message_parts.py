"""Conversations of any provider: who said what, which tools were called, and what came of the calls."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.content import (
    compact,
    error_text,
    integer,
    obj,
    objects,
    output_text,
    part_text,
    present,
    quoted,
    string,
)
from vigil_lang.trace.record import Call, Message, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record

_SPEAKERS: dict[str, Literal["user", "agent"]] = {
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "ai": "agent",
    "model": "agent",
}
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "server_tool_call"})
_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "thinking", "redacted_thinking"})
_LASTING = ("type", "role", "content", "parts", "tool_calls", "call_id", "name", "arguments", "action", "output")
_RESULTS = frozenset({"tool_call_response", "tool-result", "server_tool_call_response"})
_IDS = ("tool_use_id", "tool_call_id", "toolCallId", "call_id")
_FAILED = frozenset({"error", "failed", "failure"})
_SUCCEEDED = frozenset({"success", "ok"})


@dataclass(slots=True)
class Pairing:
    """The calls of a run by the ids the recording gives them, which may be absent or used again."""

    turn: int = 0
    """Counts messages. Of calls that share an id, a result belongs to the first one waiting in the latest turn."""
    _keys: set[str] = field(default_factory=set)
    _count: Counter[str] = field(default_factory=Counter)
    _waiting: dict[str | None, list[tuple[int, deque[str]]]] = field(default_factory=dict)

    def call(self, given: str | None, name: str = "") -> str:
        """The key of a further call: its id, or else its tool's name, with a number where that was used before."""
        base = given or name
        self._count[base] += 1
        key = base if self._count[base] == 1 else f"{base}#{self._count[base]}"
        while key in self._keys:
            self._count[base] += 1
            key = f"{base}#{self._count[base]}"
        self._keys.add(key)
        groups = self._waiting.setdefault(given or None, [])
        if not groups or groups[-1][0] != self.turn:
            groups.append((self.turn, deque()))
        groups[-1][1].append(key)
        return key

    def result(self, given: str | None) -> str | None:
        """The key of the call that a result with this id belongs to; it waits no longer."""
        groups = self._waiting.get(given or None)
        if not groups:
            return None
        key = groups[-1][1].popleft()
        if not groups[-1][1]:
            groups.pop()
        return key

    def known(self, given: str) -> bool:
        """Whether a call had this id."""
        return given in self._waiting


class History:
    """Which messages were read before, where every request repeats the conversation up to it."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def fresh(self, messages: list[Any]) -> list[int]:
        """Which messages follow the longest beginning already read. Conversations may interleave."""
        chain = b""
        new: list[int] = []
        for index, message in enumerate(messages):
            if obj(message).get("role") in ("system", "developer"):
                continue
            chain = blake2b(chain + compact(_gist(message)), digest_size=16).digest()
            if chain not in self._seen:
                self._seen.add(chain)
                new.append(index)
        return new


def _gist(message: Any) -> list[Any]:
    """What stays the same of a message from its first to its last repetition."""
    members = obj(message)
    return [members.get(name) for name in _LASTING]


@dataclass(slots=True)
class Conversation:
    """Reads messages one by one, whichever of the common shapes they have."""

    lines: Lines
    at: str | tuple[str, ...] = "messages"
    """The member to point at where a message is at fault."""
    silent: Status = "unknown"
    """The status of a tool's message that does not state one."""
    once: bool = False
    """Whether a call whose id was used before is that call again."""
    calls: Pairing = field(default_factory=Pairing)

    def read(self, message: dict[str, Any], time: int | None = None) -> Iterator[Record]:
        """The records of one message, in the order of its parts."""
        self.calls.turn += 1
        role = string(message, "role", "type")
        speaker = _SPEAKERS.get(role or "")
        content = message["parts"] if isinstance(message.get("parts"), list) else message.get("content")
        parts = content if isinstance(content, list) else [content]
        if role in ("tool", "function") and not any(_is_tool_part(part) for part in parts):
            yield from self._result(message, self.silent)
            return
        texts: list[str] = []
        for part in parts:
            if not _is_tool_part(part):
                if (text := part_text(part)) is not None:
                    texts.append(text)
                continue
            yield from _said(speaker, texts, time)
            texts = []
            if part["type"] in _CALLS:
                if not self._repeated(part):
                    yield self.call(part, time)
            else:
                yield from self._result(part, "unknown" if part["type"] in _RESULTS else "ok")
        yield from _said(speaker, texts, time)
        yield from self._calls_beside(message, time)

    def _calls_beside(self, message: dict[str, Any], time: int | None) -> Iterator[Record]:
        """Calls that stand next to a message's content rather than in it."""
        listed = message.get("tool_calls")
        if listed is not None and not isinstance(listed, list):
            raise self.lines.fault(f"`tool_calls` must be a list, not {quoted(listed)}", self.at)
        for entry in listed or ():
            if not isinstance(entry, dict):
                raise self.lines.fault(f"a tool call must be an object, not {quoted(entry)}", self.at)
            if not self._repeated(entry):
                yield self.call(entry, time)
        if not listed and isinstance(message.get("function_call"), dict):
            yield self.call(message["function_call"], time)

    def _repeated(self, entry: dict[str, Any]) -> bool:
        given = string(entry, "id", *_IDS)
        return self.once and given is not None and self.calls.known(given)

    def call(self, entry: dict[str, Any], time: int | None = None) -> Call:
        """A call; its name and arguments may stand in `function`, `custom` or in the entry itself."""
        nested = present(entry, "function", "custom")
        inner = nested if isinstance(nested, dict) else entry
        name = nested if isinstance(nested, str) else string(inner, "name", "toolName")
        if not name:
            raise self.lines.fault(f"a tool call has no name: {quoted(entry)}", self.at)
        given = present(inner, "arguments", "args", "input", "server_tool_call")
        key = self.calls.call(string(entry, "id", *_IDS), name)
        return Call(key, name, decoded_arguments(self.lines, given, self.at, "arguments"), time)

    def _result(self, entry: dict[str, Any], silent: Status) -> Iterator[Record]:
        own = "id" if string(entry, "type") in _RESULTS else "tool_call_id"
        key = self.calls.result(string(entry, *_IDS, own))
        if key is not None:
            yield result_of(key, entry, silent)


def result_of(key: str, entry: dict[str, Any], silent: Status) -> Result:
    """What a tool's message or a result part reports; `silent` is its status where it does not state one."""
    content = present(entry, "content", "response", "result", "output", "server_tool_call_response")
    inner = obj(content)
    kind = str(inner.get("type"))
    status = status_of(entry, silent)
    exit_code = integer(inner.get("return_code"))
    if kind.endswith("_error") or kind.startswith("error-"):
        status = "error"
    elif exit_code is not None:
        status = "error" if exit_code else "ok"
    if "stdout" in inner:
        output: str | None = "\n".join(text for name in ("stdout", "stderr") if (text := string(inner, name)))
    else:
        output = output_text(inner.get("value", content)) if content or content == 0 else ""
    if not output and entry.get("error"):
        output = error_text(entry["error"])
    return Result(key, status, output, kind != "execution-denied", exit_code)


def status_of(entry: dict[str, Any], silent: Status) -> Status:
    """The status that a result states in one of the usual members."""
    for key in ("is_error", "isError"):
        if isinstance(entry.get(key), bool):
            return "error" if entry[key] else "ok"
    if "error" in entry:
        return "error" if entry["error"] else "ok"
    stated = entry.get("status")
    if isinstance(stated, str):
        return "error" if stated.lower() in _FAILED else "ok" if stated.lower() in _SUCCEEDED else silent
    return silent


def anthropic(message: dict[str, Any]) -> bool:
    """Whether a message is a response of Anthropic's API or has content blocks that only it has."""
    if message.get("type") == "message" and message.get("role") == "assistant" and "stop_reason" in message:
        return True
    kinds = (str(block.get("type")) for block in objects(message.get("content")))
    return isinstance(message.get("role"), str) and any(k in _BLOCKS or k.endswith("tool_result") for k in kinds)


def _is_tool_part(part: Any) -> TypeGuard[dict[str, Any]]:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    kind = part["type"]
    return kind in _CALLS or kind in _RESULTS or kind.endswith("tool_result")


def _said(speaker: Literal["user", "agent"] | None, texts: list[str], time: int | None) -> Iterator[Message]:
    text = "\n".join(texts)
    if speaker and text:
        yield Message(speaker, text, time)
