"""pydantic-ai: the messages of a run or a conversation, as `all_messages_json` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import joined, moment, obj, objects, output_text, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record

_CALLS = frozenset({"tool-call", "builtin-tool-call", "native-tool-call"})
_RETURNS = frozenset({"tool-return", "builtin-tool-return", "native-tool-return"})
_OUTCOMES: dict[str, Status] = {"success": "ok", "failed": "error", "retried": "error", "denied": "error"}
_NOT_RUN = frozenset({"unknown_tool", "unavailable_tool", "validation_error"})
"""Why a call is to be made again that was never made: no such tool, or not with such arguments."""


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a request or a response with parts."""
    return bool(head) and _is_message(head[0])


def _is_message(line: dict[str, Any]) -> bool:
    parts = line.get("parts")
    return (
        line.get("kind") in ("request", "response")
        and all("part_kind" in part for part in objects(parts))
        and (isinstance(parts, list))
    )


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for all messages, named for the conversation they are of."""
    yield Start(run)
    calls = Calls()
    for line in lines:
        if run.name is None and (name := string(line, "conversation_id", "run_id")):
            run = replace(run, name=name, source="pydantic-ai")
            yield Start(run, again=True)
        time = moment(line.get("timestamp"))
        for part in objects(line.get("parts")):
            yield from _part(lines, part, calls, moment(part.get("timestamp")) or time)


READER = Reader("pydantic-ai", "pydantic-ai messages", detect, read)


def _part(lines: Lines, part: dict[str, Any], calls: Calls, time: int | None) -> Iterator[Record]:
    kind, given = string(part, "part_kind") or "", string(part, "tool_call_id")
    if kind == "user-prompt" and (text := joined(part.get("content"))):
        yield Message("user", text, time)
    elif kind == "text" and (text := string(part, "content")):
        yield Message("agent", text, time)
    elif kind in _CALLS and (name := string(part, "tool_name")):
        args = decoded_arguments(lines, part.get("args"), "parts", "args")
        yield from calls.issue(given, Call("", name, args, time))
    elif kind in _RETURNS and given:
        outcome, why = str(part.get("outcome")), obj(part.get("retry")).get("cause")
        ran = outcome != "denied" and why not in _NOT_RUN
        result = Result(given, _OUTCOMES.get(outcome, "unknown"), output_text(part.get("content")), executed=ran)
        yield from calls.settle(given, result)
    elif kind == "retry-prompt" and given and string(part, "tool_name"):
        said = part.get("content")
        # Of arguments that do not fit there is a list of what is wrong with them.
        ran = isinstance(said, str) and not said.startswith("Unknown tool name")
        yield from calls.settle(given, Result(given, "error", output_text(said), executed=ran))
