"""AgentDojo run logs: one JSON object a run, with the conversation and what the benchmark made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.content import obj, quoted, string
from vigil_lang.ingest.message_parts import Conversation, result_of
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_NAME = ("suite_name", "pipeline_name", "user_task_id", "attack_type", "injection_task_id")


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a run of a suite."""
    return bool(head) and _is_own(head[0])


def _is_own(line: dict[str, Any]) -> bool:
    return "suite_name" in line and isinstance(line.get("messages"), list) and ("user_task_id" in line)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run an object. A tool's message states its error, or that there was none."""
    runs = 0
    for line in lines:
        runs += 1
        if not isinstance(line.get("messages"), list):
            raise lines.fault("`messages` must be a list", "messages")
        name = "/".join(text for key in _NAME if (text := string(line, key)))
        yield Start(replace(run, name=name or None, source=string(line, "pipeline_name")))
        reading = Conversation(lines)
        for message in line["messages"]:
            if not isinstance(message, dict):
                raise lines.fault(f"a message must be an object, not {quoted(message)}", "messages")
            if message.get("role") != "tool":
                yield from reading.read(message)
            elif (result := _result(reading, message)) is not None:
                yield result
    if not runs:
        yield Start(run)


READER = Reader("agentdojo", "AgentDojo run", detect, read, by_line=False)


def _result(reading: Conversation, message: dict[str, Any]) -> Result | None:
    """The result, also of calls without ids; a tool that the suite does not have was never run."""
    call = obj(message.get("tool_call"))
    key = reading.calls.result(string(message, "tool_call_id") or string(call, "id"))
    if key is None:
        return None
    result = result_of(key, message, "unknown")
    unknown = f"Invalid tool {string(call, 'function') or ''} provided."
    return replace(result, executed=message.get("error") != unknown)
