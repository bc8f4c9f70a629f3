"""What `codex exec --json` prints: a thread's turns and, in them, items that start and complete."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.codex_outputs import ended, mcp_ended
from vigil_lang.ingest.content import obj, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
_TURNS = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed"})
# The members of an item that are the arguments of its call.
_GIVEN = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query", "action"),
    "collab_tool_call": ("receiver_thread_ids", "prompt"),
}


_WRAPPED = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|z)?sh -l?c ")


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is an event of a thread."""
    return any(_is_own(string(line, "type"), obj(line.get("item"))) for line in head)


def _knows(line: dict[str, Any]) -> bool:
    """Whether a line is an event of a thread, known or not."""
    kind = string(line, "type") or ""
    return kind == "error" or kind.startswith(("thread.", "turn.", "item."))


def _is_own(kind: str | None, item: dict[str, Any]) -> bool:
    return kind in _TURNS or (kind in _ITEMS and "type" in item)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of the thread. Items are numbered anew when a thread is resumed."""
    yield Start(run)
    calls = Calls()
    going: set[str] = set()
    for line in lines:
        kind = string(line, "type")
        if kind == "thread.started":
            going.clear()
            name = string(line, "thread_id")
            if run.source is None:
                run = replace(run, name=name, source="Codex")
                yield Start(run, again=True)
        elif kind in _ITEMS:
            item = obj(line.get("item"))
            if item.get("type") == "agent_message" and kind == "item.completed":
                text = string(item, "text")
                if text:
                    yield Message("agent", text)
                continue
            given = string(item, "id")
            call = _call(lines, item)
            if call is None or given is None:
                continue
            if given not in going:
                going.add(given)
                yield from calls.issue(given, call)
            if kind == "item.completed":
                going.discard(given)
                yield from calls.settle(given, _result(item))


READER = Reader("codex-exec", "codex exec --json", detect, read, _knows)


def _call(lines: Lines, item: dict[str, Any]) -> Call | None:
    """The call an item stands for; None for what is no call: thoughts, plans, errors."""
    kind = str(item.get("type"))
    if kind == "mcp_tool_call":
        name = f"mcp__{item.get('server')}__{item.get('tool')}"
        return Call("", name, arguments_of(lines, item.get("arguments"), ("item", "arguments")))
    if kind not in _GIVEN:
        return None
    given = {name: item[name] for name in _GIVEN[kind] if item.get(name) is not None}
    if isinstance(given.get("command"), str):
        given["command"] = _unwrapped(given["command"])
    name = (string(item, "tool") or kind) if kind == "collab_tool_call" else kind
    return Call("", name, arguments_of(lines, given, "item"))


def _unwrapped(command: str) -> str:
    """The command line in ``/bin/bash -lc '…'``, as which Codex shows what it runs; a rollout has it bare."""
    if not _WRAPPED.match(command):
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 else command


def _result(item: dict[str, Any]) -> Result:
    match item.get("type"):
        case "mcp_tool_call":
            return mcp_ended(item)
        case "web_search":
            return Result("")
        case _:
            return ended(item)
