"""pydantic-ai: the messages of a run or a conversation, as `all_messages_json` writes them.

A dump that leaves defaults out tells neither what kind a message has nor what kind its parts have. Calls and what they
returned can be told all the same; whose a text is cannot.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import replace

from vigil_lang.base.structs import Mutable
from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import compact, joined, moment, obj, objects, output_text, string
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
    """Whether the first object is a request or a response with parts, or holds a list of them."""
    return bool(head) and (_is_message(head[0]) or bool(_held(head[0])))


def _is_message(line: dict[str, Any]) -> bool:
    parts = line.get("parts")
    if not isinstance(parts, list) or "role" in line:
        return False
    if line.get("kind") in ("request", "response"):
        return all("part_kind" in part for part in objects(parts))
    return "kind" not in line and "run_id" in line and bool(parts) and all(map(_is_part, parts))


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and ("content" in part or "tool_call_id" in part) and "type" not in part


def _held(line: dict[str, Any]) -> list[list[Any]]:
    """The lists of messages that an object, or the state in it, holds (a result, for instance), the longest first."""
    holders = (line, obj(line.get("_state")), obj(line.get("state")))
    lists = (each for holder in holders for each in holder.values() if any(map(_is_message, objects(each))))
    return sorted(lists, key=len, reverse=True)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for messages that stand alone, and one for each list of them, named for the conversation it is of."""
    alone: _Reading | None = None
    lists = 0
    for line in lines:
        held = _held(line)
        if not held and not isinstance(line.get("parts"), list):
            continue
        lines.open()
        if not held:
            if alone is None:
                alone = _Reading(lines, run)
                yield Start(run)
            yield from alone.message(line)
            continue
        lists += 1
        reading = _Reading(lines, run)
        yield Start(run)
        for message in held[0]:
            yield from reading.message(obj(message))
        read_already = set(map(compact, held[0]))
        for message in chain.from_iterable(held[1:]):
            if compact(message) not in read_already:
                lines.count(understood=False)
    if alone is None and not lists:
        yield Start(run)


class _Reading(Mutable):
    """Messages of one run."""

    lines: Lines
    run: Run
    calls: Calls = field(default_factory=Calls)

    def message(self, message: dict[str, Any]) -> Iterator[Record]:
        """The records of a message; it counts as understood where every part of it tells its kind."""
        if self.run.name is None and (name := string(message, "conversation_id", "run_id")):
            self.run = replace(self.run, name=name, source="pydantic-ai")
            yield Start(self.run, again=True)
        time, parts = moment(message.get("timestamp")), objects(message.get("parts"))
        for part in parts:
            yield from _part(self.lines, part, self.calls, moment(part.get("timestamp")) or time)
        self.lines.count(understood=_is_message(message) and all(map(_kind, parts)))


READER = Reader("pydantic-ai", "pydantic-ai messages", detect, read)


def _kind(part: dict[str, Any]) -> str:
    """The kind of a part; where it is left out, the one that only this kind's members can have."""
    if "part_kind" in part or not (string(part, "tool_name") and string(part, "tool_call_id")):
        return string(part, "part_kind") or ""
    return "tool-return" if "content" in part else "tool-call"


def _part(lines: Lines, part: dict[str, Any], calls: Calls, time: int | None) -> Iterator[Record]:
    kind, given = _kind(part), string(part, "tool_call_id")
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
